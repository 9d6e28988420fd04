/*
 * err_sched.c - every error of the system calls on scheduling classes, CPUs and processor sets.
 * That there is no memory: err_memory.c.
 */
#include <weft/priocntl.h>
#include <weft/processor.h>
#include "errtest.h"

#define ME WEFT_P_PID, WEFT_P_MYID
#define NOBODY INT32_MAX
#define NO_CPU 1000

static void classes(void)
{
	struct pcinfo info = {.pc_clname = "TS"}, unknown = {.pc_clname = "XX"};
	struct pcinfo number = {.pc_cid = 99};
	struct pcparms wrong = {.pc_cid = 99}, any = {.pc_cid = PC_CLNULL};
	struct pcparms high = {.pc_cid = WEFT_CLASS_TS, .ts = {.ts_upri = 1000}};
	struct pcparms level = {.pc_cid = WEFT_CLASS_RT, .rt = {.rt_pri = RT_LEVELS}};
	struct pcparms nt = {.pc_cid = WEFT_CLASS_NT, .nt = {.nt_class = 99}};
	struct pcparms other = {.pc_cid = WEFT_CLASS_NT};
	struct pcadmin size = {.pc_cid = WEFT_CLASS_TS, .pc_cmd = PC_GETTABLE, .pc_size = 1};
	struct pcnice nice = {.pc_op = 9};
	static struct tsdpent table[TS_LEVELS];
	struct pcadmin get = {.pc_cid = WEFT_CLASS_TS,
			      .pc_cmd = PC_GETTABLE,
			      .pc_table = (uint64_t)NOWHERE,
			      .pc_size = sizeof(table)};

	gives(priocntl, EINVAL, "an unknown command", ME, 99, &info);
	gives(priocntl, EINVAL, "no class of this name", ME, PC_GETCID, &unknown);
	gives(priocntl, EINVAL, "no class of this number", ME, PC_GETCLINFO, &number);
	gives(priocntl, EINVAL, "no class to set", ME, PC_SETPARMS, &wrong);
	gives(priocntl, EINVAL, "no class to get", ME, PC_GETPARMS, &wrong);
	gives(priocntl, EINVAL, "a user priority", ME, PC_SETPARMS, &high);
	gives(priocntl, EINVAL, "a real-time priority", ME, PC_SETPARMS, &level);
	gives(priocntl, EINVAL, "a base level", ME, PC_SETPARMS, &nt);
	gives(priocntl, EINVAL, "a type of id", 99, 0, PC_GETPARMS, &any);
	gives(priocntl, EINVAL, "the size of a table", ME, PC_ADMIN, &size);
	gives(priocntl, EINVAL, "what to do about a nice value", ME, PC_DONICE, &nice);
	for (int cmd = PC_GETCID; cmd <= PC_ADMIN; cmd++)
		gives(priocntl, EFAULT, "the structure", ME, cmd, NOWHERE);
	gives(priocntl, EFAULT, "the structure of a nice value", ME, PC_DONICE, NOWHERE);
	gives(priocntl, EFAULT, "the table", ME, PC_ADMIN, &get);
	get.pc_table = (uint64_t)table;
	get.pc_cmd = PC_SETTABLE;
	gives(priocntl, EINVAL, "a table without sense", ME, PC_ADMIN, &get);
	gives(priocntl, ESRCH, "no such process", WEFT_P_PID, NOBODY, PC_GETPARMS, &any);
	gives(priocntl, ESRCH, "none in this class", ME, PC_GETPARMS, &other);
	works(priocntl, ME, PC_GETCID, &info);
}

static void cpus(void)
{
	int old;

	gives(processor_bind, EINVAL, "a type of id", 99, 0, 0, &old);
	gives(processor_bind, EINVAL, "no such CPU", ME, NO_CPU, &old);
	gives(processor_bind, ESRCH, "no such process", WEFT_P_PID, NOBODY, 0, &old);
	gives(processor_bind, EFAULT, "the old one", ME, PBIND_QUERY, NOWHERE);
	gives(p_online, EINVAL, "no such CPU", NO_CPU, P_STATUS);
	gives(p_online, EINVAL, "an unknown flag", 0, 99);
	works(processor_bind, ME, 1, &old);
	gives(p_online, EBUSY, "an LWP is bound to it", 1, P_OFFLINE);
	__sys_processor_bind(ME, PBIND_NONE, NULL);
	works(p_online, 1, P_OFFLINE);
	gives(p_online, EBUSY, "the last one", 0, P_OFFLINE);
	gives(processor_bind, EINVAL, "it is offline", ME, 1, &old);
	__sys_p_online(1, P_ONLINE);
}

static void sets(void)
{
	int id, old, type, cpu[8], more[WEFT_MAXPSET];
	unsigned n = 8, made = 0;

	gives(pset_create, EFAULT, "the id", NOWHERE);
	works(pset_create, &id);
	gives(pset_destroy, EINVAL, "no such set", 60);
	gives(pset_destroy, EINVAL, "the default one", PS_NONE);
	gives(pset_assign, EINVAL, "no such set", 60, 1, &old);
	gives(pset_assign, EINVAL, "no such CPU", id, NO_CPU, &old);
	gives(pset_assign, EFAULT, "the old one", PS_QUERY, 1, NOWHERE);
	gives(pset_bind, EINVAL, "it has no CPU", id, ME, &old);
	works(pset_assign, id, 1, &old);
	gives(pset_assign, EBUSY, "the last CPU of the default set", id, 0, &old);
	gives(pset_bind, EINVAL, "no such set", 60, ME, &old);
	gives(pset_bind, EINVAL, "a type of id", id, 99, 0, &old);
	gives(pset_bind, ESRCH, "no such process", id, WEFT_P_PID, NOBODY, &old);
	gives(pset_bind, EFAULT, "the old one", PS_QUERY, ME, NOWHERE);
	gives(processor_bind, EINVAL, "a CPU of another set", ME, 1, &old);
	__sys_processor_bind(ME, 0, NULL);
	gives(pset_bind, EBUSY, "it is bound to a CPU of another set", id, ME, &old);
	__sys_processor_bind(ME, PBIND_NONE, NULL);
	works(pset_bind, id, ME, &old);
	gives(p_online, EBUSY, "the last CPU of a set with LWPs", 1, P_OFFLINE);
	gives(pset_assign, EBUSY, "the last CPU of a set with LWPs", PS_NONE, 1, &old);

	gives(pset_info, EINVAL, "no such set", 60, &type, &n, cpu);
	gives(pset_info, EFAULT, "the type", id, NOWHERE, NULL, NULL);
	gives(pset_info, EFAULT, "the number", id, NULL, NOWHERE, NULL);
	gives(pset_info, EFAULT, "the CPUs", id, NULL, &n, NOWHERE);
	works(pset_info, id, &type, &n, cpu);
	works(pset_info, PS_NONE, &type, NULL, NULL);
	gives(pset_list, EFAULT, "the number", NULL, NOWHERE);
	gives(pset_list, EFAULT, "the ids", NOWHERE, &n);
	n = 8;
	works(pset_list, cpu, &n);
	works(pset_destroy, id);

	while (made < WEFT_MAXPSET && __sys_pset_create(&more[made]) == 0)
		made++;
	gives(pset_create, ENOMEM, "too many", &id);
	while (made > 0)
		__sys_pset_destroy(more[--made]);
}

int main(void)
{
	struct weft_sysinfo info;

	if (__sys_sysinfo(&info) != 0 || info.ncpu < 2)
		bail("it needs two CPUs");
	classes();
	cpus();
	sets();
	return tap_done();
}
