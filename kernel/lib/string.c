/*
 * string.c - the memory and string functions of types.h.
 *
 * Bulk work uses the string instructions in words of 8 bytes: an emulator
 * executes them one word at a time, so bytes would cost eight times as much.
 * No locks; any context.
 */
#include <kern/types.h>

void *memcpy(void *dst, const void *src, size_t n)
{
	void *d = dst;
	size_t words = n / 8, bytes = n % 8;
	__asm__ volatile("rep movsq" : "+D"(d), "+S"(src), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(bytes)::"memory");
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	if ((uintptr_t)dst - (uintptr_t)src >= n)
		return memcpy(dst, src, n);
	/* dst begins inside of src, so the copy goes from the end down.  Every entry to the kernel
	 * clears the direction flag, so an interrupt here does no harm. */
	void *d = (char *)dst + n - 1;
	const void *s = (const char *)src + n - 1;
	__asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(s), "+c"(n)::"memory");
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	void *d = dst;
	uint64_t pattern = (uint8_t)c * 0x0101010101010101ull;
	size_t words = n / 8, bytes = n % 8;
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(bytes) : "a"(pattern) : "memory");
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;
	for (; n > 0; n--, p++, q++)
		if (*p != *q)
			return *p < *q ? -1 : 1;
	return 0;
}

size_t strlen(const char *s)
{
	const char *p = s;
	while (*p)
		p++;
	return p - s;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;
	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	while (n > 0 && *a && *a == *b)
		a++, b++, n--;
	return n == 0 ? 0 : (uint8_t)*a - (uint8_t)*b;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (*s == '\0')
			return NULL;
	}
}

size_t strlcpy(char *dst, const char *src, size_t size)
{
	size_t len = strlen(src);
	if (size > 0) {
		size_t n = MIN(len, size - 1);
		memcpy(dst, src, n);
		dst[n] = '\0';
	}
	return len;
}
