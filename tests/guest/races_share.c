/*
 * races_share.c [ROUNDS] - the race of CPUs whose time slices end together, and that share one LWP more than
 * they are.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <weft/priocntl.h>
#include <weft/procset.h>
#include <weft/sys.h>
#include "tap.h"

#define SLICE 1000000                 /* ns */
#define COMPUTED (12 * SLICE)         /* by each CPU */
#define ALONE (COMPUTED * 95ll / 100) /* with more, an LWP has not shared its CPU */
#define A_STEP 2000                   /* ns; a longer step of the loop is a time off the CPU */
#define LWPS 65

static pthread_barrier_t begin;
static volatile hrtime_t end;
static int64_t got[LWPS]; /* ns on a CPU */

static void *compute(void *arg)
{
	int64_t *mine = arg, sum = 0;
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT};

	p.rt = (struct rtparms){.rt_pri = 20, .rt_tqnsecs = SLICE};
	if (__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p) != 0)
		bail("priocntl");
	if (pthread_barrier_wait(&begin) == PTHREAD_BARRIER_SERIAL_THREAD)
		end = gethrtime() + COMPUTED;
	for (hrtime_t last = gethrtime(), now; end == 0 || last < end; last = now) {
		now = gethrtime();
		if (now - last < A_STEP)
			sum += now - last;
	}
	*mine = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? atoi(argv[1]) : 1;
	unsigned lwps = sysconf(_SC_NPROCESSORS_ONLN) + 1;
	pthread_t thread[LWPS];

	for (unsigned round = 1; round <= rounds; round++) {
		int64_t most = 0;

		end = 0;
		pthread_barrier_init(&begin, NULL, lwps);
		for (unsigned i = 0; i < lwps; i++)
			if (pthread_create(&thread[i], NULL, compute, &got[i]) != 0)
				bail("pthread_create");
		for (unsigned i = 0; i < lwps; i++) {
			pthread_join(thread[i], NULL);
			most = got[i] > most ? got[i] : most;
		}
		if (most > ALONE)
			bail("round %u: an LWP has a CPU for %d of %d ns, although %u LWPs share "
			     "%u CPUs",
			     round, (int)most, COMPUTED, lwps, lwps - 1);
	}
	ok("each LWP shares its CPU with others", true);
	return tap_done();
}
