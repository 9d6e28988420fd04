/*
 * n1.c - model n1: all threads over one LWP.
 *
 * It is mxn held at a pool of one (concurrency = 1 and no option to change it), where
 * every thread is unbound whatever was asked for.  A second LWP serves time-outs once
 * there is a timed wait; it runs no thread.
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
