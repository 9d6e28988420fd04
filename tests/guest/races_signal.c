/*
 * races_signal.c RACE [ROUNDS] - the races of signals that the model mxn claims to close (race.h):
 * of unbound threads and of the process, the LWPs that find a thread for those, and handlers in
 * which a thread comes onto another LWP.
 */
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../libthread/core/ilock.h"
#include "race.h"

static sem_t sem;
static volatile unsigned reached;

static void sem_begin(void)
{
	sem_init(&sem, 0, 0);
}

static void wait_for_sem(unsigned round)
{
	sem_wait(&sem);
	reached = round;
}

static void yields(unsigned round)
{
	for (int i = 0; i < 6; i++)
		sched_yield();
}

/* --- a signal for a thread that goes to sleep ------------------------------------------------- */

static volatile unsigned handled;

static void handler(int sig)
{
	MUST(pthread_self() == party[1]);
	handled = started;
}

static void signal_begin(void)
{
	sem_begin();
	signal(SIGUSR1, handler);
}

static void yield_send(unsigned round)
{
	for (int i = 0; i < 10; i++) {
		turns(draw(100));
		pthread_kill(party[1], SIGUSR1);
	}
	UNTIL(handled == round);
}

static void signal_send(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
	UNTIL(handled == round);
	sem_post(&sem);
}

static void on_process(int sig)
{
	MUST(pthread_self() == party[1]);
	handled = started;
}

/* Only the thread that waits lets it through. */
static void process_signal_begin(void)
{
	sigset_t set;

	sem_begin();
	signal(SIGUSR1, on_process);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void process_signal_wait(unsigned round)
{
	sigset_t set;

	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	wait_for_sem(round);
}

static void process_signal_send(unsigned round)
{
	kill(getpid(), SIGUSR1);
	UNTIL(handled == round);
	sem_post(&sem);
}

static void woken_wait(unsigned round)
{
	process_signal_wait(round);
	sem_wait(&sem);
}

static void woken_post(unsigned round)
{
	turns(draw(300));
	sem_post(&sem);
}

/* --- two signals, one for a handler ----------------------------------------------------------- */

static void nested_begin(void)
{
	signal_begin();
	signal(SIGUSR2, handler);
}

static volatile unsigned sent;

static void nested_send(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
	UNTIL(sent == round);
	turns(1500 + draw(500));
	handled = 0;
	pthread_kill(party[1], SIGUSR1);
	UNTIL(handled == round);
	sem_post(&sem);
}

static void nested_send_other(unsigned round)
{
	turns(draw(1000));
	pthread_kill(party[1], SIGUSR2);
	sent = round;
}

/* --- a thread that waits for two signals, and another that has a handler for one of them ------ */

static sigset_t both;

static void two_begin(void)
{
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	process_signal_begin();
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	signal(SIGUSR2, on_process);
}

static void two_handle(unsigned round)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	wait_for_sem(round);
}

/* SIGUSR1 is for a handler, or for a second sigwait. */
static void two_wait(unsigned round)
{
	int sig;

	MUST(sigwait(&both, &sig) == 0);
	if (sig == SIGUSR2) {
		sigset_t first = both;

		sigdelset(&first, SIGUSR2);
		MUST(sigwait(&first, &sig) == 0);
	} else {
		UNTIL(handled == round);
	}
	sem_post(&sem);
}

static void two_send(unsigned round)
{
	kill(getpid(), SIGUSR2);
	turns(draw(200));
	if (round % 2)
		kill(getpid(), SIGUSR1);
	else
		pthread_kill(party[2], SIGUSR1);
}

/* The same with sigsuspend, which ends with the first handler. */
static volatile bool got[NSIG];

static void gets_one(int sig)
{
	got[sig] = true;
}

static void two_suspend_begin(void)
{
	struct sigaction one_by_one = {.sa_handler = gets_one};

	two_begin();
	one_by_one.sa_mask = both;
	sigaction(SIGUSR1, &one_by_one, NULL);
	sigaction(SIGUSR2, &one_by_one, NULL);
}

