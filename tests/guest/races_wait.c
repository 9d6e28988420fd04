/*
 * races_wait.c RACE [ROUNDS] - the races of LWPs that wait in the kernel (race.h): for signals,
 * for objects with handles, for pipes, for locks that processes share.
 */
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/processor.h>
#include <weft/sys.h>
#include "race.h"

/* --- signals ---------------------------------------------------------------------------------- */

static volatile unsigned caught;

static void catch (int sig)
{
	caught = started;
}

static void mask(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void signal_begin(void)
{
	struct sigaction act = {.sa_handler = catch};

	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	mask(SIG_BLOCK, SIGUSR1);
	mask(SIG_BLOCK, SIGUSR2);
}

/* A waiter waits for a signal with sigsuspend; the signal comes as the waiter goes to sleep. */
static void suspend_wait(unsigned round)
{
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
	MUST(caught == round);
}

static void suspend_send(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
}

static void nothing(unsigned round)
{
}

/* A signal for the process: a thread that may have been chosen for it blocks it. */
static void mask_block(unsigned round)
{
	mask(SIG_BLOCK, SIGUSR1);
	UNTIL(caught == round);
}

static void mask_prepare(unsigned round)
{
	mask(SIG_UNBLOCK, SIGUSR1);
}

static void send_to_all(unsigned round)
{
	kill(getpid(), SIGUSR1);
}

static void mask_take(unsigned round)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	UNTIL(caught == round);
	mask(SIG_BLOCK, SIGUSR1);
}

/* The same, and the chosen thread exits. */
static pthread_t heir[2];
static volatile unsigned gone;

static void *take_and_exit(void *arg)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	gone++;
	while (gone != 3)
		;
	return NULL;
}

static void *take_and_stay(void *arg)
{
	unsigned round = (uintptr_t)arg;

	mask(SIG_UNBLOCK, SIGUSR1);
	gone++;
	UNTIL(caught == round);
	return NULL;
}

static void exit_prepare(unsigned round)
{
	gone = 0;
	heir[0] = new_thread(take_and_exit, NULL);
	heir[1] = new_thread(take_and_stay, (void *)(uintptr_t)round);
	UNTIL(gone == 2);
}

static void exit_one(unsigned round)
{
	gone = 3;
}

static void exit_check(unsigned round)
{
	pthread_join(heir[0], NULL);
	pthread_join(heir[1], NULL);
}

/* Two threads wait for the same signals, and two of these signals come. */
static void two_wait(unsigned round)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigwaitinfo(&set, NULL);
}

static void two_send(unsigned round)
{
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
}

/* A timer that is deleted as it expires. */
static timer_t timer_of_round;

static void timer_prepare(unsigned round)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

	MUST(timer_create(CLOCK_MONOTONIC, &ev, &timer_of_round) == 0);
}

static void timer_expire(unsigned round)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 2000 + draw(6000)};
	sigset_t pending;

	timer_settime(timer_of_round, 0, &soon, NULL);
	turns(draw(2000));
	timer_delete(timer_of_round);
	sigpending(&pending);
	MUST(!sigismember(&pending, SIGUSR1));
}

/* --- objects with handles --------------------------------------------------------------------- */

static uint32_t event[3];

static uint32_t new_object(uint32_t kind, uint32_t flags, const char *name)
{
	struct kobj_create c = {kind, flags, 0, 1, (uint64_t)name, 0, 0};
	long h = __sys_kobj_create(&c);

	return h < 0 ? 0 : h;
}

/* Two threads create an object each when the table of handles is full. */
static void table_prepare(unsigned round)
{
	while (new_object(KOBJ_EVENT, 0, NULL) / 4 != 16u << (round - 1))
		;
}

static volatile unsigned second_here;

static void table_first(unsigned round)
{
	while (second_here != round)
		;
	turns(draw(100));
	event[0] = new_object(KOBJ_EVENT, 0, NULL);
}

static void table_second(unsigned round)
{
	second_here = round;
	event[1] = new_object(KOBJ_EVENT, 0, NULL);
}

static void table_check(unsigned round)
{
	const uint32_t full = 4 * (16u << (round - 1));

	MUST(event[0] > full && event[1] > full && event[0] != event[1]);
}

static void event_begin(void)
{
	for (unsigned i = 0; i < 3; i++)
		event[i] = new_object(KOBJ_EVENT, 0, NULL);
}

static void event_wait(unsigned round)
{
	__sys_kobj_wait(event, 1, 0, NULL);
}

static void event_set(unsigned round)
{
	__sys_kobj_event_set(event[0]);
}

static void event_set_other(unsigned round)
{
	__sys_kobj_event_set(event[1]);
}

static long got;

static void any_wait(unsigned round)
{
	got = __sys_kobj_wait(event, 2, 0, NULL);
}

