/*
 * win_fibers.c - fibers of Win32, and its calendar (winthread.h).
 *
 *	win_fibers [ROUNDS]
 */
#include "wintest.h"
#include <fenv.h>

static long rounds = 1000;

/* --- turns ------------------------------------------------------------------------------------ */

static LPVOID first, other[2];
static long steps, wrong;

/* Keeps values in registers and in the control words across switches. */
static void WINAPI take_turns(LPVOID arg)
{
	int n = (int)(intptr_t)arg;
	long sum = 0;
	double x = n;

	fesetround(n == 0 ? FE_UPWARD : FE_DOWNWARD);
	if (GetFiberData() != arg || GetCurrentFiber() != other[n])
		wrong++;
	for (long i = 0;; i++) {
		sum += i * (n + 1);
		x += 0.5;
		steps++;
		SwitchToFiber(i % 3 == 2 ? first : other[!n]);
		if (sum != i * (i + 1) / 2 * (n + 1) || x != n + 0.5 * (i + 1) ||
		    fegetround() != (n == 0 ? FE_UPWARD : FE_DOWNWARD))
			wrong++;
	}
}

static void turns(void)
{
	int parameter;

	ok("no fiber yet", GetCurrentFiber() == NULL && GetFiberData() == NULL);
	FAILS("ConvertFiberToThread of none", ConvertFiberToThread(), ERROR_INVALID_PARAMETER);
	first = ConvertThreadToFiber(&parameter);
	ok("ConvertThreadToFiber", first != NULL && GetCurrentFiber() == first);
	ok("GetFiberData", GetFiberData() == &parameter);
	FAILS("ConvertThreadToFiber again", ConvertThreadToFiber(NULL), ERROR_ALREADY_FIBER);
	FAILS("CreateFiber, no function", CreateFiber(0, NULL, NULL), ERROR_INVALID_PARAMETER);
	FAILS("CreateFiber, no memory", CreateFiber((SIZE_T)1 << 50, take_turns, NULL),
	      ERROR_NOT_ENOUGH_MEMORY);
	for (int i = 0; i < 2; i++)
		other[i] = CreateFiber(i * 10000, take_turns, (LPVOID)(intptr_t)i);
	ok("CreateFiber", other[0] != NULL && other[1] != NULL);
	SwitchToFiber(first);
	for (long i = 0; i < rounds; i++)
		SwitchToFiber(other[i % 2]);
	ok("the others took turns", steps > rounds);
	is("... and found what they had left", wrong, 0);
	is("the first one's rounding is its own", fegetround(), FE_TONEAREST);
	DeleteFiber(other[0]);
	DeleteFiber(other[1]);
	is("ConvertFiberToThread", ConvertFiberToThread(), TRUE);
	ok("... no fiber any more", GetCurrentFiber() == NULL);
}

/* --- ends -------------------------------------------------------------------------------------- */

static void WINAPI do_nothing(LPVOID arg)
{
}

static void WINAPI delete_itself(LPVOID arg)
{
	DeleteFiber(GetCurrentFiber());
}

static void WINAPI exit_thread(LPVOID arg)
{
	ExitThread(21);
}

static DWORD WINAPI run_fiber(LPVOID f)
{
	ConvertThreadToFiber(NULL);
	SwitchToFiber(CreateFiber(0, (LPFIBER_START_ROUTINE)f, NULL));
	return 5;
}

static DWORD WINAPI delete_first(LPVOID arg)
{
	DeleteFiber(ConvertThreadToFiber(NULL));
	return 5;
}

/* --- many, and from thread to thread --------------------------------------------------------------- */

#define FIBERS 64
static LPVOID fiber[FIBERS];
static long visits[FIBERS];
static HANDLE turn[2];

static DWORD tls;

static void WINAPI visit_and_return(LPVOID arg)
{
	for (;;) {
		++*(long *)arg;
		SwitchToFiber(TlsGetValue(tls));
	}
}

static DWORD WINAPI visitor(LPVOID arg)
{
	int me = (int)(intptr_t)arg;

	TlsSetValue(tls, ConvertThreadToFiber(NULL));
	for (long i = 0; i < rounds; i++) {
		WaitForSingleObject(turn[me], INFINITE);
		SwitchToFiber(fiber[i % FIBERS]);
		SetEvent(turn[!me]);
	}
	return 0;
}

