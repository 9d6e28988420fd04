/*
 * style_splash.c - small numeric kernels in the style of a well-known suite for shared memory:
 * macros for barriers, arrays of locks and flags, over mutexes and condition variables; phases
 * between barriers; flags that a thread polls, with yielding or sleep; and a queue of tasks for
 * each thread, with stealing.  Each result is compared with what one thread computes, or with what
 * it must be.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"

#define P 4 /* threads, the first of them the caller */

/* --- the macros ------------------------------------------------------------------------------- */

struct parmacs_barrier {
	pthread_mutex_t lock;
	pthread_cond_t all;
	unsigned n, cycle;
};

static struct parmacs_barrier barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#define BARRIER(b)                                                                                 \
	do {                                                                                       \
		pthread_mutex_lock(&(b).lock);                                                     \
		unsigned cycle_ = (b).cycle;                                                       \
		if (++(b).n != P) {                                                                \
			while (cycle_ == (b).cycle)                                                \
				pthread_cond_wait(&(b).all, &(b).lock);                            \
		} else {                                                                           \
			(b).cycle++;                                                               \
			(b).n = 0;                                                                 \
			pthread_cond_broadcast(&(b).all);                                          \
		}                                                                                  \
		pthread_mutex_unlock(&(b).lock);                                                   \
	} while (0)

struct parmacs_flag {
	pthread_mutex_t lock;
	pthread_cond_t set;
	bool on;
};

#define SETPAUSE(f)                                                                                \
	do {                                                                                       \
		pthread_mutex_lock(&(f).lock);                                                     \
		(f).on = true;                                                                     \
		pthread_cond_broadcast(&(f).set);                                                  \
		pthread_mutex_unlock(&(f).lock);                                                   \
	} while (0)

#define WAITPAUSE(f)                                                                               \
	do {                                                                                       \
		pthread_mutex_lock(&(f).lock);                                                     \
		while (!(f).on)                                                                    \
			pthread_cond_wait(&(f).set, &(f).lock);                                    \
		pthread_mutex_unlock(&(f).lock);                                                   \
	} while (0)

#define LOCK(l) pthread_mutex_lock(&(l))
#define UNLOCK(l) pthread_mutex_unlock(&(l))

static pthread_mutex_t alock[16], id_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id;
static void (*slave)(int me);

static void *begin(void *arg)
{
	LOCK(id_lock);
	int me = next_id++;
	UNLOCK(id_lock);
	slave(me);
	return NULL;
}

/* CREATE for P - 1 threads, the caller's own work, and WAIT_FOR_END. */
static void parallel(void (*fn)(int))
{
	pthread_t t[P - 1];

	slave = fn;
	next_id = 0;
	for (int i = 0; i < P - 1; i++)
		if (pthread_create(&t[i], NULL, begin, NULL) != 0)
			bail("pthread_create");
	begin(NULL);
	for (int i = 0; i < P - 1; i++)
		pthread_join(t[i], NULL);
}

static uint32_t drawn;

static uint32_t draw(void)
{
	drawn = drawn * 1664525 + 1013904223;
	return drawn >> 8;
}

/* --- LU: blocks have owners, a step has three phases ------------------------------------------ */

#define LU_N 32
#define LU_B 8
#define LU_BLOCKS (LU_N / LU_B)

static double lu[LU_N][LU_N], lu_before[LU_N][LU_N];

static int lu_owner(int bi, int bj)
{
	return (bi % 2) * 2 + bj % 2;
}

/* The elements of a block that step k of the whole changes, for the columns or rows of the block k. */
static void lu_diagonal(int at)
{
	for (int k = at; k < at + LU_B; k++)
		for (int i = k + 1; i < at + LU_B; i++) {
			lu[i][k] /= lu[k][k];
			for (int j = k + 1; j < at + LU_B; j++)
				lu[i][j] -= lu[i][k] * lu[k][j];
		}
}

static void lu_column(int at, int row)
{
	for (int k = at; k < at + LU_B; k++)
		for (int i = row; i < row + LU_B; i++) {
			lu[i][k] /= lu[k][k];
			for (int j = k + 1; j < at + LU_B; j++)
				lu[i][j] -= lu[i][k] * lu[k][j];
		}
}

static void lu_row(int at, int column)
{
	for (int k = at; k < at + LU_B; k++)
		for (int i = k + 1; i < at + LU_B; i++)
			for (int j = column; j < column + LU_B; j++)
				lu[i][j] -= lu[i][k] * lu[k][j];
}

