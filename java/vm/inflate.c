/*
 * inflate.c - unpacks a deflated member of a jar (RFC 1951).
 *
 * A canonical Huffman code is kept as the number of codes of each length, and the symbols in the order of their codes.
 * Decoding takes a bit at a time: class files are small, and the code is short. Each access to input and output is
 * checked, so that a damaged archive gives false.
 */

#include "vm.h"
#include <string.h>

#define MAX_BITS 15

struct inflate {
	const uint8_t *in;
	size_t in_length, in_at;
	uint8_t *out;
	size_t out_length, out_at;
	uint32_t bits;
	int n_bits;
	bool bad;
};

struct huffman {
	uint16_t count[MAX_BITS + 1], symbol[288];
};

static uint32_t inflate_bits(struct inflate *s, int n)
{
	uint32_t value;

	while (s->n_bits < n) {
		if (s->in_at == s->in_length) {
			s->bad = true;
			return 0;
		}
		s->bits |= (uint32_t)s->in[s->in_at++] << s->n_bits;
		s->n_bits += 8;
	}
	value = s->bits & ((1u << n) - 1);
	s->bits >>= n;
	s->n_bits -= n;
	return value;
}

static void huffman_make(struct huffman *h, const uint8_t *lengths, int n)
{
	uint16_t at[MAX_BITS + 2] = {0};

	memset(h->count, 0, sizeof(h->count));
	for (int i = 0; i < n; i++)
		h->count[lengths[i]]++;
	h->count[0] = 0;
	for (int i = 1; i <= MAX_BITS; i++)
		at[i + 1] = at[i] + h->count[i];
	for (int i = 0; i < n; i++)
		if (lengths[i] != 0)
			h->symbol[at[lengths[i]]++] = (uint16_t)i;
}

static int huffman_decode(struct inflate *s, const struct huffman *h)
{
	int code = 0, first = 0, index = 0;

	for (int length = 1; length <= MAX_BITS && !s->bad; length++) {
		code |= (int)inflate_bits(s, 1);
		if (code - first < h->count[length])
			return index + code - first < 288 ? h->symbol[index + code - first] : 0;
		index += h->count[length];
		first = (first + h->count[length]) << 1;
		code <<= 1;
	}
	s->bad = true;
	return 0;
}

static void inflate_copy(struct inflate *s, size_t distance, size_t length)
{
	if (distance > s->out_at || length > s->out_length - s->out_at) {
		s->bad = true;
		return;
	}
	for (; length > 0; length--, s->out_at++)
		s->out[s->out_at] = s->out[s->out_at - distance];
}

static void inflate_codes(struct inflate *s, const struct huffman *literals,
			  const struct huffman *distances)
{
	static const uint16_t base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
					15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
					67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
	static const uint16_t far[] = {1,    2,    3,    4,     5,     7,    9,    13,
				       17,   25,   33,   49,    65,    97,   129,  193,
				       257,  385,  513,  769,   1025,  1537, 2049, 3073,
				       4097, 6145, 8193, 12289, 16385, 24577};

	while (!s->bad) {
		int symbol = huffman_decode(s, literals), d;
		size_t length;

		if (symbol == 256)
			return;
		if (symbol < 256) {
			if (s->out_at == s->out_length)
				s->bad = true;
			else
				s->out[s->out_at++] = (uint8_t)symbol;
			continue;
		}
		if (symbol > 285)
			break;
		length = base[symbol - 257] + inflate_bits(s, extra[symbol - 257]);
		d = huffman_decode(s, distances);
		if (d > 29)
			break;
		inflate_copy(s, far[d] + inflate_bits(s, d < 2 ? 0 : d / 2 - 1), length);
	}
	s->bad = true;
}

static void inflate_stored(struct inflate *s)
{
	size_t length, inverse;

	s->bits = 0;
	s->n_bits = 0;
	if (s->in_length - s->in_at < 4) {
		s->bad = true;
		return;
	}
	length = s->in[s->in_at] | (size_t)s->in[s->in_at + 1] << 8;
	inverse = s->in[s->in_at + 2] | (size_t)s->in[s->in_at + 3] << 8;
	s->in_at += 4;
	if (length + inverse != 0xffff || length > s->in_length - s->in_at ||
	    length > s->out_length - s->out_at) {
		s->bad = true;
		return;
	}
	memcpy(s->out + s->out_at, s->in + s->in_at, length);
	s->in_at += length;
	s->out_at += length;
}

static void inflate_fixed(struct inflate *s)
{
	struct huffman literals, distances;
	uint8_t lengths[288];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	huffman_make(&literals, lengths, 288);
	memset(lengths, 5, 30);
	huffman_make(&distances, lengths, 30);
	inflate_codes(s, &literals, &distances);
}

static void inflate_dynamic(struct inflate *s)
{
	static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					  11, 4,  12, 3, 13, 2, 14, 1, 15};
	struct huffman literals, distances;
	uint8_t lengths[320] = {0};
	int n_literals = (int)inflate_bits(s, 5) + 257, n_distances = (int)inflate_bits(s, 5) + 1;
	int n = (int)inflate_bits(s, 4) + 4, at = 0;

	for (int i = 0; i < n; i++)
		lengths[order[i]] = (uint8_t)inflate_bits(s, 3);
	huffman_make(&literals, lengths, 19);
	memset(lengths, 0, sizeof(lengths));
	while (at < n_literals + n_distances && !s->bad) {
		int symbol = huffman_decode(s, &literals), repeat;
		uint8_t value = 0;

		if (symbol < 16) {
			lengths[at++] = (uint8_t)symbol;
			continue;
		}
		if (symbol == 16 && at > 0)
			value = lengths[at - 1];
		repeat = symbol == 16   ? 3 + (int)inflate_bits(s, 2)
			 : symbol == 17 ? 3 + (int)inflate_bits(s, 3)
					: 11 + (int)inflate_bits(s, 7);
		if (repeat > n_literals + n_distances - at || (symbol == 16 && at == 0))
			s->bad = true;
		while (repeat-- > 0 && !s->bad)
			lengths[at++] = value;
	}
	if (s->bad || n_literals > 286 || n_distances > 30) {
		s->bad = true;
		return;
	}
	huffman_make(&literals, lengths, n_literals);
	huffman_make(&distances, lengths + n_literals, n_distances);
	inflate_codes(s, &literals, &distances);
}

/* Whether `in` unpacks to exactly out_length bytes. */
bool inflate_block(const uint8_t *in, size_t in_length, uint8_t *out, size_t out_length)
{
	struct inflate s = {.in = in, .in_length = in_length, .out = out, .out_length = out_length};
	bool last = false;

	while (!last && !s.bad) {
		last = inflate_bits(&s, 1);
		switch (inflate_bits(&s, 2)) {
		case 0:
			inflate_stored(&s);
			break;
		case 1:
			inflate_fixed(&s);
			break;
		case 2:
			inflate_dynamic(&s);
			break;
		default:
			s.bad = true;
		}
	}
	return !s.bad && s.out_at == out_length;
}
