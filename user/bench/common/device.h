/*
 * device.h - a process that stands for a device.  A thread that asks it for something blocks in the
 * kernel until the answer comes, in a read without a deadline.
 */
#pragma once
#include <stdint.h>

/* Called once, before there are threads. */
void device_start(void);

/* Blocks the calling thread, and its LWP, for so many nanoseconds.  Answers come in the order of
 * the questions: a short wait after a long wait takes as long as the long one. */
void device_wait(int64_t ns);
