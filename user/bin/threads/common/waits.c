/*
 * waits.c - what a thread waits for.
 *
 * A thread that waits in a queue of the library has wchan, the object's address.  The library stores
 * no kind of object, because that would cost each wait an instruction.  The kind follows from what
 * the library does store:
 *
 *	- the table of its queue: for waits that are cancellation points, or for others
 *	  (libthread/core/sleepq.h);
 *	- wait_arg, which every waiter of the first table sets (libthread/core/model.h).  In the
 *	  second table it may be left from an earlier wait, so it confirms, and proves nothing;
 *	- the object's own words.  An awaited mutex names a struct thread, which is known by its
 *	  first word; an awaited reader-writer lock has its flag WAITING; and so on.
 *
 * For a thread that waits in the kernel, the system call says what the object is.
 */
#include "waits.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include <weft/syscall.h>

#define NUMBER_OF(owner) ((uint32_t)((owner) >> 8))
#define PROCESS_OF(owner) ((int)((owner) >> 40 & 0x1fffff))

/* --- owners ----------------------------------------------------------------------------------- */

/* The owner is what the kernel's word for it says (weft/ksync.h). */
static void owner_from_kernel(const struct library *l, struct wait *w, uint64_t word)
{
	uint32_t number = NUMBER_OF(word);

	word &= LWP_MUTEX_OWNER;
	if (word == 0)
		return;
	w->owner_kind = OWNER_NUMBER;
	w->is_lwp = !(number & LWP_OWNER_THREAD);
	w->number = number & ~LWP_OWNER_THREAD;
	w->pid = PROCESS_OF(word);
	if (w->pid != l->target->pid)
		return;
	w->owner = w->is_lwp ? library_thread_on_lwp(l, w->number)
			     : library_thread_by_id(l, w->number);
	w->owner_kind = w->owner != NULL ? OWNER_THREAD : w->is_lwp ? OWNER_NUMBER : OWNER_EXITED;
}

/* The owner is the thread whose structure lies there; 0: there is no owner. */
static void owner_from_address(const struct library *l, struct wait *w, uint64_t at)
{
	if (at == 0)
		return;
	w->owner = library_thread_at(l, at);
	w->owner_kind = w->owner != NULL           ? OWNER_THREAD
			: library_is_thread(l, at) ? OWNER_EXITED
						   : OWNER_UNREADABLE;
}

static void mutex_fill(const struct library *l, struct wait *w, uint64_t word)
{
	w->kind = WAIT_MUTEX;
	if (!(word & LWP_MUTEX_SHARED)) {
		owner_from_address(l, w, word & ~library_value(l, L_MUTEX_FLAGS));
		return;
	}
	owner_from_kernel(l, w, word);
	if (word & LWP_MUTEX_NOTRECOVERABLE)
		w->dead = "not recoverable";
	else if (word & LWP_MUTEX_OWNERDEAD)
		w->dead = "not consistent since an owner died";
}

static void rwlock_fill(const struct library *l, struct wait *w, uint32_t word, bool write)
{
	uint64_t writer = library_field(l, w->object, L_RWLOCK_WRITER);

	w->kind = WAIT_RWLOCK;
	w->write = write;
	if (word & LWP_RWLOCK_WRITER) {
		if (word & LWP_RWLOCK_SHARED)
			owner_from_kernel(l, w, writer);
		else
			owner_from_address(l, w, writer);
	} else if (word & LWP_RWLOCK_READERS) {
		w->owner_kind = OWNER_READERS;
		w->number = word & LWP_RWLOCK_READERS;
	}
}

static void barrier_fill(const struct library *l, struct wait *w)
{
	w->kind = WAIT_BARRIER;
	w->number = library_field(l, w->object, L_BARRIER_WORD);
	w->count = library_field(l, w->object, L_BARRIER_COUNT);
}

/* --- waits in queues of the library ------------------------------------------------------------- */

static bool in_table(const struct library *l, const struct user_thread *t, enum library_name table)
{
	return t->q - library_value(l, table) < library_value(l, L_SLEEPQ_BYTES);
}

/* The wait is a cancellation point. */
static void point_fill(const struct library *l, const struct user_thread *t, struct wait *w)
{
	const struct user_thread *joined = library_thread_at(l, t->wchan);

	if (t->wchan == t->at + library_value(l, L_SIGMASK)) {
		w->set = target_number(l->target, t->wait_arg, 8);
		w->kind = w->set != 0 ? WAIT_SIGNALS : WAIT_TIME;
	} else if (t->wchan == library_value(l, L_ANY_EXIT)) {
		w->kind = WAIT_JOIN_ANY;
	} else if (joined != NULL) {
		w->kind = WAIT_JOIN;
		w->owner = joined;
		w->owner_kind = OWNER_THREAD;
	} else if (t->wait_arg == 0 || t->wait_arg == library_value(l, L_ENDS_IN_SLEEP)) {
		w->kind = WAIT_SEMA;
	} else {
		w->kind = WAIT_COND;
		w->mutex = t->wait_arg;
	}
}

