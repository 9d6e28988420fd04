/* telnet_test.c - kernel/dev/telnet.h for the host: what the bytes of a stream mean. */
#include "../../kernel/dev/telnet.h"

/*
 * Takes n bytes.  typed gets those that are typed, sizes a pair of columns and rows for each size
 * that was told; *nsizes says how many.  Returns how many were typed.
 */
size_t telnet_take(const uint8_t *bytes, size_t n, uint8_t *typed, uint16_t (*sizes)[2],
		   size_t *nsizes);
size_t telnet_take(const uint8_t *bytes, size_t n, uint8_t *typed, uint16_t (*sizes)[2],
		   size_t *nsizes)
{
	struct weft_winsize size;
	struct telnet t = {0};
	size_t ntyped = 0;

	*nsizes = 0;
	for (; n > 0; n--, bytes++) {
		switch (telnet_input(&t, *bytes, &size)) {
		case TELNET_TYPED:
			typed[ntyped++] = *bytes;
			break;
		case TELNET_SIZE:
			sizes[*nsizes][0] = size.col;
			sizes[(*nsizes)++][1] = size.row;
			break;
		case TELNET_NOTHING:
			break;
		}
	}
	return ntyped;
}
