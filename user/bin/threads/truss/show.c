/*
 * show.c - shows calls with their arguments and results as text.  It uses the table of
 * weft/sysdesc.h and the memory of the process that makes the call.
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <weft/errno.h>
#include <weft/signal.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include "truss.h"

#define SHOWN 32 /* bytes of a string or buffer */
#define PATH_SHOWN 256
#define ITEMS 6 /* of a vector */

void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	t->len += n;
	if (t->len > sizeof(t->s) - 1)
		t->len = sizeof(t->s) - 1;
}

/* --- names -------------------------------------------------------------------------------- */

const char *errno_name(int err)
{
#define E(name) [name] = #name
	static const char *const names[] = {
		E(EPERM),     E(ENOENT),  E(ESRCH),     E(EINTR),           E(EIO),
		E(ENXIO),     E(E2BIG),   E(ENOEXEC),   E(EBADF),           E(ECHILD),
		E(EAGAIN),    E(ENOMEM),  E(EACCES),    E(EFAULT),          E(EBUSY),
		E(EEXIST),    E(EXDEV),   E(ENODEV),    E(ENOTDIR),         E(EISDIR),
		E(EINVAL),    E(ENFILE),  E(EMFILE),    E(ENOTTY),          E(EFBIG),
		E(ENOSPC),    E(ESPIPE),  E(EROFS),     E(EPIPE),           E(ERANGE),
		E(EDEADLK),   E(ENOSYS),  E(ELOOP),     E(ENOTEMPTY),       E(ENAMETOOLONG),
		E(ETIMEDOUT), E(ENOTSUP), E(EOVERFLOW), E(ENOTRECOVERABLE), E(EOWNERDEAD),
	};
#undef E
	return err > 0 && (size_t)err < sizeof(names) / sizeof(names[0]) ? names[err] : NULL;
}

void show_signal(struct text *t, int sig)
{
	char name[SIG2STR_MAX];

	if (sig2str(sig, name) == 0)
		add(t, "SIG%s", name);
	else
		add(t, "%d", sig);
}

static void show_set(struct text *t, uint64_t set)
{
	/* If more than half of the signals are in the set, shows those outside it. */
	bool inverse = __builtin_popcountll(set) > 32;
	const char *between = "";

	if (inverse)
		set = ~set;
	add(t, inverse ? "~[" : "[");
	for (; set != 0; set &= set - 1, between = " ") {
		add(t, "%s", between);
		show_signal(t, __builtin_ctzll(set) + 1);
	}
	add(t, "]");
}

static void show_flags(struct text *t, const struct flagdesc *f, uint64_t v)
{
	const char *between = "";
	uint64_t left = (uint32_t)v;

	for (; f->name != NULL; f++)
		if (((uint32_t)v & f->mask) == f->value && (f->value != 0 || f->mask != 0) &&
		    (f->value == 0 || (left & f->value))) {
			add(t, "%s%s", between, f->name);
			between = "|";
			left &= ~f->value;
		}
	if (left != 0 || *between == '\0')
		add(t, left < 10 ? "%s%" PRIu64 : "%s%#" PRIx64, between, left);
}

/* --- what lies in memory -------------------------------------------------------------------- */

static bool fetch(int pid, uint64_t at, void *to, size_t n)
{
	return __sys_proc_read(pid, at, to, n) == (long)n;
}

static void show_bytes(struct text *t, const char *s, size_t n, bool cut)
{
	add(t, "\"");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (c == '"' || c == '\\')
			add(t, "\\%c", c);
		else if (c == '\n')
			add(t, "\\n");
		else if (c == '\t')
			add(t, "\\t");
		else if (c == '\r')
			add(t, "\\r");
		else if (isprint(c))
			add(t, "%c", c);
		else
			add(t, "\\%o", c);
	}
	add(t, cut ? "\".." : "\"");
}

