/* types.h - the few names and macros that every file of the kernel uses. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t paddr_t;  /* a physical address */
typedef uint64_t vaddr_t;  /* a user virtual address: never dereferenced directly */
typedef uint64_t hrtime_t; /* nanoseconds since boot */

#define HRTIME_NEVER UINT64_MAX

#define PAGE_SIZE 4096ull
#define PAGE_SHIFT 12
#define PAGE_ROUND_UP(x) (((x) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define PAGE_ROUND_DOWN(x) ((x) & ~(PAGE_SIZE - 1))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define NORETURN __attribute__((noreturn))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define CACHE_ALIGNED __attribute__((aligned(64)))

/* Freestanding string functions, kernel/lib/string.c. */
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
/* Copies at most size - 1 bytes and always ends with NUL; returns strlen(src). */
size_t strlcpy(char *dst, const char *src, size_t size);
