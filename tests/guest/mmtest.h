/*
 * mmtest.h - what the tests of memory share: mapping without libc in between, asking
 * whether a page can be reached without dying of it, children that do harm.
 */
#pragma once
#include "rawlwp.h"
#include "tap.h"
#include <weft/lwp.h>
#include <weft/mman.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/start.h>

#define PAGE 4096ul
#define NONE WEFT_PROT_NONE
#define R WEFT_PROT_READ
#define RW (WEFT_PROT_READ | WEFT_PROT_WRITE)
#define ANON (WEFT_MAP_PRIVATE | WEFT_MAP_ANON)
#define AT (ANON | WEFT_MAP_FIXED)

extern char **environ;

__attribute__((unused)) static long map(void *addr, size_t len, int prot, int flags)
{
	return __sys_mmap(addr, len, prot, flags, -1, 0);
}

/* Fresh memory, or the end of the test. */
__attribute__((unused)) static char *must_map(size_t len, int prot)
{
	long p = map(NULL, len, prot, ANON);
	if (p < 0)
		bail("mmap of %lu bytes: %ld", (unsigned long)len, p);
	return (char *)p;
}

/* The kernel reads a path there: any answer but EFAULT means that it could. */
__attribute__((unused)) static int readable(const volatile void *p)
{
	long fd = __sys_open((const char *)p, 0, 0);
	if (fd >= 0)
		__sys_close(fd);
	return fd != -EFAULT;
}

/* The kernel writes 16 bytes there. */
__attribute__((unused)) static int writable(volatile void *p)
{
	return __sys_clock_gettime(WEFT_CLOCK_MONOTONIC, (struct weft_timespec *)p) == 0;
}

/* Starts this program with one argument; its pid, or an error. */
__attribute__((unused)) static long start_child(const char *path, const char *what)
{
	char *argv[] = {(char *)path, (char *)what, NULL};
	struct spawn_args a = {
		.path = (uint64_t)path, .argv = (uint64_t)argv, .envp = (uint64_t)environ};
	return __sys_spawn(&a);
}

/* The status of a child that does `what`, or an error. */
__attribute__((unused)) static long run_child(const char *path, const char *what)
{
	int status = -1;
	long pid = start_child(path, what);
	if (pid < 0)
		return pid;
	long r = __sys_waitpid(pid, &status, 0, NULL);
	return r < 0 ? r : status;
}

#define KILLED(sig) WEFT_W_EXITCODE(0, sig)
#define EXITED(status) WEFT_W_EXITCODE(status, 0)

__attribute__((unused)) static uint64_t free_pages(void)
{
	struct weft_sysinfo i;
	__sys_sysinfo(&i);
	return i.mem_free / PAGE;
}

/* Pages resident in this process. */
__attribute__((unused)) static uint64_t resident(void)
{
	struct weft_procinfo i = {0};
	__sys_procinfo(__sys_getpid(), &i);
	return i.rss / PAGE;
}

__attribute__((unused)) static uint32_t next_random(uint32_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 17;
	*s ^= *s << 5;
	return *s;
}
