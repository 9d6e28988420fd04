/* limits.h - newlib's limits and the limits of threads. */
#ifndef _LIBTHREAD_LIMITS_H
#define _LIBTHREAD_LIMITS_H

#include_next <limits.h>

#define PTHREAD_STACK_MIN 16384
#define PTHREAD_KEYS_MAX 1024
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#undef SEM_VALUE_MAX
#define SEM_VALUE_MAX 0x7fffffff
#undef MQ_PRIO_MAX
#define MQ_PRIO_MAX 32

#endif
