/*
 * device.h - a process that stands for a device: who asks it for something blocks in the kernel, in
 * a read that nothing bounds, until the answer comes.
 */
#pragma once
#include <stdint.h>

/* Once, before there are threads. */
void device_start(void);

/* Blocks the calling thread, and its LWP, for so many nanoseconds.  Answers come in the order of the
 * questions: a short wait after a long one is as long. */
void device_wait(int64_t ns);
