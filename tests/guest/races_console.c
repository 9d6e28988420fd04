/*
 * races_console.c RACE [ROUNDS] - the races of LWPs that use the console while its modes or its
 * foreground group change (race.h).  There is no input.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "race.h"

static int console;

static void console_begin(void)
{
	console = open("/dev/console", O_RDWR);
	if (console < 0)
		bail("no console");
}

/* --- a reader whose group comes to be in the background --------------------------------------- */

static volatile struct {
	unsigned ready, go; /* rounds */
} * shared;
static pid_t reader;

static void foreground_begin(void)
{
	console_begin();
	signal(SIGTTOU, SIG_IGN);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
}

static void on_sigttin(int sig)
{
}

/* In the foreground it would read for ever. */
static void read_until_told(unsigned round, unsigned late)
{
	const struct sigaction sa = {.sa_handler = on_sigttin};
	char c;

	setpgid(0, 0);
	tcsetpgrp(console, getpid());
	sigaction(SIGTTIN, &sa, NULL);
	shared->ready = round;
	while (shared->go != round)
		;
	turns(late);
	_exit(!(read(console, &c, 1) < 0 && errno == EINTR));
}

static void foreground_prepare(unsigned round)
{
	unsigned late = draw(60);

	reader = fork();
	if (reader == 0)
		read_until_told(round, late);
	UNTIL(shared->ready == round);
}

static void take_foreground(unsigned round)
{
	unsigned late = draw(60);
	int status = 1;
	pid_t ended;

	shared->go = round;
	turns(late);
	MUST(tcsetpgrp(console, getpgrp()) == 0);
	UNTIL((ended = waitpid(reader, &status, WNOHANG)) != 0);
	MUST(ended == reader && status == 0);
}

/* --- a reader that sleeps for a byte, when new modes let it return without -------------------- */

static void set_min(unsigned min)
{
	struct termios t;

	tcgetattr(console, &t);
	t.c_lflag &= ~ICANON;
	t.c_cc[VMIN] = min;
	MUST(tcsetattr(console, TCSANOW, &t) == 0);
}

static void modes_prepare(unsigned round)
{
	set_min(1);
}

static void modes_read(unsigned round)
{
	char c;

	MUST(read(console, &c, 1) == 0);
}

static void modes_set(unsigned round)
{
	set_min(0);
}

/* --- a writer, and another translation of the ends of its lines ------------------------------- */

#define LINES 100

/* One check passed, and lines that show how they were translated.  For tests/test_races_kernel.py. */
static void write_lines(unsigned round)
{
	char text[3 + 3 * LINES] = "ok ";

	for (unsigned i = 3; i < sizeof(text); i += 3)
		memcpy(text + i, "-\r\n", 3);
	MUST(write(console, text, sizeof(text)) == sizeof(text));
	__atomic_fetch_add(&tap_count, 1, __ATOMIC_RELAXED);
}

static void translate(unsigned round)
{
	struct termios t;

	tcgetattr(console, &t);
	t.c_oflag ^= OPOST;
	MUST(tcsetattr(console, TCSANOW, &t) == 0);
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"foreground", 0, foreground_begin, foreground_prepare, {take_foreground}, NULL, 0},
	{"modes", 300, console_begin, modes_prepare, {modes_set, modes_read}, NULL, 0},
	{"write", 1000, console_begin, NULL, {translate, write_lines}, NULL, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