static void lu_inner(int at, int row, int column)
{
	for (int i = row; i < row + LU_B; i++)
		for (int j = column; j < column + LU_B; j++)
			for (int k = at; k < at + LU_B; k++)
				lu[i][j] -= lu[i][k] * lu[k][j];
}

static void lu_slave(int me)
{
	for (int k = 0; k < LU_BLOCKS; k++) {
		int at = k * LU_B;
		if (lu_owner(k, k) == me)
			lu_diagonal(at);
		BARRIER(barrier);
		for (int b = k + 1; b < LU_BLOCKS; b++) {
			if (lu_owner(b, k) == me)
				lu_column(at, b * LU_B);
			if (lu_owner(k, b) == me)
				lu_row(at, b * LU_B);
		}
		BARRIER(barrier);
		for (int i = k + 1; i < LU_BLOCKS; i++)
			for (int j = k + 1; j < LU_BLOCKS; j++)
				if (lu_owner(i, j) == me)
					lu_inner(at, i * LU_B, j * LU_B);
		BARRIER(barrier);
	}
}

static void lu_test(void)
{
	double worst = 0;

	drawn = 1;
	for (int i = 0; i < LU_N; i++)
		for (int j = 0; j < LU_N; j++)
			lu[i][j] = lu_before[i][j] = draw() % 1000 / 1000.0 + (i == j ? LU_N : 0);
	parallel(lu_slave);
	for (int i = 0; i < LU_N; i++)
		for (int j = 0; j < LU_N; j++) {
			double sum = 0;
			for (int k = 0; k <= i && k <= j; k++)
				sum += (k == i ? 1 : lu[i][k]) * lu[k][j];
			worst = fmax(worst, fabs(sum - lu_before[i][j]));
		}
	ok("LU: the product is the matrix", worst < 1e-9);
}

/* --- FFT: a barrier a stage ------------------------------------------------------------------- */

#define FFT_BITS 8
#define FFT_N (1 << FFT_BITS)

static double fft_re[FFT_N], fft_im[FFT_N];
static int fft_sign;

static unsigned fft_reverse(unsigned i)
{
	unsigned r = 0;

	for (int b = 0; b < FFT_BITS; b++)
		r |= (i >> b & 1) << (FFT_BITS - 1 - b);
	return r;
}

static void fft_swap(unsigned i, unsigned j)
{
	double re = fft_re[i], im = fft_im[i];

	fft_re[i] = fft_re[j];
	fft_im[i] = fft_im[j];
	fft_re[j] = re;
	fft_im[j] = im;
}

static void fft_butterfly(unsigned i, unsigned half)
{
	double angle = fft_sign * M_PI * (i % half) / half, c = cos(angle), s = sin(angle);
	unsigned a = i / half * 2 * half + i % half, b = a + half;
	double re = c * fft_re[b] - s * fft_im[b], im = c * fft_im[b] + s * fft_re[b];

	fft_re[b] = fft_re[a] - re;
	fft_im[b] = fft_im[a] - im;
	fft_re[a] += re;
	fft_im[a] += im;
}

static void fft_slave(int me)
{
	for (unsigned i = me; i < FFT_N; i += P)
		if (i < fft_reverse(i))
			fft_swap(i, fft_reverse(i));
	BARRIER(barrier);
	for (unsigned half = 1; half < FFT_N; half *= 2) {
		for (int i = me * FFT_N / 2 / P; i < (me + 1) * FFT_N / 2 / P; i++)
			fft_butterfly(i, half);
		BARRIER(barrier);
	}
}

static void fft_test(void)
{
	double before[FFT_N], worst = 0;
	int wrong = 0;

	for (int i = 0; i < FFT_N; i++) {
		before[i] = fft_re[i] =
			3 * cos(2 * M_PI * 5 * i / FFT_N) + sin(2 * M_PI * 20 * i / FFT_N);
		fft_im[i] = 0;
	}
	fft_sign = -1;
	parallel(fft_slave);
	for (int i = 0; i < FFT_N; i++) {
		double size = hypot(fft_re[i], fft_im[i]), want = 0;
		if (i == 5 || i == FFT_N - 5)
			want = 1.5 * FFT_N;
		if (i == 20 || i == FFT_N - 20)
			want = 0.5 * FFT_N;
		wrong += fabs(size - want) > 1e-9;
	}
	is("FFT: the two tones, and nothing else", wrong, 0);
	fft_sign = 1;
	parallel(fft_slave);
	for (int i = 0; i < FFT_N; i++)
		worst = fmax(worst, fabs(fft_re[i] / FFT_N - before[i]));
	ok("... and back", worst < 1e-12);
}

/* --- radix sort: a sum of prefixes handed from thread to thread by flags ---------------------- */

