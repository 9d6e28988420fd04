/*
 * sched_calls.c - the calls on classes, CPUs and processor sets with good and bad
 * arguments, and POSIX's functions over them.  What the classes do: sched_classes.c.
 */
#include <errno.h>
#include <stdbool.h>
#include <sched.h>
#include <sys/priocntl.h>
#include <sys/pset.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <weft/proc.h>
#include <weft/start.h>
#include "rawlwp.h"
#include "tap.h"

#define KERNEL_ADDR ((void *)0xffffffff80100000ull)
#define NOBODY 99998

static uint32_t me;
static volatile uint32_t stop;

static long parms(struct pcparms *p, int cid)
{
	p->pc_cid = cid;
	return __sys_priocntl(P_LWPID, P_MYID, PC_GETPARMS, p);
}

static long set_ts(int limit, int upri)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_TS, .ts = {limit, upri}};
	return __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p);
}

static long set_rt(int pri, unsigned sec, int nsec)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT, .rt = {pri, sec, nsec}};
	return __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p);
}

static long set_nt(int base, int relative)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_NT, .nt = {base, relative, 0}};
	return __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p);
}

static void spins(struct raw *r)
{
	while (!stop)
		;
}

static void test_class_info(void)
{
	struct pcinfo info = {.pc_clname = "RT"};

	is("class by name", __sys_priocntl(0, 0, PC_GETCID, &info), WEFT_NCLASS);
	is("class by name: id", info.pc_cid, WEFT_CLASS_RT);
	is("class by name: highest", info.pc_maxpri, 59);
	info.pc_cid = WEFT_CLASS_TS;
	is("class by id", __sys_priocntl(0, 0, PC_GETCLINFO, &info), WEFT_NCLASS);
	ok("class by id: name", strcmp(info.pc_clname, "TS") == 0);
	info.pc_cid = WEFT_NCLASS;
	is("class by id: none", __sys_priocntl(0, 0, PC_GETCLINFO, &info), -EINVAL);
	memset(info.pc_clname, 'x', PC_CLNMSZ);
	is("class by name: none", __sys_priocntl(0, 0, PC_GETCID, &info), -EINVAL);
	is("class: pointer", __sys_priocntl(0, 0, PC_GETCID, KERNEL_ADDR), -EFAULT);
	is("priocntl: command", __sys_priocntl(0, 0, 77, &info), -EINVAL);
}

