/*
 * critical.c - critical sections, as in Windows NT 4.
 *
 * LockCount starts at -1.  Whoever comes increments it: from -1 the section is his; if he
 * owns it already he has it once more; else he waits for the event in LockSemaphore.  Who
 * leaves for the last time decrements it, and if that does not make it -1 somebody waits,
 * or is about to, and he sets the event.  That event resets itself and remembers: each
 * waiter takes one setting of it, whichever comes first.
 *
 * So the section is handed over: from the moment that its owner leaves it belongs to a
 * waiter, who may be far from a CPU, and nobody may overtake.  (This is what makes crowded
 * critical sections slow in timemutex's figures: after it has left, a thread that comes back
 * finds the section taken, though nobody is inside.)  Only when nobody waits can a spinner
 * have it.
 *
 * The event is made by the first who finds the section taken, owner or waiter; a section
 * that is never contended has no kernel object.  Without memory for it there is no way to
 * wait: NT raised an exception then, and here the program ends.
 *
 * Memory: the increments and decrements are sequentially consistent; the event orders the
 * one who leaves before the one who comes.
 */
#include "win.h"

static inline HANDLE self_id(void)
{
	return (HANDLE)(uintptr_t)thread_self()->id;
}

static inline void critical_taken(LPCRITICAL_SECTION s)
{
	__atomic_store_n(&s->OwningThread, self_id(), __ATOMIC_RELAXED);
	s->RecursionCount = 1;
}

static inline bool critical_try(LPCRITICAL_SECTION s)
{
	LONG unlocked = -1;

	return __atomic_compare_exchange_n(&s->LockCount, &unlocked, 0, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static HANDLE event_of(LPCRITICAL_SECTION s)
{
	HANDLE event = __atomic_load_n(&s->LockSemaphore, __ATOMIC_ACQUIRE), mine;
	DWORD error = GetLastError();

	if (event != NULL)
		return event;
	mine = CreateEvent(NULL, FALSE, FALSE, NULL);
	ASSERT(mine != NULL);
	if (__atomic_compare_exchange_n(&s->LockSemaphore, &event, mine, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		event = mine;
	else
		CloseHandle(mine);
	SetLastError(error); /* entering and leaving do not touch it */
	return event;
}

/* Takes s if it becomes free before somebody sleeps for it. */
static bool critical_spin(LPCRITICAL_SECTION s)
{
	for (ULONG_PTR i = s->SpinCount; i > 0; i--) {
		LONG count = __atomic_load_n(&s->LockCount, __ATOMIC_RELAXED);

		if (count == -1 && critical_try(s))
			return true;
		if (count > 0 && count >= __atomic_load_n(&s->RecursionCount, __ATOMIC_RELAXED))
			return false;
		spin_hint();
	}
	return false;
}

static void __attribute__((noinline)) enter_slow(LPCRITICAL_SECTION s)
{
	if (s->SpinCount != 0 && critical_spin(s)) {
		critical_taken(s);
		return;
	}
	if (__atomic_add_fetch(&s->LockCount, 1, __ATOMIC_SEQ_CST) != 0) {
		DWORD r = WaitForSingleObject(event_of(s), INFINITE);

		ASSERT(r == WAIT_OBJECT_0); /* else: deleted while in use */
	}
	critical_taken(s);
}

/* Blocks while another thread has it.  The owner may enter again. */
void EnterCriticalSection(LPCRITICAL_SECTION s)
{
	if (likely(critical_try(s))) {
		critical_taken(s);
	} else if (__atomic_load_n(&s->OwningThread, __ATOMIC_RELAXED) == self_id()) {
		__atomic_add_fetch(&s->LockCount, 1, __ATOMIC_RELAXED);
		s->RecursionCount++;
	} else {
		enter_slow(s);
	}
}

/* FALSE: another thread has it. */
BOOL TryEnterCriticalSection(LPCRITICAL_SECTION s)
{
	if (critical_try(s)) {
		critical_taken(s);
		return TRUE;
	}
	if (__atomic_load_n(&s->OwningThread, __ATOMIC_RELAXED) != self_id())
		return FALSE;
	__atomic_add_fetch(&s->LockCount, 1, __ATOMIC_RELAXED);
	s->RecursionCount++;
	return TRUE;
}

/* By its owner, as Windows has it: anything else breaks the section. */
void LeaveCriticalSection(LPCRITICAL_SECTION s)
{
	if (--s->RecursionCount != 0) {
		__atomic_sub_fetch(&s->LockCount, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&s->OwningThread, NULL, __ATOMIC_RELAXED);
	if (unlikely(__atomic_sub_fetch(&s->LockCount, 1, __ATOMIC_SEQ_CST) >= 0))
		SetEvent(event_of(s));
}

void InitializeCriticalSection(LPCRITICAL_SECTION s)
{
	InitializeCriticalSectionAndSpinCount(s, 0);
}

/* spins: turns before sleeping; 0 on one CPU.  The upper bit asked Windows for the event at
 * once, which is not needed here. */
BOOL InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION s, DWORD spins)
{
	*s = (CRITICAL_SECTION){.LockCount = -1};
	SetCriticalSectionSpinCount(s, spins);
	return TRUE;
}

/* Returns the count before. */
DWORD SetCriticalSectionSpinCount(LPCRITICAL_SECTION s, DWORD spins)
{
	DWORD before = s->SpinCount;

	s->SpinCount = __ncpu > 1 ? spins & 0x00ffffff : 0;
	return before;
}

/* Nobody may own it or wait. */
void DeleteCriticalSection(LPCRITICAL_SECTION s)
{
	if (s->LockSemaphore != NULL)
		CloseHandle(s->LockSemaphore);
	*s = (CRITICAL_SECTION){.LockCount = -1};
}
