/*
 * winthread.h - threads, fibers and synchronisation objects of Win32 (libthread/win/).  It has the
 * functions used by programs of Windows NT 4's time that compute and synchronise.
 *
 * The names and their meaning are those of the Platform SDK.  Types have the same widths as in
 * Windows, so LONG and DWORD are 32 bits although `long` is 64.  The Interlocked operations take a
 * pointer to either.  Strings are strings of bytes.
 *
 * A HANDLE is a handle of the kernel (weft/kobj.h).  The handle of a thread or process is a handle
 * of an event that its end sets, so that a thread can wait for all objects together.
 * libthread/README.md lists the differences from Windows.
 */
#ifndef _WINTHREAD_H
#define _WINTHREAD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- types ------------------------------------------------------------------------------ */

#define WINAPI
#define APIENTRY
#define CALLBACK
#define CONST const
#define VOID void
#undef __fastcall /* newlib also defines it as empty */
#define __stdcall
#define __cdecl
#define __fastcall
#ifndef FALSE
#define FALSE 0
#define TRUE 1
#endif

typedef int BOOL;
typedef unsigned char BYTE, BOOLEAN, UCHAR;
typedef unsigned short WORD, USHORT;
typedef unsigned int DWORD, UINT, ULONG;
typedef int INT, LONG;
typedef char CHAR, TCHAR;
#define TEXT(text) text
typedef short SHORT;
typedef long long LONGLONG, __int64;
typedef unsigned long long ULONGLONG, DWORDLONG;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR;
typedef size_t SIZE_T;
typedef void *PVOID, *LPVOID, *HANDLE;
typedef const void *LPCVOID;
typedef BOOL *PBOOL, *LPBOOL;
typedef BYTE *PBYTE, *LPBYTE;
typedef DWORD *PDWORD, *LPDWORD;
typedef DWORD_PTR *PDWORD_PTR;
typedef LONG *PLONG, *LPLONG;
typedef INT *LPINT;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef HANDLE HINSTANCE, HMODULE, HWND;
typedef char *LPSTR, *PSTR, *LPTSTR;
typedef const char *LPCSTR, *PCSTR, *LPCTSTR;

