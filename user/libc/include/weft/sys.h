/*
 * sys.h - raw system calls: __sys_NAME for every name of SYSCALLS
 * (weft/syscall.h), where each call is described.
 *
 * They return 0 or more, or the negative of an error number, and leave errno alone.  So they need
 * no thread pointer and may be used from any context.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <weft/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lwp_create;
struct lwp_info;
struct lwp_regs;
struct kobj_create;
struct lwp_barrier;
struct lwp_cond;
struct lwp_mutex;
struct lwp_rwlock;
struct lwp_sema;
struct spawn_args;
struct trace_event;
struct weft_cpuinfo;
struct weft_msacct;
struct weft_iovec;
struct weft_mount;
struct weft_pollfd;
struct weft_procinfo;
struct weft_rlimit;
struct weft_rusage;
struct weft_stat;
struct weft_itimerspec;
struct weft_sigaction;
struct weft_sigevent;
struct weft_siginfo;
struct weft_stack;
struct weft_sysinfo;
struct weft_ucontext;

long __sys_null(void);
/* processes */
void __sys_exit(int status) __attribute__((noreturn));
long __sys_spawn(const struct spawn_args *args);
long __sys_waitpid(int pid, int *status, int options, struct weft_rusage *ru);
long __sys_getpid(void);
long __sys_getppid(void);
long __sys_kill(int pid, int sig);
long __sys_getrusage(int who, struct weft_rusage *ru);
long __sys_setpgrp(int pid, int pgrp);
long __sys_getpgrp(int pid);
long __sys_setsid(void);
long __sys_getsid(int pid);
long __sys_fork(void);
long __sys_rlimit(unsigned which, const struct weft_rlimit *new_limit, struct weft_rlimit *old);
long __sys_execve(const char *path, char *const argv[], char *const envp[]);
/* LWPs */
long __sys_lwp_create(struct lwp_create *args);
void __sys_lwp_exit(void) __attribute__((noreturn));
long __sys_lwp_wait(uint32_t id, int *departed);
long __sys_lwp_self(void);
long __sys_lwp_suspend(uint32_t id);
long __sys_lwp_continue(uint32_t id);
long __sys_lwp_kill(uint32_t id, int sig);
long __sys_lwp_yield(void);
long __sys_lwp_park(const struct weft_timespec *deadline, uint32_t unpark);
long __sys_lwp_unpark(uint32_t id);
long __sys_lwp_unpark_all(const uint32_t *ids, uint64_t n);
long __sys_lwp_schedctl(void);
long __sys_lwp_sleep(int clock, int flags, const struct weft_timespec *time);
long __sys_lwp_detach(uint32_t id);
/* time */
long __sys_clock_gettime(int clock, struct weft_timespec *time);
long __sys_clock_settime(int clock, const struct weft_timespec *time);
/* memory */
long __sys_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t off);
long __sys_munmap(void *addr, size_t len);
long __sys_mprotect(void *addr, size_t len, int prot);
long __sys_brk(void *addr);
long __sys_madvise(void *addr, size_t len, int advice);
long __sys_msync(void *addr, size_t len, int flags);
/* files */
long __sys_open(const char *path, int flags, unsigned mode);
long __sys_close(int fd);
long __sys_read(int fd, void *buf, size_t n);
long __sys_write(int fd, const void *buf, size_t n);
long __sys_lseek(int fd, int64_t off, int whence);
long __sys_fstat(int fd, struct weft_stat *st);
long __sys_stat(const char *path, struct weft_stat *st);
long __sys_getdents(int fd, void *buf, size_t n);
long __sys_ioctl(int fd, unsigned long request, void *arg);
long __sys_chdir(const char *path);
long __sys_getcwd(char *buf, size_t n);
long __sys_dup(int fd);
long __sys_dup2(int fd, int to);
long __sys_pipe(int fd[2], int flags);
long __sys_fcntl(int fd, int cmd, long arg);
long __sys_poll(struct weft_pollfd *fds, uint64_t n, const struct weft_timespec *time,
		const uint64_t *mask);
