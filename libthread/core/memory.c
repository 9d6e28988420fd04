/*
 * memory.c - memory of threads: struct thread, and stacks.
 *
 * A struct thread is never unmapped (tcb.h says why).  A free struct thread keeps its stack, with
 * the red zone below it, for the next thread that wants a stack of this size.  If there are more
 * than STACKS_KEPT of them, the oldest stacks are unmapped.  __threads_lock guards all lists here.
 *
 * If threads are created without a lock in common (ids.h), each LWP of the pool also keeps LWP_KEEPS free threads
 * with their stacks.  These stay in the list of threads, with id 0.
 *
 * A thread that no other thread joins puts itself into the list while it still runs on its stack.
 * on_stack says when it has left the stack.  Until then it is passed over.
 */
#include <weft/mman.h>
#include "ids.h"
#include "tls.h"

#define SLAB 65536u
#define LOOK_AT 8 /* free threads that are looked at to find a suitable one */

/*
 * The newest thread first.  A list is a ring: the list itself is the link between its last and its
 * first thread.  Where a thread's link points to the list, the list is given as a thread
 * (free_end).
 */
struct free_list {
	struct thread *first, *last;
};
#define free_end(l) ((struct thread *)((uintptr_t)(l)-offsetof(struct thread, free_next)))
_Static_assert(offsetof(struct thread, free_prev) - offsetof(struct thread, free_next) ==
		       offsetof(struct free_list, last),
	       "free_end");

static struct free_list with_stack = {free_end(&with_stack), free_end(&with_stack)};
static struct free_list bare = {free_end(&bare), free_end(&bare)};
unsigned __stacks_kept; /* threads in with_stack */

static inline void free_list_push(struct free_list *l, struct thread *t)
{
	struct thread *first = l->first;

	t->free_next = first;
	t->free_prev = free_end(l);
	first->free_prev = t;
	l->first = t;
}

static inline void free_list_remove(struct thread *t)
{
	t->free_prev->free_next = t->free_next;
	t->free_next->free_prev = t->free_prev;
}

/* free_list_remove if t is the first of l. */
static inline void take_first(struct free_list *l, struct thread *t)
{
	struct thread *next = t->free_next;

	l->first = next;
	next->free_prev = free_end(l);
}

static void *pages_map(size_t size, int flags)
{
	long r = __sys_mmap(NULL, size, WEFT_PROT_READ | WEFT_PROT_WRITE,
			    WEFT_MAP_PRIVATE | WEFT_MAP_ANON | flags, -1, 0);

	return r < 0 ? NULL : (void *)r;
}

/* Zeroed memory of whole pages, or NULL.  An access to it ends the process if no page is free then. */
void *__pages_alloc(size_t size)
{
	return pages_map(size, WEFT_MAP_NORESERVE);
}

/*
 * The same, but the pages are kept free for it.  It is for what the library allocates when the program has not asked for
 * anything, such as an LWP instead of an LWP that blocks.
 */
static void *pages_reserve(size_t size)
{
	return pages_map(size, 0);
}

#define LIBRARY_STACK 16384 /* the stacks of contexts and services are not larger */

/* Gives t a stack above a red zone.  Both are whole pages. */
static bool stack_map(struct thread *t, size_t size, size_t guard)
{
	bool reserve = size <= LIBRARY_STACK;
	char *base = reserve ? pages_reserve(guard + size) : __pages_alloc(guard + size);

	if (base == NULL)
		return false;
	if (guard != 0 && __sys_mprotect(base, guard, WEFT_PROT_NONE) < 0) {
		__sys_munmap(base, guard + size);
		return false;
	}
	t->stack = base + guard;
	t->stack_size = size;
	t->guard_size = guard;
	return true;
}

/*
 * The distance between two struct threads in a slab.  The second thread's variables lie between
 * them.
 */
static size_t slot_stride(void)
{
	return (sizeof(struct thread) + __tls.size + __tls.align - 1) & -__tls.align;
}

/*
 * Zeroed memory for at least one struct thread, and for as many as fit in `size` bytes: *n of them,
 * slot_stride() bytes apart.  NULL: out of memory.
 */
struct thread *__thread_slots(size_t size, unsigned *n)
{
	size_t least = slot_stride() + __tls.size + __tls.align;
	uintptr_t slab, first;

	if (size < least)
		size = (least + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
	slab = (uintptr_t)pages_reserve(size);
	if (slab == 0)
		return NULL;
	first = (slab + __tls.size + __tls.align - 1) & -__tls.align;
	*n = 1 + (slab + size - first - sizeof(struct thread)) / slot_stride();
	return (struct thread *)first;
}

/* All threads of `from`, which is not empty, come before those of l. */
static inline void free_list_splice(struct free_list *l, const struct free_list *from)
{
	from->last->free_next = l->first;
	from->first->free_prev = free_end(l);
	l->first->free_prev = from->last;
	l->first = from->first;
}

/*
 * Adds a slab of new struct threads to `bare`.  The first store to each page is a page fault, some 1,400 instructions.  So the
 * threads are linked before the lock is acquired, because threads on many LWPs may need slabs at once.
 */
static bool more_threads(void)
{
	struct free_list fresh = {free_end(&fresh), free_end(&fresh)};
	unsigned n;
	char *t = (char *)__thread_slots(SLAB, &n);

	if (t == NULL)
		return false;
	for (; n > 0; n--, t += slot_stride())
		free_list_push(&fresh, (struct thread *)t);
	ilock_lock(&__threads_lock);
	free_list_splice(&bare, &fresh);
	ilock_unlock(&__threads_lock);
	return true;
}

static inline bool thread_suits(struct thread *t, size_t size, size_t guard)
{
	return t->stack_size == size && t->guard_size == guard &&
	       __atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) == 0;
}