static void many(void)
{
	HANDLE h[2];
	long sum = 0;

	tls = TlsAlloc();
	for (int i = 0; i < FIBERS; i++)
		fiber[i] = CreateFiber(16384, visit_and_return, &visits[i]);
	for (int i = 0; i < 2; i++)
		turn[i] = CreateEvent(NULL, FALSE, i == 0, NULL);
	for (int i = 0; i < 2; i++)
		h[i] = CreateThread(NULL, 0, visitor, (LPVOID)(intptr_t)i, 0, NULL);
	WaitForMultipleObjects(2, h, TRUE, INFINITE);
	for (int i = 0; i < FIBERS; i++) {
		sum += visits[i];
		DeleteFiber(fiber[i]);
	}
	is("fibers that two threads take up in turn", sum, 2 * rounds);
	for (int i = 0; i < 2; i++) {
		CloseHandle(h[i]);
		CloseHandle(turn[i]);
	}
	TlsFree(tls);
}

/* --- the calendar ------------------------------------------------------------------------------------ */

static void calendar(void)
{
	static const struct {
		SYSTEMTIME at;
		uint64_t units;
	} known[] = {
		{{1601, 1, 1, 1, 0, 0, 0, 0}, 0},
		{{1970, 1, 4, 1, 0, 0, 0, 0}, 116444736000000000ull},
		{{2000, 2, 2, 29, 23, 59, 59, 999}, 125963423999990000ull},
		{{1998, 4, 4, 23, 12, 30, 15, 500}, 125378082155000000ull},
		{{30827, 12, 5, 31, 23, 59, 59, 999}, 9223149887999990000ull},
	};
	LARGE_INTEGER a, b, f;
	SYSTEMTIME s;
	FILETIME t, later;
	OSVERSIONINFO version = {.dwOSVersionInfoSize = sizeof(version)};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		is("SystemTimeToFileTime", SystemTimeToFileTime(&known[i].at, &t), TRUE);
		is("... units", units(t), known[i].units);
		is("FileTimeToSystemTime", FileTimeToSystemTime(&t, &s), TRUE);
		is("... fields", memcmp(&s, &known[i].at, sizeof(s)), 0);
	}
	s = known[2].at;
	s.wYear = 1900;
	FAILS("29 February 1900", SystemTimeToFileTime(&s, &t), ERROR_INVALID_PARAMETER);
	s = known[0].at;
	s.wYear = 1600;
	FAILS("before 1601", SystemTimeToFileTime(&s, &t), ERROR_INVALID_PARAMETER);
	s = known[0].at;
	s.wHour = 24;
	FAILS("24 o'clock", SystemTimeToFileTime(&s, &t), ERROR_INVALID_PARAMETER);
	t = (FILETIME){0, 0x80000000};
	FAILS("2^63", FileTimeToSystemTime(&t, &s), ERROR_INVALID_PARAMETER);
	GetSystemTimeAsFileTime(&t);
	GetSystemTime(&s);
	SystemTimeToFileTime(&s, &later);
	ok("GetSystemTime", units(later) + 10000 > units(t));
	GetLocalTime(&s);
	ok("GetLocalTime", s.wYear >= 1970 && s.wMonth >= 1 && s.wMonth <= 12);
	is("CompareFileTime", CompareFileTime(&t, &t), 0);
	is("QueryPerformanceFrequency", QueryPerformanceFrequency(&f) && f.QuadPart > 0, TRUE);
	QueryPerformanceCounter(&a);
	Sleep(2);
	QueryPerformanceCounter(&b);
	ok("QueryPerformanceCounter", (b.QuadPart - a.QuadPart) * 1000 >= 2 * f.QuadPart);
	is("GetVersionEx", GetVersionEx(&version) && version.dwPlatformId == VER_PLATFORM_WIN32_NT,
	   TRUE);
	version.dwOSVersionInfoSize = 4;
	FAILS("GetVersionEx, too small", GetVersionEx(&version), ERROR_INVALID_PARAMETER);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	turns();
	is("a fiber that returns ends its thread", join(create(run_fiber, do_nothing, 0)), 0);
	is("one that deletes itself too", join(create(run_fiber, delete_itself, 0)), 1);
	is("... the first one as well", join(create(delete_first, NULL, 0)), 1);
	is("ExitThread in a fiber", join(create(run_fiber, exit_thread, 0)), 21);
	many();
	calendar();
	return tap_done();
}
