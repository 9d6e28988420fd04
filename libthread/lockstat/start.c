/*
 * start.c - turns lock statistics on.  This happens before main, while there is one thread.  The
 * LWPs that a model has by then execute none of the functions that change.
 *
 * Each function with a counting copy (LOCKSTAT_ENTRY) gets a jump to the copy as its first
 * instruction.  From then on the page is the process's own copy.  Other programs that run from the
 * same file do not see the change.  A child of fork goes on counting, in a table of its own.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../core/model.h"
#include "lockstat.h"

extern const struct lockstat_entry __start_lockstat_entries[], __stop_lockstat_entries[];

/* Allocates zeroed memory, or returns NULL. */
void *__lockstat_pages(size_t size)
{
	long r = __sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	return r < 0 ? NULL : (void *)r;
}

static void __attribute__((noreturn)) lockstat_refuse(const char *why)
{
	__sys_write(2, "libthread: lockstat: ", 21);
	__sys_write(2, why, strlen(why));
	__sys_write(2, "\n", 1);
	__sys_exit(2);
}

/* Writes "jmp counted".  The displacement counts from the end of the instruction. */
static bool entry_redirect(const struct lockstat_entry *e)
{
	size_t before = (uintptr_t)e->plain % WEFT_PAGE_SIZE;
	char *page = e->plain - before;
	int32_t distance = e->counted - (e->plain + 5);

	if (__sys_mprotect(page, before + 5, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	e->plain[0] = 0xe9;
	memcpy(e->plain + 1, &distance, sizeof(distance));
	return __sys_mprotect(page, before + 5, PROT_READ | PROT_EXEC) == 0;
}

void __lockstat_start(void)
{
	if (__options.lockstat == LOCKSTAT_OFF)
		return;
	__lock_rows = __lockstat_pages((LOCK_ROWS + 1) * sizeof(*__lock_rows));
	if (__lock_rows == NULL)
		lockstat_refuse("no memory for the table");
	for (const struct lockstat_entry *e = __start_lockstat_entries; e < __stop_lockstat_entries;
	     e++)
		if (!entry_redirect(e))
			lockstat_refuse("no memory to change the functions that count");
}

static void on_signal(int sig)
{
	int error = errno;

	__lockstat_report();
	errno = error;
}

/* A constructor, because constructors run when newlib can be used. */
static void __attribute__((constructor)) report_when_asked(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (__options.lockstat == LOCKSTAT_OFF)
		return;
	if (__options.lockstat == LOCKSTAT_EXIT)
		atexit(__lockstat_report);
	else if (sigaction(__options.lockstat, &action, NULL) != 0)
		lockstat_refuse("no handler can be set for this signal");
}
