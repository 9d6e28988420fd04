/* semaphore.h - POSIX semaphores.  Functions return 0, or -1 and set errno. */
#ifndef _SEMAPHORE_H
#define _SEMAPHORE_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	unsigned int __word;  /* the value, or a flag that threads wait */
	unsigned int __flags; /* weft/ksync.h: shared between processes */
} sem_t;

int sem_init(sem_t *__sem, int __pshared, unsigned __value);
int sem_destroy(sem_t *__sem);
int sem_wait(sem_t *__sem);
int sem_trywait(sem_t *__sem);
int sem_timedwait(sem_t *__sem, const struct timespec *__abstime);
int sem_clockwait(sem_t *__sem, clockid_t __clock, const struct timespec *__abstime);
int sem_post(sem_t *__sem);
int sem_getvalue(sem_t *__sem, int *__value);

/*
 * Semaphores with names, "/name".  They exist until the system stops or they are unlinked.
 * sem_open(name, flags, mode, value): flags are 0, or O_CREAT and O_EXCL.  The last two arguments
 * are only used with O_CREAT.
 */
#define SEM_FAILED ((sem_t *)0)
sem_t *sem_open(const char *__name, int __flags, ...);
int sem_close(sem_t *__sem);
int sem_unlink(const char *__name);

#ifdef __cplusplus
}
#endif
#endif
