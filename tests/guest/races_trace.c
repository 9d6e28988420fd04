/*
 * races_trace.c RACE [ROUNDS] - the races of processes that watch other processes (race.h).  The
 * tracer is a child, and ends with the round.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/sys.h>
#include <weft/trace.h>
#include "race.h"
#include "rawlwp.h"

#define PAGE 4096

static volatile unsigned *calls, *watched;

static void share_counts(void)
{
	calls = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	watched = calls + 1;
}

/* A process that makes one call after the other. */
static pid_t caller(int cpu)
{
	pid_t pid = fork();
	int old;

	if (pid != 0)
		return pid;
	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, &old);
	for (;; ++*calls)
		__sys_lwp_self();
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* True in a new process; false in its maker, when it has ended, and well. */
static bool in_a_child(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0)
		return true;
	waitpid(pid, &status, 0);
	MUST(status == 0);
	return false;
}

/* --- two LWPs make a tracer of their process -------------------------------------------------- */

static struct raw other;
static pid_t called[2];
static volatile bool up, go, done;

static void watch_second(struct raw *r)
{
	up = true;
	while (!go)
		;
	__sys_trace_attach(called[1], TRACE_STREAM);
	done = true;
}

/* Both are heard of. */
static bool both_watched(void)
{
	struct trace_event e[16];
	unsigned heard = 0;

	for (unsigned i = 0; i < 100 && heard != 3; i++) {
		long n = __sys_trace_wait(e, 16);
		for (long k = 0; k < n; k++)
			heard |= e[k].pid == called[0] ? 1 : 2;
	}
	return heard == 3;
}

static void two_tracers(unsigned round)
{
	unsigned late = draw(100);

	if (!in_a_child())
		return;
	called[0] = caller(PBIND_NONE);
	called[1] = caller(PBIND_NONE);
	raw_start(&other, watch_second, 0, 0);
	while (!up)
		;
	go = true;
	turns(late);
	__sys_trace_attach(called[0], TRACE_STREAM);
	while (!done)
		;
	bool both = both_watched();
	end(called[0]);
	end(called[1]);
	_exit(!both);
}

/* --- two LWPs read what their process has as a tracer ----------------------------------------- */

#define READS 20

static uint64_t heard[2][READS]; /* by each: the times of what it has been given */

static void read_events(uint64_t *times)
{
	struct trace_event e;

	for (unsigned i = 0; i < READS;)
		if (__sys_trace_wait(&e, 1) == 1) /* else the other LWP reads */
			times[i++] = e.time;
}

static void read_second(struct raw *r)
{
	up = true;
	read_events(heard[1]);
	done = true;
}

/* Has the second been given what the first has? */
static bool heard_twice(void)
{
	for (unsigned i = 0; i < READS; i++)
		for (unsigned k = 0; k < READS; k++)
			if (heard[0][i] == heard[1][k])
				return true;
	return false;
}

static void two_readers(unsigned round)
{
	if (!in_a_child())
		return;
	called[0] = caller(PBIND_NONE);
	__sys_trace_attach(called[0], TRACE_STREAM);
	raw_start(&other, read_second, 0, 0);
	while (!up)
		;
	read_events(heard[0]);
	while (!done)
		;
	__sys_trace_detach(called[0]);
	end(called[0]);
	_exit(heard_twice());
}

/* --- events that are read while LWPs that wait for room continue ------------------------------ */

#define QUEUE 128 /* as many as there is room for */

/* Into pages that are not there yet, so that it takes some time. */
static void full_queue(unsigned round)
{
	const size_t size = QUEUE * sizeof(struct trace_event);
	uint64_t last = 0;
	bool in_order = true;

	if (!in_a_child())
		return;
	called[0] = caller(PBIND_NONE);
	__sys_trace_attach(called[0], TRACE_STREAM);
	for (unsigned i = 0; i < 5; i++) {
		struct trace_event *e =
			mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
		long n;
		for (unsigned before = *calls - 1; *calls != before; turns(5000))
			before = *calls;
		n = __sys_trace_wait(e, QUEUE);
		for (long k = 0; k < n; k++) {
			in_order = in_order && e[k].time > last;
			last = e[k].time;
		}
		munmap(e, size);
	}
	__sys_trace_detach(called[0]);
	end(called[0]);
	_exit(!in_order);
}

/* --- a tracer that ends before the LWP that stands still has gone on -------------------------- */

#define BUSY 3 /* the CPU of that LWP, which is kept from it */

static pid_t tracer;
static volatile bool keep, kept;

static void free_prepare(unsigned round)
{
	*watched = 0;
	keep = kept = false;
	called[0] = caller(BUSY);
	tracer = fork();
	if (tracer == 0) {
		struct trace_event e;
		__sys_trace_attach(called[0], 0);
		__sys_trace_wait(&e, 1);
		*watched = 1;
		for (;;)
			pause();
	}
	UNTIL(*watched);
}

static void free_end(unsigned round)
{
	keep = true;
	UNTIL(kept);
	end(tracer);
	keep = false;
	unsigned before = *calls;
	UNTIL(*calls != before);
	end(called[0]);
}

static void free_keep(unsigned round)
{
	const struct sched_param param = {.sched_priority = 5};
	int old;

	if (round == 1) {
		pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
		__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, BUSY, &old);
	}
	UNTIL(keep);
	kept = true;
	while (keep)
		;
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"two-tracers", 0, share_counts, NULL, {two_tracers}, NULL, 0},
	{"two-readers", 0, share_counts, NULL, {two_readers}, NULL, 0},
	{"full-queue", 0, share_counts, NULL, {full_queue}, NULL, 0},
	{"free", 0, share_counts, free_prepare, {free_end, free_keep}, NULL, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
