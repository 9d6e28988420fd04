/*
 * micro.h - what the figures of micro are made of; main.c says what they mean.
 *
 * A measuring function performs its operation n times, and returns the nanoseconds that this
 * took: the difference of two calls of gethrtime().  Its preparations are not included.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <weft/start.h>

/* Loops of one thread: single.c. */
int64_t null_syscall(long n);
int64_t getppid_(long n);
int64_t kill_(long n);
int64_t clock_gettime_(long n);
int64_t mutex_free(long n);
int64_t rwlock_free(long n);
int64_t sema_free(long n);
int64_t getspecific(long n);
int64_t ui_getspecific(long n);
int64_t ui_mutex(long n);
int64_t nanosleep_zero(long n);
int64_t sigmask(long n);
int64_t create_join(long n);

/* Two threads or more: pairs.c. */
int64_t yield_pair(long n);
int64_t yield_masked(long n);
int64_t sema_round_trip(long n);
int64_t timed_sema_round_trip(long n);
int64_t cond_round_trip(long n);
int64_t pingpong(long n);
int64_t mutex_contended(long n);

/* malloc and free: malloc.c. */
int64_t malloc_free(long n);
int64_t malloc_contended(long n);

/* The kernel's part, without the library's: kernel.c. */
int64_t park_unpark(long n);
int64_t park_handoff(long n);
int64_t lwp_create_exit(long n);
int64_t page_fault(long n);
int64_t map_unmap(long n);
int64_t map_touch_unmap(long n);
int64_t tlb_shootdown(long n);
int64_t spawn_wait(long n);

/* Objects of the kernel: objects.c. */
int64_t lwp_mutex(long n);
int64_t shared_mutex(long n);
int64_t robust_mutex(long n);
int64_t shared_sema_round_trip(long n);
int64_t kobj_mutex(long n);
int64_t kobj_event_round_trip(long n);

/* What a process may do before the measurement (prelude.c).  False: there is no prelude of this
 * name. */
bool prelude(const char *name);

/* error is 0 or an error number; anything else ends the program with status 1. */
void must(int error, const char *what);
/* In a model with a pool, asks for LWPs for so many threads, at most one a CPU. */
void lwps_for(unsigned threads);
/* Attributes of a thread with an LWP of its own. */
void bound(pthread_attr_t *attr);
/*
 * Returns the instructions of n turns of ours(n), while a second thread makes as many of its own.
 * Some turns before are not counted.
 */
int64_t pair(void (*ours)(long), void (*theirs)(long), const pthread_attr_t *attr, long n);
/* A pair that hands the turn over by semaphores. */
int64_t sema_turns(int pshared, const pthread_attr_t *attr, long n);
/*
 * Returns the instructions of n operations, from the first thread's beginning to the last one's
 * end: work(share of n) on a thread for each CPU, up to 8.
 */
int64_t on_all_cpus(void (*work)(long), long n);
