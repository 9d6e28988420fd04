/*
 * sa.c - model sa: the scheduler of mxn over scheduler activations.
 *
 * As many LWPs run threads as there are CPUs.  The kernel replaces an LWP that blocks at once, and
 * threads of equal priority have time slices (mxn/activation.c).
 */
#include <limits.h>
#include "../../core/model.h"

const struct model __model_sa = {
	.name = "sa",
	.like = "mxn",
	.scope = SCOPE_EITHER,
	.options = OPT_SPIN | OPT_QUEUE | OPT_UNLOCK | OPT_SCHEDCTL | OPT_CONCURRENCY | OPT_AGING |
		   OPT_IDLE | OPT_SLICES | OPT_PREEMPTED | OPT_UNBLOCKED | OPT_RUNQUEUE |
		   OPT_SLEEPQ | OPT_LONE | OPT_SIGNALS,
	.defaults = {.spin = SPIN_ADAPTIVE,
		     .fifo = true,
		     .schedctl = true,
		     .concurrency = 1024,
		     .max_concurrency = INT_MAX, /* each thread may be blocked in the kernel */
		     .waiting = WAITING_ACTIVATION,
		     .aging = 300,
		     .slices = true,
		     .hand_over = true,
		     .surplus_leaves = true,
		     .own_queues = true,
		     .own_sleepqs = true,
		     .lone = true},
};
