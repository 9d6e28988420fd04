/*
 * reboot.c - reboot [-r] [STATUS]: halts the machine, and with it QEMU; STATUS becomes
 * the exit status of `weft run`.  -r: resets the machine instead.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

static const char usage[] = "usage: reboot [-r] [STATUS]\n";

int main(int argc, char **argv)
{
	int how = WEFT_REBOOT_HALT, c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "r")) != -1) {
		if (c == '?')
			return usage_wrong(usage);
		how = WEFT_REBOOT_RESET;
	}
	errno = -__sys_reboot(how, optind < argc ? number("status", argv[optind], 0, 255) : 0);
	err(1, "reboot");
}
