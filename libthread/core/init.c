/*
 * init.c - libthread at the start of a process (weft/start.h), and assertions.
 */
#include <string.h>
#include <weft/signal.h>
#include "core.h"
#include "model.h"
#include "tls.h"

struct thread *__main_thread;

/* A program without thread-local storage needs no memory before its first instruction. */
static struct thread *first_thread(void)
{
	static struct thread plain;
	struct thread *t = &plain;
	unsigned n;

	__tls_find();
	if (__tls.size == 0)
		return t;
	t = __thread_slots(0, &n);
	ASSERT(t != NULL);
	__tls_fill(t);
	return t;
}

void __libthread_init(int argc, char **argv, char **envp, const struct auxv *auxv)
{
	struct thread *t = first_thread();

	__main_thread = t;
	t->self = t;
	t->reent = _GLOBAL_REENT;
	t->lwp = &t->own_lwp;
	t->state = TS_ONLWP;
	t->on_stack = 1;
	t->user_stack = true;
	t->critical = t->own_lwp.critical = &t->own_lwp.nowhere;
	set_thread_pointer(t);
	__choose_model(envp);
	__lwp_adopt(t->lwp, (struct schedctl *)__auxval(AT_WEFT_SCHEDCTL));
	t->bound = __model->scope == SCOPE_ALL_BOUND;
	__thread_first(t);
	__signals_init();
	__ops->init();
	__lockstat_start();
	__sampler_start();
}

/* Without stdio, because stdio may be what is broken. */
void __assert_failed(const char *what, const char *file, int line)
{
	char number[12], *p = number + sizeof(number);

	*--p = '\0';
	do {
		*--p = '0' + line % 10;
	} while ((line /= 10) > 0);
	__sys_write(2, "libthread: ", 11);
	__sys_write(2, file, strlen(file));
	__sys_write(2, ":", 1);
	__sys_write(2, p, strlen(p));
	__sys_write(2, ": assertion failed: ", 20);
	__sys_write(2, what, strlen(what));
	__sys_write(2, "\n", 1);
	__sys_kill(__sys_getpid(), WEFT_SIGABRT);
	__sys_exit(128 + WEFT_SIGABRT);
}
