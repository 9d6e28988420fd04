/*
 * sysdesc.c - the table of weft/sysdesc.h.
 */
#include <stddef.h>
#include <weft/errno.h>
#include <weft/file.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/mman.h>
#include <weft/msacct.h>
#include <weft/poll.h>
#include <weft/priocntl.h>
#include <weft/proc.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/syscall.h>
#include <weft/sysdesc.h>
#include <weft/time.h>
#include <weft/trace.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- names of bits and values ----------------------------------------------------------- */

/* clang-format off */
#define BIT(prefix, name) {#name, prefix##name, prefix##name}
#define VALUE(prefix, name) {#name, prefix##name, ~0u}
/* A negative value. */
#define BELOW(prefix, name) {#name, (uint32_t)prefix##name, ~0u}
/* clang-format on */

#define FLAG_SETS(X)                                                                               \
	X(open, {"O_RDONLY", 0, 3}, {"O_WRONLY", 1, 3}, {"O_RDWR", 2, 3}, BIT(WEFT_, O_APPEND),    \
	  BIT(WEFT_, O_CREAT), BIT(WEFT_, O_TRUNC), BIT(WEFT_, O_EXCL), BIT(WEFT_, O_NONBLOCK),    \
	  BIT(WEFT_, O_CLOEXEC), BIT(WEFT_, O_DIRECTORY), BIT(WEFT_, O_NOFOLLOW),                  \
	  BIT(WEFT_, O_NOCTTY), BIT(WEFT_, O_SYNC))                                                \
	X(status, BIT(WEFT_, O_APPEND), BIT(WEFT_, O_NONBLOCK), BIT(WEFT_, O_CLOEXEC))             \
	X(fd, BIT(WEFT_, FD_CLOEXEC))                                                              \
	X(prot, {"PROT_NONE", 0, ~0u}, BIT(WEFT_, PROT_READ), BIT(WEFT_, PROT_WRITE),              \
	  BIT(WEFT_, PROT_EXEC))                                                                   \
	X(map, BIT(WEFT_, MAP_SHARED), BIT(WEFT_, MAP_PRIVATE), BIT(WEFT_, MAP_FIXED),             \
	  BIT(WEFT_, MAP_ANON), BIT(WEFT_, MAP_NORESERVE))                                         \
	X(seek, VALUE(WEFT_, SEEK_SET), VALUE(WEFT_, SEEK_CUR), VALUE(WEFT_, SEEK_END))            \
	X(clock, VALUE(WEFT_, CLOCK_REALTIME), VALUE(WEFT_, CLOCK_MONOTONIC),                      \
	  VALUE(WEFT_, CLOCK_PROCESS_CPUTIME), VALUE(WEFT_, CLOCK_THREAD_CPUTIME))                 \
	X(sleep, {"TIMER_ABSTIME", LWP_SLEEP_ABSTIME, LWP_SLEEP_ABSTIME},                          \
	  {"SAMPLE", LWP_SLEEP_SAMPLE, LWP_SLEEP_SAMPLE})                                          \
	X(wait, BIT(WEFT_, WNOHANG), BIT(WEFT_, WUNTRACED), BIT(WEFT_, WCONTINUED),                \
	  BIT(WEFT_, WNOWAIT), BIT(WEFT_, WNOEXIT), BIT(WEFT_, WGROUP))                            \
	X(ioctl, VALUE(WEFT_, TCGETS), VALUE(WEFT_, TCSETS), VALUE(WEFT_, TCSETSF),                \
	  VALUE(WEFT_, TIOCGPGRP), VALUE(WEFT_, TIOCSPGRP), VALUE(WEFT_, TIOCGWINSZ),              \
	  VALUE(WEFT_, TIOCSWINSZ))                                                                \
	X(iflag, BIT(WEFT_, ICRNL))                                                                \
	X(oflag, BIT(WEFT_, OPOST))                                                                \
	X(cflag, BIT(WEFT_, CRTSCTS))                                                              \
	X(lflag, BIT(WEFT_, ICANON), BIT(WEFT_, ECHO), BIT(WEFT_, ISIG))                           \
	X(fcntl, VALUE(WEFT_, F_DUPFD), VALUE(WEFT_, F_GETFD), VALUE(WEFT_, F_SETFD),              \
	  VALUE(WEFT_, F_GETFL), VALUE(WEFT_, F_SETFL), VALUE(WEFT_, F_GETLK),                     \
	  VALUE(WEFT_, F_SETLK), VALUE(WEFT_, F_SETLKW), VALUE(WEFT_, F_DUPFD_CLOEXEC))            \
	X(flock, VALUE(WEFT_, F_RDLCK), VALUE(WEFT_, F_WRLCK), VALUE(WEFT_, F_UNLCK))              \
	X(poll, BIT(WEFT_, POLLIN), BIT(WEFT_, POLLPRI), BIT(WEFT_, POLLOUT), BIT(WEFT_, POLLERR), \
	  BIT(WEFT_, POLLHUP), BIT(WEFT_, POLLNVAL))                                               \
	X(rlimit, VALUE(WEFT_, RLIMIT_AS), VALUE(WEFT_, RLIMIT_DATA), VALUE(WEFT_, RLIMIT_STACK),  \
	  VALUE(WEFT_, RLIMIT_NPROC), VALUE(WEFT_, RLIMIT_NOFILE))                                 \
	X(madvise, VALUE(WEFT_, MADV_NORMAL), VALUE(WEFT_, MADV_RANDOM),                           \
	  VALUE(WEFT_, MADV_SEQUENTIAL), VALUE(WEFT_, MADV_WILLNEED), VALUE(WEFT_, MADV_DONTNEED)) \
	X(msync, BIT(WEFT_, MS_ASYNC), BIT(WEFT_, MS_INVALIDATE), BIT(WEFT_, MS_SYNC))             \
	X(upcall, BIT(, UPCALL_BLOCKED), BIT(, UPCALL_GROW), BIT(, UPCALL_EXIT),                   \
	  BIT(, UPCALL_TIMED))                                                                     \
	X(upcall_idle, VALUE(, UPCALL_IDLE), VALUE(, UPCALL_SPARE), VALUE(, UPCALL_LEAVE))         \
	X(itimer, {"ITIMER_REAL", 0, 0xff}, {"ITIMER_VIRTUAL", 1, 0xff}, {"ITIMER_PROF", 2, 0xff}, \
	  BIT(WEFT_, ITIMER_LWP))                                                                  \
	X(timer, {"TIMER_ABSTIME", WEFT_TIMER_ABSTIME, WEFT_TIMER_ABSTIME})                        \
	X(sigev, VALUE(WEFT_, SIGEV_NONE), VALUE(WEFT_, SIGEV_SIGNAL), VALUE(WEFT_, SIGEV_LWP))    \
	X(idtype, VALUE(WEFT_, P_PID), VALUE(WEFT_, P_PPID), VALUE(WEFT_, P_PGID),                 \
	  VALUE(WEFT_, P_SID), VALUE(WEFT_, P_CID), VALUE(WEFT_, P_UID), VALUE(WEFT_, P_GID),      \
	  VALUE(WEFT_, P_ALL), VALUE(WEFT_, P_LWPID))                                              \
	X(priocntl, VALUE(, PC_GETCID), VALUE(, PC_GETCLINFO), VALUE(, PC_SETPARMS),               \
	  VALUE(, PC_GETPARMS), VALUE(, PC_DONICE), VALUE(, PC_ADMIN))                             \
	X(online, VALUE(, P_OFFLINE), VALUE(, P_ONLINE), VALUE(, P_STATUS))                        \
	X(how, VALUE(WEFT_, SIG_SETMASK), VALUE(WEFT_, SIG_BLOCK), VALUE(WEFT_, SIG_UNBLOCK))      \
	X(sa, BIT(WEFT_, SA_SIGINFO), BIT(WEFT_, SA_RESTART), BIT(WEFT_, SA_NODEFER),              \
	  BIT(WEFT_, SA_RESETHAND), BIT(WEFT_, SA_ONSTACK), BIT(WEFT_, SA_NOCLDSTOP),              \
	  BIT(WEFT_, SA_NOCLDWAIT))                                                                \
	X(ss, BIT(WEFT_, SS_ONSTACK), BIT(WEFT_, SS_DISABLE), BIT(WEFT_, SS_LEAVING))              \
	X(at, BELOW(WEFT_, AT_FDCWD))                                                              \
	X(myid, BELOW(WEFT_, P_MYID))                                                              \
	X(bind, BELOW(, PBIND_NONE), BELOW(, PBIND_QUERY))                                         \
	X(pset, BELOW(, PS_NONE), BELOW(, PS_QUERY), BELOW(, PS_MYID))                             \
	X(class, {"TS", WEFT_CLASS_TS, ~0u}, {"RT", WEFT_CLASS_RT, ~0u},                           \
	  {"NT", WEFT_CLASS_NT, ~0u}, BELOW(, PC_CLNULL))                                          \
	X(donice, VALUE(, PC_GETNICE), VALUE(, PC_SETNICE))                                        \
	X(admin, VALUE(, PC_GETTABLE), VALUE(, PC_SETTABLE))                                       \
	X(spawn, BIT(, SPAWN_SETPGROUP), BIT(, SPAWN_SETSIGMASK), BIT(, SPAWN_SETSIGDEF),          \
	  BIT(, SPAWN_SETSCHED))                                                                   \
	X(lwp, BIT(, LWP_DETACHED), BIT(, LWP_SUSPENDED), BIT(, LWP_BOUND), BIT(, LWP_NOPOOL))     \
	X(who, {"RUSAGE_SELF", 0, ~0u}, {"RUSAGE_CHILDREN", ~0u, ~0u})                             \
	X(reboot, VALUE(WEFT_, REBOOT_HALT), VALUE(WEFT_, REBOOT_RESET),                           \
	  VALUE(WEFT_, REBOOT_HOLD), VALUE(WEFT_, REBOOT_FAIL))                                    \
	X(trace, BIT(, TRACE_FOLLOW), BIT(, TRACE_STREAM), BIT(, TRACE_HOLD))                      \
	X(kind, VALUE(, TRACE_ENTRY), VALUE(, TRACE_RETURN), VALUE(, TRACE_SIGNAL),                \
	  VALUE(, TRACE_FAULT), VALUE(, TRACE_LWP_EXIT), VALUE(, TRACE_EXIT))                      \
	X(object, VALUE(, KOBJ_MUTEX), VALUE(, KOBJ_EVENT), VALUE(, KOBJ_SEMAPHORE))               \
	X(kobj, BIT(, KOBJ_MANUAL_RESET), BIT(, KOBJ_INHERIT), BIT(, KOBJ_OPEN), BIT(, KOBJ_NEW))  \
	X(kobj_wait, BIT(, KOBJ_WAIT_ALL))                                                         \
	X(state, {"idle", LWP_ST_IDLE, ~0u}, {"run", LWP_ST_RUN, ~0u},                             \
	  {"onproc", LWP_ST_ONPROC, ~0u}, {"sleep", LWP_ST_SLEEP, ~0u},                            \
	  {"stop", LWP_ST_STOP, ~0u}, {"zombie", LWP_ST_ZOMB, ~0u})

