/*
 * process.h - threads as the C library of Windows starts them.  (newlib's file of this name is for
 * another system.)
 */
#ifndef _PROCESS_H
#define _PROCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As CreateThread, except that errors are 0 and errno (for example EINVAL, and EAGAIN: no memory).
 */
uintptr_t _beginthreadex(void *security, unsigned stack, unsigned (*start)(void *), void *arg,
			 unsigned flags, unsigned *id);
void _endthreadex(unsigned code) __attribute__((__noreturn__));
/* The library closes the handle when the thread ends.  -1 and errno. */
uintptr_t _beginthread(void (*start)(void *), unsigned stack, void *arg);
void _endthread(void) __attribute__((__noreturn__));

#ifdef __cplusplus
}
#endif
#endif
