/* sys/shm.h - what there is instead of System V's. */
#error "weft has no System V shared memory: use shm_open and mmap (sys/mman.h)"
