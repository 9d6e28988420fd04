/*
 * zip_test.c - the reader of jars (java/vm/zip.c, inflate.c) on the host, over archives that are changed at random.
 *
 * Each change gives a member with the right bytes, a member that is not there, or one that is said to be damaged.
 * AddressSanitizer sees an access that is wrong. Arguments: a jar, a seed, how many changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../java/vm/vm.h"

#define MAX_NAMES 16

struct file {
	char name[64];
	uint8_t *bytes;
	size_t length;
};

static struct file files[MAX_NAMES];
static int n_files;
static uint64_t state;

void *vm_alloc(size_t size)
{
	return calloc(1, size);
}

static uint32_t any(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static uint8_t *whole(const char *path, size_t *length)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;

	fseek(f, 0, SEEK_END);
	bytes = malloc((size_t)ftell(f));
	*length = (size_t)ftell(f);
	rewind(f);
	if (fread(bytes, 1, *length, f) != *length)
		exit(1);
	fclose(f);
	return bytes;
}

/* What the jar has, by the reader itself, which the test compares with Python's. */
static void files_read(const uint8_t *jar, size_t length)
{
	struct zip *zip = zip_open(jar, length, false);
	char name[64];

	while (n_files < MAX_NAMES && scanf("%63s", name) == 1) {
		struct member m = {0};

		zip_find(zip, name, &m);
		printf("%s %zu %s\n", name, m.length, m.wrong);
		strcpy(files[n_files].name, name);
		files[n_files].bytes = malloc(m.bytes == NULL ? 1 : m.length);
		files[n_files].length = m.length;
		if (m.bytes != NULL)
			memcpy(files[n_files].bytes, m.bytes, m.length);
		n_files++;
		member_free(&m);
	}
	free(zip);
}

static size_t change(uint8_t *jar, size_t length, size_t directory)
{
	for (uint32_t n = 1 + any(3); n-- > 0;) {
		size_t low = any(2) ? directory : 0, at = low + any((uint32_t)(length - low));

		switch (any(5)) {
		case 0:
			jar[at] = (uint8_t)any(256);
			break;
		case 1:
			jar[at] ^= (uint8_t)(1 << any(8));
			break;
		case 2:
			jar[at] = any(2) ? 0 : 255;
			break;
		case 3:
			memset(jar + at, any(2) ? 0 : 255, length - at < 4 ? length - at : 4);
			break;
		default:
			if (any(8) == 0)
				return at;
			jar[at] = jar[any((uint32_t)length)];
		}
	}
	return length;
}

int main(int argc, char **argv)
{
	size_t length, directory, left;
	uint8_t *jar = whole(argv[1], &length);
	unsigned good = 0, none = 0, damaged = 0, no_jar = 0;

	files_read(jar, length);
	for (directory = length; memcmp(jar + directory - 4, "PK\1\2", 4) != 0; directory--)
		;
	for (int i = 0; i < atoi(argv[3]); i++) {
		uint8_t *changed; /* of its own size, so that each access beyond is seen */
		struct zip *zip;

		state = strtoull(argv[2], NULL, 10) * 1000003 + (uint64_t)i;
		changed = malloc(length);
		memcpy(changed, jar, length);
		left = change(changed, length, directory - 4);
		changed = realloc(changed, left + (left == 0));
		zip = zip_open(changed, left, false);
		no_jar += zip == NULL;
		for (int k = 0; k < n_files && zip != NULL; k++) {
			struct member m = {0};

			zip_find(zip, files[k].name, &m);
			damaged += m.wrong[0] != 0;
			none += m.bytes == NULL && m.wrong[0] == 0;
			good += m.bytes != NULL;
			if (m.bytes != NULL && m.length == files[k].length &&
			    memcmp(m.bytes, files[k].bytes, m.length) != 0) {
				printf("change %d: %s has other bytes\n", i, files[k].name);
				return 1;
			}
			member_free(&m);
		}
		free(zip);
		free(changed);
	}
	printf("good %u none %u damaged %u no jar %u\n", good, none, damaged, no_jar);
	return 0;
}