#define X(set, ...) static const struct flagdesc flags_##set[] = {__VA_ARGS__, {NULL, 0, 0}};
FLAG_SETS(X)
#undef X
#define X(set, ...) FLAGS_##set,
enum { FLAG_SETS(X) };
#undef X
#define X(set, ...) flags_##set,
static const struct flagdesc *const flag_sets[] = {FLAG_SETS(X)};
#undef X

const struct flagdesc *sysdesc_flags(unsigned of)
{
	return flag_sets[of];
}

/* --- structures ----------------------------------------------------------------------------- */

#define T(t)                                                                                       \
	{                                                                                          \
		T_##t, 0, 0                                                                        \
	}
#define FLAGS(set)                                                                                 \
	{                                                                                          \
		T_FLAGS, FLAGS_##set, 0                                                            \
	}
#define F(struct_name, member, t) FD(struct_name, member, T_##t, 0)
#define FF(struct_name, member, set) FD(struct_name, member, T_FLAGS, FLAGS_##set)
#define FD(struct_name, member, t, of)                                                             \
	{                                                                                          \
#member, offsetof(struct struct_name, member),                                     \
			sizeof(((struct struct_name *)0)->member),                                 \
		{                                                                                  \
			t, of, 0                                                                   \
		}                                                                                  \
	}

