/*
 * nt_timep.c - runs a program and prints the time that it took, elapsed, user and kernel, after
 * the description of Hart's timep; its exit code is the program's.
 *
 *	nt_timep COMMAND [ARGUMENT...]
 *	nt_timep quit CODE
 */
#include <windows.h>
#include <tchar.h>

static LPTSTR SkipArgument(LPTSTR line)
{
	while (*line != _T('\0') && *line != _T(' '))
		line++;
	while (*line == _T(' '))
		line++;
	return line;
}

static void Print(LPCTSTR what, const FILETIME *time)
{
	SYSTEMTIME st;

	FileTimeToSystemTime(time, &st);
	_tprintf(_T("%s%02d:%02d:%02d:%03d\n"), what, st.wHour, st.wMinute, st.wSecond,
		 st.wMilliseconds);
}

int _tmain(int argc, LPTSTR argv[])
{
	STARTUPINFO startup;
	PROCESS_INFORMATION process;
	FILETIME created, exited, kernel, user, real;
	ULARGE_INTEGER from, to;
	OSVERSIONINFO version;
	DWORD code;

	if (argc == 3 && _tcscmp(argv[1], _T("quit")) == 0) {
		_tprintf(_T("quitting with %s\n"), argv[2]);
		return _ttoi(argv[2]);
	}
	version.dwOSVersionInfoSize = sizeof(OSVERSIONINFO);
	if (!GetVersionEx(&version) || version.dwPlatformId != VER_PLATFORM_WIN32_NT)
		return 100;
	GetStartupInfo(&startup);
	if (!CreateProcess(NULL, SkipArgument(GetCommandLine()), NULL, NULL, TRUE,
			   NORMAL_PRIORITY_CLASS, NULL, NULL, &startup, &process)) {
		_tprintf(_T("CreateProcess: error %u\n"), GetLastError());
		return 101;
	}
	WaitForSingleObject(process.hProcess, INFINITE);
	GetProcessTimes(process.hProcess, &created, &exited, &kernel, &user);
	GetExitCodeProcess(process.hProcess, &code);
	CloseHandle(process.hThread);
	CloseHandle(process.hProcess);

	from.LowPart = created.dwLowDateTime;
	from.HighPart = created.dwHighDateTime;
	to.LowPart = exited.dwLowDateTime;
	to.HighPart = exited.dwHighDateTime;
	to.QuadPart -= from.QuadPart;
	real.dwLowDateTime = to.LowPart;
	real.dwHighDateTime = to.HighPart;
	Print(_T("Real Time: "), &real);
	Print(_T("User Time: "), &user);
	Print(_T("Sys Time:  "), &kernel);
	return (int)code;
}
