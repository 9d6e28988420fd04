Nothing of a line with a syntax error is run.

$ echo run; echo "abc
sh: line 1: syntax error: unexpected end: " of line 1 is open
[2]
$ echo run; echo 'abc
sh: line 1: syntax error: unexpected end: ' of line 1 is open
[2]
$ echo run; echo a &&
sh: line 1: syntax error: unexpected end
[2]
$ echo run; echo \
sh: line 1: syntax error: unexpected end: nothing is behind \
[2]
$ echo run; echo a;; echo b
sh: line 1: syntax error: unexpected ;;
[2]
$ echo run; & echo b
sh: line 1: syntax error: unexpected &
[2]
$ echo run; | cat
sh: line 1: syntax error: unexpected |
[2]
$ echo run; echo `a
sh: line 1: syntax error: unexpected end: ` of line 1 is open
[2]
$ echo run; echo $(a
sh: line 1: syntax error: unexpected end: $( of line 1 is open
[2]
$ echo run; echo $(a; fi)
sh: line 1: syntax error: unexpected fi
[2]
$ echo run; echo ${
sh: line 1: syntax error: unexpected end: ${ of line 1 is open
[2]
$ echo run; echo ${X
sh: line 1: syntax error: unexpected end: ${ of line 1 is open
[2]
$ echo run; echo ${X!}
sh: line 1: syntax error: bad substitution
[2]
$ echo run; echo ${:-x}
sh: line 1: syntax error: bad substitution
[2]
$ echo run; echo $((1+2
sh: line 1: syntax error: unexpected end: $(( of line 1 is open
[2]
$ echo run; (echo a
sh: line 1: syntax error: unexpected end: ( of line 1 is open
[2]
$ echo run; echo a)
sh: line 1: syntax error: unexpected )
[2]
$ echo run; { echo a
sh: line 1: syntax error: unexpected end: { of line 1 needs }
[2]
$ echo run; if true
sh: line 1: syntax error: unexpected end: if of line 1 needs then
[2]
$ echo run; if true; then echo a; done
sh: line 1: syntax error: unexpected done
[2]
$ echo run; then
sh: line 1: syntax error: unexpected then
[2]
$ echo run; while true; do
sh: line 1: syntax error: unexpected end
[2]
$ echo run; for 1x in a; do :; done
sh: line 1: syntax error: for needs the name of a variable
[2]
$ echo run; for x in a; echo b
sh: line 1: syntax error: unexpected echo
[2]
$ echo run; case x in a) echo
sh: line 1: syntax error: unexpected end: case of line 1 needs esac
[2]
$ echo run; f() echo
sh: line 1: syntax error: unexpected echo
[2]
$ echo run; >
sh: line 1: syntax error: unexpected end
[2]
$ echo run; cat <<X
> no end
sh: line 2: syntax error: unexpected end: the here-document of line 2 needs X
[2]
$ echo run; (); { }
sh: line 1: syntax error: unexpected )
[2]

Lines before it are.

$ echo one
> echo two
>
> if fi
> echo never
one
two
sh: line 4: syntax error: unexpected fi
[2]

Errors in expansions end a script.

$ echo ${u?}; echo never
sh: line 1: u: not set
[2]
$ echo ${u:?why $0}; echo never
sh: line 1: u: why sh
[2]
$ echo $((1/0)); echo never
sh: line 1: arithmetic: division by zero: 1/0
[2]
$ echo $((1+)); echo never
sh: line 1: arithmetic: unexpected end: 1+
[2]
$ echo $((1 2)); echo never
sh: line 1: arithmetic: an operator is missing: 1 2
[2]
$ x=abc; echo $((x)); echo never
sh: line 1: arithmetic: the value of x is not a number
[2]
$ echo ${1=x}; echo never
p 1
never
$ (echo ${u?}; echo never); echo but not the shell around it: $?
sh: line 1: u: not set
but not the shell around it: 2

Commands that cannot be run; descriptors and files.

$ nonexistent; echo $?; /bin/nonexistent; echo $?
sh: line 1: nonexistent: not found
127
sh: line 1: /bin/nonexistent: not found
127
$ /bin; echo $?
sh: line 1: /bin: Permission denied
126
$ echo never <nonexistent; echo $?; { echo never; } <nonexistent; echo $?
sh: line 1: nonexistent: No such file or directory
1
sh: line 1: nonexistent: No such file or directory
1
$ echo never >&7; echo $?; echo never >&x; echo $?
sh: line 1: descriptor 7: Bad file number
1
sh: line 1: not a descriptor: x
1
$ exec <nonexistent; echo never
sh: line 1: nonexistent: No such file or directory
[1]
$ exec nonexistent; echo never
sh: line 1: nonexistent: not found
[127]
$ :
> nonexistent
> nonexistent | cat
sh: line 2: nonexistent: not found
sh: line 3: nonexistent: not found

Built-in commands used wrongly.

$ cd a b; echo $?; cd /nonexistent; echo $?
usage: cd [DIR | -]
2
sh: line 1: cd: /nonexistent: No such file or directory
1
$ shift 4; echo $?; shift x; echo $?
sh: line 1: shift: there are only 2 parameters
1
sh: line 1: shift: not a number: x
2
$ return; break; continue; echo $?
sh: line 1: return: not in a function or dot script
sh: line 1: break: not in a loop
sh: line 1: continue: not in a loop
1
$ export 1x=y; echo $?; unset; echo $?
sh: line 1: export: not a name: 1x=y
1
0
$ set -q; echo $?; exit x
sh: line 1: no such option: q
2
sh: line 1: exit: not a number: x
[2]
$ test a =; echo $?; [ a; echo $?; test 1 -eq x; echo $?; [ a b c d ]; echo $?; [ \( a ]; echo $?
sh: line 1: test: unexpected: =
2
sh: line 1: [: ] is missing
2
sh: line 1: test: not a number: x
2
sh: line 1: test: unexpected: b
2
sh: line 1: test: ) is missing
2
$ read; echo $?; read 1x; echo $?
usage: read [-r] NAME...
2
sh: line 1: read: not a name: 1x
2
$ printf; echo $?; printf '%d\n' abc; echo $?; printf '%y\n'; echo $?; printf '%'; echo $?
usage: printf FORMAT [ARG...]
2
sh: line 1: printf: not a number: abc
0
1
sh: line 1: printf: no such conversion: %y
1
sh: line 1: printf: the format ends in a conversion
1
$ trap x NOSIG; echo $?; kill; echo $?; kill -NOSIG 1; echo $?; kill x; echo $?; kill 99999; echo $?
sh: line 1: trap: NOSIG: no such signal
1
usage: kill [-s SIGNAL | -SIGNAL] PID | %JOB ...
       kill -l [STATUS]
2
usage: kill [-s SIGNAL | -SIGNAL] PID | %JOB ...
       kill -l [STATUS]
2
sh: line 1: kill: not a process: x
1
sh: line 1: kill: 99999: No such process
1
$ fg; echo $?; bg %1; echo $?; wait %3; echo $?; jobs -x; echo $?
sh: line 1: fg: %+: no such job
1
sh: line 1: bg: %1: no such job
1
sh: line 1: wait: no such job: %3
127
usage: jobs [-l | -p]
2
$ . /nonexistent; echo $?; type nonexistent; echo $?; command -x y; echo $?
sh: line 1: .: /nonexistent: No such file or directory
1
sh: line 1: nonexistent: not found
1
usage: command [-v | -V] NAME [ARG...]
2
$ f() { f; }; f
sh: line 1: f: functions nest too deep
[2]