static void test_parms(void)
{
	struct pcparms p;

	is("ts: set", set_ts(10, 5), 0);
	is("ts: get", parms(&p, WEFT_CLASS_TS), getpid());
	ok("ts: as set", p.ts.ts_uprilim == 10 && p.ts.ts_upri == 5);
	is("ts: above the limit", set_ts(TS_NOCHANGE, 20), 0);
	parms(&p, PC_CLNULL);
	ok("ts: cut down to it", p.ts.ts_uprilim == 10 && p.ts.ts_upri == 10);
	is("ts: a lower limit", set_ts(-3, TS_NOCHANGE), 0);
	parms(&p, PC_CLNULL);
	ok("ts: takes the priority along", p.ts.ts_uprilim == -3 && p.ts.ts_upri == -3);
	is("ts: too high", set_ts(0, 61), -EINVAL);
	is("ts: too low", set_ts(-61, 0), -EINVAL);
	is("get: of another class", parms(&p, WEFT_CLASS_RT), -ESRCH);
	is("get: of no class", parms(&p, 9), -EINVAL);

	is("rt: set", set_rt(7, 1, 500000000), 0);
	is("rt: get", parms(&p, PC_CLNULL), getpid());
	ok("rt: as set", p.pc_cid == WEFT_CLASS_RT && p.rt.rt_pri == 7 && p.rt.rt_tqsecs == 1 &&
				 p.rt.rt_tqnsecs == 500000000);
	struct lwp_info info;
	__sys_lwp_info(0, me, &info);
	ok("rt: lwp_info", info.pri == 107 && strcmp(info.sclass, "RT") == 0);
	is("rt: slice without end", set_rt(RT_NOCHANGE, 0, RT_TQINF), 0);
	parms(&p, PC_CLNULL);
	ok("rt: as set, priority kept", p.rt.rt_pri == 7 && p.rt.rt_tqnsecs == RT_TQINF);
	is("rt: the level's slice", set_rt(RT_NOCHANGE, 0, RT_TQDEF), 0);
	parms(&p, PC_CLNULL);
	ok("rt: 1 s at level 7", p.rt.rt_tqsecs == 1 && p.rt.rt_tqnsecs == 0);
	is("rt: too high", set_rt(60, 0, RT_TQDEF), -EINVAL);
	is("rt: below 0", set_rt(-2, 0, RT_TQDEF), -EINVAL);
	is("rt: no slice", set_rt(1, 0, 0), -EINVAL);
	is("rt: nanoseconds", set_rt(1, 0, 1000000000), -EINVAL);
	is("rt: unknown slice", set_rt(1, 0, -4), -EINVAL);

	is("nt: set", set_nt(NT_HIGH_CLASS, -2), 0);
	is("nt: get", parms(&p, WEFT_CLASS_NT), getpid());
	ok("nt: as set", p.nt.nt_class == 13 && p.nt.nt_relative == -2 && p.nt.nt_level == 11);
	is("nt: time-critical", set_nt(NT_NOCHANGE, 15), 0);
	parms(&p, PC_CLNULL);
	is("nt: time-critical is 15", p.nt.nt_level, 15);
	is("nt: idle", set_nt(NT_NOCHANGE, -15), 0);
	parms(&p, PC_CLNULL);
	is("nt: idle is 1", p.nt.nt_level, 1);
	is("nt: fixed, time-critical", set_nt(NT_REALTIME_CLASS, 15), 0);
	parms(&p, PC_CLNULL);
	is("nt: ... is 31", p.nt.nt_level, 31);
	is("nt: no such level", set_nt(32, 0), -EINVAL);
	is("nt: level 0", set_nt(0, 0), -EINVAL);
	is("nt: no such place", set_nt(8, 3), -EINVAL);

	p = (struct pcparms){.pc_cid = WEFT_CLASS_SYS};
	is("the kernel's class", __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p), -EINVAL);
	p.pc_cid = WEFT_NCLASS;
	is("no such class", __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p), -EINVAL);
	is("set: pointer", __sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, KERNEL_ADDR), -EFAULT);
	is("get: pointer", __sys_priocntl(P_LWPID, P_MYID, PC_GETPARMS, NULL), -EFAULT);
	is("back in time-share", set_ts(0, 0), 0);
}