long __sys_pread(int fd, void *buf, size_t n, int64_t off);
long __sys_pwrite(int fd, const void *buf, size_t n, int64_t off);
long __sys_readv(int fd, const struct weft_iovec *iov, uint64_t n);
long __sys_writev(int fd, const struct weft_iovec *iov, uint64_t n);
long __sys_lstat(const char *path, struct weft_stat *st);
long __sys_readlink(const char *path, char *buf, size_t n);
long __sys_truncate(const char *path, int64_t size);
long __sys_ftruncate(int fd, int64_t size);
long __sys_mkdir(const char *path, unsigned mode);
long __sys_rmdir(const char *path);
long __sys_unlink(const char *path);
long __sys_link(const char *old, const char *to);
long __sys_symlink(const char *target, const char *path);
long __sys_rename(const char *old, const char *to);
long __sys_chmod(const char *path, unsigned mode);
long __sys_fchmod(int fd, unsigned mode);
long __sys_utimens(const char *path, const struct weft_timespec time[2], int follow);
long __sys_futimens(int fd, const struct weft_timespec time[2]);
long __sys_umask(unsigned mask);
long __sys_mountinfo(unsigned n, struct weft_mount *info);
long __sys_fchdir(int fd);
long __sys_openat(int fd, const char *path, int flags, unsigned mode);
/* the system */
long __sys_procinfo(int pid, struct weft_procinfo *info);
long __sys_lwp_info(int pid, uint32_t id, struct lwp_info *info);
long __sys_cpuinfo(uint32_t cpu, struct weft_cpuinfo *info);
long __sys_sysinfo(struct weft_sysinfo *info);
long __sys_reboot(int how, int status);
/* signals */
long __sys_sigaction(int sig, const struct weft_sigaction *act, struct weft_sigaction *old);
long __sys_sigprocmask(int how, const uint64_t *set, uint64_t *old);
long __sys_sigpending(uint64_t *set);
long __sys_sigsuspend(const uint64_t *set);
long __sys_sigtimedwait(const uint64_t *set, struct weft_siginfo *info,
			const struct weft_timespec *timeout);
long __sys_sigqueue(int pid, int sig, uint64_t value);
long __sys_sigaltstack(const struct weft_stack *stack, struct weft_stack *old);
void __sys_sigreturn(const struct weft_ucontext *uc) __attribute__((noreturn));
long __sys_lwp_sigqueue(uint32_t id, int sig, uint64_t value);
long __sys_upcall_wait(uint32_t events);
long __sys_upcall_activate(uint32_t cpus);
long __sys_upcall_idle(uint32_t how);
long __sys_upcall_unpark(uint32_t id);
long __sys_setitimer(int which, const struct weft_itimerspec *set, struct weft_itimerspec *old);
long __sys_getitimer(int which, struct weft_itimerspec *now);
long __sys_timer_create(int clock, const struct weft_sigevent *event, int *id);
long __sys_timer_settime(int id, int flags, const struct weft_itimerspec *set,
			 struct weft_itimerspec *old);
