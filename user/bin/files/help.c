/* help.c - the commands and what they do, for a user after boot. */
#include <stdio.h>
#include "../usage.h"

static const char text[] =
	"Commands: each prints its usage with --help; `ls /bin' shows all\n"
	"  ls cp mv rm mkdir rmdir ln readlink touch chmod find df mount   files: a tmpfs\n"
	"  cat head tail wc hexdump tee grep sed sort uniq cut tr seq yes xargs   text\n"
	"  basename dirname which pwd env printenv date sleep time uname true false\n"
	"  echo printf test [ stty clear sh help\n"
	"Processes\n"
	"  ps [-fL]          processes, their LWPs; pgrep, pkill, kill: signals\n"
	"  lwps [PID...]     LWPs: state, priority, CPU, what they wait for\n"
	"  prstat [-mL] [N]  the use of the CPUs, every N seconds; where the time goes\n"
	"  pthreads PID      its threads: state, LWP, CPU, what they wait for\n"
	"  pstack, pmap PID  the stacks of its LWPs and threads; its mappings\n"
	"  truss CMD...      runs a command and shows its system calls; -p PID: of one that runs\n"
	"  ptime CMD...      runs a command and prints real, user and system time\n"
	"  plocks PID        what its threads wait for, which threads hold it; deadlocks\n"
	"  plockstat CMD...  runs a command and prints what its locks cost\n"
	"CPUs and scheduling\n"
	"  psrinfo [-v]      CPUs, what they run, their counters\n"
	"  psrset, psradm    processor sets; CPUs offline and online\n"
	"  priocntl, nice    scheduling classes and priorities; dispadmin: their tables\n"
	"Measured by `weft bench'\n"
	"  pp [-v] ...       ping-pong; barrier, timemutex, ntsol, oscmp: of other papers\n"
	"  micro, scale      what operations cost; how work spreads over CPUs\n"
	"  turns             at a lock: how long a thread waits, with work outside of it\n"
	"  respond, fibers   how soon a thread that sleeps answers; M:N of Windows NT\n"
	"  shares, aiopipe   of a CPU, beside sleepers; a thread that reads beside one that "
	"computes\n"
	"  torture           everything in the threads library at once\n"
	"To look at\n"
	"  states, prodcons  threads in each state; producers and consumers; many: how many "
	"threads\n"
	"  uthreads          an N:1 threads library on swapcontext, one of whose threads reads\n"
	"  reboot [STATUS]   halts the machine (so does exit); init: the first process\n"
	"  handover          what init calls for `weft run --out'\n"
	"\n"
	"Choose the thread model of a command by its environment:\n"
	"  LIBTHREAD=lwp|mxn|n1|sa  LIBTHREAD_OPTIONS=spin=never,queue=fifo,...\n"
	"  LIBTHREAD=mxn ptime pp -v -i 100000\n"
	"\n"
	"The shell is a POSIX one\n"
	"  ; & && || ! | < > >> 2>&1 <<EOF ( ) { }   'quotes' \"quotes\" \\ #comment\n"
	"  $NAME ${NAME:-word} $? $! $(command) $((1 + 2)) * ? [a-z] ~   NAME=VALUE\n"
	"  if while until for case   NAME() { ... }   sh FILE, sh -c TEXT, #!\n"
	"  . : [ bg break cd command continue echo eval exec exit export false fg history\n"
	"  jobs kill printf pwd read return set shift stty test trap true type ulimit umask\n"
	"  unset wait\n"
	"  Keys: cursor keys, Home, End, Delete, ^A ^E ^U ^K ^W ^L; Tab completes commands and\n"
	"  files; ^R searches the history (^R again: older; ^G: back); ^C ends a command, ^Z\n"
	"  stops it: `fg' and `bg' set it going again; ^D ends the shell.\n"
	"  `weft run' keeps ^A for itself: ^A x leaves, ^A ^A is one ^A.\n";

static const char usage[] = "usage: help\n";

int main(int argc, char **argv)
{
	usage_asked(argv, usage);
	fputs(text, stdout);
	return 0;
}
