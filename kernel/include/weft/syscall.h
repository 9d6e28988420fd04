/*
 * syscall.h - the system calls.
 *
 * RAX holds the number, RDI RSI RDX R10 R8 R9 the arguments; RCX and R11 are
 * lost.  The result is in RAX: 0 or more, or the negative of an error number
 * (errno.h).  An unknown number gives -ENOSYS.  A bad pointer gives -EFAULT.
 * `long` arguments are 64 bits; ids and flags use the low 32.
 *
 * SYSCALLS(X) is the only list.  From it the kernel makes its table, libc its
 * stubs and truss its names.  X(number, name, number of arguments).
 */
#pragma once
#include <stdint.h>

#define SYSCALLS(X)                                                                                \
	/* does nothing: measures the entry to and the exit from the kernel */                     \
	X(0, null, 0)                                                                              \
	/* processes */                                                                            \
	X(1, exit, 1)    /* (int status): ends the process */                                      \
	X(2, spawn, 1)   /* (const struct spawn_args *) = pid */                                   \
	X(3, waitpid, 4) /* (pid, int *status, options, struct weft_rusage *) */                   \
	X(4, getpid, 0)                                                                            \
	X(5, getppid, 0)                                                                           \
	X(6, kill, 2)      /* (pid, sig): negative pid: a process group */                         \
	X(7, getrusage, 2) /* (which, struct weft_rusage *): 0 self, -1 children */                \
	X(8, setpgrp, 2)   /* (pid, pgrp) */                                                       \
	X(9, getpgrp, 1)   /* (pid) */                                                             \
	X(10, fork, 0)     /* = pid, and 0 in the child, which has only the calling LWP */         \
	X(11, execve, 3)   /* (path, char *const *argv, char *const *envp) */                      \
	X(12, rlimit, 3)   /* (which, const struct weft_rlimit *new, struct weft_rlimit *old) */   \
	X(13, setsid, 0)   /* = the new session, and group */                                      \
	X(14, getsid, 1)   /* (pid) */                                                             \
	/* LWPs */                                                                                 \
	X(16, lwp_create, 1) /* (struct lwp_create *) = id */                                      \
	X(17, lwp_exit, 0)                                                                         \
	X(18, lwp_wait, 2) /* (id or 0 for any, int *departed) */                                  \
	X(19, lwp_self, 0)                                                                         \
	X(20, lwp_suspend, 1)  /* (id) */                                                          \
	X(21, lwp_continue, 1) /* (id) */                                                          \
	X(22, lwp_kill, 2)     /* (id, sig) */                                                     \
	X(23, lwp_yield, 0)                                                                        \
	X(24, lwp_park, 2)       /* (const struct weft_timespec *deadline, unpark id) */           \
	X(25, lwp_unpark, 1)     /* (id) */                                                        \
	X(26, lwp_unpark_all, 2) /* (const uint32_t *ids, n) */                                    \
	X(27, lwp_schedctl, 0)   /* = address of the caller's struct schedctl */                   \
	X(28, lwp_sleep, 3)      /* (clock, flags, const struct weft_timespec *) */                \
	X(29, lwp_detach, 1)     /* (id) */                                                        \
	/* activations (lwp.h) */                                                                  \
	X(30, upcall_activate, 1) /* (CPUs) */                                                     \
	X(31, upcall_idle, 1)     /* (UPCALL_IDLE, _SPARE or _LEAVE) = id, or 0 */                 \
	X(34, upcall_unpark, 1)   /* (id) */                                                       \
	/* time */                                                                                 \
	X(32, clock_gettime, 2) /* (clock, struct weft_timespec *) */                              \
	X(33, clock_settime, 2) /* (clock, const struct weft_timespec *) */                        \
	/* memory */                                                                               \
	X(40, mmap, 6) /* (addr, len, prot, flags, fd, off) = addr */                              \
	X(41, munmap, 2)                                                                           \
	X(42, mprotect, 3)                                                                         \
	X(43, brk, 1)     /* (addr or 0) = the break */                                            \
	X(44, madvise, 3) /* (addr, len, WEFT_MADV_*) */                                           \
	X(45, msync, 3)   /* (addr, len, WEFT_MS_*) */                                             \
	/* files */                                                                                \
	X(48, open, 3)                                                                             \
	X(49, close, 1)                                                                            \
	X(50, read, 3)                                                                             \
	X(51, write, 3)                                                                            \
	X(52, lseek, 3)                                                                            \
	X(53, fstat, 2)                                                                            \
	X(54, stat, 2)                                                                             \
	X(55, getdents, 3) /* (fd, buffer, bytes) = bytes filled */                                \
	X(56, ioctl, 3)                                                                            \
	X(57, chdir, 1)                                                                            \
	X(58, getcwd, 2) /* (buffer, bytes) = bytes with the NUL */                                \
	X(59, dup, 1)                                                                              \
	X(60, dup2, 2)                                                                             \
	X(61, pipe, 2)   /* (int fd[2], flags): fd[0] to read, fd[1] to write */                   \
	X(62, fcntl, 3)  /* (fd, WEFT_F_*, arg) */                                                 \
	X(63, poll, 4)   /* (struct weft_pollfd *, n, const struct weft_timespec *, mask) */       \
	X(64, pread, 4)  /* (fd, buffer, n, offset) */                                             \
	X(65, pwrite, 4) /* (fd, buffer, n, offset) */                                             \
	X(66, readv, 3)  /* (fd, const struct weft_iovec *, n) */                                  \
	X(67, writev, 3) /* (fd, const struct weft_iovec *, n) */                                  \
	X(68, lstat, 2)                                                                            \
	X(69, readlink, 3)  /* (path, buffer, bytes) = bytes, without a NUL */                     \
	X(70, truncate, 2)  /* (path, size) */                                                     \
	X(71, ftruncate, 2) /* (fd, size) */                                                       \
	X(160, mkdir, 2)    /* (path, mode) */                                                     \
	X(161, rmdir, 1)                                                                           \
	X(162, unlink, 1)                                                                          \
	X(163, link, 2)    /* (old, new) */                                                        \
	X(164, symlink, 2) /* (target, path) */                                                    \
	X(165, rename, 2)  /* (old, new) */                                                        \
	X(166, chmod, 2)                                                                           \
	X(167, fchmod, 2)                                                                          \
	X(168, utimens, 3)  /* (path, const struct weft_timespec[2] or NULL, follow) */            \
	X(169, futimens, 2) /* (fd, const struct weft_timespec[2] or NULL) */                      \
	X(170, umask, 1)                                                                           \
	X(171, mountinfo, 2) /* (n, struct weft_mount *) */                                        \
	X(172, fchdir, 1)                                                                          \
	X(173, openat, 4) /* (fd of a directory or WEFT_AT_FDCWD, path, flags, mode) */            \
	/* the system */                                                                           \
	X(72, procinfo, 2) /* (pid, struct weft_procinfo *): the first with pid >= */              \
	X(73, lwp_info, 3) /* (pid, id, struct lwp_info *): the first with id >= */                \
	X(74, cpuinfo, 2)  /* (cpu, struct weft_cpuinfo *) */                                      \
	X(75, sysinfo, 1)  /* (struct weft_sysinfo *) */                                           \
	X(76, reboot, 2)   /* (how, status) */                                                     \
	/* signals (signal.h); a set is a uint64_t */                                              \
	X(80, sigaction, 3)    /* (sig, const struct weft_sigaction *, struct weft_sigaction *) */ \
	X(81, sigprocmask, 3)  /* (how, const set *, set *old) */                                  \
	X(82, sigpending, 1)   /* (set *) */                                                       \
	X(83, sigsuspend, 1)   /* (const set *) */                                                 \
	X(84, sigtimedwait, 3) /* (const set *, struct weft_siginfo *, const timespec *) = sig */  \
	X(85, sigqueue, 3)     /* (pid, sig, value) */                                             \
	X(86, sigaltstack, 2)  /* (const struct weft_stack *, struct weft_stack *old) */           \
	X(87, sigreturn, 1)    /* (const struct weft_ucontext *): continues there */               \
	X(88, lwp_sigqueue, 3) /* (id, sig, value) */                                              \
	X(89, upcall_wait, 1)  /* (events wanted) = events */                                      \
	/* interval timers (signal.h) */                                                           \
	X(90, setitimer, 3)        /* (which, const struct weft_itimerspec *, struct * old) */     \
	X(91, getitimer, 2)        /* (which, struct weft_itimerspec *) */                         \
	X(92, timer_create, 3)     /* (clock, const struct weft_sigevent *, int *id) */            \
	X(93, timer_settime, 4)    /* (id, flags, const struct weft_itimerspec *, struct * old) */ \
	X(94, timer_gettime, 2)    /* (id, struct weft_itimerspec *) */                            \
	X(95, timer_getoverrun, 1) /* (id) = overruns */                                           \
	X(96, timer_delete, 1)     /* (id) */                                                      \
	/* scheduling and accounting */                                                            \
	X(104, priocntl, 4)       /* (idtype, id, command, void *) */                              \
	X(105, processor_bind, 4) /* (idtype, id, cpu, int *old) */                                \
	X(106, p_online, 2)       /* (cpu, flag) = state before */                                 \
	X(107, pset_create, 1)    /* (int *id) */                                                  \
	X(108, pset_destroy, 1)   /* (id) */                                                       \
	X(109, pset_assign, 3)    /* (id, cpu, int *old) */                                        \
	X(110, pset_bind, 4)      /* (set, idtype, id, int *old) */                                \
	X(111, pset_info, 4)      /* (set, int *type, unsigned *n, int *cpus) */                   \
	X(112, pset_list, 2)      /* (int *ids, unsigned *n) */                                    \
	X(113, msacct, 3)         /* (pid, id or 0 for the process, struct weft_msacct *) */       \
	/* locks in user memory (ksync.h); deadlines: const struct weft_timespec *, absolute */    \
	X(120, lwp_mutex_lock, 2)       /* (struct lwp_mutex *, owner) */                          \
	X(121, lwp_mutex_trylock, 2)    /* (struct lwp_mutex *, owner) */                          \
	X(122, lwp_mutex_timedlock, 3)  /* (struct lwp_mutex *, owner, deadline) */                \
	X(123, lwp_mutex_unlock, 2)     /* (struct lwp_mutex *, owner) */                          \
	X(124, lwp_cond_wait, 3)        /* (struct lwp_cond *, struct lwp_mutex *, owner) */       \
	X(125, lwp_cond_timedwait, 4)   /* (cond, mutex, owner, deadline) */                       \
	X(126, lwp_cond_signal, 1)      /* (struct lwp_cond *) */                                  \
	X(127, lwp_cond_broadcast, 1)   /* (struct lwp_cond *) */                                  \
	X(128, lwp_sema_wait, 1)        /* (struct lwp_sema *) */                                  \
	X(129, lwp_sema_trywait, 1)     /* (struct lwp_sema *) */                                  \
	X(130, lwp_sema_timedwait, 2)   /* (struct lwp_sema *, deadline) */                        \
	X(131, lwp_sema_post, 1)        /* (struct lwp_sema *) */                                  \
	X(132, lwp_mutex_register, 1)   /* (struct lwp_mutex *) */                                 \
	X(133, lwp_mutex_unregister, 1) /* (struct lwp_mutex *) */                                 \
	X(134, lwp_mutex_abandon, 1)    /* (owner): hands on the robust mutexes that it holds */   \
	X(135, lwp_rwlock_rdlock, 3)    /* (struct lwp_rwlock *, LWP_RWLOCK_AGAIN, deadline) */    \
	X(136, lwp_rwlock_wrlock, 2)    /* (struct lwp_rwlock *, deadline) */                      \
	X(137, lwp_rwlock_unlock, 1)    /* (struct lwp_rwlock *) */                                \
	X(138, lwp_barrier_wait, 3)     /* (struct lwp_barrier *, cycle, LWP_BARRIER_ARRIVED) */   \
	X(139, lwp_ceiling, 2)          /* (real-time priority or -1, limit or -1) */              \
	/* kernel objects with handles (kobj.h) */                                                 \
	X(140, kobj_create, 1)        /* (struct kobj_create *) = handle */                        \
	X(141, kobj_close, 1)         /* (handle) */                                               \
	X(142, kobj_wait, 4)          /* (const uint32_t *handles, n, flags, deadline) = index */  \
	X(143, kobj_mutex_release, 1) /* (handle) */                                               \
	X(144, kobj_event_set, 1)     /* (handle) = was it set? */                                 \
	X(145, kobj_event_reset, 1)   /* (handle) = was it set? */                                 \
	X(146, kobj_event_pulse, 1)   /* (handle) = was it set? */                                 \
	X(147, kobj_sema_release, 2)  /* (handle, n) = the count before */                         \
	X(195, kobj_dup, 2)           /* (handle, KOBJ_INHERIT or 0) = another handle */           \
	X(196, kobj_at_exit, 2)       /* (handle of an event, pid or 0 for the calling LWP) */     \
	/* watching processes (trace.h) */                                                         \
	X(176, trace_attach, 2) /* (pid, flags) */                                                 \
	X(177, trace_detach, 1) /* (pid) */                                                        \
	X(178, trace_wait, 2)   /* (struct trace_event *, n) = events */                           \
	X(179, proc_read, 4)    /* (pid, address, buffer, bytes) = bytes */                        \
	X(180, lwp_regs, 3)     /* (pid, id, struct lwp_regs *): the first with id >= */           \
	/* for the threads library */                                                              \
	X(190, lwp_cancel, 3) /* (id, thread, pc): see lwp.h */                                    \
	X(182, sig_aslwp, 0)                                                                       \
	X(183, sig_redirect, 2) /* (id, sig) */                                                    \
	X(197, lwp_preempt, 1)  /* (id): see lwp.h */                                              \
	X(184, lwp_sigtake, 0)  /* = set */                                                        \
	X(185, lwp_sigcatch, 1) /* (const set *) */

#define WEFT_SYSCALL_MAX 256

#define X(number, name, nargs) SYS_##name = number,
enum { SYSCALLS(X) };
#undef X

/* struct timespec of newlib on x86-64, under a name of its own. */
struct weft_timespec {
	int64_t sec;
	int64_t nsec; /* 0 to 999,999,999 */
};

/*
 * lwp_park(deadline, id | LWP_PARK_CLOCK): `deadline` points at a struct lwp_park_clock.
 * clock_settime ends such a park as an unpark does.  The park returns at once if the offset has
 * changed already.  So a library that computed `deadline` from a time of CLOCK_REALTIME, by this
 * offset, can compute it again.
 */
#define LWP_PARK_CLOCK 0x80000000u
struct lwp_park_clock {
	struct weft_timespec deadline; /* caller writes: CLOCK_MONOTONIC */
	uint64_t offset;               /* caller writes: boot_realtime (weft/time.h) */
};

/* Flags of lwp_sleep. */
#define LWP_SLEEP_ABSTIME 1 /* the time is a point in time, not a length */
#define LWP_SLEEP_SAMPLE 2  /* at its end a trace records what runs where (sched/sample.c) */
