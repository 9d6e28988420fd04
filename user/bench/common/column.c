/*
 * column.c - the columns by name.  A program that links this file gets both interfaces.
 */
#include "column.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

static const struct column *const columns[] = {&column_nt, &column_bound, &column_cl,
					       &column_unbound};

const struct column *column_named(const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcmp(columns[i]->name, name) == 0)
			return columns[i];
	fprintf(stderr, "%s: %s: not one of nt, bound, cl, unbound\n", bench_name, name);
	exit(2);
}
