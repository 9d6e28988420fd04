/*
 * n1.c - model n1: all threads over one LWP.
 *
 * n1 is mxn with a pool that is held at one LWP (concurrency = 1 and no option to change it).
 * Every thread is unbound, whatever the program asks for.  A second LWP serves time-outs once there
 * is a timed wait; it runs no thread.
 */
#include "../../core/model.h"

const struct model __model_n1 = {
	.name = "n1",
	.like = "mxn",
	.scope = SCOPE_ALL_UNBOUND,
	.options = OPT_QUEUE | OPT_SCHEDCTL,
	.defaults = {.spin = SPIN_NEVER,
		     .fifo = true,
		     .schedctl = true,
		     .concurrency = 1,
		     .max_concurrency = 1,
		     .waiting = WAITING_NONE},
};
