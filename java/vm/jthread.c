/*
 * jthread.c - Java's threads over the library's, and the native methods of java.lang.Thread.
 *
 * Each is a thread of pthread_create, so that the thread model decides what it is: with LIBTHREAD=n1 a green thread, with
 * lwp a native one; with -Xnt it is a thread of NT (sync.h). A thread parks at a place of its own: in Object.wait, and in
 * Thread.sleep.
 *
 * Another thread finds a struct jthread through the field `vm` of its java.lang.Thread, with world.lock held. The field
 * becomes 0 under the same lock before the struct is freed.
 */

#define _GNU_SOURCE
#include "vm.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define C_STACK (256u << 10)
#define MAX_NAME 16

__thread struct jthread *jthread_current;
size_t java_stack_size = 512u << 10;
static _Atomic uint32_t last_id;

struct object *root_push(struct jthread *t, struct object *object)
{
	t->roots[t->n_roots++] = object;
	return object;
}

void root_pop(struct jthread *t, int n)
{
	t->n_roots -= n;
}

/* A thread that is in no list yet, in a safe region. NULL: no memory. */
struct jthread *jthread_new(size_t stack_size)
{
	struct jthread *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->stack =
		mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->stack == MAP_FAILED) {
		free(t);
		return NULL;
	}
	if (!place_init(&t->wake)) {
		munmap(t->stack, stack_size);
		free(t);
		return NULL;
	}
	t->stack_size = stack_size;
	t->stack_end = t->stack + stack_size / sizeof(union slot);
	t->id = atomic_fetch_add(&last_id, 1) + 1;
	lock_init(&t->lock);
	return t;
}

static void jthread_free(struct jthread *t)
{
	munmap(t->stack, t->stack_size);
	place_destroy(&t->wake);
	lock_destroy(&t->lock);
	worker_destroy(&t->worker);
	free(t);
}

/*
 * Blocks until another thread wakes or interrupts the caller, or for ns nanoseconds if that is not negative. The caller
 * is in a safe region.
 */
void jthread_park(struct jthread *t, int64_t ns)
{
	int64_t now = sync_now(), end = ns < 0 || ns > NEVER - now ? NEVER : now + ns;

	lock_acquire(&t->lock);
	while (!t->notified && !t->interrupted && place_wait(&t->wake, &t->lock, end))
		;
	lock_release(&t->lock);
}

/* Object.notify, for a thread that the caller has taken out of the monitor's list. */
void jthread_wake(struct jthread *t)
{
	lock_acquire(&t->lock);
	t->notified = true;
	place_wake(&t->wake);
	lock_release(&t->lock);
}

bool jthread_interrupted(struct jthread *t, bool clear)
{
	bool was;

	lock_acquire(&t->lock);
	was = t->interrupted;
	if (clear)
		t->interrupted = false;
	lock_release(&t->lock);
	return was;
}

/* The end of a thread: its Java code has returned, and threads in join() wake up. */
void jthread_finish(struct jthread *t)
{
	bool daemon = false;

	t->exception = NULL;
	if (t->object != NULL) {
		daemon = t->object->fields[known.thread_daemon->slot].i != 0;
		monitor_enter(t, t->object);
		atomic_store_explicit(&t->alive, false, memory_order_release);
		monitor_notify(t, t->object, true);
		monitor_exit(t, t->object);
	}
	world_leave(t);
	jthread_remove(t, daemon);
	jthread_free(t);
}

/* The library's thread gets the beginning of the name, for pthreads and plocks. */
static void jthread_set_name(struct object *thread)
{
	struct object *string = thread->fields[known.thread_name->slot].a;
	char *name = string == NULL ? NULL : string_utf8(string);

	if (name == NULL)
		return;
	for (int i = 0; i < MAX_NAME; i++)
		if (name[i] == 0 || i == MAX_NAME - 1) {
			name[i] = 0;
			break;
		}
	pthread_setname_np(pthread_self(), name);
	free(name);
}

static int32_t jthread_priority(struct jthread *t)
{
	return __atomic_load_n(&t->object->fields[known.thread_priority->slot].i, __ATOMIC_SEQ_CST);
}

/*
 * The thread has its creator's priority, and takes that of its java.lang.Thread.
 *
 * *Race:* a thread begins, while another thread sets its priority.
 * *Without this:* the thread keeps its creator's priority.
 * *Closed by:* the other thread stores the number, and then looks at `begun` under world.lock. If it sees false, this
 * thread sees the number. If it sees true, both may set the priority, and this thread looks at the number once more.
 */
static void jthread_begin(struct jthread *t)
{
	int32_t priority = t->inherited, now;

	worker_init(&t->worker, false);
	pthread_mutex_lock(&world.lock);
	t->begun = true;
	pthread_mutex_unlock(&world.lock);
	while ((now = jthread_priority(t)) != priority) {
		priority = now;
		worker_set_priority(&t->worker, priority);
	}
}

static void *jthread_main(void *arg)
{
	struct jthread *t = arg;
	struct method *run;
	union slot args[1], none;

	jthread_current = t;
	world_enter(t);
	jthread_begin(t);
	jthread_set_name(t->object);
	args[0].a = t->object;
	run = class_method(t->object->cls, symbol_of_text("run"), known.void_desc);
	java_call(t, run, args, &none);
	if (t->exception != NULL)
		throw_uncaught(t);
	jthread_finish(t);
	return NULL;
}

