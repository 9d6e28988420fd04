/*
 * inherit.h - priority inheritance through mutexes in user memory (inherit.c), for the calls on
 * mutexes.
 */
#pragma once
#include "usleep.h"

/* As umutex_lock and umutex_unlock, for a mutex whose word has INHERIT. */
int imutex_lock(struct uobject *m, uint64_t me, hrtime_t deadline, bool wait);
/* died: as umutex_owner_died; owner is compared under mask. */
int imutex_unlock(struct uobject *m, uint64_t mask, uint64_t owner, bool died);
