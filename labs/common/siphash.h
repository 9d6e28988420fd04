/* siphash.h - SipHash-2-4, a keyed hash: "SipHash: a fast short-input PRF" (Aumasson and Bernstein,
 * 2012).  The value of a text can be computed only with the key. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The value of the n bytes at data under this key. */
uint64_t siphash24(const uint8_t key[16], const void *data, size_t n);