/* void start0() */
static void thread_start(struct jthread *self, union slot *args, union slot *result)
{
	struct object *o = args[0].a;
	bool daemon = o->fields[known.thread_daemon->slot].i != 0;
	struct jthread *t = jthread_new(java_stack_size);
	int error = ENOMEM;

	if (t != NULL) {
		t->object = o;
		t->alive = true;
		t->inherited = jthread_priority(self);
		o->fields[known.thread_vm->slot].p = t;
		jthread_add(t, daemon);
		world_leave(self);
		error = sync_thread(jthread_main, t, C_STACK);
		if (error != 0) {
			jthread_remove(t, daemon);
			jthread_free(t);
		}
		world_enter(self);
	}
	if (error != 0)
		throw_new(self, "java/lang/OutOfMemoryError",
			  "unable to create a thread (error %d)", error);
}

/* The main thread gets its java.lang.Thread. False: t->exception. */
bool jthread_start_main(struct jthread *t)
{
	struct object *o, *name;
	union slot args[2], none;
	struct method *init;

	if (!class_link(t, known.thread))
		return false;
	o = heap_object(t, known.thread);
	if (o == NULL)
		return false;
	t->object = o;
	t->alive = true;
	o->fields[known.thread_vm->slot].p = t;
	worker_init(&t->worker, true);
	t->begun = true;
	if (!class_initialize(t, known.thread))
		return false;
	name = string_new(t, "main", 4);
	init = class_declared(known.thread, known.init, symbol_of_text("(Ljava/lang/String;)V"));
	if (name == NULL || init == NULL)
		return false;
	args[0].a = o;
	args[1].a = name;
	java_call(t, init, args, &none);
	return t->exception == NULL;
}

/* Thread currentThread() */
static void thread_current(struct jthread *t, union slot *args, union slot *result)
{
	result->a = t->object;
}

/* boolean isAlive() */
static void thread_is_alive(struct jthread *t, union slot *args, union slot *result)
{
	struct jthread *o;

	pthread_mutex_lock(&world.lock);
	o = args[0].a->fields[known.thread_vm->slot].p;
	result->i = o != NULL && atomic_load_explicit(&o->alive, memory_order_acquire);
	pthread_mutex_unlock(&world.lock);
}

/*
 * void setPriority0(int priority), of which each thread has one at a time. A thread sets its own without world.lock, because
 * it may lose its CPU to another one that needs the lock.
 */
static void thread_set_priority(struct jthread *t, union slot *args, union slot *result)
{
	struct jthread *o;

	if (args[0].a == t->object) {
		worker_set_priority(&t->worker, args[1].i);
		return;
	}
	pthread_mutex_lock(&world.lock);
	o = args[0].a->fields[known.thread_vm->slot].p;
	if (o != NULL && o->begun)
		worker_set_priority(&o->worker, args[1].i);
	pthread_mutex_unlock(&world.lock);
}

/* void yield() */
static void thread_yield(struct jthread *t, union slot *args, union slot *result)
{
	world_leave(t);
	sched_yield();
	world_enter(t);
}

/* void sleep0(long nanoseconds) */
static void thread_sleep(struct jthread *t, union slot *args, union slot *result)
{
	t->notified = false;
	world_leave(t);
	jthread_park(t, args[0].j);
	world_enter(t);
	if (jthread_interrupted(t, true))
		throw_new(t, "java/lang/InterruptedException", "sleep interrupted");
}

/* void interrupt() */
static void thread_interrupt(struct jthread *t, union slot *args, union slot *result)
{
	struct jthread *o;

	pthread_mutex_lock(&world.lock);
	o = args[0].a->fields[known.thread_vm->slot].p;
	if (o != NULL) {
		lock_acquire(&o->lock);
		o->interrupted = true;
		place_wake(&o->wake);
		lock_release(&o->lock);
	}
	pthread_mutex_unlock(&world.lock);
}

/* boolean isInterrupted(boolean clear) */
static void thread_is_interrupted(struct jthread *t, union slot *args, union slot *result)
{
	struct jthread *o;

	pthread_mutex_lock(&world.lock);
	o = args[0].a->fields[known.thread_vm->slot].p;
	result->i = o != NULL && jthread_interrupted(o, args[1].i != 0);
	pthread_mutex_unlock(&world.lock);
}

/* boolean holdsLock(Object o) */
static void thread_holds_lock(struct jthread *t, union slot *args, union slot *result)
{
	if (args[0].a == NULL)
		throw_new(t, "java/lang/NullPointerException", NULL);
	else
		result->i = monitor_owned(t, args[0].a);
}

/* void wait0(long nanoseconds) of Object */
static void object_wait(struct jthread *t, union slot *args, union slot *result)
{
	monitor_wait(t, args[0].a, args[1].j);
}

static void object_notify(struct jthread *t, union slot *args, union slot *result)
{
	monitor_notify(t, args[0].a, false);
}

static void object_notify_all(struct jthread *t, union slot *args, union slot *result)
{
	monitor_notify(t, args[0].a, true);
}

const struct native native_thread[] = {
	{"java/lang/Thread.start0()V", thread_start},
	{"java/lang/Thread.currentThread()Ljava/lang/Thread;", thread_current},
	{"java/lang/Thread.isAlive()Z", thread_is_alive},
	{"java/lang/Thread.setPriority0(I)V", thread_set_priority},
	{"java/lang/Thread.yield()V", thread_yield},
	{"java/lang/Thread.sleep0(J)V", thread_sleep},
	{"java/lang/Thread.interrupt()V", thread_interrupt},
	{"java/lang/Thread.isInterrupted(Z)Z", thread_is_interrupted},
	{"java/lang/Thread.holdsLock(Ljava/lang/Object;)Z", thread_holds_lock},
	{"java/lang/Object.wait0(J)V", object_wait},
	{"java/lang/Object.notify()V", object_notify},
	{"java/lang/Object.notifyAll()V", object_notify_all},
	{NULL, NULL},
};
