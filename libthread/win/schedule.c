/*
 * schedule.c - priorities and CPUs of threads and processes, through the NT class (weft/priocntl.h)
 * and processor_bind.
 *
 * The first call that sets a priority puts the process into the NT class.  Before that, the user
 * chooses the program's class (priocntl -e -c NT).  If a thread has not begun, or has no LWP of its
 * own, its settings are stored until it has an LWP.
 */
#include <sys/priocntl.h>
#include <sys/processor.h>
#include <sys/procset.h>
#include "win.h"

static DWORD_PTR process_mask; /* lock; 0: the CPUs with which the process began */
static unsigned masks_set;     /* lock: times that process_mask was set */

/* --- priorities ---------------------------------------------------------------------------- */

static bool pcparms_get(idtype_t type, id_t id, struct pcparms *p)
{
	*p = (struct pcparms){.pc_cid = PC_CLNULL};
	return __sys_priocntl(type, id, PC_GETPARMS, p) >= 0;
}

static DWORD pcparms_set(idtype_t type, id_t id, int level, int relative)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_NT,
			    .nt = {.nt_class = level, .nt_relative = relative}};

	return __sys_priocntl(type, id, PC_SETPARMS, &p) < 0 ? ERROR_INVALID_HANDLE : 0;
}

DWORD __win_apply_priority(struct win_thread *w)
{
	struct pcparms now;

	if (pcparms_get(P_LWPID, w->lwpid, &now) && now.pc_cid != WEFT_CLASS_NT)
		pcparms_set(P_PID, P_MYID, NT_NORMAL_CLASS, NT_NOCHANGE);
	return pcparms_set(P_LWPID, w->lwpid, NT_NOCHANGE, w->priority);
}

/* ERROR_INVALID_HANDLE.  ERROR_INVALID_PARAMETER: not one of THREAD_PRIORITY_*. */
BOOL SetThreadPriority(HANDLE thread, int priority)
{
	struct win_thread *w;
	DWORD error = 0;

	if ((priority < THREAD_PRIORITY_LOWEST || priority > THREAD_PRIORITY_HIGHEST) &&
	    priority != THREAD_PRIORITY_IDLE && priority != THREAD_PRIORITY_TIME_CRITICAL)
		return __win_fails(ERROR_INVALID_PARAMETER);
	w = __win_thread(thread);
	if (w == NULL)
		return FALSE;
	__win_lock();
	w->priority = priority;
	if (w->lwpid != 0)
		error = __win_apply_priority(w);
	__win_unlock();
	__win_put(&w->object);
	return error == 0 ? TRUE : __win_fails(error);
}

/*
 * The priority that was set, or the LWP's priority in the NT class.  THREAD_PRIORITY_ERROR_RETURN:
 * ERROR_INVALID_HANDLE.
 */
int GetThreadPriority(HANDLE thread)
{
	struct win_thread *w = __win_thread(thread);
	struct pcparms now;
	int priority;

	if (w == NULL)
		return THREAD_PRIORITY_ERROR_RETURN;
	__win_lock();
	priority = w->priority;
	if (w->lwpid != 0 && pcparms_get(P_LWPID, w->lwpid, &now) && now.pc_cid == WEFT_CLASS_NT)
		priority = now.nt.nt_relative;
	__win_unlock();
	__win_put(&w->object);
	return priority;
}

static const struct {
	DWORD priority_class;
	int level;
} classes[] = {
	{IDLE_PRIORITY_CLASS, NT_IDLE_CLASS},
	{NORMAL_PRIORITY_CLASS, NT_NORMAL_CLASS},
	{HIGH_PRIORITY_CLASS, NT_HIGH_CLASS},
	{REALTIME_PRIORITY_CLASS, NT_REALTIME_CLASS},
};
#define NCLASSES (sizeof(classes) / sizeof(classes[0]))

int __win_class_level(DWORD priority_class)
{
	for (unsigned i = 0; i < NCLASSES; i++)
		if (classes[i].priority_class == priority_class)
			return classes[i].level;
	return 0;
}

int __win_child_level(void)
{
	struct pcparms now;

	if (!pcparms_get(P_PID, P_MYID, &now) || now.pc_cid != WEFT_CLASS_NT)
		return 0;
	return now.nt.nt_class == NT_IDLE_CLASS ? NT_IDLE_CLASS : NT_NORMAL_CLASS;
}

/*
 * ERROR_INVALID_HANDLE: no such process, or it has ended.  ERROR_INVALID_PARAMETER: no such class.
 */
BOOL SetPriorityClass(HANDLE process, DWORD priority_class)
{
	int level = __win_class_level(priority_class);
	struct win_process *p;
	DWORD error;

	if (level == 0)
		return __win_fails(ERROR_INVALID_PARAMETER);
	p = __win_process(process);
	if (p == NULL)
		return FALSE;
	error = pcparms_set(P_PID, p->pid, level, NT_NOCHANGE);
	__win_put(&p->object);
	return error == 0 ? TRUE : __win_fails(error);
}

