/* spin_for.c - prints the nanoseconds that N turns of a loop take. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/start.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	int64_t start = gethrtime();

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
	printf("%lld\n", (long long)(gethrtime() - start));
	return 0;
}