/* Does the word look like that of a mutex for which t waits? */
static bool is_mutex(const struct library *l, const struct user_thread *t, uint64_t word)
{
	uint64_t owner = word & ~library_value(l, L_MUTEX_FLAGS);

	return t->wchan == t->pi_wait || t->wchan == t->wait_arg || library_is_thread(l, owner);
}

static void lock_fill(const struct library *l, const struct user_thread *t, struct wait *w)
{
	uint64_t word, rwlock = library_field(l, t->wchan, L_RWLOCK_WORD);
	bool write = t->wait_arg == library_value(l, L_WAIT_WRITE);

	if (!target_read(l->target, t->wchan + library_value(l, L_MUTEX_OWNER), &word,
			 sizeof(word))) {
		w->kind = WAIT_UNKNOWN;
		w->owner_kind = OWNER_UNREADABLE;
	} else if (is_mutex(l, t, word)) {
		mutex_fill(l, w, word);
	} else if (rwlock & LWP_RWLOCK_WAITING &&
		   (write || t->wait_arg == library_value(l, L_WAIT_READ))) {
		rwlock_fill(l, w, rwlock, write);
	} else if (library_field(l, t->wchan, L_ONCE_STATE) == library_value(l, L_ONCE_RUNNING)) {
		w->kind = WAIT_ONCE;
	} else if (word != 0 && word < library_field(l, t->wchan, L_BARRIER_COUNT)) {
		barrier_fill(l, w);
	} else if (word & library_value(l, L_MUTEX_WAITERS)) {
		mutex_fill(l, w, word); /* free, and about to be acquired by a waiter */
	} else {
		w->kind = WAIT_UNKNOWN;
	}
}

/* --- waits in the kernel ------------------------------------------------------------------------ */

/* The object is the call's first argument. */
static void call_fill(const struct library *l, const struct lwp_regs *r, struct wait *w)
{
	uint64_t word = target_number(l->target, r->rdi, 8);

	w->object = r->rdi;
	switch (r->syscall) {
	case SYS_lwp_sleep:
		w->kind = WAIT_TIME;
		break;
	case SYS_lwp_mutex_timedlock:
	case SYS_lwp_mutex_lock:
		mutex_fill(l, w, word);
		break;
	case SYS_lwp_cond_timedwait:
	case SYS_lwp_cond_wait:
		w->kind = WAIT_COND;
		w->mutex = r->rsi;
		break;
	case SYS_lwp_sema_timedwait:
	case SYS_lwp_sema_wait:
		w->kind = WAIT_SEMA;
		break;
	case SYS_lwp_rwlock_rdlock:
	case SYS_lwp_rwlock_wrlock:
		rwlock_fill(l, w, word, r->syscall == SYS_lwp_rwlock_wrlock);
		break;
	case SYS_lwp_barrier_wait:
		barrier_fill(l, w);
		break;
	}
}

static bool call_is_timed(const struct lwp_regs *r)
{
	switch (r->syscall) {
	case SYS_lwp_mutex_timedlock:
	case SYS_lwp_cond_timedwait:
	case SYS_lwp_sema_timedwait:
		return true;
	case SYS_lwp_park:
		return r->rdi != 0;
	case SYS_lwp_rwlock_rdlock:
		return r->rdx != 0;
	case SYS_lwp_rwlock_wrlock:
		return r->rsi != 0;
	}
	return false;
}

struct wait wait_of(const struct library *l, const struct user_thread *t)
{
	struct wait w = {.object = t->wchan, .timed = t->timed, .asleep = t->on == NULL};

	if (t->exited)
		return w;
	if (t->on != NULL)
		w.timed = call_is_timed(t->on);
	if (t->wchan == 0) {
		if (t->on != NULL)
			call_fill(l, t->on, &w);
		w.asleep = w.kind != WAIT_NOTHING;
		return w;
	}
	if (t->on != NULL)
		w.asleep = t->on->syscall == SYS_lwp_park;
	if (in_table(l, t, L_SLEEPQ_POINT))
		point_fill(l, t, &w);
	else if (in_table(l, t, L_SLEEPQ_OTHER))
		lock_fill(l, t, &w);
	else
		w.kind = WAIT_UNKNOWN;
	return w;
}

/* --- words ------------------------------------------------------------------------------------ */

const char *thread_words(const struct user_thread *t, char to[THREAD_WORDS])
{
	snprintf(to, THREAD_WORDS, *t->name ? "thread %" PRIu32 " (%s)" : "thread %" PRIu32, t->id,
		 t->name);
	return to;
}