/* The event that the wait returned is reset, the other event is still set. */
static void any_check(unsigned round)
{
	MUST(__sys_kobj_event_reset(event[got]) == 0);
	MUST(__sys_kobj_event_reset(event[1 - got]) == 1);
}

/* The last handle to a name is closed, and another process opens the name. */
static const char name[] = "a name";
static uint32_t named, opened;

static void name_prepare(unsigned round)
{
	named = new_object(KOBJ_EVENT, 0, name);
	opened = 0;
}

static void name_close(unsigned round)
{
	__sys_kobj_close(named);
}

static void name_open(unsigned round)
{
	opened = new_object(KOBJ_EVENT, KOBJ_OPEN, name);
}

/* It has the object, or there is none: not one that is somebody else's by now. */
static void name_check(unsigned round)
{
	uint32_t other[32];

	for (unsigned i = 0; i < 32; i++)
		other[i] = new_object(KOBJ_EVENT, 0, NULL);
	if (opened != 0) {
		MUST(__sys_kobj_event_set(opened) == 0);
		MUST(__sys_kobj_close(opened) == 0);
	}
	for (unsigned i = 0; i < 32; i++) {
		MUST(__sys_kobj_event_set(other[i]) == 0);
		__sys_kobj_close(other[i]);
	}
}

/* --- pipes ------------------------------------------------------------------------------------ */

static int pipe_end[2];
static unsigned char byte[2];

static void pipe_begin(void)
{
	signal_begin();
	pipe(pipe_end);
}

static void read_first(unsigned round)
{
	MUST(read(pipe_end[0], &byte[0], 1) == 1);
}

static void read_second(unsigned round)
{
	MUST(read(pipe_end[0], &byte[1], 1) == 1);
}

static void write_two(unsigned round)
{
	const unsigned char two[2] = {1, 2};

	MUST(write(pipe_end[1], two, 2) == 2);
}

static void write_one(unsigned round)
{
	MUST(write(pipe_end[1], byte, 1) == 1);
}

static void pipe_check(unsigned round)
{
	MUST(byte[0] + byte[1] == 3);
}

/*
 * A signal ends the wait of one of two readers as there is a byte to read: one of the two has it,
 * and the other gets the next.
 */
static volatile bool taken;

static void reader_prepare(unsigned round)
{
	taken = false;
}

static void read_once(unsigned char *to)
{
	if (read(pipe_end[0], to, 1) == 1)
		taken = true;
}

static void read_interrupted(unsigned round)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	read_once(&byte[0]);
	mask(SIG_BLOCK, SIGUSR1);
}

static void read_other(unsigned round)
{
	read_once(&byte[1]);
}

static void reader_signal(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
}

static void write_and_see(unsigned round)
{
	write_one(round);
	UNTIL(taken);
	while (finished[1] != round || finished[2] != round) {
		write_one(round);
		usleep(50);
	}
}

/* Both ends at once. */
static void ends_prepare(unsigned round)
{
	pipe(pipe_end);
}

static void close_read_end(unsigned round)
{
	close(pipe_end[0]);
}

static void close_write_end(unsigned round)
{
	close(pipe_end[1]);
}

/* --- poll ------------------------------------------------------------------------------------- */

static void poll_wait(unsigned round)
{
	struct pollfd fd = {.fd = pipe_end[0], .events = POLLIN};

	MUST(poll(&fd, 1, -1) == 1);
	MUST(read(pipe_end[0], byte, 1) == 1);
}

/* --- a process that is killed while it gets what it waits for --------------------------------- */

static struct locks {
	struct lwp_mutex mutex;
	struct lwp_mutex inherit;
	struct lwp_sema sema;
	struct lwp_cond cond;
	struct lwp_rwlock rwlock;
} * locks;
static pid_t victim;
static uint32_t second;
static volatile unsigned buried;

/*
 * All on one CPU, and with one real-time priority: the victim is told to exit, and gets what it
 * waits for, before it comes to that CPU.
 */
