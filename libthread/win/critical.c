/*
 * critical.c - critical sections, as in Windows NT 4.
 *
 * LockCount starts at -1.  An entering thread increments it.  If LockCount was -1, the thread owns
 * the section.  If the thread already owns the section, it owns it once more.  Otherwise the thread
 * waits for the event in LockSemaphore.  A thread that leaves for the last time decrements
 * LockCount.  If the result is not -1, a thread waits or is about to wait, and the leaving thread
 * sets the event.  The event resets itself and remembers a setting: each setting releases one
 * waiter.
 *
 * So the section is handed over.  As soon as the owner leaves the section, it belongs to a waiter.
 * The waiter may have to wait long for a CPU, and no thread may overtake it.  (Therefore crowded
 * critical sections are slow in timemutex's figures: a thread that leaves and enters again finds
 * the section owned, although no thread is inside.) A spinner can enter the section only when no
 * thread waits.
 *
 * The event is created by the first thread that needs it, a waiter or the leaving owner.  A section
 * without contention has no kernel object.  Without memory for the event no thread can wait: NT
 * raised an exception then, and here the program ends.
 *
 * Memory ordering: the increments and decrements are sequentially consistent.  The event orders the
 * leaving thread before the entering thread.
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
	SetLastError(error); /* entering and leaving keep the last error */
	return event;
}

/* Enters s if it becomes free before a thread sleeps for it. */
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

		ASSERT(r == WAIT_OBJECT_0); /* otherwise: deleted while in use */
	}
	critical_taken(s);
}

/* Blocks while another thread owns the section.  The owner may enter again. */
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

/* FALSE: another thread owns the section. */
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

/* Called by the owner, as in Windows: a call by another thread breaks the section. */
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

/*
 * spins: turns before sleeping; 0 on one CPU.  In Windows the highest bit asks for the event at
 * once, which is not needed here.
 */
BOOL InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION s, DWORD spins)
{
	*s = (CRITICAL_SECTION){.LockCount = -1};
	SetCriticalSectionSpinCount(s, spins);
	return TRUE;
}

/* Returns the previous count. */
DWORD SetCriticalSectionSpinCount(LPCRITICAL_SECTION s, DWORD spins)
{
	DWORD before = s->SpinCount;

	s->SpinCount = __ncpu > 1 ? spins & 0x00ffffff : 0;
	return before;
}

/* No thread may own the section or wait for it. */
void DeleteCriticalSection(LPCRITICAL_SECTION s)
{
	if (s->LockSemaphore != NULL)
		CloseHandle(s->LockSemaphore);
	*s = (CRITICAL_SECTION){.LockCount = -1};
}
