/* help.c - what there is, for someone who has just booted. */
#include <stdio.h>

static const char text[] =
	"Commands\n"
	"  ls cat echo pwd env sleep uname true false   as elsewhere\n"
	"  ps                processes\n"
	"  lwps [PID...]     LWPs: state, priority, CPU, what they wait for\n"
	"  psrinfo [-v]      CPUs, what they run, their counters\n"
	"  ptime CMD...      runs a command and prints real, user and system time\n"
	"  pp [-v] ...       ping-pong, the benchmark\n"
	"  reboot [STATUS]   halts the machine (so does exit)\n"
	"  ls /bin           shows all commands\n"
	"\n"
	"Choose the thread model of a command by its environment:\n"
	"  LIBTHREAD=lwp|mxn|n1   LIBTHREAD_OPTIONS=spin=never,queue=fifo,...\n"
	"  LIBTHREAD=mxn ptime pp -v -i 100000\n"
	"\n"
	"The shell\n"
	"  ; & && ||  'quotes' \"quotes\" \\ $NAME $? $! NAME=VALUE #comment\n"
	"  cd exit export unset jobs wait kill\n"
	"  Keys: cursor keys, Home, End, Delete, ^A ^E ^U ^K ^W ^L; ^C ends a command,\n"
	"  ^D the shell.  `wait %1' brings a job to the foreground until it ends.\n"
	"  `weft run' keeps ^A for itself: ^A x leaves, ^A ^A is one ^A.\n";

int main(void)
{
	fputs(text, stdout);
	return 0;
}
