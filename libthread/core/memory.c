/*
 * memory.c - memory of threads: struct thread, and stacks.
 *
 * A struct thread is never given back (impl.h says why).  One that is free keeps its
 * stack, with the red zone below it already made, for the next thread that wants one of
 * that size; beyond STACKS_KEPT of them, the oldest are unmapped.  All lists here are
 * guarded by __threads_lock.
 *
 * A thread that nobody joins puts itself here while it still stands on its stack;
 * on_stack tells when it has left, and until then it is passed over.
 */
#include <weft/mman.h>
#include "impl.h"
#include "tls.h"

#define SLAB 65536u
#define STACKS_KEPT 256
#define LOOK_AT 8 /* free threads looked at for one that suits */

struct free_list {
	struct thread *first, *last; /* the newest first */
	unsigned count;
};
static struct free_list with_stack, bare;

static void push(struct free_list *l, struct thread *t)
{
	t->free_prev = NULL;
	t->free_next = l->first;
	if (l->first != NULL)
		l->first->free_prev = t;
	else
		l->last = t;
	l->first = t;
	l->count++;
}

static inline void take_out(struct free_list *l, struct thread *t)
{
	if (t->free_prev != NULL)
		t->free_prev->free_next = t->free_next;
	else
		l->first = t->free_next;
	if (t->free_next != NULL)
		t->free_next->free_prev = t->free_prev;
	else
		l->last = t->free_prev;
	l->count--;
}

/* Zeroed memory of whole pages, or NULL. */
void *__pages_alloc(size_t size)
{
	long r = __sys_mmap(NULL, size, WEFT_PROT_READ | WEFT_PROT_WRITE,
			    WEFT_MAP_PRIVATE | WEFT_MAP_ANON | WEFT_MAP_NORESERVE, -1, 0);

	return r < 0 ? NULL : (void *)r;
}

/* Gives t a stack above a red zone, both whole pages. */
static bool map_stack(struct thread *t, size_t size, size_t guard)
{
	char *base = __pages_alloc(guard + size);

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

/* From one struct thread to the next in a slab: the variables of the next lie between. */
static size_t stride(void)
{
	return (sizeof(struct thread) + __tls.size + __tls.align - 1) & -__tls.align;
}

/*
 * Zeroed memory for at least one struct thread, and as many as fit in `size` bytes: *n of
 * them, stride() bytes apart.  NULL: out of memory.
 */
struct thread *__thread_slots(size_t size, unsigned *n)
{
	size_t least = stride() + __tls.size + __tls.align;
	uintptr_t slab, first;

	if (size < least)
		size = (least + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
	slab = (uintptr_t)__pages_alloc(size);
	if (slab == 0)
		return NULL;
	first = (slab + __tls.size + __tls.align - 1) & -__tls.align;
	*n = 1 + (slab + size - first - sizeof(struct thread)) / stride();
	return (struct thread *)first;
}

/* Adds a slab of new ones to `bare`. */
static bool more_threads(void)
{
	unsigned n;
	char *t = (char *)__thread_slots(SLAB, &n);

	if (t == NULL)
		return false;
	ilock_lock(&__threads_lock);
	for (; n > 0; n--, t += stride())
		push(&bare, (struct thread *)t);
	ilock_unlock(&__threads_lock);
	return true;
}

static inline bool suits(struct thread *t, size_t size, size_t guard)
{
	return t->stack_size == size && t->guard_size == guard &&
	       __atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) == 0;
}

static struct thread *__attribute__((noinline)) find(struct free_list *l, size_t size, size_t guard)
{
	struct thread *t = l->first;

	for (int i = 0; i < LOOK_AT && t != NULL; i++, t = t->free_next) {
		if (suits(t, size, guard)) {
			take_out(l, t);
			return t;
		}
	}
	return NULL;
}

/* One whose stack is made for it, or is the program's. */
static struct thread *__attribute__((noinline))
make(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t;

	do {
		ilock_lock(&__threads_lock);
		t = find(&bare, 0, 0);
		ilock_unlock(&__threads_lock);
	} while (t == NULL && more_threads());
	if (t == NULL)
		return NULL;
	t->user_stack = user_stack != NULL;
	if (user_stack != NULL) {
		t->stack = user_stack;
		t->stack_size = stack_size;
		t->guard_size = 0;
	} else if (!map_stack(t, stack_size, guard_size)) {
		ilock_lock(&__threads_lock);
		push(&bare, t);
		ilock_unlock(&__threads_lock);
		return NULL;
	}
	return t;
}

/*
 * A free struct thread with a stack: that of the program if user_stack is not NULL, else
 * one of stack_size usable bytes above guard_size bytes that fault, which are rounded up to
 * pages.  NULL: out of memory.  Takes __threads_lock.
 */
static inline struct thread *get(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t;

	if (user_stack != NULL)
		return make(stack_size, 0, user_stack);
	stack_size = (stack_size + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
	guard_size = (guard_size + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
	ilock_lock(&__threads_lock);
	t = with_stack.first;
	if (likely(t != NULL && suits(t, stack_size, guard_size)))
		take_out(&with_stack, t);
	else
		t = find(&with_stack, stack_size, guard_size);
	ilock_unlock(&__threads_lock);
	return likely(t != NULL) ? t : make(stack_size, guard_size, NULL);
}

struct thread *__thread_get(size_t stack_size, size_t guard_size, void *user_stack)
{
	struct thread *t = get(stack_size, guard_size, user_stack);

	if (unlikely(__tls.size != 0) && t != NULL)
		__tls_fill(t);
	return t;
}

/* t is free, or will be when on_stack is 0.  __threads_lock is held. */
void __thread_put(struct thread *t)
{
	if (!t->user_stack) {
		push(&with_stack, t);
		return;
	}
	t->stack = NULL;
	t->stack_size = 0;
	push(&bare, t);
}

/* Are more stacks kept than need be?  A guess. */
bool __stacks_many(void)
{
	return with_stack.count > STACKS_KEPT;
}

/* Unmaps the oldest stacks if too many are kept.  Takes __threads_lock. */
void __stacks_trim(void)
{
	while (with_stack.count > STACKS_KEPT) {
		struct thread *t;

		ilock_lock(&__threads_lock);
		t = with_stack.last;
		if (with_stack.count <= STACKS_KEPT ||
		    __atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) != 0)
			t = NULL;
		else
			take_out(&with_stack, t);
		ilock_unlock(&__threads_lock);
		if (t == NULL)
			return;
		__sys_munmap(t->stack - t->guard_size, t->guard_size + t->stack_size);
		t->stack = NULL;
		t->stack_size = t->guard_size = 0;
		ilock_lock(&__threads_lock);
		push(&bare, t);
		ilock_unlock(&__threads_lock);
	}
}

/* In a child of fork: nobody stands on the stack of a free thread any more. */
void __stacks_forked(void)
{
	struct free_list *lists[] = {&with_stack, &bare};

	for (int i = 0; i < 2; i++)
		for (struct thread *t = lists[i]->first; t != NULL; t = t->free_next)
			if (t->on_stack != 0)
				t->on_stack = 0;
}
