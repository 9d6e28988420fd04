/* semaphore.h - POSIX semaphores without names.  Functions return 0, or -1 and set errno. */
#ifndef _SEMAPHORE_H
#define _SEMAPHORE_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	unsigned int __word;  /* value, or a flag: threads wait */
	unsigned int __flags; /* weft/ksync.h: shared between processes */
} sem_t;

int sem_init(sem_t *__sem, int __pshared, unsigned __value);
int sem_destroy(sem_t *__sem);
int sem_wait(sem_t *__sem);
int sem_trywait(sem_t *__sem);
int sem_timedwait(sem_t *__sem, const struct timespec *__abstime);
int sem_post(sem_t *__sem);
int sem_getvalue(sem_t *__sem, int *__value);

#ifdef __cplusplus
}
#endif
#endif