static struct thread *__attribute__((noinline))
free_list_find(struct free_list *l, size_t size, size_t guard)
{
	struct thread *t = l->first;

	for (int i = 0; i < LOOK_AT && t != free_end(l); i++, t = t->free_next) {
		if (thread_suits(t, size, guard)) {
			free_list_remove(t);
			return t;
		}
	}
	return NULL;
}

/* A struct thread with a new stack, or with the program's stack.  Acquires __threads_lock. */
static struct thread *__attribute__((noinline))
thread_make(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t;

	do {
		ilock_lock(&__threads_lock);
		t = free_list_find(&bare, 0, 0);
		ilock_unlock(&__threads_lock);
	} while (t == NULL && more_threads());
	if (t == NULL)
		return NULL;
	t->user_stack = user_stack != NULL;
	if (user_stack != NULL) {
		t->stack = user_stack;
		t->stack_size = stack_size;
		t->guard_size = 0;
	} else if (!stack_map(t, stack_size, guard_size)) {
		ilock_lock(&__threads_lock);
		free_list_push(&bare, t);
		ilock_unlock(&__threads_lock);
		return NULL;
	}
	return t;
}

/* __thread_take when the newest free thread does not suit. */
static struct thread *__attribute__((noinline))
take_another(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t = NULL;

	if (user_stack != NULL) {
		guard_size = 0;
	} else {
		stack_size = (stack_size + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
		guard_size = (guard_size + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
		t = free_list_find(&with_stack, stack_size, guard_size);
	}
	if (t != NULL) {
		__stacks_kept--;
	} else {
		ilock_unlock(&__threads_lock);
		t = thread_make(stack_size, guard_size, user_stack);
		ilock_lock(&__threads_lock);
	}
	return t;
}

/*
 * A free struct thread with a stack.  This is the program's stack if user_stack is not NULL.
 * Otherwise it has stack_size usable bytes above guard_size bytes that fault; both are rounded up
 * to pages.  NULL: out of memory.  Called with __threads_lock held; may release it for a while.
 * The thread's variables keep their old values (tls_fill).
 */
struct thread *__thread_take(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t = with_stack.first;

	/*
	 * Sizes in the list are whole pages.  A size that is not rounded yet equals none of them.
	 */
	if (unlikely(user_stack != NULL || t == free_end(&with_stack) ||
		     !thread_suits(t, stack_size, guard_size)))
		return take_another(stack_size, guard_size, user_stack);
	take_first(&with_stack, t);
	__stacks_kept--;
	return t;
}

/*
 * __thread_take with a stack of the library's; the thread is ready to run.  Acquires
 * __threads_lock.
 */
struct thread *__thread_get(size_t stack_size, size_t guard_size)
{
	struct thread *t;

	ilock_lock(&__threads_lock);
	t = __thread_take(stack_size, guard_size, NULL);
	ilock_unlock(&__threads_lock);
	if (t != NULL)
		tls_fill(t);
	return t;
}

/* t is free, or will be free when on_stack is 0.  The caller holds __threads_lock. */
void __thread_put(struct thread *t)
{
	if (likely(!t->user_stack)) {
		free_list_push(&with_stack, t);
		__stacks_kept++;
		return;
	}
	t->stack = NULL;
	t->stack_size = 0;
	free_list_push(&bare, t);
}

/* The caller's LWP, l, is about to exit.  The caller holds __threads_lock. */
void __threads_keep_none(struct ulwp *l)
{
	struct thread *t;

	while ((t = l->kept) != NULL) {
		l->kept = t->free_next;
		thread_list_remove(t);
		__thread_put(t);
	}
	l->may_keep = 0;
}

/* Unmaps the oldest stacks if too many are kept.  Acquires __threads_lock. */
void __stacks_trim(void)
{
	while (__stacks_kept > STACKS_KEPT) {
		struct thread *t;

		ilock_lock(&__threads_lock);
		t = with_stack.last;
		if (__stacks_kept <= STACKS_KEPT ||
		    __atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) != 0) {
			t = NULL;
		} else {
			ASSERT(t != free_end(&with_stack));
			free_list_remove(t);
			__stacks_kept--;
		}
		ilock_unlock(&__threads_lock);
		if (t == NULL)
			return;
		__sys_munmap(t->stack - t->guard_size, t->guard_size + t->stack_size);
		t->stack = NULL;
		t->stack_size = t->guard_size = 0;
		ilock_lock(&__threads_lock);
		free_list_push(&bare, t);
		ilock_unlock(&__threads_lock);
	}
}

/*
 * In a child of fork: no thread runs on the stack of a free thread any more, and none holds the lock of an LWP that has
 * exited (lone.c).  A store only where it changes something, because the first store to a page copies it.
 */
void __stacks_forked(void)
{
	struct free_list *lists[] = {&with_stack, &bare};

	for (int i = 0; i < 2; i++) {
		for (struct thread *t = lists[i]->first; t != free_end(lists[i]);
		     t = t->free_next) {
			if (t->on_stack != 0)
				t->on_stack = 0;
			if (t->own_lwp.run_lock.held != 0)
				t->own_lwp.run_lock.held = 0;
		}
	}
}