static const char *set_words(uint64_t set, char to[WAIT_TEXT])
{
	char name[SIG2STR_MAX];
	int n = snprintf(to, WAIT_TEXT, "a signal of");

	if (~set == 0)
		return strcpy(to, "any signal");
	for (int sig = 1; sig <= 64 && n < WAIT_TEXT - 2 * SIG2STR_MAX; sig++)
		if (set >> (sig - 1) & 1 && sig2str(sig, name) == 0)
			n += snprintf(to + n, WAIT_TEXT - n, " %s", name);
	return to;
}

const char *wait_object(const struct library *l, const struct wait *w, char to[WAIT_TEXT])
{
	static const char *const kinds[] = {
		[WAIT_MUTEX] = "mutex",
		[WAIT_RWLOCK] = "reader-writer lock",
		[WAIT_COND] = "condition variable",
		[WAIT_SEMA] = "semaphore",
		[WAIT_BARRIER] = "barrier",
		[WAIT_ONCE] = "pthread_once_t",
		[WAIT_UNKNOWN] = "an object of unknown kind,",
	};
	char name[OBJECT_NAME], thread[THREAD_WORDS];

	switch (w->kind) {
	case WAIT_NOTHING:
		return strcpy(to, "nothing");
	case WAIT_JOIN:
		snprintf(to, WAIT_TEXT, "the end of %s", thread_words(w->owner, thread));
		return to;
	case WAIT_JOIN_ANY:
		return strcpy(to, "the end of any thread");
	case WAIT_SIGNALS:
		return set_words(w->set, to);
	case WAIT_TIME:
		return strcpy(to, "a time");
	default:
		snprintf(to, WAIT_TEXT, "%s %s", kinds[w->kind],
			 target_object(l->target, w->object, name));
		return to;
	}
}

static const char *owner_words(const struct library *l, const struct wait *w, char to[WAIT_TEXT])
{
	char thread[THREAD_WORDS];

	switch (w->owner_kind) {
	case OWNER_THREAD:
		snprintf(to, WAIT_TEXT, "held by %s", thread_words(w->owner, thread));
		break;
	case OWNER_EXITED:
		strcpy(to, "held by a thread that has exited");
		break;
	case OWNER_NUMBER:
		snprintf(to, WAIT_TEXT, "held by %s %" PRIu32 " of process %d",
			 w->is_lwp ? "LWP" : "thread", w->number, w->pid);
		break;
	case OWNER_READERS:
		snprintf(to, WAIT_TEXT, "held by %" PRIu32 " reader%s", w->number,
			 w->number == 1 ? "" : "s");
		break;
	case OWNER_UNREADABLE:
		strcpy(to, "whose memory is damaged");
		break;
	case OWNER_NONE:
		strcpy(to, w->kind == WAIT_MUTEX || w->kind == WAIT_RWLOCK ? "free" : "");
		break;
	}
	return to;
}

const char *wait_owner(const struct library *l, const struct wait *w, char to[WAIT_TEXT])
{
	char name[OBJECT_NAME];

	*to = '\0';
	if (w->kind == WAIT_JOIN)
		return to;
	if (w->kind == WAIT_BARRIER)
		snprintf(to, WAIT_TEXT, "%" PRIu32 " of %u threads have arrived", w->number,
			 w->count);
	else if (w->kind == WAIT_COND && w->mutex != 0)
		snprintf(to, WAIT_TEXT, "with mutex %s", target_object(l->target, w->mutex, name));
	else
		owner_words(l, w, to);
	if (w->dead != NULL)
		snprintf(to + strlen(to), WAIT_TEXT - strlen(to), ", %s", w->dead);
	return to;
}

const char *wait_times(const struct library *l, const struct user_thread *t, const struct wait *w,
		       char to[WAIT_TEXT])
{
	struct lwp_info info;
	int n = 0;

	*to = '\0';
	if (w->asleep && t->on != NULL &&
	    __sys_lwp_info(l->target->pid, t->on->id, &info) == (long)t->on->id &&
	    info.state == LWP_ST_SLEEP)
		n = sprintf(to, ", for %.3f s", info.since / 1e9);
	if (w->timed && w->kind != WAIT_TIME)
		strcpy(to + n, ", until a deadline");
	return to;
}

const char *wait_line(const struct library *l, const struct user_thread *t, const struct wait *w,
		      char to[WAIT_LINE])
{
	char object[WAIT_TEXT], owner[WAIT_TEXT], times[WAIT_TEXT];

	wait_owner(l, w, owner);
	snprintf(to, WAIT_LINE, "%s%s%s%s", wait_object(l, w, object), *owner ? ", " : "", owner,
		 wait_times(l, t, w, times));
	return to;
}
