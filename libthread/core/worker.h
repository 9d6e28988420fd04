/*
 * worker.h - work that LWPs of the library's own do, so that no thread of the program keeps its LWP
 * for this work.
 */
#pragma once
#include <stdbool.h>

struct work {
	void (*run)(struct work *w); /* on one of these LWPs; may block; may free w at its end */
	struct work *next;
};

/* core/worker.c */
int __work_start(struct work *w);
bool __workers_forked(void);
