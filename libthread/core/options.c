/*
 * options.c - LIBTHREAD chooses the model, LIBTHREAD_OPTIONS sets its mechanisms.
 *
 * LIBTHREAD_OPTIONS is a list NAME=VALUE,NAME=VALUE,...  An item that is not known, or that the
 * model does not have, ends the process with status 2.  A message on standard error names the item
 * and lists what is known.  An experiment that silently measured something else would be worse than
 * none.
 */
#include <signal.h>
#include <string.h>
#include "tcb.h"
#include "model.h"

extern const struct model __model_lwp, __model_mxn, __model_n1, __model_sa;

static const struct model *const models[] = {&__model_lwp, &__model_mxn, &__model_n1, &__model_sa};
#define NMODELS (sizeof(models) / sizeof(models[0]))

#define MAX_CONCURRENCY 1024
#define MAX_AGING 1000000 /* seconds */
#define MAX_FD 65535
#define MAX_SAMPLE 1000 /* milliseconds */

const struct model *__model;
struct model_ops __ops[1];
struct options __options;

static const struct option {
	const char *name;
	const char *values; /* between bars; value i sets option i */
	unsigned bit;
} known[] = {
	{"spin", "adaptive|always|never", OPT_SPIN},
	{"queue", "lifo|fifo", OPT_QUEUE},
	{"unlock", "plain|adaptive", OPT_UNLOCK},
	{"schedctl", "off|on", OPT_SCHEDCTL},
	{"concurrency", "N", OPT_CONCURRENCY},
	{"waiting", "upcall|signal|none|early", OPT_WAITING},
	{"aging", "SECONDS", OPT_AGING},
	{"idle", "sleep|spin|leave", OPT_IDLE},
	{"slices", "off|on", OPT_SLICES},
	{"preempted", "stay|handover", OPT_PREEMPTED},
	{"unblocked", "stay|leave", OPT_UNBLOCKED},
	{"runqueue", "common|own", OPT_RUNQUEUE},
	{"sleepq", "common|own", OPT_SLEEPQ},
	{"lone", "off|on", OPT_LONE},
	{"signals", "pool|aslwp", OPT_SIGNALS},
	{"sleep", "park|kernel", OPT_SLEEP},
	{"unpark", "combined|separate", OPT_UNPARK},
	{"malloc", "newlib|mt", OPT_MALLOC},
	{"lockstat", "off|exit|SIGNAL", OPT_LOCKSTAT},
	{"lockstat-fd", "FD", OPT_LOCKSTAT_FD},
	{"sample", "MS", OPT_SAMPLE},
};
#define NKNOWN (sizeof(known) / sizeof(known[0]))

/* stdio is not set up yet. */
static void options_say(const char *s, size_t n)
{
	__sys_write(2, s, n);
}
#define SAY(s) options_say(s, strlen(s))

static void __attribute__((noreturn)) options_refuse(void)
{
	__sys_exit(2);
}

static void __attribute__((noreturn)) bad_model(const char *name)
{
	SAY("libthread: unknown model \"");
	SAY(name);
	SAY("\"; LIBTHREAD is one of:");
	for (unsigned i = 0; i < NMODELS; i++) {
		SAY(" ");
		SAY(models[i]->name);
	}
	SAY("\n");
	options_refuse();
}

/* item, of n bytes, is wrong; why ends the sentence. */
static void __attribute__((noreturn)) bad_option(const char *item, size_t n, const char *why)
{
	SAY("libthread: option \"");
	options_say(item, n);
	SAY("\" ");
	SAY(why);
	SAY("; LIBTHREAD_OPTIONS of model ");
	SAY(__model->name);
	SAY(":");
	for (unsigned i = 0; i < NKNOWN; i++) {
		if (!((__model->options | OPT_ALWAYS) & known[i].bit))
			continue;
		SAY(" ");
		SAY(known[i].name);
		SAY("=");
		SAY(known[i].values);
	}
	SAY("\n");
	options_refuse();
}

/* The index of value among the values between bars, or -1. */
static int value_index(const char *values, const char *value, size_t n)
{
	for (int i = 0;; i++) {
		size_t len = strcspn(values, "|");

		if (len == n && memcmp(values, value, n) == 0)
			return i;
		if (values[len] == '\0')
			return -1;
		values += len + 1;
	}
}

/* 1 to max, or -1. */
static int option_number(const char *s, size_t n, int max)
{
	int value = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || value > max)
			return -1;
		value = value * 10 + s[i] - '0';
	}
	return value >= 1 && value <= max ? value : -1;
}