static void show_buffer(struct text *t, int pid, uint64_t at, int64_t n)
{
	char bytes[SHOWN];
	size_t some = n < SHOWN ? n : SHOWN;

	if (n >= 0 && fetch(pid, at, bytes, some))
		show_bytes(t, bytes, some, (size_t)n > some);
	else
		add(t, "%#" PRIx64, at);
}

static void show_string(struct text *t, int pid, uint64_t at)
{
	char s[PATH_SHOWN];
	long n = at == 0 ? 0 : __sys_proc_read(pid, at, s, sizeof(s));

	if (n <= 0) {
		add(t, at ? "%#" PRIx64 : "NULL", at);
		return;
	}
	size_t len = strnlen(s, n);
	show_bytes(t, s, len, len == (size_t)n);
}

static void show_vector(struct text *t, int pid, uint64_t at)
{
	uint64_t item = 0;
	int i;

	if (at == 0 || !fetch(pid, at, &item, sizeof(item))) {
		add(t, at ? "%#" PRIx64 : "NULL", at);
		return;
	}
	add(t, "[");
	for (i = 0; i < ITEMS && item != 0; i++) {
		add(t, i ? ", " : "");
		show_string(t, pid, item);
		at += sizeof(item);
		if (!fetch(pid, at, &item, sizeof(item)))
			break;
	}
	add(t, i == ITEMS && item != 0 ? ", ...]" : "]");
}

static void show_value(struct text *t, int pid, const struct argdesc *d, uint64_t v);

static void show_ints(struct text *t, const int *v, unsigned n)
{
	add(t, "[");
	for (unsigned i = 0; i < n && i < ITEMS; i++)
		add(t, i ? ", %d" : "%d", v[i]);
	add(t, n > ITEMS ? ", ...]" : "]");
}

/* Reads a number of `size` bytes, with its sign. */
static uint64_t load(const char *at, size_t size)
{
	int16_t half;
	int32_t word;
	uint64_t v = 0;

	if (size == sizeof(half))
		return memcpy(&half, at, sizeof(half)), half;
	if (size == sizeof(word))
		return memcpy(&word, at, sizeof(word)), word;
	memcpy(&v, at, size < sizeof(v) ? size : sizeof(v));
	return v;
}

static void show_fields(struct text *t, int pid, const struct structdesc *s, const char *bytes)
{
	for (unsigned i = 0; i < s->nfields; i++) {
		const struct fielddesc *f = &s->field[i];
		const struct argdesc *d = &f->desc;
		const char *at = bytes + f->offset;
		int ints[ITEMS + 1];

		add(t, i ? ", " : "");
		if (d->type == T_VARIANT) {
			const struct argdesc *v = sysdesc_variant(d->of, (uint32_t)load(bytes, 4));
			if (v != NULL)
				show_fields(t, pid, sysdesc_struct(v->of), at);
			else
				add(t, "%s=?", f->name);
			continue;
		}
		add(t, "%s=", f->name);
		if (d->type == T_CHARS) {
			show_bytes(t, at, strnlen(at, f->size), 0);
		} else if (d->type == T_INTS) {
			memcpy(ints, at, f->size < sizeof(ints) ? f->size : sizeof(ints));
			show_ints(t, ints, f->size / sizeof(ints[0]));
		} else {
			show_value(t, pid, d, load(at, f->size));
		}
	}
}

static void show_struct(struct text *t, int pid, const struct structdesc *s, uint64_t at)
{
	char bytes[2048];

	if (at == 0 || s->size > sizeof(bytes) || !fetch(pid, at, bytes, s->size)) {
		add(t, at ? "%#" PRIx64 : "NULL", at);
		return;
	}
	add(t, "{");
	show_fields(t, pid, s, bytes);
	add(t, "}");
}

