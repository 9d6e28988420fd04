/*
 * time.c - time as Win32 counts it: system time and file time; the times of threads and processes,
 * from the microstates (weft/msacct.h); and the description of the system.
 */
#include <time.h>
#include <weft/msacct.h>
#include <weft/start.h>
#include "win.h"

#define SEC_NS 1000000000ll
#define UNIT_NS 100
#define DAY 864000000000ll         /* in file time */
#define EPOCH 116444736000000000ll /* 1 January 1970 in file time */

static FILETIME file_time(uint64_t t)
{
	return (FILETIME){(DWORD)t, t >> 32};
}

static uint64_t filetime_units(const FILETIME *t)
{
	return (uint64_t)t->dwHighDateTime << 32 | t->dwLowDateTime;
}

/* --- the clock ----------------------------------------------------------------------------- */

DWORD GetTickCount(void)
{
	return gethrtime() / 1000000;
}

BOOL QueryPerformanceCounter(PLARGE_INTEGER count)
{
	count->QuadPart = gethrtime();
	return TRUE;
}

BOOL QueryPerformanceFrequency(PLARGE_INTEGER a_second)
{
	a_second->QuadPart = SEC_NS;
	return TRUE;
}

void GetSystemTimeAsFileTime(LPFILETIME t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*t = file_time(EPOCH + (now.tv_sec * SEC_NS + now.tv_nsec) / UNIT_NS);
}

void GetSystemTime(LPSYSTEMTIME t)
{
	FILETIME now;

	GetSystemTimeAsFileTime(&now);
	FileTimeToSystemTime(&now, t);
}

/* The local time, by TZ. */
void GetLocalTime(LPSYSTEMTIME t)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	*t = (SYSTEMTIME){tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_wday, tm.tm_mday,
			  tm.tm_hour,        tm.tm_min,     tm.tm_sec,  now.tv_nsec / 1000000};
}

/* --- the calendar --------------------------------------------------------------------------- */

static bool year_is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && year_is_leap(year));
}

/*
 * Days from 1 January 1601 to 1 January of year.  1 January 1601 was a Monday, and a cycle of 400
 * years begins with it.
 */
static int64_t days_before(int year)
{
	int64_t years = year - 1601;

	return years * 365 + years / 4 - years / 100 + years / 400;
}

/* Ignores wDayOfWeek.  ERROR_INVALID_PARAMETER: no such time, or not in the years 1601 to 30827. */
BOOL SystemTimeToFileTime(const SYSTEMTIME *from, LPFILETIME to)
{
	int64_t days;

	if (from->wYear < 1601 || from->wYear > 30827 || from->wMonth < 1 || from->wMonth > 12 ||
	    from->wDay < 1 || from->wDay > month_days(from->wYear, from->wMonth) ||
	    from->wHour > 23 || from->wMinute > 59 || from->wSecond > 59 ||
	    from->wMilliseconds > 999)
		return __win_fails(ERROR_INVALID_PARAMETER);
	days = days_before(from->wYear) + from->wDay - 1;
	for (int month = 1; month < from->wMonth; month++)
		days += month_days(from->wYear, month);
	*to = file_time(days * DAY +
			((from->wHour * 60ll + from->wMinute) * 60 + from->wSecond) * 10000000 +
			from->wMilliseconds * 10000);
	return TRUE;
}

/* ERROR_INVALID_PARAMETER: 2^63 or more. */
BOOL FileTimeToSystemTime(const FILETIME *from, LPSYSTEMTIME to)
{
	int64_t t = filetime_units(from), days = t / DAY, ms = t % DAY / 10000;
	int year, month = 1;

	if (t < 0)
		return __win_fails(ERROR_INVALID_PARAMETER);
	year = 1601 + days / 366; /* or later */
	while (days_before(year + 1) <= days)
		year++;
	to->wDayOfWeek = (days + 1) % 7;
	days -= days_before(year);
	while (days >= month_days(year, month))
		days -= month_days(year, month++);
	to->wYear = year;
	to->wMonth = month;
	to->wDay = days + 1;
	to->wHour = ms / 3600000;
	to->wMinute = ms / 60000 % 60;
	to->wSecond = ms / 1000 % 60;
	to->wMilliseconds = ms % 1000;
	return TRUE;
}