static void grave_begin(void)
{
	const struct sched_param param = {.sched_priority = 5};
	int old;

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0 ||
	    __sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 1, &old) != 0)
		bail("pthread_setschedparam, processor_bind");
	locks = mmap(NULL, sizeof(*locks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
}

static void until_asleep(int pid, uint32_t lwp)
{
	struct lwp_info info;

	while (__sys_lwp_info(pid, lwp, &info) != (long)lwp || info.state != LWP_ST_SLEEP)
		usleep(20);
}

/* Starts a process that waits; returns when it sleeps. */
static void bury(void (*wait)(void))
{
	victim = fork();
	if (victim == 0) {
		wait();
		for (;;)
			;
	}
	until_asleep(victim, 1);
}

static void strike(void)
{
	kill(victim, SIGKILL);
}

static void mourn(void)
{
	waitpid(victim, NULL, 0);
}

static void wait_sema(void)
{
	__sys_lwp_sema_wait(&locks->sema);
}

static void grave_sema(unsigned round)
{
	locks->sema = (struct lwp_sema){0, LWP_SEMA_SHARED};
	bury(wait_sema);
	strike();
	__sys_lwp_sema_post(&locks->sema);
	mourn();
	MUST(__sys_lwp_sema_trywait(&locks->sema) == 0);
}

static void wait_rwlock(void)
{
	__sys_lwp_rwlock_wrlock(&locks->rwlock, NULL);
}

static void grave_rwlock(unsigned round)
{
	locks->rwlock.word = LWP_RWLOCK_SHARED;
	wait_rwlock();
	bury(wait_rwlock);
	strike();
	__sys_lwp_rwlock_unlock(&locks->rwlock);
	mourn();
	MUST(locks->rwlock.word == LWP_RWLOCK_SHARED);
}

static void wait_inherit(void)
{
	__sys_lwp_mutex_lock(&locks->inherit, 0);
}

static void grave_inherit(unsigned round)
{
	locks->inherit.word = LWP_MUTEX_SHARED | LWP_MUTEX_INHERIT;
	wait_inherit();
	bury(wait_inherit);
	strike();
	__sys_lwp_mutex_unlock(&locks->inherit, 0);
	mourn();
	MUST((locks->inherit.word & LWP_MUTEX_OWNER) == 0);
}

/* Of the next two it has nothing yet, but others sleep behind it. */
static void second_sleeps(unsigned round)
{
	buried = round;
	UNTIL(second != 0);
	until_asleep(0, second);
}

static void wait_mutex(void)
{
	__sys_lwp_mutex_lock(&locks->mutex, 0);
}

static void grave_mutex(unsigned round)
{
	locks->mutex.word = LWP_MUTEX_SHARED;
	wait_mutex();
	bury(wait_mutex);
	second_sleeps(round);
	strike();
	__sys_lwp_mutex_unlock(&locks->mutex, 0);
	mourn();
}

static void second_mutex(unsigned round)
{
	second = __sys_lwp_self();
	UNTIL(buried == round);
	wait_mutex();
	__sys_lwp_mutex_unlock(&locks->mutex, 0);
}

static void wait_cond(void)
{
	wait_mutex();
	__sys_lwp_cond_wait(&locks->cond, &locks->mutex, 0);
}

static void grave_cond(unsigned round)
{
	locks->mutex.word = LWP_MUTEX_SHARED;
	locks->cond.word = LWP_COND_SHARED;
	bury(wait_cond);
	second_sleeps(round);
	strike();
	__sys_lwp_cond_signal(&locks->cond);
	mourn();
}

static void second_cond(unsigned round)
{
	second = __sys_lwp_self();
	UNTIL(buried == round);
	wait_cond();
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"sigsuspend", 300, signal_begin, NULL, {nothing, suspend_wait, suspend_send}, NULL, 0},
	{"mask", 300, signal_begin, mask_prepare, {mask_block, send_to_all, mask_take}, NULL, 0},
	{"exit", 300, signal_begin, exit_prepare, {send_to_all, exit_one}, exit_check, 0},
	{"sigwait", 300, signal_begin, NULL, {two_send, two_wait, two_wait}, NULL, 0},
	{"timer", 0, signal_begin, timer_prepare, {timer_expire}, NULL, 0},
	{"ends", 100, NULL, ends_prepare, {close_read_end, close_write_end}, NULL, 0},
	{"table", 0, NULL, table_prepare, {table_first, table_second}, table_check, 0},
	{"event", 300, event_begin, NULL, {event_set, event_wait}, NULL, 0},
	{"any", 50, event_begin, NULL, {event_set, event_set_other, any_wait}, any_check, 0},
	{"name", 30, NULL, name_prepare, {name_close, name_open}, name_check, 0},
	{"pipe", 300, pipe_begin, NULL, {write_two, read_first, read_second}, pipe_check, 0},
	{"reader",
	 300,
	 pipe_begin,
	 reader_prepare,
	 {write_and_see, read_interrupted, read_other, reader_signal},
	 NULL,
	 0},
	{"poll", 300, pipe_begin, NULL, {write_one, poll_wait}, NULL, 0},
	{"sema-grave", 0, grave_begin, NULL, {grave_sema}, NULL, 0},
	{"rwlock-grave", 0, grave_begin, NULL, {grave_rwlock}, NULL, 0},
	{"inherit-grave", 0, grave_begin, NULL, {grave_inherit}, NULL, 0},
	{"mutex-grave", 0, grave_begin, NULL, {grave_mutex, second_mutex}, NULL, 0},
	{"cond-grave", 0, grave_begin, NULL, {grave_cond, second_cond}, NULL, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
