/* sys/shm.h - the replacement for System V's shared memory. */
#error "weft has no System V shared memory: use shm_open and mmap (sys/mman.h)"