#define RADIX_N 2000
#define RADIX 16
#define RADIX_PASSES 5

static uint32_t keys[2][RADIX_N];
static int density[P][RADIX], rank[P][RADIX], radix_total[RADIX];
static struct parmacs_flag prefix[RADIX_PASSES][P];

static void radix_pass(int me, int pass, int begin, int end)
{
	uint32_t *from = keys[pass % 2], *to = keys[1 - pass % 2];
	int shift = pass * 4;

	memset(density[me], 0, sizeof(density[me]));
	for (int i = begin; i < end; i++)
		density[me][from[i] >> shift & (RADIX - 1)]++;
	if (me > 0)
		WAITPAUSE(prefix[pass][me - 1]);
	for (int d = 0; d < RADIX; d++)
		rank[me][d] = me > 0 ? rank[me - 1][d] + density[me - 1][d] : 0;
	SETPAUSE(prefix[pass][me]);
	if (me == P - 1)
		for (int d = 0, sum = 0; d < RADIX; d++) {
			radix_total[d] = sum;
			sum += rank[me][d] + density[me][d];
		}
	BARRIER(barrier);
	for (int i = begin; i < end; i++) {
		int d = from[i] >> shift & (RADIX - 1);
		to[radix_total[d] + rank[me][d]++] = from[i];
	}
	BARRIER(barrier);
}

static void radix_slave(int me)
{
	for (int pass = 0; pass < RADIX_PASSES; pass++)
		radix_pass(me, pass, me * RADIX_N / P, (me + 1) * RADIX_N / P);
}

static void radix_test(void)
{
	uint64_t before = 0, after = 0;
	uint32_t *sorted = keys[RADIX_PASSES % 2];
	int wrong = 0;

	for (int p = 0; p < RADIX_PASSES; p++)
		for (int i = 0; i < P; i++) {
			pthread_mutex_init(&prefix[p][i].lock, NULL);
			pthread_cond_init(&prefix[p][i].set, NULL);
		}
	for (int i = 0; i < RADIX_N; i++) {
		keys[0][i] = draw() & 0xFFFFF;
		before += (uint64_t)keys[0][i] * keys[0][i];
	}
	parallel(radix_slave);
	for (int i = 0; i < RADIX_N; i++) {
		after += (uint64_t)sorted[i] * sorted[i];
		wrong += i > 0 && sorted[i - 1] > sorted[i];
	}
	is("radix sort: in order", wrong, 0);
	ok("... the same keys", before == after);
}

/* --- a grid: red and black points, a residual under a lock ------------------------------------ */

#define GRID 34
#define SWEEPS 40

static double grid[GRID][GRID], residual[SWEEPS];

static double grid_relax(double g[GRID][GRID], int first, int last, int colour)
{
	double change = 0;

	for (int i = first; i < last; i++)
		for (int j = 1 + (i + colour) % 2; j < GRID - 1; j += 2) {
			double was = g[i][j];
			g[i][j] = (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]) / 4;
			change = fmax(change, fabs(g[i][j] - was));
		}
	return change;
}

static void grid_fill(double g[GRID][GRID])
{
	memset(g, 0, GRID * sizeof(g[0]));
	for (int i = 0; i < GRID; i++)
		g[0][i] = g[i][0] = 100;
}

static void grid_slave(int me)
{
	int rows = (GRID - 2) / P, first = 1 + me * rows;

	for (int s = 0; s < SWEEPS; s++) {
		double change = 0;
		for (int colour = 0; colour < 2; colour++) {
			change = fmax(change, grid_relax(grid, first, first + rows, colour));
			BARRIER(barrier);
		}
		LOCK(alock[s % 16]);
		residual[s] = fmax(residual[s], change);
		UNLOCK(alock[s % 16]);
	}
}

static void grid_test(void)
{
	static double alone[GRID][GRID];
	int wrong = 0;

	grid_fill(grid);
	grid_fill(alone);
	parallel(grid_slave);
	for (int s = 0; s < SWEEPS; s++) {
		double change = grid_relax(alone, 1, GRID - 1, 0);
		change = fmax(change, grid_relax(alone, 1, GRID - 1, 1));
		wrong += change != residual[s];
	}
	ok("a grid: bit for bit what one thread computes", memcmp(grid, alone, sizeof(grid)) == 0);
	is("... and the residual of each sweep", wrong, 0);
}

/* --- a wavefront: each row follows the one above, whose flag it polls ------------------------- */

#define WAVE 48

static uint32_t wave[WAVE][WAVE];
static atomic_int wave_at[WAVE];

