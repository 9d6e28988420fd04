/* sys/ipc.h - the replacements for System V's interprocess communication. */
#error "weft has no System V IPC: use shm_open or mmap (sys/mman.h), sem_open or sem_init with pshared (semaphore.h), mq_open (mqueue.h), and pipes"
