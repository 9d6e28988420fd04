/*
 * processor.h - CPUs: their state, processor sets, and who may run where (Solaris:
 * p_online(2), processor_bind(2), pset_create(2)).
 *
 * Each CPU is in one set, and each LWP in one: it runs on the CPUs of its set that are
 * online, or, bound, on one of them only.  Sets are numbered from 1; what is in none of
 * those is in the default set, PS_NONE, which always has a CPU.
 */
#pragma once
#include "abi.h"
#include "procset.h"

/* p_online: what to do, and the state that it tells. */
#define P_OFFLINE 1 /* runs no LWP; still takes interrupts, and the timers that it has */
#define P_ONLINE 2
#define P_STATUS 3 /* only tell */

/* Instead of a CPU in processor_bind. */
#define PBIND_NONE (-1)
#define PBIND_QUERY (-2)

/* Instead of a set. */
#define PS_NONE (-1)
#define PS_QUERY (-2)
#define PS_MYID (-3) /* the caller's */

#define PS_PRIVATE 2 /* type of a set that pset_create made */

#define WEFT_MAXPSET 64 /* sets beside the default one */