long __sys_timer_gettime(int id, struct weft_itimerspec *now);
long __sys_timer_getoverrun(int id);
long __sys_timer_delete(int id);
/* for the threads library */
long __sys_lwp_cancel(uint32_t id, uint32_t thread, const void *pc);
long __sys_sig_aslwp(void);
long __sys_sig_redirect(uint32_t id, int sig);
long __sys_lwp_preempt(uint32_t id);
long __sys_lwp_sigtake(void);
long __sys_lwp_sigcatch(const uint64_t *set);
/* scheduling and accounting */
long __sys_priocntl(int idtype, int id, int command, void *arg);
long __sys_processor_bind(int idtype, int id, int cpu, int *old);
long __sys_p_online(int cpu, int flag);
long __sys_pset_create(int *id);
long __sys_pset_destroy(int id);
long __sys_pset_assign(int id, int cpu, int *old);
long __sys_pset_bind(int set, int idtype, int id, int *old);
long __sys_pset_info(int set, int *type, unsigned *n, int *cpus);
long __sys_pset_list(int *ids, unsigned *n);
long __sys_msacct(int pid, uint32_t id, struct weft_msacct *acct);
/* watching processes */
long __sys_trace_attach(int pid, unsigned flags);
long __sys_trace_detach(int pid);
long __sys_trace_wait(struct trace_event *events, size_t n);
long __sys_proc_read(int pid, uint64_t addr, void *buf, size_t n);
long __sys_lwp_regs(int pid, uint32_t id, struct lwp_regs *regs);
/* locks in user memory */
long __sys_lwp_mutex_lock(struct lwp_mutex *m, uint64_t owner);
long __sys_lwp_mutex_trylock(struct lwp_mutex *m, uint64_t owner);
long __sys_lwp_mutex_timedlock(struct lwp_mutex *m, uint64_t owner,
			       const struct weft_timespec *deadline);
long __sys_lwp_mutex_unlock(struct lwp_mutex *m, uint64_t owner);
long __sys_lwp_cond_wait(struct lwp_cond *c, struct lwp_mutex *m, uint64_t owner);
long __sys_lwp_cond_timedwait(struct lwp_cond *c, struct lwp_mutex *m, uint64_t owner,
			      const struct weft_timespec *deadline);
long __sys_lwp_cond_signal(struct lwp_cond *c);
long __sys_lwp_cond_broadcast(struct lwp_cond *c);
long __sys_lwp_sema_wait(struct lwp_sema *s);
long __sys_lwp_sema_trywait(struct lwp_sema *s);
long __sys_lwp_sema_timedwait(struct lwp_sema *s, const struct weft_timespec *deadline);
long __sys_lwp_sema_post(struct lwp_sema *s);
long __sys_lwp_mutex_register(struct lwp_mutex *m);
long __sys_lwp_mutex_unregister(struct lwp_mutex *m);
long __sys_lwp_mutex_abandon(uint32_t owner);
long __sys_lwp_rwlock_rdlock(struct lwp_rwlock *l, unsigned flags,
			     const struct weft_timespec *deadline);
long __sys_lwp_rwlock_wrlock(struct lwp_rwlock *l, const struct weft_timespec *deadline);
long __sys_lwp_rwlock_unlock(struct lwp_rwlock *l);
long __sys_lwp_barrier_wait(struct lwp_barrier *b, uint32_t cycle, unsigned flags);
long __sys_lwp_ceiling(int ceiling, int limit);
/* kernel objects with handles */
long __sys_kobj_create(struct kobj_create *args);
long __sys_kobj_close(uint32_t handle);
long __sys_kobj_dup(uint32_t handle, unsigned flags);
long __sys_kobj_at_exit(uint32_t handle, int pid);
long __sys_kobj_wait(const uint32_t *handles, uint64_t n, unsigned flags,
		     const struct weft_timespec *deadline);
long __sys_kobj_mutex_release(uint32_t handle);
long __sys_kobj_event_set(uint32_t handle);
long __sys_kobj_event_reset(uint32_t handle);
long __sys_kobj_event_pulse(uint32_t handle);
long __sys_kobj_sema_release(uint32_t handle, int32_t n);

/*
 * The same, inline, for code that must not touch its stack or that makes
 * the call in the middle of a sequence.  Clobbers RCX and R11; memory may change.
 */
static inline long __syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long __syscall3(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long __syscall2(long nr, long a, long b)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return ret;
}

static inline long __syscall1(long nr, long a)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a) : "rcx", "r11", "memory");
	return ret;
}

static inline long __syscall0(long nr)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr) : "rcx", "r11", "memory");
	return ret;
}

#ifdef __cplusplus
}
#endif
