/*
 * wait.h - waiting for kernel objects (weft/kobj.h) with time-outs in milliseconds, as in
 * WaitForSingleObject and WaitForMultipleObjects.  Results are those of
 * kobj_wait.
 */
#pragma once
#include <weft/kobj.h>
#include <weft/start.h>
#include <weft/sys.h>

#define KOBJ_INFINITE 0xffffffffu

static inline long kobj_wait_several(const uint32_t *handles, unsigned n, unsigned flags,
				     uint32_t ms)
{
	struct weft_timespec at = {0};

	if (ms == KOBJ_INFINITE)
		return __sys_kobj_wait(handles, n, flags, 0);
	if (ms != 0) {
		int64_t ns = gethrtime() + ms * 1000000ll;
		at.sec = ns / 1000000000;
		at.nsec = ns % 1000000000;
	}
	return __sys_kobj_wait(handles, n, flags, &at);
}

static inline long kobj_wait_one(uint32_t handle, uint32_t ms)
{
	return kobj_wait_several(&handle, 1, 0, ms);
}