#define FV(struct_name, member, variants) FD(struct_name, member, T_VARIANT, VARIANTS_##variants)

/* The sets of variants that structures and calls refer to; they are defined below those. */
enum { VARIANTS_ioctl, VARIANTS_fcntl, VARIANTS_priocntl, VARIANTS_clparms };

/* X(structure, its fields): the fields worth showing. */
#define STRUCTS(X)                                                                                 \
	X(weft_timespec, F(weft_timespec, sec, LONG), F(weft_timespec, nsec, LONG))                \
	X(spawn_args, F(spawn_args, path, PATH), F(spawn_args, argv, STRV),                        \
	  F(spawn_args, envp, PTR), F(spawn_args, actions, PTR), F(spawn_args, nactions, INT),     \
	  FF(spawn_args, flags, spawn), F(spawn_args, pgroup, PID))                                \
	X(weft_rusage, F(weft_rusage, utime, NS), F(weft_rusage, stime, NS))                       \
	X(lwp_create, F(lwp_create, entry, PTR), F(lwp_create, stack, PTR),                        \
	  F(lwp_create, arg, PTR), F(lwp_create, fsbase, PTR), FF(lwp_create, flags, lwp),         \
	  F(lwp_create, name, CHARS))                                                              \
	X(weft_flock, FF(weft_flock, type, flock), FF(weft_flock, whence, seek),                   \
	  F(weft_flock, start, LONG), F(weft_flock, len, LONG), F(weft_flock, pid, PID))           \
	X(weft_stat, F(weft_stat, ino, LONG), F(weft_stat, mode, OCT), F(weft_stat, nlink, INT),   \
	  F(weft_stat, size, LONG), F(weft_stat, mtime, NS))                                       \
	X(weft_procinfo, F(weft_procinfo, pid, PID), F(weft_procinfo, ppid, PID),                  \
	  F(weft_procinfo, nlwp, INT), FF(weft_procinfo, state, state),                            \
	  F(weft_procinfo, size, SIZE), F(weft_procinfo, rss, SIZE),                               \
	  F(weft_procinfo, name, CHARS))                                                           \
	X(lwp_info, F(lwp_info, id, LWP), FF(lwp_info, state, state), F(lwp_info, pri, INT),       \
	  F(lwp_info, cpu, CPU), F(lwp_info, utime, NS), F(lwp_info, stime, NS),                   \
	  F(lwp_info, wchan, CHARS), F(lwp_info, name, CHARS))                                     \
	X(weft_cpuinfo, F(weft_cpuinfo, id, CPU), F(weft_cpuinfo, online, INT),                    \
	  F(weft_cpuinfo, pid, PID), F(weft_cpuinfo, lwpid, LWP), F(weft_cpuinfo, nrunnable, INT)) \
	X(weft_rlimit, F(weft_rlimit, cur, SIZE), F(weft_rlimit, max, SIZE))                       \
	X(weft_sysinfo, F(weft_sysinfo, mem_total, SIZE), F(weft_sysinfo, mem_free, SIZE),         \
	  F(weft_sysinfo, ncpu, INT), F(weft_sysinfo, nproc, INT), F(weft_sysinfo, nlwp, INT))     \
	X(weft_pollfd, F(weft_pollfd, fd, FD), FF(weft_pollfd, events, poll),                      \
	  FF(weft_pollfd, revents, poll))                                                          \
	X(weft_termios, FF(weft_termios, iflag, iflag), FF(weft_termios, oflag, oflag),            \
	  FF(weft_termios, cflag, cflag), FF(weft_termios, lflag, lflag))                          \
	X(weft_winsize, F(weft_winsize, row, INT), F(weft_winsize, col, INT))                      \
	X(pcinfo, FF(pcinfo, pc_cid, class), F(pcinfo, pc_clname, CHARS),                          \
	  F(pcinfo, pc_maxpri, INT))                                                               \
	X(tsparms, F(tsparms, ts_uprilim, INT), F(tsparms, ts_upri, INT))                          \
	X(rtparms, F(rtparms, rt_pri, INT), F(rtparms, rt_tqsecs, INT),                            \
	  F(rtparms, rt_tqnsecs, INT))                                                             \
	X(ntparms, F(ntparms, nt_class, INT), F(ntparms, nt_relative, INT),                        \
	  F(ntparms, nt_level, INT))                                                               \
	X(pcparms, FF(pcparms, pc_cid, class), FV(pcparms, pc_clparms, clparms))                   \
	X(pcnice, F(pcnice, pc_val, INT), FF(pcnice, pc_op, donice))                               \
	X(pcadmin, FF(pcadmin, pc_cid, class), FF(pcadmin, pc_cmd, admin),                         \
	  F(pcadmin, pc_table, PTR), F(pcadmin, pc_size, SIZE))                                    \
	X(weft_iovec, F(weft_iovec, base, PTR), F(weft_iovec, len, SIZE))                          \
	X(weft_mount, F(weft_mount, path, CHARS), F(weft_mount, type, CHARS))                      \
	X(weft_itimerspec, F(weft_itimerspec, interval.sec, LONG),                                 \
	  F(weft_itimerspec, interval.nsec, LONG), F(weft_itimerspec, value.sec, LONG),            \
	  F(weft_itimerspec, value.nsec, LONG))                                                    \
	X(weft_sigevent, FF(weft_sigevent, notify, sigev), F(weft_sigevent, signo, SIG),           \
	  F(weft_sigevent, value, HEX), F(weft_sigevent, lwpid, LWP))                              \
	X(weft_msacct, F(weft_msacct, pid, PID), F(weft_msacct, lwpid, LWP),                       \
	  F(weft_msacct, elapsed, NS))                                                             \
	X(lwp_mutex, F(lwp_mutex, word, HEX))                                                      \
	X(lwp_cond, F(lwp_cond, word, HEX))                                                        \
	X(lwp_sema, F(lwp_sema, word, HEX), F(lwp_sema, flags, HEX))                               \
	X(lwp_rwlock, F(lwp_rwlock, word, HEX))                                                    \
	X(lwp_barrier, F(lwp_barrier, word, HEX), F(lwp_barrier, count, INT))                      \
	X(kobj_create, FF(kobj_create, kind, object), FF(kobj_create, flags, kobj),                \
	  F(kobj_create, initial, INT), F(kobj_create, max, INT), F(kobj_create, name, PATH),      \
	  F(kobj_create, handle, INT))                                                             \
	X(weft_sigaction, F(weft_sigaction, handler, PTR), F(weft_sigaction, entry, PTR),          \
	  F(weft_sigaction, mask, SET), FF(weft_sigaction, flags, sa))                             \
	X(weft_siginfo, F(weft_siginfo, signo, SIG), F(weft_siginfo, code, INT),                   \
	  F(weft_siginfo, pid, PID), F(weft_siginfo, addr, PTR), F(weft_siginfo, value, HEX))      \
	X(weft_stack, F(weft_stack, sp, PTR), FF(weft_stack, flags, ss),                           \
	  F(weft_stack, size, SIZE))                                                               \
	X(weft_ucontext, F(weft_ucontext, sigmask, SET), F(weft_ucontext, rip, PTR),               \
	  F(weft_ucontext, rsp, PTR))                                                              \
	X(trace_event, FF(trace_event, kind, kind), F(trace_event, pid, PID),                      \
	  F(trace_event, lwp, LWP), F(trace_event, call, INT))                                     \
	X(lwp_regs, F(lwp_regs, id, LWP), F(lwp_regs, rip, PTR), F(lwp_regs, rsp, PTR),            \
	  F(lwp_regs, rbp, PTR))

