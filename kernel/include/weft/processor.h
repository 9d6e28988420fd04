/*
 * processor.h - CPUs: their state, processor sets, and the CPUs on which an LWP may run
 * (Solaris: p_online(2), processor_bind(2), pset_create(2)).
 *
 * Each CPU is in one set, and each LWP is in one set.  An LWP runs on the online CPUs of its
 * set; a bound LWP runs on one of them only.  Sets are numbered from 1.  A CPU or LWP that is
 * in none of these is in the default set, PS_NONE, which always has a CPU.
 */
#pragma once
#include "abi.h"
#include "procset.h"

/* p_online: the request, and the state that it returns. */
#define P_OFFLINE 1 /* runs no LWP; still handles interrupts, and the timers that it has */
#define P_ONLINE 2
#define P_STATUS 3 /* request only: returns the state, and changes nothing */

/* Instead of a CPU in processor_bind. */
#define PBIND_NONE (-1)
#define PBIND_QUERY (-2)

/* Instead of a set. */
#define PS_NONE (-1)
#define PS_QUERY (-2)
#define PS_MYID (-3) /* the caller's set */

#define PS_PRIVATE 2 /* type of a set that pset_create made */

#define WEFT_MAXPSET 64 /* sets, without the default set */
