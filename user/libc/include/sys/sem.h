/* sys/sem.h - what there is instead of System V's. */
#error "weft has no System V semaphores: use sem_open, or sem_init with pshared (semaphore.h)"