/* -1, 0, 1: a is earlier, the same, later. */
LONG CompareFileTime(const FILETIME *a, const FILETIME *b)
{
	return (filetime_units(a) > filetime_units(b)) - (filetime_units(a) < filetime_units(b));
}

/* --- accounting ------------------------------------------------------------------------------- */

bool __win_read_times(int pid, uint32_t lwpid, struct win_times *t)
{
	struct weft_msacct a;

	if (__sys_msacct(pid, lwpid, &a) < 0)
		return false;
	t->created = a.created;
	t->user = a.ms[MS_USER];
	t->kernel = a.ms[MS_SYSTEM] + a.ms[MS_TRAP] + a.ms[MS_TFAULT] + a.ms[MS_DFAULT] +
		    a.ms[MS_KFAULT];
	return true;
}

/* Points in time are counted from boot in t, and from 1601 in the results. */
static void times_give(const struct win_times *t, LPFILETIME created, LPFILETIME exited,
		       LPFILETIME kernel, LPFILETIME user)
{
	uint64_t boot = EPOCH + __timepage->boot_realtime / UNIT_NS;

	*created = file_time(boot + t->created / UNIT_NS);
	*exited = file_time(t->exited != 0 ? boot + t->exited / UNIT_NS : 0);
	*kernel = file_time(t->kernel / UNIT_NS);
	*user = file_time(t->user / UNIT_NS);
}

/*
 * The times of a thread.  A thread without an LWP of its own has no times.  *exited is 0 until the
 * thread has ended.  ERROR_INVALID_HANDLE.
 */
BOOL GetThreadTimes(HANDLE thread, LPFILETIME created, LPFILETIME exited, LPFILETIME kernel,
		    LPFILETIME user)
{
	struct win_thread *w = __win_thread(thread);
	struct win_times t;

	if (w == NULL)
		return FALSE;
	__win_lock();
	t = w->times;
	if (w->lwpid != 0)
		__win_read_times(0, w->lwpid, &t);
	__win_unlock();
	__win_put(&w->object);
	times_give(&t, created, exited, kernel, user);
	return TRUE;
}

/*
 * *exited of a child is the time when the caller first asked for it after the end.
 * ERROR_INVALID_HANDLE.
 */
BOOL GetProcessTimes(HANDLE process, LPFILETIME created, LPFILETIME exited, LPFILETIME kernel,
		     LPFILETIME user)
{
	struct win_times t = {0};

	if (!__win_process_times(process, &t))
		return FALSE;
	times_give(&t, created, exited, kernel, user);
	return TRUE;
}

/* --- the system --------------------------------------------------------------------------------- */

void GetSystemInfo(LPSYSTEM_INFO info)
{
	*info = (SYSTEM_INFO){
		.wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64,
		.dwPageSize = WEFT_PAGE_SIZE,
		.lpMinimumApplicationAddress = (LPVOID)0x10000,
		.lpMaximumApplicationAddress = (LPVOID)0x00007fffffffefff,
		.dwActiveProcessorMask =
			__ncpu >= 64 ? ~(DWORD_PTR)0 : ((DWORD_PTR)1 << __ncpu) - 1,
		.dwNumberOfProcessors = __ncpu,
		.dwProcessorType = PROCESSOR_AMD_X8664,
		.dwAllocationGranularity = WEFT_PAGE_SIZE,
		.wProcessorLevel = 6,
	};
}

/* ERROR_INVALID_PARAMETER: dwOSVersionInfoSize. */
BOOL GetVersionEx(LPOSVERSIONINFO info)
{
	if (info->dwOSVersionInfoSize < sizeof(*info))
		return __win_fails(ERROR_INVALID_PARAMETER);
	info->dwMajorVersion = 4;
	info->dwMinorVersion = 0;
	info->dwBuildNumber = 1381;
	info->dwPlatformId = VER_PLATFORM_WIN32_NT;
	strcpy(info->szCSDVersion, "weft");
	return TRUE;
}