static void two_suspend(unsigned round)
{
	sigset_t mask = 0;

	sigsuspend(&mask);
	sigaddset(&mask, SIGUSR2);
	while (!got[SIGUSR1])
		sigsuspend(&mask);
	UNTIL(got[SIGUSR2]);
	got[SIGUSR1] = got[SIGUSR2] = false;
	sem_post(&sem);
}

/* --- an LWP that becomes busy while a signal comes that every thread blocks ------------------- */

static void *sends(void *arg)
{
	hrtime_t end = gethrtime() + 200000;

	while (gethrtime() < end)
		kill(getpid(), SIGUSR2);
	return NULL;
}

/* Its action is the end of the process. */
static void blocked_begin(void)
{
	pthread_attr_t attr;
	pthread_t sender;

	sem_begin();
	thr_setconcurrency(4);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM);
	if (pthread_create(&sender, &attr, sends, NULL) != 0)
		bail("pthread_create");
	turns(500);
}

static void blocked_wait(unsigned round)
{
	sem_wait(&sem);
}

static void blocked_post(unsigned round)
{
	sem_post(&sem);
	sem_post(&sem);
}

/* --- a signal while LWPs of the library's own begin ------------------------------------------- */

static void on_thread(int sig)
{
	MUST(pthread_self() != 0);
}

static void *blocks(void *arg)
{
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	return NULL;
}

static void ends_well(pid_t pid)
{
	int status = 0;

	UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	MUST(status == 0);
}

/* The child creates the LWPs of services with its first thread; the creator blocks no signals. */
static void services_make(unsigned round)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t = new_thread(blocks, NULL);

		pthread_sigmask(SIG_BLOCK, &both, NULL);
		kill(getpid(), SIGUSR1);
		pthread_join(t, NULL);
		until(gethrtime() + 30000);
		_exit(0);
	}
	ends_well(pid);
}

static void services_begin(void)
{
	sigaddset(&both, SIGUSR1);
	signal(SIGUSR1, on_thread);
}

/* Only a thread that sleeps lets the signal through, and the ASLWP has just been made. */
static void *sleeps(void *arg)
{
	sigset_t none = 0;

	pthread_sigmask(SIG_SETMASK, &none, NULL);
	reached = started;
	sem_wait(&sem);
	return NULL;
}

static void aslwp_make(unsigned round)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_sigmask(SIG_BLOCK, &both, NULL);
		new_thread(sleeps, NULL);
		while (reached != round)
			sched_yield();
		kill(getpid(), SIGUSR1);
		while (handled != round) {
			sched_yield(); /* its LWP is the only one */
			in_time();
		}
		_exit(0);
	}
	ends_well(pid);
}

static void handled_now(int sig)
{
	handled = started;
}

static void aslwp_begin(void)
{
	services_begin();
	sem_begin();
	signal(SIGUSR1, handled_now);
}

/* --- a handler that comes back on another LWP ------------------------------------------------- */

static volatile unsigned handlers;

static void yielding_handler(int sig)
{
	handlers++;
	for (int i = 0; i < 3; i++)
		sched_yield();
}

static void section_begin(void)
{
	signal(SIGUSR1, yielding_handler);
}

/* As the library does it, except that the section is empty, so that a signal often hits it. */
static void section_use(unsigned round)
{
	for (int i = 0; i < 300; i++) {
		critical_enter();
		critical_exit();
	}
}

static void section_send(unsigned round)
{
	handlers = 0;
	pthread_kill(party[1], SIGUSR1);
	UNTIL(handlers == 1);
}

/* --- a stack for handlers, and a handler that comes back on another LWP ----------------------- */

static char handlers_stack[16384] __attribute__((aligned(16)));
static volatile bool on_it;

static void looks_where_it_is(int sig)
{
	char here;

	on_it = (uintptr_t)&here - (uintptr_t)handlers_stack < sizeof(handlers_stack);
}

static void altstack_begin(void)
{
	struct sigaction look = {.sa_handler = looks_where_it_is, .sa_flags = SA_ONSTACK};

	sigaddset(&look.sa_mask, SIGUSR1);
	sigaction(SIGUSR2, &look, NULL);
	section_begin();
}

static void altstack_prepare(unsigned round)
{
	handlers = 0;
}

