/*
 * win_processes.c - processes of Win32 (winthread.h): creation and end, what a child has of its
 * maker, handles to processes.
 *
 *	win_processes
 *	win_processes child CODE [ARGUMENT...]	(the programs that it starts)
 *	win_processes class|cpus|named|handle|threads ARGUMENT
 */
#include "wintest.h"
#include <fcntl.h>
#include <sys/wait.h>

static void not_a_program(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, "no program\n", 11) != 11)
		bail("%s", path);
	close(fd);
}

static void processes(void)
{
	char line[] = "win_processes child 7 \"a \\\"b\\\" c\" \"\" d\\\\e";
	char again[] = "win_processes child 1", for_ever[] = "sleep 1000";
	FILETIME created, exited, kernel, user;
	STARTUPINFO startup;
	PROCESS_INFORMATION info;
	DWORD code;
	HANDLE copy;

	GetStartupInfo(&startup);
	is("GetStartupInfo", startup.cb, sizeof(startup));
	is("CreateProcess",
	   CreateProcess(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &info), TRUE);
	ok("... id", info.dwProcessId > GetCurrentProcessId());
	is("the end of a process", WaitForSingleObject(info.hProcess, INFINITE), WAIT_OBJECT_0);
	is("... and of its first thread", WaitForSingleObject(info.hThread, 0), WAIT_OBJECT_0);
	is("... GetProcessTimes", GetProcessTimes(info.hProcess, &created, &exited, &kernel, &user),
	   TRUE);
	ok("... lived", CompareFileTime(&created, &exited) < 0 && units(user) + units(kernel) > 0);
	is("the code of a process", GetExitCodeProcess(info.hProcess, &code) && code == 7, TRUE);
	is("... once more", GetExitCodeProcess(info.hProcess, &code) && code == 7, TRUE);
	FAILS("TerminateProcess of one that has ended", TerminateProcess(info.hProcess, 1),
	      ERROR_ACCESS_DENIED);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);

	is("with a class, directory, environment",
	   CreateProcess("/bin/win_processes", again, NULL, NULL, FALSE, HIGH_PRIORITY_CLASS,
			 "A=1\0B=2\0", "/tmp", &startup, &info),
	   TRUE);
	WaitForSingleObject(info.hProcess, INFINITE);
	is("... was as it should be", GetExitCodeProcess(info.hProcess, &code) && code == 1, TRUE);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);

	CreateProcess(NULL, for_ever, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &info);
	is("one that goes on", GetExitCodeProcess(info.hProcess, &code) && code == STILL_ACTIVE,
	   TRUE);
	is("... is not signalled", WaitForSingleObject(info.hProcess, 0), WAIT_TIMEOUT);
	/* The first call that needs the object of this process. */
	is("... gets CPUs", SetProcessAffinityMask(info.hProcess, 1), TRUE);
	FAILS("DuplicateHandle into another process",
	      DuplicateHandle(GetCurrentProcess(), info.hThread, info.hProcess, &copy, 0, FALSE, 0),
	      ERROR_NOT_SUPPORTED);
	is("TerminateProcess", TerminateProcess(info.hProcess, 0x12345678), TRUE);
	WaitForSingleObject(info.hProcess, INFINITE);
	is("TerminateProcess: its code",
	   GetExitCodeProcess(info.hProcess, &code) && code == 0x12345678, TRUE);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);

	FAILS("no such program",
	      CreateProcess("/bin/nothing", NULL, 0, 0, FALSE, 0, 0, NULL, &startup, &info),
	      ERROR_FILE_NOT_FOUND);
	FAILS("a program is not searched for",
	      CreateProcess("sleep", NULL, 0, 0, FALSE, 0, 0, NULL, &startup, &info),
	      ERROR_FILE_NOT_FOUND);
	chdir("/bin");
	is("... but found from the caller's directory, not the child's",
	   CreateProcess("win_processes", again, NULL, NULL, FALSE, 0, NULL, "/tmp", &startup,
			 &info),
	   TRUE);
	WaitForSingleObject(info.hProcess, INFINITE);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);
	chdir("/");
	FAILS("no such directory",
	      CreateProcess("/bin/sleep", NULL, 0, 0, FALSE, 0, 0, "/nowhere", &startup, &info),
	      ERROR_DIRECTORY);
	not_a_program("/tmp/win_processes");
	FAILS("no executable file",
	      CreateProcess("/tmp/win_processes", NULL, 0, 0, 0, 0, 0, 0, &startup, &info),
	      ERROR_BAD_EXE_FORMAT);
	unlink("/tmp/win_processes");
	FAILS("no program at all", CreateProcess(NULL, NULL, 0, 0, FALSE, 0, 0, 0, &startup, &info),
	      ERROR_INVALID_PARAMETER);
	FAILS("a suspended process",
	      CreateProcess("/bin/sleep", NULL, 0, 0, 0, CREATE_SUSPENDED, 0, 0, &startup, &info),
	      ERROR_NOT_SUPPORTED);
	FAILS("unknown flags",
	      CreateProcess("/bin/sleep", NULL, 0, 0, 0, 0x80000, 0, 0, &startup, &info),
	      ERROR_INVALID_PARAMETER);
	FAILS("GetExitCodeProcess of none", GetExitCodeProcess(NONE, &code), ERROR_INVALID_HANDLE);
	FAILS("TerminateProcess of none", TerminateProcess(NONE, 1), ERROR_INVALID_HANDLE);
	is("the caller", GetExitCodeProcess(GetCurrentProcess(), &code) && code == STILL_ACTIVE,
	   TRUE);
}

