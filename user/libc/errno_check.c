/*
 * errno_check.c - fails to compile if an error number of the kernel differs from newlib's.
 *
 * weft/errno.h, read after newlib's header, then redefines a macro to another value, which is an
 * error.  The kernel's list is guarded by EPERM, so EPERM is undefined first.
 */
#include <sys/errno.h>
_Static_assert(EPERM == 1, "EPERM");
#undef EPERM
#include <weft/errno.h>
_Static_assert(EPERM == 1, "EPERM");
