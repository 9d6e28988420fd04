/*
 * fast.c - fast timing: guest time is host time.
 *
 * Time is the time stamp counter, which all CPUs share, scaled by a rate that is measured once
 * against the PIT.  Alarms are each CPU's LAPIC timer.  An idle CPU executes HLT.  The records of
 * the time page are written before their CPU uses them, and do not change after that.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include "../cpu/machine.h"

struct timepage *timepage;
paddr_t timepage_pa;

static struct timerec record;        /* every CPU gets a copy */
static uint64_t boot_tsc, boot_mult; /* start and rate of timing_boot_time */

/* --- calibration ----------------------------------------------------------- */

#define PIT_HZ 1193182
#define PIT_CHANNEL2 0x42
#define PIT_COMMAND 0x43
#define PIT_GATE 0x61
#define PIT_OUTPUT 0x20              /* at the gate's port: the counter has passed 0 */
#define CALIBRATE_PIT (PIT_HZ / 100) /* 10 ms */
#define TRIES 20

struct sample { /* three clocks, as nearly as possible at one moment */
	uint64_t tsc;
	uint32_t lapic, pit; /* both count down */
};

static uint16_t pit_read(void)
{
	uint8_t low = inb(PIT_CHANNEL2);
	return low | inb(PIT_CHANNEL2) << 8;
}

/*
 * The host may take the CPU away between two readings.  So of several samples this returns the
 * sample that took the least time.
 */
static struct sample take_sample(void)
{
	struct sample best = {0};
	uint64_t shortest = UINT64_MAX;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t begin = rdtsc();
		uint32_t lapic = lapic_timer_left();
		outb(PIT_COMMAND, 0x80); /* latch channel 2 */
		uint64_t end = rdtsc();
		uint32_t pit = pit_read();
		if (end - begin < shortest) {
			shortest = end - begin;
			best = (struct sample){begin, lapic, pit};
		}
	}
	return best;
}

/*
 * Takes two samples at least CALIBRATE_PIT apart.  False: the counter passed 0 in between (its
 * output went high), because the host took the CPU away for more than the 55 ms that the counter
 * lasts.  Then the difference of the samples has no meaning.
 */
static bool sample_twice(struct sample *a, struct sample *b)
{
	outb(PIT_COMMAND, 0xb0); /* channel 2: count down once */
	outb(PIT_CHANNEL2, 0xff);
	outb(PIT_CHANNEL2, 0xff);
	lapic_timer_start();
	*a = take_sample();
	uint64_t limit = rdtsc() + 10000000000ull;
	do
		*b = take_sample();
	while (a->pit - b->pit < CALIBRATE_PIT && a->pit >= b->pit && rdtsc() < limit);
	return (inb(PIT_GATE) & PIT_OUTPUT) == 0;
}

static void clocks_calibrate(uint64_t *tsc_hz, uint64_t *lapic_hz)
{
	struct sample a, b;
	unsigned tries = 0;

	outb(PIT_GATE, (inb(PIT_GATE) & ~0x02) | 0x01); /* speaker off, counter on */
	while (!sample_twice(&a, &b) && ++tries < TRIES)
		;
	lapic_timer(0);
	uint32_t ticks = a.pit - b.pit;
	if (tries == TRIES || a.pit <= b.pit || ticks < CALIBRATE_PIT)
		panic("no PIT to measure time against");
	*tsc_hz = (b.tsc - a.tsc) * PIT_HZ / ticks;
	*lapic_hz = (uint64_t)(a.lapic - b.lapic) * PIT_HZ / ticks;
	/* A clock below 1 MHz is not credible; above 4 GHz the LAPIC's scale overflows. */
	if (*tsc_hz < 1000000 || *lapic_hz < 1000000 || *lapic_hz >> 32 != 0)
		panic("clocks that make no sense: TSC %lu Hz, LAPIC timer %lu Hz", *tsc_hz,
		      *lapic_hz);
}

/* --- the time of day --------------------------------------------------------- */

static uint8_t cmos_read(uint8_t reg)
{
	outb(0x70, reg);
	return inb(0x71);
}

struct rtc {
	uint8_t sec, min, hour, day, month, year;
};

static struct rtc rtc_read_once(void)
{
	while (cmos_read(0x0a) & 0x80) /* the clock updates itself: at most 2 ms */
		cpu_pause();
	return (struct rtc){cmos_read(0), cmos_read(2), cmos_read(4),
			    cmos_read(7), cmos_read(8), cmos_read(9)};
}

