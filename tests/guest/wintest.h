/* wintest.h - what the tests of Win32's interface share. */
#pragma once
#include "tap.h"
#include <windows.h>

#define NONE ((HANDLE)4000) /* a handle that no test gets */

/* A call that fails, and why. */
#define FAILS(name, call, error)                                                                   \
	do {                                                                                       \
		SetLastError(12345);                                                               \
		int failed = !(call);                                                              \
		DWORD why = GetLastError();                                                        \
		tap_report(failed &&why == (error), name, "%s:%d: %s, last error %u", __FILE__,    \
			   __LINE__, failed ? "failed" : "succeeded", why);                        \
	} while (0)

__attribute__((unused)) static HANDLE create(LPTHREAD_START_ROUTINE f, void *arg, DWORD flags)
{
	HANDLE h = CreateThread(NULL, 0, f, arg, flags, NULL);

	if (h == NULL)
		bail("CreateThread: %u", GetLastError());
	return h;
}

/* Waits for the thread's end; its exit code. */
__attribute__((unused)) static DWORD join(HANDLE h)
{
	DWORD code = 0;

	if (WaitForSingleObject(h, INFINITE) != WAIT_OBJECT_0 || !GetExitCodeThread(h, &code))
		bail("join: %u", GetLastError());
	CloseHandle(h);
	return code;
}

__attribute__((unused)) static uint64_t units(FILETIME t)
{
	return (uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime;
}