static void wave_poll(int row, int column)
{
	for (int turn = 0; atomic_load_explicit(&wave_at[row], memory_order_acquire) <= column;
	     turn++)
		if (turn % 8 == 7)
			usleep(10);
		else
			sched_yield();
}

static void wave_slave(int me)
{
	for (int i = me; i < WAVE; i += P)
		for (int j = 0; j < WAVE; j++) {
			if (i > 0)
				wave_poll(i - 1, j);
			uint32_t up = i > 0 ? wave[i - 1][j] : 1, left = j > 0 ? wave[i][j - 1] : 1;
			wave[i][j] = up * 31 + left * 17 + (i ^ j);
			atomic_store_explicit(&wave_at[i], j + 1, memory_order_release);
		}
}

static void wave_test(void)
{
	int wrong = 0;

	parallel(wave_slave);
	for (int i = 0; i < WAVE; i++)
		for (int j = 0; j < WAVE; j++) {
			uint32_t up = i > 0 ? wave[i - 1][j] : 1, left = j > 0 ? wave[i][j - 1] : 1;
			wrong += wave[i][j] != up * 31 + left * 17 + (i ^ j);
		}
	is("a wavefront, by flags that are polled", wrong, 0);
	is("... to its end", atomic_load(&wave_at[WAVE - 1]), WAVE);
}

/* --- tasks: a queue for each thread, with stealing -------------------------------------------- */

#define TASKS 4096
#define LEAF 8 /* numbers that are not split any more */

struct task {
	struct task *next;
	int from, to;
};

static struct task_queue {
	pthread_mutex_t lock;
	struct task *top;
} task_queue[P];
static struct task task_memory[TASKS];
static atomic_int task_used, task_left, numbers_done[TASKS];
static atomic_long task_sum;
static int task_of[P];

static void task_add(int q, int from, int to)
{
	int n = atomic_fetch_add(&task_used, 1);

	if (n >= TASKS)
		bail("more tasks than there can be");
	task_memory[n].from = from;
	task_memory[n].to = to;
	atomic_fetch_add(&task_left, 1);
	LOCK(task_queue[q].lock);
	task_memory[n].next = task_queue[q].top;
	task_queue[q].top = &task_memory[n];
	UNLOCK(task_queue[q].lock);
}

static struct task *task_take(int q)
{
	LOCK(task_queue[q].lock);
	struct task *t = task_queue[q].top;
	if (t != NULL)
		task_queue[q].top = t->next;
	UNLOCK(task_queue[q].lock);
	return t;
}

static void task_do(int me, const struct task *t)
{
	long sum = 0;
	int middle = (t->from + t->to) / 2;

	task_of[me]++;
	if (t->to - t->from > LEAF) {
		task_add(me, t->from, middle);
		task_add(me, middle, t->to);
		usleep(5);
		return;
	}
	for (int i = t->from; i < t->to; i++) {
		sum += (long)i * i;
		atomic_fetch_add(&numbers_done[i], 1);
	}
	atomic_fetch_add(&task_sum, sum);
}

/* Its own first, then others'; when there are none, but not all is done, it polls. */
static void task_slave(int me)
{
	for (int turn = 0; atomic_load(&task_left) > 0; turn++) {
		struct task *t = NULL;
		for (int i = 0; i < P && t == NULL; i++)
			t = task_take((me + i) % P);
		if (t != NULL) {
			task_do(me, t);
			atomic_fetch_sub(&task_left, 1);
		} else if (turn % 2 == 0) {
			sched_yield();
		} else {
			usleep(20);
		}
	}
}

static void task_test(void)
{
	int wrong = 0, all = 0, workers = 0;

	for (int i = 0; i < P; i++)
		pthread_mutex_init(&task_queue[i].lock, NULL);
	task_add(0, 0, TASKS);
	parallel(task_slave);
	for (int i = 0; i < TASKS; i++)
		wrong += atomic_load(&numbers_done[i]) != 1;
	for (int i = 0; i < P; i++) {
		all += task_of[i];
		workers += task_of[i] > 0;
	}
	is("tasks: all numbers, once", wrong, 0);
	is("... and their sum", atomic_load(&task_sum),
	   (TASKS - 1L) * TASKS * (2L * TASKS - 1) / 6);
	is("... each task once", all, atomic_load(&task_used));
	is("... and all threads have stolen some from the first", workers, P);
}

int main(void)
{
	for (int i = 0; i < 16; i++)
		pthread_mutex_init(&alock[i], NULL);
	lu_test();
	fft_test();
	radix_test();
	grid_test();
	wave_test();
	task_test();
	return tap_done();
}
