/* help.c - what there is, for someone who has just booted. */
#include <stdio.h>

static const char text[] =
	"Commands\n"
	"  ls cat head tail wc hexdump tee echo          as elsewhere\n"
	"  grep sed sort uniq cut tr seq find xargs basename dirname which yes\n"
	"  cp mv rm mkdir rmdir ln readlink touch chmod  files; the root is a tmpfs\n"
	"  df mount date env kill pgrep pkill printenv pwd sleep time true false uname\n"
	"  ps                processes\n"
	"  lwps [PID...]     LWPs: state, priority, CPU, what they wait for\n"
	"  prstat [-mL] [N]  who uses the CPUs, every N seconds; where the time goes\n"
	"  psrinfo [-v]      CPUs, what they run, their counters\n"
	"  psrset, psradm    processor sets; CPUs offline and online\n"
	"  priocntl, nice    scheduling classes and priorities; dispadmin: their tables\n"
	"  ptime CMD...      runs a command and prints real, user and system time\n"
	"  plockstat CMD...  runs a command and prints what its locks cost\n"
	"  pp [-v] ...       ping-pong, the benchmark\n"
	"  reboot [STATUS]   halts the machine (so does exit)\n"
	"  ls /bin           shows all commands\n"
	"\n"
	"Choose the thread model of a command by its environment:\n"
	"  LIBTHREAD=lwp|mxn|n1   LIBTHREAD_OPTIONS=spin=never,queue=fifo,...\n"
	"  LIBTHREAD=mxn ptime pp -v -i 100000\n"
	"\n"
	"The shell is a POSIX one\n"
	"  ; & && || ! | < > >> 2>&1 <<EOF ( ) { }   'quotes' \"quotes\" \\ #comment\n"
	"  $NAME ${NAME:-word} $? $! $(command) $((1 + 2)) * ? [a-z] ~   NAME=VALUE\n"
	"  if while until for case   NAME() { ... }   sh FILE, sh -c TEXT, #!\n"
	"  . : [ bg break cd command continue echo eval exec exit export false fg jobs kill\n"
	"  printf pwd read return set shift test trap true type ulimit umask unset wait\n"
	"  Keys: cursor keys, Home, End, Delete, ^A ^E ^U ^K ^W ^L; ^C ends a command,\n"
	"  ^Z stops it: `fg' and `bg' set it going again; ^D ends the shell.\n"
	"  `weft run' keeps ^A for itself: ^A x leaves, ^A ^A is one ^A.\n";

int main(void)
{
	fputs(text, stdout);
	return 0;
}