/* --- what a child has --------------------------------------------------------------------------- */

/* The exit code of this program, started as a child with these flags. */
static DWORD run(const char *what, DWORD argument, DWORD flags)
{
	STARTUPINFO startup = {.cb = sizeof(startup)};
	PROCESS_INFORMATION info;
	char line[80];
	DWORD code = 0;

	snprintf(line, sizeof(line), "win_processes %s %u", what, argument);
	if (!CreateProcess(NULL, line, NULL, NULL, TRUE, flags, NULL, NULL, &startup, &info))
		bail("CreateProcess: %u", GetLastError());
	WaitForSingleObject(info.hProcess, INFINITE);
	GetExitCodeProcess(info.hProcess, &code);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);
	return code;
}

#define NORMAL_ONE (NORMAL_PRIORITY_CLASS + 2) /* what such a child's code is: see be_child */
#define IDLE_ONE (IDLE_PRIORITY_CLASS + 2)
#define HIGH_ONE (HIGH_PRIORITY_CLASS + 2)

static void classes(void)
{
	HANDLE self = GetCurrentProcess();

	SetPriorityClass(self, HIGH_PRIORITY_CLASS);
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
	is("a child is normal, whatever its maker", run("class", 0, 0), NORMAL_ONE);
	is("... or what it is to be", run("class", 0, HIGH_PRIORITY_CLASS), HIGH_ONE);
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL);
	SetPriorityClass(self, IDLE_PRIORITY_CLASS);
	is("... but idle if that is", run("class", 0, 0), IDLE_ONE);
	is("... unless it is not to be", run("class", 0, NORMAL_PRIORITY_CLASS), NORMAL_ONE);
	SetPriorityClass(self, NORMAL_PRIORITY_CLASS);
}

static DWORD WINAPI start_sleeper(LPVOID info)
{
	STARTUPINFO startup = {.cb = sizeof(startup)};
	char line[] = "sleep 1000";

	SetThreadAffinityMask(GetCurrentThread(), 1);
	return CreateProcess(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, info);
}

static void cpus(void)
{
	HANDLE self = GetCurrentProcess();
	PROCESS_INFORMATION info;
	DWORD_PTR mask = 0, all;

	is("from a thread with one CPU", join(create(start_sleeper, &info, 0)), TRUE);
	is("GetProcessAffinityMask of a child", GetProcessAffinityMask(info.hProcess, &mask, &all),
	   TRUE);
	is("... all of its maker's CPUs", mask, all);
	is("SetProcessAffinityMask of a child", SetProcessAffinityMask(info.hProcess, 1), TRUE);
	is("... is seen", GetProcessAffinityMask(info.hProcess, &mask, &all) && mask == 1, TRUE);
	TerminateProcess(info.hProcess, 0);
	WaitForSingleObject(info.hProcess, INFINITE);
	FAILS("GetProcessAffinityMask of one that has ended",
	      GetProcessAffinityMask(info.hProcess, &mask, &all), ERROR_INVALID_HANDLE);
	CloseHandle(info.hThread);
	CloseHandle(info.hProcess);
	SetProcessAffinityMask(self, 1);
	is("a child begins with its maker's CPUs", run("cpus", 0, 0), 1);
	SetProcessAffinityMask(self, all);
}

