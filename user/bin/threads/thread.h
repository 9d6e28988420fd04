/*
 * thread.h - the thread that an LWP of another process runs, as far as libthread shows it.
 *
 * FS base points at the thread's struct thread, and the first word of this points at itself.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <weft/sys.h>
#include <weft/trace.h>
#include "../../../libthread/core/offsets.h"

/*
 * Returns the thread's number (pthread_t), and its name, "" if it has none.  0: the LWP runs none
 * of the program's threads.
 */
static inline uint32_t thread_of(int pid, const struct lwp_regs *r, char name[THREAD_NAME])
{
	uint8_t named = 0;
	uint64_t self = 0;
	uint32_t id = 0;

	*name = '\0';
	if (__sys_proc_read(pid, r->fsbase, &self, sizeof(self)) != sizeof(self) ||
	    self != r->fsbase ||
	    __sys_proc_read(pid, self + THREAD_ID, &id, sizeof(id)) != sizeof(id))
		return 0;
	if (__sys_proc_read(pid, self + THREAD_NAMED, &named, 1) == 1 && named &&
	    __sys_proc_read(pid, self + THREAD_NAME_AT, name, THREAD_NAME) != THREAD_NAME)
		*name = '\0';
	name[THREAD_NAME - 1] = '\0';
	return id;
}
