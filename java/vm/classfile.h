/*
 * classfile.h - the reader of a class file, for classfile.c and pool.c.
 */

#ifndef CLASSFILE_H
#define CLASSFILE_H

#include "vm.h"

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

struct parse {
	struct jthread *t;
	struct class *c;
	struct reader r;
	const char *error;
};

/* All of them set p->error, or the reader's flag, if the file breaks a rule; the result is then 0, NULL or false. */
uint32_t reader_take(struct reader *r, int n);
const uint8_t *reader_bytes(struct reader *r, uint32_t length);
bool parse_fail(struct parse *p, const char *error);
struct constant *parse_constant(struct parse *p, uint32_t index, uint8_t tag);
struct symbol *parse_name(struct parse *p, uint32_t index);
bool parse_constants(struct parse *p);
void parse_bootstraps(struct parse *p, struct reader *r);
bool parse_call_sites(struct parse *p);

#endif
