/*
 * lab_mac_test.c - labs/common on the host.
 *
 *	lab_mac_test hash        stdin: 16 bytes of key, then the text; prints its SipHash-2-4
 *	lab_mac_test report      what a test program prints, with the key in this program's slot
 */
#include "../../labs/common/labtest.h"
#include "../../labs/common/siphash.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int hash(void)
{
	uint8_t in[4096];
	size_t n = fread(in, 1, sizeof(in), stdin);

	if (n < 16)
		return 2;
	printf("%016" PRIx64 "\n", siphash24(in, in + 16, n - 16));
	return 0;
}

int main(int argc, char **argv)
{
	char longest[1000];

	if (argc > 1 && strcmp(argv[1], "hash") == 0)
		return hash();
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	lab_check(true, "kept", "not told");
	lab_check(false, "lost", "%d of\t%s\n\033[31mlab 9 end ok 9", 3, "them");
	lab_figure("trip", 1025);
	lab_check(false, "long", "%s", longest);
	return lab_end();
}