#define X(name, ...) static const struct fielddesc fields_##name[] = {__VA_ARGS__};
STRUCTS(X)
#undef X
#define X(name, ...) STRUCT_##name,
enum { STRUCTS(X) };
#undef X
#define X(name, ...) {#name, sizeof(struct name), COUNT(fields_##name), fields_##name},
static const struct structdesc structs[] = {STRUCTS(X)};
#undef X

const struct structdesc *sysdesc_struct(unsigned of)
{
	return &structs[of];
}

/* --- calls ------------------------------------------------------------------------------------ */

#define IN(name)                                                                                   \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_IN                                                      \
	}
#define OUT(name)                                                                                  \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_OUT                                                     \
	}
#define INOUT(name)                                                                                \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_IN | D_OUT                                              \
	}
/* An array of structures.  Its length is the next argument, two, or the result. */
#define INS(name)                                                                                  \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_IN | D_COUNTED                                          \
	}
#define INOUTS(name)                                                                               \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_IN | D_OUT | D_COUNTED                                  \
	}
#define TWO_IN(name)                                                                               \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_IN | D_TWO                                              \
	}
#define OUTS(name)                                                                                 \
	{                                                                                          \
		T_STRUCT, STRUCT_##name, D_OUT | D_RETURNED                                        \
	}
