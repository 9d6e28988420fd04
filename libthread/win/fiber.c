/*
 * fiber.c - fibers: contexts that a thread runs and that the program itself switches.
 *
 * A converted thread has a first fiber, which uses the thread's own stack.  The first fiber records
 * which fiber the thread runs.  Any converted thread may switch to any fiber that no thread runs.
 *
 * *Race:* a thread leaves a fiber, and another thread learns of the fiber and switches to it at
 * once; *without this:* the second thread loads registers that are not saved yet; *closed by:*
 * `active`.  A thread claims it before it switches to a fiber, and it is cleared when the registers
 * are saved; the second thread waits for that.  (If a program runs one fiber twice at a time, the
 * second thread waits for ever.)
 *
 * A signal handler runs on the stack of the fiber that it interrupts.
 */
#include <pthread.h>
#include <stdlib.h>
#include <weft/mman.h>
#include "../core/attr.h"
#include "win.h"

struct fiber {
	uint64_t rsp;    /* valid while not active */
	uint32_t active; /* atomic */
	LPFIBER_START_ROUTINE start;
	void *parameter;
	char *stack; /* with its guard page; NULL: the thread's own */
	size_t stack_size;
	/* A thread's first fiber only: */
	struct fiber *running; /* what the thread runs */
	struct fiber *doomed;  /* to be freed when the thread has left the fiber's stack */
};

_Static_assert(offsetof(struct fiber, rsp) == 0 && offsetof(struct fiber, active) == 8,
	       "offsets in fiber.S");
void __win_fiber_switch(struct fiber *from, struct fiber *to);

static pthread_key_t first_key;
static bool key_made;

static void fiber_make_key(void)
{
	int error = pthread_key_create(&first_key, free);

	ASSERT(error == 0);
}

/* The calling thread's first fiber.  NULL: the thread has not been converted. */
static struct fiber *fiber_first(void)
{
	__win_once(&key_made, fiber_make_key);
	return pthread_getspecific(first_key);
}

/* NULL: ERROR_ALREADY_FIBER; ERROR_NOT_ENOUGH_MEMORY. */
LPVOID ConvertThreadToFiber(LPVOID parameter)
{
	struct fiber *f;

	if (fiber_first() != NULL) {
		SetLastError(ERROR_ALREADY_FIBER);
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL || pthread_setspecific(first_key, f) != 0) {
		free(f);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	f->active = 1;
	f->parameter = parameter;
	f->running = f;
	return f;
}

/* ERROR_INVALID_PARAMETER: the thread is no fiber, or runs a fiber other than its first. */
BOOL ConvertFiberToThread(void)
{
	struct fiber *f = fiber_first();

	if (f == NULL || f->running != f)
		return __win_fails(ERROR_INVALID_PARAMETER);
	pthread_setspecific(first_key, NULL);
	free(f);
	return TRUE;
}

static void free_fiber(struct fiber *f)
{
	if (f->stack != NULL)
		__sys_munmap(f->stack, f->stack_size);
	free(f);
}

/* Prepares f so that its first run begins in entry, which does not return. */
static void fiber_prepare(struct fiber *f, uint64_t top, void (*entry)(void))
{
	uint64_t *sp = (uint64_t *)(top & -16ul);

	*--sp = 0; /* a return address of 0 ends the backtrace */
	*--sp = (uint64_t)entry;
	for (int i = 0; i < 6; i++)
		*--sp = 0;
	*--sp = 0;
	save_fp_control(sp);
	f->rsp = (uint64_t)sp;
}

/* Every fiber begins here.  When its function returns, the thread ends. */
static void fiber_main(void)
{
	struct fiber *f = fiber_first()->running;

	f->start(f->parameter);
	ExitThread(0);
}

/* stack 0: the usual size.  NULL: ERROR_INVALID_PARAMETER: no function;
 * ERROR_NOT_ENOUGH_MEMORY. */
LPVOID CreateFiber(SIZE_T stack, LPFIBER_START_ROUTINE start, LPVOID parameter)
{
	size_t size = stack != 0 ? stack : DEFAULT_STACK;
	struct fiber *f;

	if (start == NULL) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	if (size < PTHREAD_STACK_MIN)
		size = PTHREAD_STACK_MIN;
	f = calloc(1, sizeof(*f));
	if (f != NULL && size <= PTRDIFF_MAX / 4) {
		f->stack_size =
			((size + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE) + DEFAULT_GUARD;
		f->stack = __pages_alloc(f->stack_size);
	}
	if (f == NULL || f->stack == NULL ||
	    __sys_mprotect(f->stack, DEFAULT_GUARD, WEFT_PROT_NONE) < 0) {
		if (f != NULL)
			free_fiber(f);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	f->start = start;
	f->parameter = parameter;
	fiber_prepare(f, (uint64_t)f->stack + f->stack_size, fiber_main);
	return f;
}

/* The calling thread must have been converted, and no other thread may run the fiber. */
void SwitchToFiber(LPVOID fiber)
{
	struct fiber *to = fiber, *mine = fiber_first(), *from;
	unsigned turns = 0;

	ASSERT(mine != NULL);
	from = mine->running;
	if (to == from)
		return;
	while (__atomic_exchange_n(&to->active, 1, __ATOMIC_ACQUIRE) != 0)
		__backoff(&turns);
	mine->running = to;
	__win_fiber_switch(from, to);
}

/* Runs on the thread's own stack, when the fiber that the thread ran has deleted itself. */
static void fiber_leave(void)
{
	free_fiber(fiber_first()->doomed);
	ExitThread(1);
}

/*
 * Deletes the fiber.  If the caller runs the fiber, the calling thread ends with exit code 1.  The
 * first fiber of another thread ends with that thread, and must not be deleted by others.
 */
void DeleteFiber(LPVOID fiber)
{
	struct fiber *f = fiber, *mine = fiber_first();

	if (mine == NULL || f != mine->running) {
		free_fiber(f);
		return;
	}
	if (f == mine)
		ExitThread(1);
	ASSERT(mine->active == 0); /* no thread runs it, so its saved stack pointer is valid */
	mine->active = 1;
	mine->doomed = f;
	mine->running = mine;
	fiber_prepare(mine, mine->rsp, fiber_leave);
	__win_fiber_switch(f, mine);
}

/* NULL: the thread has not been converted. */
LPVOID GetCurrentFiber(void)
{
	struct fiber *f = fiber_first();

	return f != NULL ? f->running : NULL;
}

/* The parameter of the current fiber. */
LPVOID GetFiberData(void)
{
	struct fiber *f = GetCurrentFiber();

	return f != NULL ? f->parameter : NULL;
}
