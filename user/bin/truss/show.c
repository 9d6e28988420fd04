/*
 * show.c - calls with their arguments and results, in words: by the table of
 * weft/sysdesc.h and what lies in the memory of the process that makes the call.
 */
#include <ctype.h>
#include <inttypes.h>
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
#define S(name) [WEFT_SIG##name] = #name
	static const char *const names[] = {
		S(HUP), S(INT),  S(QUIT), S(ILL),  S(TRAP), S(ABRT), S(FPE),  S(KILL),
		S(BUS), S(SEGV), S(SYS),  S(PIPE), S(ALRM), S(TERM), S(CHLD),
	};
#undef S
	if (sig > 0 && (size_t)sig < sizeof(names) / sizeof(names[0]) && names[sig])
		add(t, "SIG%s", names[sig]);
	else
		add(t, "%d", sig);
}

static void show_set(struct text *t, uint64_t set)
{
	/* More than half of them: the others. */
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

static void show_struct(struct text *t, int pid, const struct structdesc *s, uint64_t at)
{
	char bytes[1024];

	if (at == 0 || s->size > sizeof(bytes) || !fetch(pid, at, bytes, s->size)) {
		add(t, at ? "%#" PRIx64 : "NULL", at);
		return;
	}
	add(t, "{");
	for (unsigned i = 0; i < s->nfields; i++) {
		const struct fielddesc *f = &s->field[i];
		uint64_t v = 0;
		add(t, "%s%s=", i ? ", " : "", f->name);
		if (f->desc.type == T_CHARS) {
			show_bytes(t, bytes + f->offset, strnlen(bytes + f->offset, f->size), 0);
			continue;
		}
		memcpy(&v, bytes + f->offset, f->size < 8 ? f->size : 8);
		show_value(t, pid, &f->desc, v);
	}
	add(t, "}");
}

/* A value that says all by itself, or points at what the call reads. */
static void show_value(struct text *t, int pid, const struct argdesc *d, uint64_t v)
{
	uint64_t set;

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
	case T_SIG:
		show_signal(t, v);
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

/* --- calls ------------------------------------------------------------------------------------- */

/* Is what the argument points at written by the call? */
static bool is_out(const struct argdesc *d)
{
	return d->type == T_OUT || d->type == T_INT_OUT || d->type == T_PAIR_OUT ||
	       d->type == T_SET_OUT || (d->type == T_STRUCT && (d->dir & D_OUT));
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
		} else if (i >= d->nargs || is_out(&d->arg[i])) {
			continue;
		} else if (d->arg[i].type == T_IN) {
			show_buffer(t, e->pid, e->arg[i], e->arg[i + 1]);
		} else if (d->arg[i].type == T_LWPS) {
			add(t, "[");
			for (unsigned k = 0; k < ITEMS && k < e->arg[i + 1] &&
					     fetch(e->pid, e->arg[i] + 4 * k, &id, 4);
			     k++)
				add(t, k ? ", %u" : "%u", id);
			add(t, e->arg[i + 1] > ITEMS ? ", ...]" : "]");
		} else {
			show_value(t, e->pid, &d->arg[i], e->arg[i]);
		}
	}
}

void show_return(struct call_text *c, const struct trace_event *e, int64_t result)
{
	const struct sysdesc *d = sysdesc(e->call);
	int v[2];

	for (unsigned i = 0; d != NULL && i < d->nargs; i++) {
		struct text *t = &c->arg[i];
		uint64_t at = e->arg[i];
		if (!is_out(&d->arg[i]))
			continue;
		if (result < 0 || at == 0)
			add(t, at ? "%#" PRIx64 : "NULL", at);
		else if (d->arg[i].type == T_OUT)
			show_buffer(t, e->pid, at, result);
		else if (d->arg[i].type == T_INT_OUT && fetch(e->pid, at, v, sizeof(v[0])))
			add(t, "[%d]", v[0]);
		else if (d->arg[i].type == T_PAIR_OUT && fetch(e->pid, at, v, sizeof(v)))
			add(t, "[%d, %d]", v[0], v[1]);
		else
			show_value(t, e->pid, &d->arg[i], at);
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
