/*
 * errno_check.c - fails to compile if an error number of the kernel is not newlib's:
 * weft/errno.h, read after newlib's header, then redefines a macro to another
 * value, which is an error.  EPERM is what guards the kernel's list.
 */
#include <sys/errno.h>
_Static_assert(EPERM == 1, "EPERM");
#undef EPERM
#include <weft/errno.h>
_Static_assert(EPERM == 1, "EPERM");