static void test_who(void)
{
	struct pcparms p = {.pc_cid = PC_CLNULL};
	struct raw other = {0};

	is("no such process", __sys_priocntl(P_PID, NOBODY, PC_GETPARMS, &p), -ESRCH);
	is("no such LWP", __sys_priocntl(P_LWPID, 777, PC_GETPARMS, &p), -ESRCH);
	is("no such group", __sys_priocntl(P_PGID, NOBODY, PC_GETPARMS, &p), -ESRCH);
	is("no children", __sys_priocntl(P_PPID, getpid(), PC_GETPARMS, &p), -ESRCH);
	is("nobody in a class", __sys_priocntl(P_CID, WEFT_CLASS_NT, PC_GETPARMS, &p), -ESRCH);
	is("no such user", __sys_priocntl(P_UID, 5, PC_GETPARMS, &p), -ESRCH);
	ok("my session", __sys_priocntl(P_SID, P_MYID, PC_GETPARMS, &p) > 0);
	is("no such session", __sys_priocntl(P_SID, 99998, PC_GETPARMS, &p), -ESRCH);
	is("no such type", __sys_priocntl(9, 1, PC_GETPARMS, &p), -EINVAL);
	is("the process", __sys_priocntl(P_PID, P_MYID, PC_GETPARMS, &p), getpid());
	ok("its group", __sys_priocntl(P_PGID, P_MYID, PC_GETPARMS, &p) > 0);
	ok("all", __sys_priocntl(P_ALL, 0, PC_GETPARMS, &p) > 0);
	ok("the user's", __sys_priocntl(P_UID, 0, PC_GETPARMS, &p) > 0);

	/* A call for a process applies to all its LWPs; a new LWP inherits from its creator. */
	set_nt(4, 1);
	if (raw_start(&other, spins, 0, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	p.pc_cid = WEFT_CLASS_NT;
	is("an LWP inherits", __sys_priocntl(P_LWPID, other.id, PC_GETPARMS, &p), getpid());
	ok("... class and parameters", p.nt.nt_class == 4 && p.nt.nt_relative == 1);
	p = (struct pcparms){.pc_cid = WEFT_CLASS_RT, .rt = {3, 0, RT_TQDEF}};
	is("one class for all of it", __sys_priocntl(P_PID, P_MYID, PC_SETPARMS, &p), 0);
	p.pc_cid = PC_CLNULL;
	__sys_priocntl(P_LWPID, other.id, PC_GETPARMS, &p);
	ok("... and all have it", p.pc_cid == WEFT_CLASS_RT && p.rt.rt_pri == 3);
	set_ts(0, 0);
	p.pc_cid = PC_CLNULL;
	__sys_priocntl(P_PID, P_MYID, PC_GETPARMS, &p);
	is("get: the highest of them", p.pc_cid, WEFT_CLASS_RT);
	stop = 1;
	__sys_lwp_continue(other.id);
	__sys_lwp_wait(other.id, NULL);
	stop = 0;
}

static void test_tables(void)
{
	static struct tsdpent ts[TS_LEVELS], old[TS_LEVELS];
	struct ntadmin nt;
	struct pcadmin a = {WEFT_CLASS_TS, PC_GETTABLE, (uint64_t)ts, sizeof(ts)};

	is("table: get", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	ok("table: 20 to 200 ms", ts[0].ts_quantum == 200000 && ts[59].ts_quantum == 20000);
	memcpy(old, ts, sizeof(ts));
	ts[30].ts_quantum = 12345;
	ts[30].ts_tqexp = 3;
	a.pc_cmd = PC_SETTABLE;
	is("table: set", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	memset(ts, 0, sizeof(ts));
	a.pc_cmd = PC_GETTABLE;
	__sys_priocntl(0, 0, PC_ADMIN, &a);
	ok("table: as set", ts[30].ts_quantum == 12345 && ts[30].ts_tqexp == 3);
	a.pc_cmd = PC_SETTABLE;
	ts[5].ts_slpret = 60;
	is("table: a level that is none", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
	ts[5] = old[5];
	ts[5].ts_quantum = 0;
	is("table: no slice", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
	a.pc_table = (uint64_t)old;
	is("table: back", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	a.pc_size--;
	is("table: another size", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
	a.pc_size++;
	a.pc_cmd = 5;
	is("table: command", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
	a.pc_cmd = PC_SETTABLE;
	a.pc_table = (uint64_t)KERNEL_ADDR;
	is("table: set from nowhere", __sys_priocntl(0, 0, PC_ADMIN, &a), -EFAULT);
	a.pc_cmd = PC_GETTABLE;
	is("table: get to nowhere", __sys_priocntl(0, 0, PC_ADMIN, &a), -EFAULT);
	is("table: pointer", __sys_priocntl(0, 0, PC_ADMIN, NULL), -EFAULT);
	a.pc_cid = WEFT_CLASS_SYS;
	is("table: of a class without one", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
	a = (struct pcadmin){WEFT_CLASS_NT, PC_GETTABLE, (uint64_t)&nt, sizeof(nt)};
	is("nt: table", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	ok("nt: a workstation that triples", nt.nt_quantum == 20000 && nt.nt_stretch == 3);
	nt.nt_stretch = 4;
	a.pc_cmd = PC_SETTABLE;
	is("nt: stretched too far", __sys_priocntl(0, 0, PC_ADMIN, &a), -EINVAL);
}

static void test_nice(void)
{
	struct pcnice n = {.pc_op = 9};

	is("nice: command", __sys_priocntl(P_PID, P_MYID, PC_DONICE, &n), -EINVAL);
	is("nice: pointer", __sys_priocntl(P_PID, P_MYID, PC_DONICE, NULL), -EFAULT);
	is("nice: 0 at first", getpriority(PRIO_PROCESS, 0), 0);
	is("nice(5)", nice(5), 5);
	struct pcparms p;
	parms(&p, PC_CLNULL);
	is("nice(5): three user priorities each", p.ts.ts_upri, -15);
	is("nice(100)", nice(100), 19);
	is("nice(-100)", nice(-100), -20);
	is("setpriority", setpriority(PRIO_PGRP, 0, 3), 0);
	is("getpriority", getpriority(PRIO_PROCESS, getpid()), 3);
	is("setpriority: beyond", setpriority(PRIO_PROCESS, 0, 1000), 0);
	is("getpriority: the end", getpriority(PRIO_PROCESS, 0), 19);
	errno = 0;
	ok("getpriority: kind", getpriority(3, 0) == -1 && errno == EINVAL);
	ok("setpriority: nobody", setpriority(PRIO_PROCESS, NOBODY, 0) == -1 && errno == ESRCH);
	setpriority(PRIO_PGRP, 0, 0);
	set_rt(1, 0, RT_TQDEF);
	errno = 0;
	ok("nice: not in real-time", nice(1) == -1 && errno == EINVAL);
	set_ts(0, 0);
}

static void test_posix(void)
{
	struct sched_param sp = {10}, got;
	struct timespec ts;

	is("sched_getscheduler", sched_getscheduler(0), SCHED_OTHER);
	is("sched_setscheduler", sched_setscheduler(0, SCHED_FIFO, &sp), SCHED_OTHER);
	is("sched_getscheduler: fifo", sched_getscheduler(getpid()), SCHED_FIFO);
	is("sched_getparam", sched_getparam(0, &got), 0);
	is("sched_getparam: priority", got.sched_priority, 10);
	is("a slice without end", sched_rr_get_interval(0, &ts), 0);
	ok("... is 0", ts.tv_sec == 0 && ts.tv_nsec == 0);
	is("sched_setscheduler: rr", sched_setscheduler(0, SCHED_RR, &sp), SCHED_FIFO);
	is("sched_rr_get_interval", sched_rr_get_interval(0, &ts), 0);
	ok("... 800 ms at 10", ts.tv_sec == 0 && ts.tv_nsec == 800000000);
	sp.sched_priority = 59;
	is("sched_setparam", sched_setparam(0, &sp), 0);
	sched_getparam(0, &got);
	ok("... keeps the policy", got.sched_priority == 59 && sched_getscheduler(0) == SCHED_RR);
	sp.sched_priority = 60;
	ok("too high", sched_setparam(0, &sp) == -1 && errno == EINVAL);
	sp.sched_priority = 0;
	ok("no such policy", sched_setscheduler(0, 7, &sp) == -1 && errno == EINVAL);
	ok("pid below 0", sched_setscheduler(-1, SCHED_RR, &sp) == -1 && errno == EINVAL);
	ok("nobody", sched_setscheduler(NOBODY, SCHED_RR, &sp) == -1 && errno == ESRCH);
	ok("nobody's policy", sched_getscheduler(NOBODY) == -1 && errno == ESRCH);
	ok("nobody's priority", sched_getparam(NOBODY, &got) == -1 && errno == ESRCH);
	is("back", sched_setscheduler(0, SCHED_OTHER, &sp), SCHED_RR);
	ok("no slice to tell", sched_rr_get_interval(0, &ts) == -1 && errno == EINVAL);
	is("lowest", sched_get_priority_min(SCHED_RR), 0);
	is("highest", sched_get_priority_max(SCHED_FIFO), 59);
	ok("POSIX wants 32",
	   sched_get_priority_max(SCHED_RR) - sched_get_priority_min(SCHED_RR) >= 31);
	ok("of no policy", sched_get_priority_max(9) == -1 && errno == EINVAL);
}

static void test_binding(void)
{
	int old = 77, last = __ncpu - 1;

	is("bind", __sys_processor_bind(P_LWPID, P_MYID, last, &old), 0);
	is("bind: was not", old, PBIND_NONE);
	is("bind: query", __sys_processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &old), 0);
	is("bind: is", old, last);
	struct lwp_info info;
	__sys_lwp_info(0, me, &info);
	is("bind: and there it runs", info.cpu, last);
	is("bound: its CPU stays", __sys_p_online(last, P_OFFLINE), -EBUSY);
	struct raw other = {0};
	if (raw_start(&other, spins, 0, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	is("bind: a new LWP", __sys_processor_bind(P_LWPID, other.id, PBIND_QUERY, &old), 0);
	is("bind: inherits", old, last);
	stop = 1;
	__sys_lwp_continue(other.id);
	__sys_lwp_wait(other.id, NULL);
	stop = 0;
	is("bind: undo", __sys_processor_bind(P_LWPID, me, PBIND_NONE, &old), 0);
	is("bind: was", old, last);
	is("bind: no such CPU", __sys_processor_bind(P_LWPID, me, __ncpu, &old), -EINVAL);
	is("bind: below", __sys_processor_bind(P_LWPID, me, -3, &old), -EINVAL);
	is("bind: nobody", __sys_processor_bind(P_PID, NOBODY, 0, &old), -ESRCH);
	is("bind: type", __sys_processor_bind(9, 0, 0, &old), -EINVAL);
	is("bind: without old", __sys_processor_bind(P_LWPID, me, PBIND_NONE, NULL), 0);
	is("bind: pointer", __sys_processor_bind(P_LWPID, me, PBIND_NONE, KERNEL_ADDR), -EFAULT);
}

static void test_online(void)
{
	int last = __ncpu - 1, old;

	is("online: status", __sys_p_online(last, P_STATUS), P_ONLINE);
	is("online: no such CPU", __sys_p_online(__ncpu, P_STATUS), -EINVAL);
	is("online: below", __sys_p_online(-1, P_STATUS), -EINVAL);
	is("online: flag", __sys_p_online(0, 4), -EINVAL);
	is("online: already", __sys_p_online(last, P_ONLINE), P_ONLINE);
	if (__ncpu == 1) {
		is("offline: the last one", __sys_p_online(0, P_OFFLINE), -EBUSY);
		return;
	}
	is("offline", __sys_p_online(last, P_OFFLINE), P_ONLINE);
	is("offline: again", __sys_p_online(last, P_OFFLINE), P_OFFLINE);
	is("offline: status", __sys_p_online(last, P_STATUS), P_OFFLINE);
	struct weft_cpuinfo c;
	__sys_cpuinfo(last, &c);
	ok("offline: cpuinfo", !c.online && c.pid == 0);
	is("offline: bind", __sys_processor_bind(P_LWPID, me, last, &old), -EINVAL);
	for (int i = 0; i < last - 1; i++)
		is("offline: one more", __sys_p_online(i, P_OFFLINE), P_ONLINE);
	is("offline: the last one", __sys_p_online(last - 1, P_OFFLINE), -EBUSY);
	for (int i = 0; i <= last; i++)
		__sys_p_online(i, P_ONLINE);
	is("online", __sys_p_online(last, P_STATUS), P_ONLINE);
}

static void test_sets(void)
{
	int set, old = 77, type, cpus[4] = {-9, -9, -9, -9}, last = __ncpu - 1;
	unsigned n;

	is("set: create", __sys_pset_create(&set), 0);
	ok("set: number", set >= 1);
	is("set: create: pointer", __sys_pset_create(KERNEL_ADDR), -EFAULT);
	n = 4;
	is("set: info", __sys_pset_info(set, &type, &n, cpus), 0);
	ok("set: empty", n == 0 && type == PS_PRIVATE);
	is("set: run in an empty one", __sys_pset_bind(set, P_LWPID, me, &old), -EINVAL);
	is("set: assign: query", __sys_pset_assign(PS_QUERY, last, &old), 0);
	is("set: of no set", old, PS_NONE);
	is("set: no such CPU", __sys_pset_assign(set, __ncpu, &old), -EINVAL);
	is("set: no such set", __sys_pset_assign(63, 0, &old), -EINVAL);
	is("set: bind to none such", __sys_pset_bind(63, P_LWPID, me, &old), -EINVAL);
	is("set: bind nobody", __sys_pset_bind(PS_NONE, P_PID, NOBODY, &old), -ESRCH);
	is("set: info of none such", __sys_pset_info(63, NULL, NULL, NULL), -EINVAL);
	is("set: destroy none such", __sys_pset_destroy(63), -EINVAL);
	is("set: destroy the default", __sys_pset_destroy(PS_NONE), -EINVAL);
	n = 4;
	is("set: list", __sys_pset_list(cpus, &n), 0);
	ok("set: one", n == 1 && cpus[0] == set);
	is("set: list: pointer", __sys_pset_list(KERNEL_ADDR, &n), -EFAULT);
	is("set: list: nothing asked", __sys_pset_list(NULL, NULL), 0);
	if (__ncpu == 1) {
		is("set: the last CPU of the default", __sys_pset_assign(set, 0, &old), -EBUSY);
		is("set: destroy", __sys_pset_destroy(set), 0);
		return;
	}

	is("set: assign", __sys_pset_assign(set, last, &old), 0);
	is("set: was of none", old, PS_NONE);
	struct weft_cpuinfo c;
	__sys_cpuinfo(last, &c);
	is("set: cpuinfo", c.pset, set);
	n = 4;
	__sys_pset_info(set, NULL, &n, cpus);
	ok("set: has it", n == 1 && cpus[0] == last);
	n = 0;
	is("set: info: no room", __sys_pset_info(set, NULL, &n, cpus), 0);
	is("set: info: how many", n, 1);
	is("set: info: pointer", __sys_pset_info(set, KERNEL_ADDR, &n, cpus), -EFAULT);
	n = 4;
	is("set: the default's CPUs", __sys_pset_info(PS_NONE, &type, &n, cpus), 0);
	ok("set: the others", n == __ncpu - 1 && type == PS_NONE);
	is("set: bind", __sys_pset_bind(set, P_LWPID, me, &old), 0);
	is("set: was in none", old, PS_NONE);
	__sys_pset_bind(PS_QUERY, P_LWPID, me, &old);
	is("set: is in it", old, set);
	n = 4;
	__sys_pset_info(PS_MYID, NULL, &n, cpus);
	ok("set: mine", n == 1 && cpus[0] == last);
	struct lwp_info info;
	__sys_lwp_info(0, me, &info);
	is("set: and runs there", info.cpu, last);
	is("set: a CPU outside", __sys_processor_bind(P_LWPID, me, 0, &old), -EINVAL);
	is("set: its last CPU", __sys_pset_assign(PS_NONE, last, &old), -EBUSY);
	is("set: its last CPU offline", __sys_p_online(last, P_OFFLINE), -EBUSY);
	__sys_processor_bind(P_LWPID, me, last, &old);
	is("set: bound: cannot leave", __sys_pset_bind(PS_NONE, P_LWPID, me, &old), -EBUSY);
	is("set: destroy", __sys_pset_destroy(set), 0);
	__sys_pset_bind(PS_QUERY, P_LWPID, me, &old);
	is("set: destroyed: in none", old, PS_NONE);
	__sys_processor_bind(P_LWPID, me, PBIND_QUERY, &old);
	is("set: destroyed: still bound", old, last);
	__sys_processor_bind(P_LWPID, me, PBIND_NONE, &old);
	__sys_pset_assign(PS_QUERY, last, &old);
	is("set: destroyed: its CPU is free", old, PS_NONE);
	is("set: bind: pointer", __sys_pset_bind(PS_QUERY, P_LWPID, me, KERNEL_ADDR), -EFAULT);

	int sets[WEFT_MAXPSET], made = 0;
	while (made < WEFT_MAXPSET && __sys_pset_create(&sets[made]) == 0)
		made++;
	is("set: as many as there may be", made, WEFT_MAXPSET);
	is("set: one more", __sys_pset_create(&set), -ENOMEM);
	while (made > 0)
		__sys_pset_destroy(sets[--made]);
}

/* A process is as its parent: class, parameters, set and binding. */
static void test_inheritance(void)
{
	struct pcparms p;
	int status, cpu;

	set_nt(10, 2);
	__sys_processor_bind(P_LWPID, me, 0, NULL);
	pid_t child = fork();
	if (child == 0) {
		bool same = parms(&p, WEFT_CLASS_NT) > 0 && p.nt.nt_class == 10 &&
			    p.nt.nt_relative == 2 &&
			    __sys_processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &cpu) == 0 &&
			    cpu == 0;
		_exit(same ? 0 : 1);
	}
	ok("a child inherits", child > 0 && waitpid(child, &status, 0) == child && status == 0);
	__sys_processor_bind(P_LWPID, me, PBIND_NONE, NULL);
	set_ts(0, 0);
}

int main(void)
{
	me = __sys_lwp_self();
	test_class_info();
	test_parms();
	test_who();
	test_tables();
	test_nice();
	test_posix();
	test_binding();
	test_online();
	test_sets();
	test_inheritance();
	return tap_done();
}