/* off, exit, or the number of a signal; or -1. */
static int option_when(const char *s, size_t n)
{
	static const int named[] = {LOCKSTAT_OFF, LOCKSTAT_EXIT};
	int i = value_index("off|exit", s, n);

	return i >= 0 ? named[i] : option_number(s, n, NSIG - 1);
}

static void set_option(const char *item, size_t n)
{
	const char *value = memchr(item, '=', n);
	const struct option *o;
	size_t name_len, value_len;
	int v;

	if (value == NULL)
		bad_option(item, n, "is not NAME=VALUE");
	name_len = value++ - item;
	value_len = n - name_len - 1;
	for (o = known; o < known + NKNOWN; o++)
		if (strlen(o->name) == name_len && memcmp(o->name, item, name_len) == 0)
			break;
	if (o == known + NKNOWN)
		bad_option(item, n, "is unknown");
	if (!((__model->options | OPT_ALWAYS) & o->bit))
		bad_option(item, n, "makes no sense in this model");
	if (o->bit == OPT_CONCURRENCY)
		v = option_number(value, value_len, MAX_CONCURRENCY);
	else if (o->bit == OPT_AGING)
		v = option_number(value, value_len, MAX_AGING);
	else if (o->bit == OPT_LOCKSTAT)
		v = option_when(value, value_len);
	else if (o->bit == OPT_LOCKSTAT_FD)
		v = option_number(value, value_len, MAX_FD);
	else if (o->bit == OPT_SAMPLE)
		v = option_number(value, value_len, MAX_SAMPLE);
	else
		v = value_index(o->values, value, value_len);
	if (v < 0)
		bad_option(item, n, "has an unknown value");

	switch (o->bit) {
	case OPT_SPIN:
		__options.spin = v;
		break;
	case OPT_QUEUE:
		__options.fifo = v;
		break;
	case OPT_UNLOCK:
		__options.adaptive_unlock = v;
		break;
	case OPT_SCHEDCTL:
		__options.schedctl = v;
		break;
	case OPT_MALLOC:
		__options.mt_malloc = v;
		break;
	case OPT_LOCKSTAT:
		__options.lockstat = v;
		break;
	case OPT_LOCKSTAT_FD:
		__options.lockstat_fd = v;
		break;
	case OPT_SAMPLE:
		__options.sample = v;
		break;
	case OPT_CONCURRENCY:
		__options.concurrency = v;
		break;
	case OPT_WAITING:
		__options.waiting = v;
		break;
	case OPT_AGING:
		__options.aging = v;
		break;
	case OPT_IDLE:
		__options.idle_spin = v == 1;
		__options.idle_leave = v == 2;
		break;
	case OPT_SLICES:
		__options.slices = v;
		break;
	case OPT_PREEMPTED:
		__options.hand_over = v;
		break;
	case OPT_UNBLOCKED:
		__options.surplus_leaves = v;
		break;
	case OPT_RUNQUEUE:
		__options.own_queues = v;
		break;
	case OPT_SLEEPQ:
		__options.own_sleepqs = v;
		break;
	case OPT_LONE:
		__options.lone = v;
		break;
	case OPT_SIGNALS:
		__options.aslwp = v;
		break;
	case OPT_SLEEP:
		__options.kernel_sleep = v;
		break;
	case OPT_UNPARK:
		__options.separate_unpark = v;
		break;
	}
}

static const struct model *find_model(const char *name)
{
	for (unsigned i = 0; i < NMODELS; i++)
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
	return NULL;
}

static const char *option_variable(char **envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp != NULL; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

void __choose_model(char **envp)
{
	const char *name = option_variable(envp, "LIBTHREAD");
	const char *list = option_variable(envp, "LIBTHREAD_OPTIONS");

	if (name == NULL || *name == '\0')
		name = "lwp";
	__model = find_model(name);
	if (__model == NULL)
		bad_model(name);
	*__ops = *(__model->like != NULL ? find_model(__model->like) : __model)->ops;
	__options = __model->defaults;
	__options.lockstat_fd = 2;
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");

		set_option(list, n);
		list += n + (list[n] == ',');
	}
	/* A thread that releases a mutex into the kernel's queue needs one call for it. */
	if (__options.kernel_sleep)
		__options.adaptive_unlock = false;
	__options.sleep_special = __options.kernel_sleep;
	__options.sema_special = __options.kernel_sleep ? SEMA_KERNEL : 0;
	__options.unlock_special = __options.kernel_sleep || __options.adaptive_unlock;
	__options.may_spin =
		__options.spin == SPIN_ALWAYS || (__options.spin == SPIN_ADAPTIVE && __ncpu > 1);
}
