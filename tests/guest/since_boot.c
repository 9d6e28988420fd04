/* since_boot.c - how long after the kernel's first look at its clock main began. */
#include <stdio.h>
#include <weft/start.h>

int main(void)
{
	int64_t ns = gethrtime();

	printf("%lld.%03lld s since boot\n", (long long)(ns / 1000000000),
	       (long long)(ns / 1000000 % 1000));
	return 0;
}