static void objects(void)
{
	SECURITY_ATTRIBUTES inherit = {sizeof(inherit), NULL, TRUE};
	HANDLE named = CreateEvent(NULL, TRUE, FALSE, "win_processes"),
	       inherited = CreateEvent(&inherit, TRUE, FALSE, NULL),
	       kept = CreateEvent(NULL, TRUE, FALSE, NULL);

	is("a child opens an event by its name", run("named", 0, 0), 0);
	is("... which is the same", WaitForSingleObject(named, 0), WAIT_OBJECT_0);
	is("a child has the handles that are inherited",
	   run("handle", (DWORD)(uintptr_t)inherited, 0), 0);
	is("... to the same event", WaitForSingleObject(inherited, 0), WAIT_OBJECT_0);
	is("... and no others", run("handle", (DWORD)(uintptr_t)kept, 0), ERROR_INVALID_HANDLE);
	is("ExitProcess ends all threads", run("threads", 55, 0), 55);
	CloseHandle(named);
	CloseHandle(inherited);
	CloseHandle(kept);
}

/* --- the children ------------------------------------------------------------------------------- */

static DWORD WINAPI sleep_on(LPVOID arg)
{
	SetEvent(arg);
	Sleep(INFINITE);
	return 1;
}

static int be_other(const char *what, DWORD argument)
{
	HANDLE self = GetCurrentProcess(), h;
	DWORD_PTR mask, all;

	if (strcmp(what, "class") == 0)
		return GetPriorityClass(self) + GetThreadPriority(GetCurrentThread()) + 2;
	if (strcmp(what, "cpus") == 0)
		return GetProcessAffinityMask(self, &mask, &all) ? (int)mask : 99;
	if (strcmp(what, "named") == 0)
		return SetEvent(OpenEvent(EVENT_MODIFY_STATE, FALSE, "win_processes")) ? 0 : 1;
	if (strcmp(what, "handle") == 0)
		return SetEvent((HANDLE)(uintptr_t)argument) ? 0 : GetLastError();
	h = CreateEvent(NULL, FALSE, FALSE, NULL);
	create(sleep_on, h, 0);
	WaitForSingleObject(h, INFINITE);
	ExitProcess(argument);
}

/* What the first process above was started with. */
static int be_child(int argc, char **argv)
{
	static const char *const want[] = {"a \"b\" c", "", "d\\\\e"};

	for (int i = 3; i < argc; i++)
		if (i > 5 || strcmp(argv[i], want[i - 3]) != 0)
			return 100 + i;
	if (argc > 3 &&
	    strcmp(GetCommandLine(), "win_processes child 7 \"a \\\"b\\\" c\" \"\" d\\\\e") != 0)
		return 99;
	ExitProcess(atoi(argv[2]));
}

/* A child of fork has no handles of its parent's threads, and is a process of its own. */
static int forked_wrong(HANDLE parents)
{
	HANDLE h;

	do { /* until an event has the number of the parent's handle */
		h = CreateEvent(NULL, TRUE, FALSE, NULL);
		if (h == NULL)
			return 1;
	} while (h != parents);
	if (GetThreadPriority(h) != THREAD_PRIORITY_ERROR_RETURN)
		return 2;
	if (!CloseHandle(h) || CloseHandle(h))
		return 3;
	if (GetThreadPriority(GetCurrentThread()) != THREAD_PRIORITY_NORMAL)
		return 4;
	if (!SetPriorityClass(GetCurrentProcess(), IDLE_PRIORITY_CLASS) ||
	    GetPriorityClass(GetCurrentProcess()) != IDLE_PRIORITY_CLASS)
		return 5;
	return 0;
}

static void forks(void)
{
	HANDLE self = GetCurrentProcess(), h;
	DWORD class = GetPriorityClass(self);
	int status;
	pid_t pid;

	is("a handle", DuplicateHandle(self, GetCurrentThread(), self, &h, 0, FALSE, 0), TRUE);
	pid = fork();
	if (pid == 0)
		_exit(forked_wrong(h));
	is("... a child of fork", waitpid(pid, &status, 0) == pid && WIFEXITED(status), TRUE);
	is("... what is wrong there", WEXITSTATUS(status), 0);
	is("... it has not changed its parent", GetPriorityClass(self), class);
	is("... nor the handle", CloseHandle(h), TRUE);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "child") == 0)
		return be_child(argc, argv);
	if (argc > 2)
		return be_other(argv[1], atoi(argv[2]));
	processes();
	classes();
	cpus();
	objects();
	forks();
	return tap_done();
}
