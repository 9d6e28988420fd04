/*
 * limits.h - resource limits of a process (proc/limits.c).
 */
#pragma once
#include <weft/proc.h>

struct proc;

/*
 * *old gets the limit of p.  Then *to (NULL: nothing) becomes the limit.  -EINVAL: there is no
 * such limit, or cur exceeds max; -EPERM: max exceeds what the system can do.
 */
int limits_exchange(struct proc *p, unsigned which, const struct weft_rlimit *to,
		    struct weft_rlimit *old);