/* Seconds since 1970-01-01 by the real-time clock, which keeps UTC. */
static uint64_t rtc_seconds(void)
{
	struct rtc t = rtc_read_once(), again;
	while (again = rtc_read_once(), memcmp(&t, &again, sizeof(t)) != 0)
		t = again;

	uint8_t mode = cmos_read(0x0b);
	bool pm = !(mode & 0x02) && t.hour & 0x80;
	t.hour &= 0x7f;
	if (!(mode & 0x04)) { /* binary-coded decimal */
		uint8_t *field[] = {&t.sec, &t.min, &t.hour, &t.day, &t.month, &t.year};
		for (unsigned i = 0; i < ARRAY_LEN(field); i++)
			*field[i] = (*field[i] >> 4) * 10 + (*field[i] & 15);
	}
	if (!(mode & 0x02)) /* 12-hour clock */
		t.hour = t.hour % 12 + (pm ? 12 : 0);

	/* Counts days as if the year began in March, so that the leap day comes last. */
	unsigned year = 2000 + t.year, month = t.month;
	if (month < 3) {
		year--;
		month += 12;
	}
	uint64_t days = 365ull * year + year / 4 - year / 100 + year / 400 +
			(153 * (month - 3) + 2) / 5 + t.day - 1 - 719468;
	return ((days * 24 + t.hour) * 60 + t.min) * 60 + t.sec;
}

/* --- the operations -------------------------------------------------------------- */

static void fast_set_timer(hrtime_t when)
{
	if (when == HRTIME_NEVER) {
		lapic_timer(0);
		return;
	}
	hrtime_t now = time_now();
	lapic_timer(when > now ? when - now : 1);
}

static void fast_idle(void)
{
	/* STI takes effect after the next instruction, so an interrupt that is already pending
	 * ends the HLT. */
	__asm__ volatile("sti; hlt; cli" ::: "memory");
}

static void fast_end_idle(struct cpu *c)
{
	lapic_ipi(c, VEC_RESCHED);
}

static void fast_start(void)
{
}

static void fast_spin(struct spinlock *l)
{
	cpu_pause();
}

static const struct timing fast = {
	.name = "fast",
	.set_timer = fast_set_timer,
	.idle = fast_idle,
	.ipi = lapic_ipi,
	.end_idle = fast_end_idle,
	.start = fast_start,
	.start_cpu = fast_start,
	.spin = fast_spin,
};
const struct timing *timing = &fast;

void timing_choose(void)
{
	char name[16];

	if (!boot_option("timing", name, sizeof(name)) || strcmp(name, "fast") == 0)
		return;
	if (strcmp(name, "exact") != 0)
		panic("timing=%s: there are fast and exact", name);
	lockstep_init();
}

hrtime_t timing_boot_time(void)
{
	return tsc_ns(rdtsc() - boot_tsc, boot_mult);
}

uint64_t time_real(void)
{
	return __atomic_load_n(&timepage->boot_realtime, __ATOMIC_RELAXED) + time_now();
}

void timing_init_early(void)
{
	uint64_t tsc_hz, lapic_hz;
	if (timing == &fast)
		clocks_calibrate(&tsc_hz, &lapic_hz);
	else
		tsc_hz = lapic_hz = 1000000000; /* every clock counts instructions */
	lapic_timer_set_hz(lapic_hz);

	timepage_pa = page_alloc(PG_ZERO);
	if (timepage_pa == 0)
		panic("no memory for the time page");
	timepage = phys_to_virt(timepage_pa);
	record.ws = boot_tsc = rdtsc();
	record.mult = boot_mult = (1000000000ull << 32) / tsc_hz;
	if (timing != &fast) {
		record.vbase = record.begin = LOCKSTEP_BEGIN;
		record.mult = 0;
	}
	timepage->exact = timing != &fast;
	timepage->boot_realtime = rtc_seconds() * 1000000000ull;
	printk_info("weft: TSC %lu.%03lu MHz, LAPIC timer %lu.%03lu MHz\n", tsc_hz / 1000000,
		    tsc_hz / 1000 % 1000, lapic_hz / 1000000, lapic_hz / 1000 % 1000);
}

void timing_init_cpu(void)
{
	struct cpu *c = this_cpu();
	timepage->cpu[c->id] = record;
	c->timerec = &timepage->cpu[c->id];
}