static void altstack_use(unsigned round)
{
	while (handlers == 0) {
		stack_t s = {.ss_sp = handlers_stack, .ss_size = sizeof(handlers_stack)};

		MUST(sigaltstack(&s, NULL) == 0);
		pthread_kill(pthread_self(), SIGUSR2);
		MUST(on_it);
		s.ss_flags = SS_DISABLE;
		MUST(sigaltstack(&s, NULL) == 0);
		pthread_kill(pthread_self(), SIGUSR2);
		MUST(!on_it);
	}
}

static void altstack_send(unsigned round)
{
	turns(draw(500));
	section_send(round);
}

/* --- a system call that goes on on another LWP, and is to end --------------------------------- */

static int never[2];
static volatile bool reads;

static void call_begin(void)
{
	struct sigaction act = {.sa_handler = yielding_handler, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
	if (pipe(never) != 0)
		bail("pipe");
}

static void *reads_for_ever(void *arg)
{
	char byte;

	reads = true;
	read(never[0], &byte, 1);
	return NULL;
}

static void call_end(unsigned round)
{
	pthread_t t;
	void *result;

	reads = false;
	handlers = 0;
	t = new_thread(reads_for_ever, NULL);
	UNTIL(reads);
	turns(draw(300));
	pthread_kill(t, SIGUSR1);
	UNTIL(handlers == 1);
	turns(draw(100));
	pthread_cancel(t);
	MUST(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
}

/* --- a signal that only a thread that has been joined would let through ----------------------- */

static void joined_begin(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *lets_through(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	return NULL;
}

/* The default action of SIGUSR2 would end the process. */
static void joined_send(unsigned round)
{
	pthread_attr_t bound;
	sigset_t set;
	pthread_t t;
	int sig;

	pthread_attr_init(&bound);
	pthread_attr_setscope(&bound, PTHREAD_SCOPE_SYSTEM);
	MUST(pthread_create(&t, &bound, lets_through, NULL) == 0);
	MUST(pthread_join(t, NULL) == 0);
	kill(getpid(), SIGUSR2);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	MUST(sigwait(&set, &sig) == 0 && sig == SIGUSR2);
}

static const struct race races[] = {
	{.name = "signal",
	 .spread = 100,
	 .begin = signal_begin,
	 .act = {signal_send, wait_for_sem, yields}},
	{.name = "signal-crowd",
	 .spread = 100,
	 .begin = signal_begin,
	 .act = {signal_send, wait_for_sem, yields, yields},
	 .lwps = 2},
	{.name = "signal-yield",
	 .spread = 100,
	 .begin = signal_begin,
	 .act = {yield_send, yields, yields, yields},
	 .lwps = 2},
	{.name = "process-signal",
	 .spread = 100,
	 .begin = process_signal_begin,
	 .act = {process_signal_send, process_signal_wait, yields, yields}},
	{.name = "process-signal-woken",
	 .spread = 300,
	 .begin = process_signal_begin,
	 .act = {process_signal_send, woken_wait, woken_post}},
	{.name = "nested",
	 .spread = 300,
	 .begin = nested_begin,
	 .act = {nested_send, wait_for_sem, nested_send_other}},
	{.name = "two-signals",
	 .spread = 200,
	 .begin = two_begin,
	 .act = {two_send, two_handle, two_wait}},
	{.name = "two-suspend",
	 .spread = 200,
	 .begin = two_suspend_begin,
	 .act = {two_send, two_handle, two_suspend}},
	{.name = "blocked",
	 .begin = blocked_begin,
	 .act = {blocked_post, blocked_wait, blocked_wait}},
	{.name = "services", .begin = services_begin, .act = {services_make}},
	{.name = "aslwp", .begin = aslwp_begin, .act = {aslwp_make}},
	{.name = "section",
	 .spread = 100,
	 .begin = section_begin,
	 .act = {section_send, section_use, yields, yields},
	 .lwps = 2},
	{.name = "altstack",
	 .spread = 100,
	 .begin = altstack_begin,
	 .prepare = altstack_prepare,
	 .act = {altstack_send, altstack_use, yields, yields},
	 .lwps = 2},
	{.name = "call",
	 .spread = 100,
	 .begin = call_begin,
	 .act = {call_end, yields, yields, yields},
	 .lwps = 2},
	{.name = "joined", .begin = joined_begin, .act = {joined_send}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