/* The priority class; NORMAL_PRIORITY_CLASS outside the NT class.  0: ERROR_INVALID_HANDLE. */
DWORD GetPriorityClass(HANDLE process)
{
	struct win_process *p = __win_process(process);
	DWORD found = NORMAL_PRIORITY_CLASS;
	struct pcparms now;

	if (p == NULL)
		return 0;
	if (!pcparms_get(P_PID, p->pid, &now)) {
		found = 0;
		SetLastError(ERROR_INVALID_HANDLE);
	}
	for (unsigned i = 0; i < NCLASSES && found != 0; i++)
		if (now.pc_cid == WEFT_CLASS_NT && classes[i].level == now.nt.nt_class)
			found = classes[i].priority_class;
	__win_put(&p->object);
	return found;
}

/* --- CPUs ----------------------------------------------------------------------------------- */

static DWORD_PTR affinity_all(void)
{
	return __ncpu >= 64 ? ~(DWORD_PTR)0 : ((DWORD_PTR)1 << __ncpu) - 1;
}

/*
 * The kernel binds to one CPU or to none, so a mask has one CPU, or all.  ERROR_INVALID_PARAMETER:
 * no CPU, or a CPU that does not exist.  ERROR_NOT_SUPPORTED: several CPUs, but not all.
 */
static DWORD affinity_bind(idtype_t type, id_t id, DWORD_PTR mask, bool apply)
{
	int cpu = mask == affinity_all() ? PBIND_NONE : __builtin_ctzll(mask | 1ull << 63);

	if (mask == 0 || (mask & ~affinity_all()))
		return ERROR_INVALID_PARAMETER;
	if (cpu != PBIND_NONE && (mask & (mask - 1)))
		return ERROR_NOT_SUPPORTED;
	return apply && __sys_processor_bind(type, id, cpu, NULL) < 0 ? ERROR_INVALID_PARAMETER : 0;
}

static DWORD_PTR mask_of(int cpu)
{
	return cpu == PBIND_NONE ? affinity_all() : (DWORD_PTR)1 << cpu;
}

/*
 * With the lock held: the CPUs of the process.  At first they are the creator's CPUs, which the
 * first LWP still has.
 */
static DWORD_PTR affinity_allowed(void)
{
	int cpu = PBIND_NONE;

	if (process_mask == 0) {
		if (__sys_processor_bind(P_LWPID, 1, PBIND_QUERY, &cpu) < 0)
			cpu = PBIND_NONE;
		process_mask = mask_of(cpu);
	}
	return process_mask;
}

/* The thread's own CPUs, unless the process's CPUs have been set since. */
DWORD_PTR __win_affinity(const struct win_thread *w)
{
	return w->affinity != 0 && w->process_affinity == masks_set ? w->affinity
								    : affinity_allowed();
}

DWORD __win_apply_affinity(struct win_thread *w)
{
	return affinity_bind(P_LWPID, w->lwpid, __win_affinity(w), true);
}

void __win_child_affinity(int pid)
{
	__win_lock();
	affinity_bind(P_PID, pid, affinity_allowed(), true); /* unless it has ended already */
	__win_unlock();
}

/* Returns the previous mask.  0: errors of affinity_bind, ERROR_INVALID_HANDLE. */
DWORD_PTR SetThreadAffinityMask(HANDLE thread, DWORD_PTR mask)
{
	struct win_thread *w = __win_thread(thread);
	DWORD_PTR before;
	DWORD error;

	if (w == NULL)
		return 0;
	__win_lock();
	before = __win_affinity(w);
	error = mask & ~affinity_allowed() ? ERROR_INVALID_PARAMETER
					   : affinity_bind(P_LWPID, w->lwpid, mask, w->lwpid != 0);
	if (error == 0) {
		w->affinity = mask;
		w->process_affinity = masks_set;
	}
	__win_unlock();
	__win_put(&w->object);
	if (error == 0)
		return before;
	SetLastError(error);
	return 0;
}

/*
 * Sets the CPUs of all threads of the caller's process, or of a child.  Errors of
 * SetThreadAffinityMask.
 */
BOOL SetProcessAffinityMask(HANDLE process, DWORD_PTR mask)
{
	struct win_process *p = __win_process(process);
	bool own = p != NULL && p == __win_this_process(NULL);
	DWORD error;

	if (p == NULL)
		return FALSE;
	__win_lock();
	error = affinity_bind(P_PID, p->pid, mask, true);
	if (error == 0 && own) {
		process_mask = mask;
		masks_set++;
	}
	__win_unlock();
	__win_put(&p->object);
	return error == 0 ? TRUE : __win_fails(error);
}

/*
 * For a child, the CPUs of its first LWP.  ERROR_INVALID_HANDLE: no such process, or it has ended.
 */
BOOL GetProcessAffinityMask(HANDLE process, PDWORD_PTR mask, PDWORD_PTR system_mask)
{
	struct win_process *p = __win_process(process);
	bool known = true;
	int cpu;

	if (p == NULL)
		return FALSE;
	*system_mask = affinity_all();
	if (p == __win_this_process(NULL)) {
		__win_lock();
		*mask = affinity_allowed();
		__win_unlock();
	} else if (__sys_processor_bind(P_PID, p->pid, PBIND_QUERY, &cpu) == 0) {
		*mask = mask_of(cpu);
	} else {
		known = false;
	}
	__win_put(&p->object);
	return known ? TRUE : __win_fails(ERROR_INVALID_HANDLE);
}