#define NAMED(set)                                                                                 \
	{                                                                                          \
		T_NAMED, FLAGS_##set, 0                                                            \
	}
#define VARIANT(set)                                                                               \
	{                                                                                          \
		T_VARIANT, VARIANTS_##set, 0                                                       \
	}
/* Ints; argument `n` points at their number. */
#define INTS_OUT(n)                                                                                \
	{                                                                                          \
		T_INTS_OUT, n, 0                                                                   \
	}
#define IDTYPE                                                                                     \
	{                                                                                          \
		T_IDTYPE, FLAGS_idtype, 0                                                          \
	}
#define INT T(INT)
#define NONE T(NONE)

/* Types that depend on a command, or a class. */

static const struct variantdesc ioctl_variants[] = {
	{WEFT_TCGETS, OUT(weft_termios)},    {WEFT_TCSETS, IN(weft_termios)},
	{WEFT_TCSETSF, IN(weft_termios)},    {WEFT_TIOCGPGRP, T(INT_OUT)},
	{WEFT_TIOCSPGRP, T(INT_IN)},         {WEFT_TIOCGWINSZ, OUT(weft_winsize)},
	{WEFT_TIOCSWINSZ, IN(weft_winsize)}, {0, T(NONE)},
};
static const struct variantdesc fcntl_variants[] = {
	{WEFT_F_DUPFD, T(FD)},
	{WEFT_F_DUPFD_CLOEXEC, T(FD)},
	{WEFT_F_GETFD, T(INT)},
	{WEFT_F_SETFD, FLAGS(fd)},
	{WEFT_F_GETFL, T(INT)},
	{WEFT_F_SETFL, FLAGS(status)},
	{WEFT_F_GETLK, INOUT(weft_flock)},
	{WEFT_F_SETLK, IN(weft_flock)},
	{WEFT_F_SETLKW, IN(weft_flock)},
	{0, T(NONE)},
};
static const struct variantdesc priocntl_variants[] = {
	{PC_GETCID, INOUT(pcinfo)},
	{PC_GETCLINFO, INOUT(pcinfo)},
	{PC_SETPARMS, IN(pcparms)},
	{PC_GETPARMS, INOUT(pcparms)},
	{PC_ADMIN, IN(pcadmin)},
	{PC_DONICE, INOUT(pcnice)},
	{0, T(NONE)},
};
static const struct variantdesc clparms_variants[] = {
	{WEFT_CLASS_TS, IN(tsparms)},
	{WEFT_CLASS_RT, IN(rtparms)},
	{WEFT_CLASS_NT, IN(ntparms)},
	{0, T(NONE)},
};

