/* siphash.c - SipHash-2-4, as section 2 of the paper has it (siphash.h). */
#include "siphash.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

/* Bytes in little-endian order.  n: 8 at most. */
static uint64_t word_of(const uint8_t *bytes, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

static uint64_t rotated(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_rounds(struct sip *s, int n)
{
	while (n-- > 0) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotated(s->v1, 13) ^ s->v0;
		s->v3 = rotated(s->v3, 16) ^ s->v2;
		s->v0 = rotated(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotated(s->v1, 17) ^ s->v2;
		s->v3 = rotated(s->v3, 21) ^ s->v0;
		s->v2 = rotated(s->v2, 32);
	}
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_rounds(s, 2);
	s->v0 ^= word;
}

uint64_t siphash24(const uint8_t key[16], const void *data, size_t n)
{
	const uint8_t *bytes = data;
	uint64_t k0 = word_of(key, 8), k1 = word_of(key + 8, 8);
	struct sip s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			k1 ^ 0x7465646279746573};
	size_t whole = n & ~(size_t)7;

	for (size_t i = 0; i < whole; i += 8)
		sip_word(&s, word_of(bytes + i, 8));
	sip_word(&s, word_of(bytes + whole, n - whole) | (uint64_t)n << 56);
	s.v2 ^= 0xff;
	sip_rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
