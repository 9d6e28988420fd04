$ cd /bin && pwd && cd - && pwd; cd /nonexistent 2>/dev/null; echo $?
/bin
/
/
1
$ cd /bin; cd; pwd; echo $OLDPWD $PWD
/
/bin /
$ A=1; export A B=2; sh -c 'echo $A $B'; unset A; sh -c 'echo $A. $B'
1 2
. 2
$ LOCAL=1; export SEEN=2; sh -c 'echo $LOCAL,$SEEN'; FOO=bar sh -c 'echo FOO is $FOO'; echo FOO is $FOO.
,2
FOO is bar
FOO is .
$ eval 'echo a;' "echo b"; eval; echo $?; eval 'exit_status() { return 6; }'; exit_status; echo $?
a
b
0
6
$ test a = a; echo $?; test a = b; echo $?; test; echo $?; [ x ]; echo $?; [ ! x ]; echo $?
0
1
1
0
1
$ [ 3 -gt 2 ] && [ 2 -le 2 ] && [ -1 -lt 0 ] && [ 1 -ne 2 ] && echo yes
yes
$ [ -n "$NOTHING" ] || [ -z "$NOTHING" ] && echo yes; [ "(" = "(" ] && [ ! "" ] && echo yes
yes
yes
$ [ -d / -a ! -f / ] && [ -e /bin/sh -o x = y ] && [ \( a = b -o b = b \) -a c = c ] && echo yes
yes
$ [ -c /dev/null ] && [ -x /bin/sh ] && [ -f /bin/sh ] && [ -s /bin/sh ] && [ ! -e /none ] && echo yes
yes
$ [ -t 0 ] </dev/null || echo no terminal; [ /bin/sh -ef /bin/../bin/sh ] && echo same
no terminal
same
$ printf '%s-%d|%5.2f|%x\n' a 5 3.14159 255 b 6 2 16
a-5| 3.14|ff
b-6| 2.00|10
$ printf '%5s|%-5s|%05d|%+d|%c|%%|%o\n' ab cd 42 7 xyz 8; printf 'no newline'; echo
   ab|cd   |00042|+7|x|%|10
no newline
$ printf '%b|%s\n' 'a\tb\0101' 'a\tb'; printf '\101\n' ; printf '%*d\n' 4 7; printf '%s\n'
a	bA|a\tb
A
   7
<empty>
$ echo -n a; echo b; echo; echo - -n
ab
<empty>
- -n

- -n
$ echo '  a  b  c  ' | { read x y; echo "[$x][$y]"; }
[a][b  c]
$ echo 'a:b::c:' | { IFS=: read x y z; echo "[$x][$y][$z]"; }; echo 'a\b\ c' | { read x y; echo "$x|$y"; }
[a][b][:c:]
ab c|
$ echo 'a\b' | { read -r x; echo "$x"; }; printf 'no end' | { read x; echo "$? $x"; }; read x </dev/null; echo "$?[$x]"
a\b
1 no end
1[]
$ printf 'one\\\ntwo\nthree\n' | { read x; echo $x; cat; }
onetwo
three
$ set -e; false || true; if false; then :; fi; ! true; (exit 3); echo never
[3]
$ set -e; f() { false; echo in f; }; f && echo yes; f; echo never
in f
yes
[1]
$ set -u; echo ${x-ok} ${1:-p}; echo $undefined; echo never
ok p 1
sh: line 1: undefined: not set
[2]
$ set -x; x=1; echo "$x" 'a b'; set +x; echo end
+ x=1
+ echo 1 a b
1 a b
+ set +x
end
$ command -v cd; command -v sh; command -v nonexistent; echo $?; echo() { :; }; command echo really
cd
/bin/sh
127
really
$ true && : && exit 23
[23]
$ trap 'echo bye' EXIT; (trap 'echo sub' EXIT; true); echo main
sub
main
bye
$ trap 'echo got TERM' TERM; kill -TERM $$; kill -s TERM $$; trap - TERM; trap
got TERM
got TERM
$ trap 'echo usr' USR1; (kill -USR1 $$); echo after; trap '' USR1; sh -c 'kill -USR1 $$; echo survived'
usr
after
survived
$ trap "echo 'it'" INT; trap
trap -- 'echo '\''it'\''' INT
$ trap 'exit 5' USR1; kill -USR1 $$; echo never
[5]
$ sh -c 'kill -9 $$' 2>/dev/null; echo $?; sh -c 'exit 300'; echo $?
Killed
137
44
$ type cd | cat; type nonexistent 2>/dev/null; echo $?
cd is built into the shell
1
$ kill -l 9; kill -l 143
KILL
TERM

In the background.

$ sleep 0.05 & wait $!; echo wait $?
wait 0
$ false & wait $!; echo $?; (exit 5) & wait $!; echo $?
1
5
$ { sleep 0.05; echo later; } & echo first; wait
first
later
$ cat & wait; echo nothing to read
nothing to read
$ sleep 100 & kill $!; wait $! 2>/dev/null; echo $?
143
$ (exit 3) & (exit 4) & wait; echo $?
0
$ trap 'echo interrupted' USR1; (sleep 0.1; kill -USR1 $$) & wait $!; wait; echo end
interrupted
end

What a process may do.

$ umask; umask -S; umask 077; >um; ls -l um | cut -c1-10; umask; umask 9; echo $?; umask a b; echo $?; rm um
0022
u=rwx,g=rx,o=rx
-rw-------
0077
sh: line 1: umask: no octal number up to 777: 9
1
usage: umask [-S | MODE]
2
$ ulimit -n; ulimit -n 64; ulimit -n; ulimit -Hn; ulimit -Sn 32; ulimit -n; ulimit -Hn; ulimit -n x; echo $?; ulimit -z; echo $?
1024
64
64
32
64
sh: line 1: ulimit: not a number: x
1
usage: ulimit [-HS] [-a | -d | -n | -s | -u | -v] [LIMIT | unlimited]
2
$ trap 'echo caught' USR1; (kill -USR1 $$; sleep 100) & wait $!; echo $?; kill $! 2>/dev/null
caught
158