/* Shows an array of structures. */
static void show_structs(struct text *t, int pid, const struct structdesc *s, uint64_t at,
			 uint64_t n)
{
	if (at == 0) {
		add(t, "NULL");
		return;
	}
	add(t, "[");
	for (unsigned i = 0; i < n && i < ITEMS; i++) {
		add(t, i ? ", " : "");
		show_struct(t, pid, s, at + i * s->size);
	}
	add(t, n > ITEMS ? ", ...]" : "]");
}

/* Shows a value that needs no memory, or points at the call's input. */
static void show_value(struct text *t, int pid, const struct argdesc *d, uint64_t v)
{
	const struct flagdesc *f;
	uint64_t set;
	int n;

	switch (d->type) {
	case T_INT:
	case T_FD:
	case T_PID:
	case T_CPU:
		add(t, "%d", (int)v);
		break;
	case T_LWP:
		add(t, "%u", (unsigned)v);
		break;
	case T_LONG:
		add(t, "%" PRId64, (int64_t)v);
		break;
	case T_SIZE:
	case T_NS:
		add(t, "%" PRIu64, v);
		break;
	case T_OCT:
		add(t, v ? "0%o" : "%o", (unsigned)v);
		break;
	case T_HEX:
		add(t, "%#" PRIx64, v);
		break;
	case T_SIG:
		show_signal(t, v);
		break;
	case T_NAMED:
		for (f = sysdesc_flags(d->of);
		     f->name != NULL && (uint32_t)f->value != (uint32_t)v;)
			f++;
		if (f->name != NULL)
			add(t, "%s", f->name);
		else
			add(t, "%d", (int)v);
		break;
	case T_INT_IN:
		if (v != 0 && fetch(pid, v, &n, sizeof(n)))
			add(t, "[%d]", n);
		else
			add(t, v ? "%#" PRIx64 : "NULL", v);
		break;
	case T_PATH:
		show_string(t, pid, v);
		break;
	case T_STRV:
		show_vector(t, pid, v);
		break;
	case T_SET:
		show_set(t, v);
		break;
	case T_SET_IN:
	case T_SET_OUT:
		if (v != 0 && fetch(pid, v, &set, sizeof(set)))
			show_set(t, set);
		else
			add(t, v ? "%#" PRIx64 : "NULL", v);
		break;
	case T_IDTYPE:
	case T_FLAGS:
		show_flags(t, sysdesc_flags(d->of), v);
		break;
	case T_STRUCT:
		show_struct(t, pid, sysdesc_struct(d->of), v);
		break;
	default:
		add(t, v ? "%#" PRIx64 : "NULL", v);
	}
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Does the call write to what the argument points at? */
static bool is_out(const struct argdesc *d)
{
	return d->type == T_OUT || d->type == T_INT_OUT || d->type == T_PAIR_OUT ||
	       d->type == T_INTS_OUT || d->type == T_SET_OUT ||
	       (d->type == T_STRUCT && (d->dir & D_OUT));
}

/* Returns the type of argument i, in this call. */
static struct argdesc arg_of(const struct sysdesc *d, unsigned i, const uint64_t arg[6])
{
	static const struct argdesc unknown = {T_HEX, 0, 0};
	const struct argdesc *a = &d->arg[i];

	if (a->type == T_VARIANT)
		a = sysdesc_variant(a->of, (uint32_t)arg[i - 1]) ?: &unknown;
	return *a;
}

/* Shows structures; the call tells their number. */
static void show_struct_arg(struct text *t, int pid, const struct argdesc *d, const uint64_t *arg,
			    int64_t result)
{
	const struct structdesc *s = sysdesc_struct(d->of);

	if (d->dir & D_COUNTED)
		show_structs(t, pid, s, arg[0], arg[1]);
	else if (d->dir & D_TWO)
		show_structs(t, pid, s, arg[0], 2);
	else if (d->dir & D_RETURNED)
		show_structs(t, pid, s, arg[0], result);
	else
		show_struct(t, pid, s, arg[0]);
}

void show_entry(struct call_text *c, const struct trace_event *e)
{
	const struct sysdesc *d = sysdesc(e->call);
	uint32_t id;

	for (unsigned i = 0; i < 6; i++) {
		struct text *t = &c->arg[i];
		t->len = 0;
		t->s[0] = '\0';
		if (d == NULL) {
			add(t, "%#" PRIx64, e->arg[i]);
			continue;
		} else if (i >= d->nargs) {
			continue;
		}
		const struct argdesc a = arg_of(d, i, e->arg);
		if (is_out(&a)) {
			continue;
		} else if (a.type == T_IN) {
			show_buffer(t, e->pid, e->arg[i], e->arg[i + 1]);
		} else if (a.type == T_STRUCT) {
			show_struct_arg(t, e->pid, &a, e->arg + i, 0);
		} else if (a.type == T_LWPS) {
			add(t, "[");
			for (unsigned k = 0; k < ITEMS && k < e->arg[i + 1] &&
					     fetch(e->pid, e->arg[i] + 4 * k, &id, 4);
			     k++)
				add(t, k ? ", %u" : "%u", id);
			add(t, e->arg[i + 1] > ITEMS ? ", ...]" : "]");
		} else {
			show_value(t, e->pid, &a, e->arg[i]);
		}
	}
}

/* Shows the output of the call behind argument i. */
static void show_out(struct text *t, const struct argdesc *a, const struct trace_event *e,
		     unsigned i, int64_t result)
{
	uint64_t at = e->arg[i];
	int v[ITEMS + 1] = {0}, n;

	if (a->type == T_OUT)
		show_buffer(t, e->pid, at, result);
	else if (a->type == T_STRUCT)
		show_struct_arg(t, e->pid, a, e->arg + i, result);
	else if (a->type == T_INT_OUT && fetch(e->pid, at, v, sizeof(v[0])))
		show_ints(t, v, 1);
	else if (a->type == T_PAIR_OUT && fetch(e->pid, at, v, 2 * sizeof(v[0])))
		show_ints(t, v, 2);
	else if (a->type == T_INTS_OUT && fetch(e->pid, e->arg[a->of], &n, sizeof(n)) &&
		 fetch(e->pid, at, v, (n < ITEMS ? n : ITEMS) * sizeof(v[0])))
		show_ints(t, v, n);
	else
		show_value(t, e->pid, a, at);
}

void show_return(struct call_text *c, const struct trace_event *e, int64_t result)
{
	const struct sysdesc *d = sysdesc(e->call);

	for (unsigned i = 0; d != NULL && i < d->nargs; i++) {
		const struct argdesc a = arg_of(d, i, e->arg);
		if (!is_out(&a))
			continue;
		if (e->arg[i] == 0)
			add(&c->arg[i], "NULL");
		else if (result >= 0)
			show_out(&c->arg[i], &a, e, i, result);
		else if (a.type == T_STRUCT && (a.dir & D_IN)) /* as the call has left it */
			show_struct_arg(&c->arg[i], e->pid, &a, e->arg + i, 0);
		else
			add(&c->arg[i], "%#" PRIx64, e->arg[i]);
	}
}

void show_call(struct text *t, const struct call_text *c, uint32_t call)
{
	const struct sysdesc *d = sysdesc(call);
	const char *name = sysdesc_name(call);

	if (name != NULL)
		add(t, "%s(", name);
	else
		add(t, "syscall%u(", call);
	for (unsigned i = 0; i < (d != NULL ? d->nargs : 6u); i++)
		add(t, "%s%s", i ? ", " : "", c->arg[i].s);
	add(t, ")");
}

void show_result(struct text *t, uint32_t call, int64_t result)
{
	const struct sysdesc *d = sysdesc(call);

	if (result < 0 && result >= -4095)
		add(t, "Err#%d %s", (int)-result, errno_name(-result) ?: "");
	else if (d != NULL)
		show_value(t, 0, &d->result, result);
	else
		add(t, "%#" PRIx64, (uint64_t)result);
}
