/* sys/sem.h - the replacement for System V's semaphores. */
#error "weft has no System V semaphores: use sem_open, or sem_init with pshared (semaphore.h)"