const struct argdesc *sysdesc_variant(unsigned of, uint64_t value)
{
	static const struct variantdesc *const sets[] = {
		[VARIANTS_ioctl] = ioctl_variants,
		[VARIANTS_fcntl] = fcntl_variants,
		[VARIANTS_priocntl] = priocntl_variants,
		[VARIANTS_clparms] = clparms_variants,
	};

	for (const struct variantdesc *v = sets[of]; v->desc.type != T_NONE; v++)
		if (v->value == value)
			return &v->desc;
	return NULL;
}

/* D(name, its result, its arguments...) */
#define CALLS(D)                                                                                   \
	D(null, INT)                                                                               \
	D(exit, NONE, INT)                                                                         \
	D(spawn, T(PID), IN(spawn_args))                                                           \
	D(waitpid, T(PID), T(PID), T(INT_OUT), FLAGS(wait), OUT(weft_rusage))                      \
	D(getpid, T(PID))                                                                          \
	D(getppid, T(PID))                                                                         \
	D(kill, INT, T(PID), T(SIG))                                                               \
	D(getrusage, INT, FLAGS(who), OUT(weft_rusage))                                            \
	D(setpgrp, INT, T(PID), T(PID))                                                            \
	D(getpgrp, T(PID), T(PID))                                                                 \
	D(setsid, T(PID))                                                                          \
	D(getsid, T(PID), T(PID))                                                                  \
	D(lwp_create, T(LWP), IN(lwp_create))                                                      \
	D(lwp_exit, NONE)                                                                          \
	D(lwp_wait, INT, T(LWP), T(INT_OUT))                                                       \
	D(lwp_self, T(LWP))                                                                        \
	D(lwp_suspend, INT, T(LWP))                                                                \
	D(lwp_continue, INT, T(LWP))                                                               \
	D(lwp_kill, INT, T(LWP), T(SIG))                                                           \
	D(lwp_yield, INT)                                                                          \
	D(lwp_park, INT, IN(weft_timespec), T(LWP))                                                \
	D(lwp_unpark, INT, T(LWP))                                                                 \
	D(lwp_unpark_all, INT, T(LWPS), T(SIZE))                                                   \
	D(lwp_schedctl, T(PTR))                                                                    \
	D(lwp_sleep, INT, FLAGS(clock), FLAGS(sleep), IN(weft_timespec))                           \
	D(lwp_detach, INT, T(LWP))                                                                 \
	D(clock_gettime, INT, FLAGS(clock), OUT(weft_timespec))                                    \
	D(clock_settime, INT, FLAGS(clock), IN(weft_timespec))                                     \
	D(mmap, T(PTR), T(PTR), T(SIZE), FLAGS(prot), FLAGS(map), T(FD), T(LONG))                  \
	D(munmap, INT, T(PTR), T(SIZE))                                                            \
	D(mprotect, INT, T(PTR), T(SIZE), FLAGS(prot))                                             \
	D(brk, T(PTR), T(PTR))                                                                     \
	D(open, T(FD), T(PATH), FLAGS(open), T(OCT))                                               \
	D(close, INT, T(FD))                                                                       \
	D(read, T(LONG), T(FD), T(OUT), T(SIZE))                                                   \
	D(write, T(LONG), T(FD), T(IN), T(SIZE))                                                   \
	D(lseek, T(LONG), T(FD), T(LONG), FLAGS(seek))                                             \
	D(fstat, INT, T(FD), OUT(weft_stat))                                                       \
	D(stat, INT, T(PATH), OUT(weft_stat))                                                      \
	D(getdents, T(LONG), T(FD), T(OUT), T(SIZE))                                               \
	D(ioctl, INT, T(FD), FLAGS(ioctl), VARIANT(ioctl))                                         \
	D(chdir, INT, T(PATH))                                                                     \
	D(getcwd, T(LONG), T(OUT), T(SIZE))                                                        \
	D(dup, T(FD), T(FD))                                                                       \
	D(dup2, T(FD), T(FD), T(FD))                                                               \
	D(pipe, INT, T(PAIR_OUT), FLAGS(status))                                                   \
	D(fcntl, INT, T(FD), FLAGS(fcntl), VARIANT(fcntl))                                         \
	D(poll, INT, INOUTS(weft_pollfd), T(SIZE), IN(weft_timespec), T(SET_IN))                   \
	D(pread, T(LONG), T(FD), T(OUT), T(SIZE), T(LONG))                                         \
	D(pwrite, T(LONG), T(FD), T(IN), T(SIZE), T(LONG))                                         \
	D(readv, T(LONG), T(FD), INS(weft_iovec), T(SIZE))                                         \
	D(writev, T(LONG), T(FD), INS(weft_iovec), T(SIZE))                                        \
	D(procinfo, T(PID), T(PID), OUT(weft_procinfo))                                            \
	D(lwp_info, T(LWP), T(PID), T(LWP), OUT(lwp_info))                                         \
	D(cpuinfo, INT, T(CPU), OUT(weft_cpuinfo))                                                 \
	D(sysinfo, INT, OUT(weft_sysinfo))                                                         \
	D(reboot, NONE, FLAGS(reboot), INT)                                                        \
	D(fork, T(PID))                                                                            \
	D(execve, INT, T(PATH), T(STRV), T(PTR))                                                   \
	D(rlimit, INT, FLAGS(rlimit), IN(weft_rlimit), OUT(weft_rlimit))                           \
	D(madvise, INT, T(PTR), T(SIZE), FLAGS(madvise))                                           \
	D(msync, INT, T(PTR), T(SIZE), FLAGS(msync))                                               \
	D(sigaction, INT, T(SIG), IN(weft_sigaction), OUT(weft_sigaction))                         \
	D(sigprocmask, INT, FLAGS(how), T(SET_IN), T(SET_OUT))                                     \
	D(sigpending, INT, T(SET_OUT))                                                             \
	D(sigsuspend, INT, T(SET_IN))                                                              \
	D(sigtimedwait, T(SIG), T(SET_IN), OUT(weft_siginfo), IN(weft_timespec))                   \
	D(sigqueue, INT, T(PID), T(SIG), T(HEX))                                                   \
	D(sigaltstack, INT, IN(weft_stack), OUT(weft_stack))                                       \
	D(sigreturn, NONE, IN(weft_ucontext))                                                      \
	D(lwp_sigqueue, INT, T(LWP), T(SIG), T(HEX))                                               \
	D(lstat, INT, T(PATH), OUT(weft_stat))                                                     \
	D(readlink, T(LONG), T(PATH), T(OUT), T(SIZE))                                             \
	D(truncate, INT, T(PATH), T(LONG))                                                         \
	D(ftruncate, INT, T(FD), T(LONG))                                                          \
	D(mkdir, INT, T(PATH), T(OCT))                                                             \
	D(rmdir, INT, T(PATH))                                                                     \
	D(unlink, INT, T(PATH))                                                                    \
	D(link, INT, T(PATH), T(PATH))                                                             \
	D(symlink, INT, T(PATH), T(PATH))                                                          \
	D(rename, INT, T(PATH), T(PATH))                                                           \
	D(chmod, INT, T(PATH), T(OCT))                                                             \
	D(fchmod, INT, T(FD), T(OCT))                                                              \
	D(utimens, INT, T(PATH), TWO_IN(weft_timespec), INT)                                       \
	D(futimens, INT, T(FD), TWO_IN(weft_timespec))                                             \
	D(umask, T(OCT), T(OCT))                                                                   \
	D(mountinfo, INT, INT, OUT(weft_mount))                                                    \
	D(fchdir, INT, T(FD))                                                                      \
	D(openat, T(FD), NAMED(at), T(PATH), FLAGS(open), T(OCT))                                  \
	D(upcall_wait, INT, FLAGS(upcall))                                                         \
	D(upcall_activate, INT, INT)                                                               \
	D(upcall_idle, INT, FLAGS(upcall_idle))                                                    \
	D(upcall_unpark, INT, INT)                                                                 \
	D(setitimer, INT, FLAGS(itimer), IN(weft_itimerspec), OUT(weft_itimerspec))                \
	D(getitimer, INT, FLAGS(itimer), OUT(weft_itimerspec))                                     \
	D(timer_create, INT, FLAGS(clock), IN(weft_sigevent), T(INT_OUT))                          \
	D(timer_settime, INT, INT, FLAGS(timer), IN(weft_itimerspec), OUT(weft_itimerspec))        \
	D(timer_gettime, INT, INT, OUT(weft_itimerspec))                                           \
	D(timer_getoverrun, INT, INT)                                                              \
	D(timer_delete, INT, INT)                                                                  \
	D(priocntl, INT, IDTYPE, NAMED(myid), FLAGS(priocntl), VARIANT(priocntl))                  \
	D(processor_bind, INT, IDTYPE, NAMED(myid), NAMED(bind), T(INT_OUT))                       \
	D(p_online, INT, T(CPU), FLAGS(online))                                                    \
	D(pset_create, INT, T(INT_OUT))                                                            \
	D(pset_destroy, INT, NAMED(pset))                                                          \
	D(pset_assign, INT, NAMED(pset), T(CPU), T(INT_OUT))                                       \
	D(pset_bind, INT, NAMED(pset), IDTYPE, NAMED(myid), T(INT_OUT))                            \
	D(pset_info, INT, NAMED(pset), T(INT_OUT), T(INT_OUT), INTS_OUT(2))                        \
	D(pset_list, INT, INTS_OUT(1), T(INT_OUT))                                                 \
	D(msacct, INT, T(PID), T(LWP), OUT(weft_msacct))                                           \
	D(lwp_mutex_lock, INT, IN(lwp_mutex), T(HEX))                                              \
	D(lwp_mutex_trylock, INT, IN(lwp_mutex), T(HEX))                                           \
	D(lwp_mutex_timedlock, INT, IN(lwp_mutex), T(HEX), IN(weft_timespec))                      \
	D(lwp_mutex_unlock, INT, IN(lwp_mutex), T(HEX))                                            \
	D(lwp_cond_wait, INT, IN(lwp_cond), IN(lwp_mutex), T(HEX))                                 \
	D(lwp_cond_timedwait, INT, IN(lwp_cond), IN(lwp_mutex), T(HEX), IN(weft_timespec))         \
	D(lwp_cond_signal, INT, IN(lwp_cond))                                                      \
	D(lwp_cond_broadcast, INT, IN(lwp_cond))                                                   \
	D(lwp_sema_wait, INT, IN(lwp_sema))                                                        \
	D(lwp_sema_trywait, INT, IN(lwp_sema))                                                     \
	D(lwp_sema_timedwait, INT, IN(lwp_sema), IN(weft_timespec))                                \
	D(lwp_sema_post, INT, IN(lwp_sema))                                                        \
	D(lwp_mutex_register, INT, IN(lwp_mutex))                                                  \
	D(lwp_mutex_unregister, INT, IN(lwp_mutex))                                                \
	D(lwp_mutex_abandon, INT, T(HEX))                                                          \
	D(lwp_rwlock_rdlock, INT, IN(lwp_rwlock), T(HEX), IN(weft_timespec))                       \
	D(lwp_rwlock_wrlock, INT, IN(lwp_rwlock), IN(weft_timespec))                               \
	D(lwp_rwlock_unlock, INT, IN(lwp_rwlock))                                                  \
	D(lwp_barrier_wait, INT, IN(lwp_barrier), INT, T(HEX))                                     \
	D(lwp_ceiling, INT, INT, INT)                                                              \
	D(kobj_create, INT, IN(kobj_create))                                                       \
	D(kobj_close, INT, INT)                                                                    \
	D(kobj_dup, INT, INT, FLAGS(kobj))                                                         \
	D(kobj_at_exit, INT, INT, INT)                                                             \
	D(kobj_wait, INT, T(LWPS), T(SIZE), FLAGS(kobj_wait), IN(weft_timespec))                   \
	D(kobj_mutex_release, INT, INT)                                                            \
	D(kobj_event_set, INT, INT)                                                                \
	D(kobj_event_reset, INT, INT)                                                              \
	D(kobj_event_pulse, INT, INT)                                                              \
	D(kobj_sema_release, INT, INT, INT)                                                        \
	D(trace_attach, INT, T(PID), FLAGS(trace))                                                 \
	D(trace_detach, INT, T(PID))                                                               \
	D(trace_wait, T(LONG), OUTS(trace_event), T(SIZE))                                         \
	D(proc_read, T(LONG), T(PID), T(PTR), T(OUT), T(SIZE))                                     \
	D(lwp_regs, T(LWP), T(PID), T(LWP), OUT(lwp_regs))                                         \
	D(lwp_cancel, INT, T(LWP), T(INT), T(PTR))                                                 \
	D(sig_aslwp, INT)                                                                          \
	D(sig_redirect, INT, T(LWP), T(SIG))                                                       \
	D(lwp_preempt, INT, T(LWP))                                                                \
	D(lwp_sigtake, T(HEX))                                                                     \
	D(lwp_sigcatch, INT, T(SET_IN))

/* The number of arguments is given here and in the list of calls: both must agree. */
#define X(number, name, nargs) NARGS_##name = nargs,
enum { SYSCALLS(X) };
#undef X
#define D(name, result, ...)                                                                       \
	_Static_assert(NARGS_##name == sizeof((struct argdesc[]){__VA_ARGS__}) / 3,                \
		       "the arguments of " #name);
CALLS(D)
#undef D

#define D(name, result, ...) [SYS_##name] = {#name, NARGS_##name, result, {__VA_ARGS__}},
static const struct sysdesc calls[WEFT_SYSCALL_MAX] = {CALLS(D)};
#undef D

const struct sysdesc *sysdesc(uint32_t number)
{
	return number < WEFT_SYSCALL_MAX && calls[number].name ? &calls[number] : NULL;
}

const char *sysdesc_name(uint32_t number)
{
#define X(nr, name, nargs) [nr] = #name,
	static const char *const names[WEFT_SYSCALL_MAX] = {SYSCALLS(X)};
#undef X

	return number < WEFT_SYSCALL_MAX ? names[number] : NULL;
}