typedef union {
	struct {
		DWORD LowPart;
		LONG HighPart;
	};
	struct {
		DWORD LowPart;
		LONG HighPart;
	} u;
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;
typedef union {
	struct {
		DWORD LowPart;
		DWORD HighPart;
	};
	struct {
		DWORD LowPart;
		DWORD HighPart;
	} u;
	ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _SECURITY_ATTRIBUTES {
	DWORD nLength;
	LPVOID lpSecurityDescriptor; /* ignored: there is one user */
	BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

#define LOWORD(x) ((WORD)((DWORD_PTR)(x)&0xffff))
#define HIWORD(x) ((WORD)((DWORD_PTR)(x) >> 16 & 0xffff))
#define MAKELONG(low, high) ((LONG)((WORD)(low) | (DWORD)(WORD)(high) << 16))
#define ZeroMemory(to, n) memset((to), 0, (n))
#define FillMemory(to, n, byte) memset((to), (byte), (n))
#define CopyMemory(to, from, n) memcpy((to), (from), (n))
#define MoveMemory(to, from, n) memmove((to), (from), (n))
#if !defined(NOMINMAX) && !defined(__cplusplus) && !defined(min)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#endif

/* --- errors ------------------------------------------------------------------------------ */

#define NO_ERROR 0
#define ERROR_SUCCESS 0
#define ERROR_FILE_NOT_FOUND 2
#define ERROR_PATH_NOT_FOUND 3
#define ERROR_ACCESS_DENIED 5
#define ERROR_INVALID_HANDLE 6
#define ERROR_NOT_ENOUGH_MEMORY 8
#define ERROR_NOT_SUPPORTED 50
#define ERROR_INVALID_PARAMETER 87
#define ERROR_BUSY 170
#define ERROR_SIGNAL_REFUSED 156
#define ERROR_MAX_THRDS_REACHED 164
#define ERROR_ALREADY_EXISTS 183
#define ERROR_BAD_EXE_FORMAT 193
#define ERROR_FILENAME_EXCED_RANGE 206
#define ERROR_DIRECTORY 267
#define ERROR_NOT_OWNER 288
#define ERROR_TOO_MANY_POSTS 298
#define ERROR_ALREADY_FIBER 1280
#define ERROR_NO_SYSTEM_RESOURCES 1450
#define ERROR_TIMEOUT 1460

DWORD GetLastError(void);
void SetLastError(DWORD error);

/* --- handles and waiting ------------------------------------------------------------------ */

#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#define INFINITE 0xffffffffu
#define MAXIMUM_WAIT_OBJECTS 64
#define WAIT_OBJECT_0 0x0u
#define WAIT_ABANDONED 0x80u
#define WAIT_ABANDONED_0 0x80u
#define WAIT_IO_COMPLETION 0xc0u
#define WAIT_TIMEOUT 258u
#define WAIT_FAILED 0xffffffffu
#define STATUS_WAIT_0 WAIT_OBJECT_0
#define STATUS_ABANDONED_WAIT_0 WAIT_ABANDONED
#define STATUS_TIMEOUT WAIT_TIMEOUT
#define STILL_ACTIVE 259u

/* Access rights: accepted and ignored. */
#define SYNCHRONIZE 0x00100000u
#define STANDARD_RIGHTS_REQUIRED 0x000f0000u
#define MUTEX_MODIFY_STATE 0x0001u
#define MUTEX_ALL_ACCESS 0x001f0001u
#define EVENT_MODIFY_STATE 0x0002u
#define EVENT_ALL_ACCESS 0x001f0003u
#define SEMAPHORE_MODIFY_STATE 0x0002u
#define SEMAPHORE_ALL_ACCESS 0x001f0003u
#define THREAD_ALL_ACCESS 0x001f03ffu
#define PROCESS_ALL_ACCESS 0x001f0fffu

#define DUPLICATE_CLOSE_SOURCE 0x1u
#define DUPLICATE_SAME_ACCESS 0x2u

BOOL CloseHandle(HANDLE object);
BOOL DuplicateHandle(HANDLE from_process, HANDLE object, HANDLE to_process, LPHANDLE copy,
		     DWORD access, BOOL inherit, DWORD options);
DWORD WaitForSingleObject(HANDLE object, DWORD milliseconds);
DWORD WaitForSingleObjectEx(HANDLE object, DWORD milliseconds, BOOL alertable);
DWORD WaitForMultipleObjects(DWORD n, const HANDLE *objects, BOOL all, DWORD milliseconds);
DWORD WaitForMultipleObjectsEx(DWORD n, const HANDLE *objects, BOOL all, DWORD milliseconds,
			       BOOL alertable);

HANDLE CreateMutex(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCSTR name);
HANDLE OpenMutex(DWORD access, BOOL inherit, LPCSTR name);
BOOL ReleaseMutex(HANDLE mutex);
HANDLE CreateEvent(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL set, LPCSTR name);
HANDLE OpenEvent(DWORD access, BOOL inherit, LPCSTR name);
BOOL SetEvent(HANDLE event);
BOOL ResetEvent(HANDLE event);
BOOL PulseEvent(HANDLE event);
HANDLE CreateSemaphore(LPSECURITY_ATTRIBUTES security, LONG count, LONG maximum, LPCSTR name);
HANDLE OpenSemaphore(DWORD access, BOOL inherit, LPCSTR name);
BOOL ReleaseSemaphore(HANDLE semaphore, LONG n, LPLONG before);

#define CreateMutexA CreateMutex
#define OpenMutexA OpenMutex
#define CreateEventA CreateEvent
#define OpenEventA OpenEvent
#define CreateSemaphoreA CreateSemaphore
#define OpenSemaphoreA OpenSemaphore

/* --- critical sections -------------------------------------------------------------------- */

/*
 * LockCount is the number of threads that own the section or wait for it, and of further entries of
 * the owner, minus one.  -1: the section is free.  RecursionCount and OwningThread (a thread's id)
 * belong to the owner.  LockSemaphore is an event that exists from the first contention on.
 */
typedef struct _RTL_CRITICAL_SECTION {
	PVOID DebugInfo; /* NULL */
	LONG LockCount;
	LONG RecursionCount;
	HANDLE OwningThread;
	HANDLE LockSemaphore;
	ULONG_PTR SpinCount;
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION;
typedef CRITICAL_SECTION RTL_CRITICAL_SECTION;

void InitializeCriticalSection(LPCRITICAL_SECTION section);
BOOL InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spins);
DWORD SetCriticalSectionSpinCount(LPCRITICAL_SECTION section, DWORD spins);
void EnterCriticalSection(LPCRITICAL_SECTION section);
BOOL TryEnterCriticalSection(LPCRITICAL_SECTION section);
void LeaveCriticalSection(LPCRITICAL_SECTION section);
void DeleteCriticalSection(LPCRITICAL_SECTION section);

/* --- threads -------------------------------------------------------------------------------- */

typedef DWORD(WINAPI *LPTHREAD_START_ROUTINE)(LPVOID);
typedef LPTHREAD_START_ROUTINE PTHREAD_START_ROUTINE;

#define CREATE_SUSPENDED 0x4u
#define STACK_SIZE_PARAM_IS_A_RESERVATION 0x10000u
#define MAXIMUM_SUSPEND_COUNT 127

HANDLE CreateThread(LPSECURITY_ATTRIBUTES security, SIZE_T stack, LPTHREAD_START_ROUTINE start,
		    LPVOID parameter, DWORD flags, LPDWORD id);
void ExitThread(DWORD code) __attribute__((__noreturn__));
BOOL TerminateThread(HANDLE thread, DWORD code);
BOOL GetExitCodeThread(HANDLE thread, LPDWORD code);
DWORD SuspendThread(HANDLE thread);
DWORD ResumeThread(HANDLE thread);
HANDLE GetCurrentThread(void);
DWORD GetCurrentThreadId(void);
void Sleep(DWORD milliseconds);
DWORD SleepEx(DWORD milliseconds, BOOL alertable);
BOOL SwitchToThread(void);

#define THREAD_PRIORITY_IDLE (-15)
#define THREAD_PRIORITY_LOWEST (-2)
#define THREAD_PRIORITY_BELOW_NORMAL (-1)
#define THREAD_PRIORITY_NORMAL 0
#define THREAD_PRIORITY_ABOVE_NORMAL 1
#define THREAD_PRIORITY_HIGHEST 2
#define THREAD_PRIORITY_TIME_CRITICAL 15
#define THREAD_PRIORITY_ERROR_RETURN 0x7fffffff

BOOL SetThreadPriority(HANDLE thread, int priority);
int GetThreadPriority(HANDLE thread);
DWORD_PTR SetThreadAffinityMask(HANDLE thread, DWORD_PTR mask);

#define TLS_OUT_OF_INDEXES 0xffffffffu
#define TLS_MINIMUM_AVAILABLE 64

DWORD TlsAlloc(void);
BOOL TlsFree(DWORD index);
LPVOID TlsGetValue(DWORD index);
BOOL TlsSetValue(DWORD index, LPVOID value);

/* --- fibers --------------------------------------------------------------------------------- */

typedef void(WINAPI *LPFIBER_START_ROUTINE)(LPVOID);
typedef LPFIBER_START_ROUTINE PFIBER_START_ROUTINE;

LPVOID ConvertThreadToFiber(LPVOID parameter);
BOOL ConvertFiberToThread(void);
LPVOID CreateFiber(SIZE_T stack, LPFIBER_START_ROUTINE start, LPVOID parameter);
void SwitchToFiber(LPVOID fiber);
void DeleteFiber(LPVOID fiber);
LPVOID GetCurrentFiber(void);
LPVOID GetFiberData(void);

/* --- processes ------------------------------------------------------------------------------ */

#define NORMAL_PRIORITY_CLASS 0x20u
#define IDLE_PRIORITY_CLASS 0x40u
#define HIGH_PRIORITY_CLASS 0x80u
#define REALTIME_PRIORITY_CLASS 0x100u
#define CREATE_NEW_PROCESS_GROUP 0x200u
#define DETACHED_PROCESS 0x8u
#define CREATE_NEW_CONSOLE 0x10u

typedef struct _PROCESS_INFORMATION {
	HANDLE hProcess;
	HANDLE hThread; /* also of the process, which has no separate handle for its first thread */
	DWORD dwProcessId;
	DWORD dwThreadId; /* 1 */
} PROCESS_INFORMATION, *PPROCESS_INFORMATION, *LPPROCESS_INFORMATION;

typedef struct _STARTUPINFO { /* ignored */
	DWORD cb;
	LPSTR lpReserved, lpDesktop, lpTitle;
	DWORD dwX, dwY, dwXSize, dwYSize, dwXCountChars, dwYCountChars, dwFillAttribute, dwFlags;
	WORD wShowWindow, cbReserved2;
	LPBYTE lpReserved2;
	HANDLE hStdInput, hStdOutput, hStdError;
} STARTUPINFO, *LPSTARTUPINFO;

BOOL CreateProcess(LPCSTR program, LPSTR command_line, LPSECURITY_ATTRIBUTES process,
		   LPSECURITY_ATTRIBUTES thread, BOOL inherit, DWORD flags, LPVOID environment,
		   LPCSTR directory, LPSTARTUPINFO startup, LPPROCESS_INFORMATION info);
void GetStartupInfo(LPSTARTUPINFO startup);
void ExitProcess(UINT code) __attribute__((__noreturn__));
BOOL TerminateProcess(HANDLE process, UINT code);
BOOL GetExitCodeProcess(HANDLE process, LPDWORD code);
HANDLE GetCurrentProcess(void);
DWORD GetCurrentProcessId(void);
LPSTR GetCommandLine(void);
BOOL SetPriorityClass(HANDLE process, DWORD priority_class);
DWORD GetPriorityClass(HANDLE process);
BOOL SetProcessAffinityMask(HANDLE process, DWORD_PTR mask);
BOOL GetProcessAffinityMask(HANDLE process, PDWORD_PTR mask, PDWORD_PTR system_mask);

#define CreateProcessA CreateProcess
#define GetCommandLineA GetCommandLine

/* --- time ------------------------------------------------------------------------------------ */

typedef struct _FILETIME { /* 100 ns since 1 January 1601, UTC */
	DWORD dwLowDateTime;
	DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

typedef struct _SYSTEMTIME {
	WORD wYear, wMonth, wDayOfWeek, wDay, wHour, wMinute, wSecond, wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

DWORD GetTickCount(void); /* milliseconds since boot */
BOOL QueryPerformanceCounter(PLARGE_INTEGER count);
BOOL QueryPerformanceFrequency(PLARGE_INTEGER a_second);
void GetSystemTime(LPSYSTEMTIME time);
void GetLocalTime(LPSYSTEMTIME time);
void GetSystemTimeAsFileTime(LPFILETIME time);
BOOL SystemTimeToFileTime(const SYSTEMTIME *from, LPFILETIME to);
BOOL FileTimeToSystemTime(const FILETIME *from, LPSYSTEMTIME to);
LONG CompareFileTime(const FILETIME *a, const FILETIME *b);
/* From the microstates: exact, in units of 100 ns. */
BOOL GetThreadTimes(HANDLE thread, LPFILETIME created, LPFILETIME exited, LPFILETIME kernel,
		    LPFILETIME user);
BOOL GetProcessTimes(HANDLE process, LPFILETIME created, LPFILETIME exited, LPFILETIME kernel,
		     LPFILETIME user);

/* --- the system ------------------------------------------------------------------------------- */

#define PROCESSOR_ARCHITECTURE_AMD64 9
#define PROCESSOR_AMD_X8664 8664
#define VER_PLATFORM_WIN32_NT 2

typedef struct _SYSTEM_INFO {
	union {
		DWORD dwOemId;
		struct {
			WORD wProcessorArchitecture, wReserved;
		};
	};
	DWORD dwPageSize;
	LPVOID lpMinimumApplicationAddress, lpMaximumApplicationAddress;
	DWORD_PTR dwActiveProcessorMask;
	DWORD dwNumberOfProcessors, dwProcessorType, dwAllocationGranularity;
	WORD wProcessorLevel, wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;

typedef struct _OSVERSIONINFO {
	DWORD dwOSVersionInfoSize, dwMajorVersion, dwMinorVersion, dwBuildNumber, dwPlatformId;
	CHAR szCSDVersion[128];
} OSVERSIONINFO, *LPOSVERSIONINFO;

void GetSystemInfo(LPSYSTEM_INFO info);
BOOL GetVersionEx(LPOSVERSIONINFO info); /* reports Windows NT 4 */

/* --- interlocked operations --------------------------------------------------------------------- */

/* All are sequentially consistent, and work on any integer or pointer that p points at. */
#define InterlockedIncrement(p) __atomic_add_fetch((p), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrement(p) __atomic_sub_fetch((p), 1, __ATOMIC_SEQ_CST)
#define InterlockedExchange(p, value)                                                              \
	__atomic_exchange_n((p), (__typeof__(*(p) + 0))(value), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAdd(p, value) __atomic_fetch_add((p), (value), __ATOMIC_SEQ_CST)
#define InterlockedCompareExchange(p, value, expected)                                             \
	__extension__({                                                                            \
		__typeof__(*(p) + 0) __seen = (__typeof__(*(p) + 0))(expected);                    \
		__atomic_compare_exchange_n((p), &__seen, (__typeof__(*(p) + 0))(value), 0,        \
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
		__seen;                                                                            \
	})
#define InterlockedExchangePointer InterlockedExchange
#define InterlockedCompareExchangePointer InterlockedCompareExchange

#ifdef __cplusplus
}
#endif
#endif
