Quotes, words and comments.

$ echo one   two 'three  four' "five $HOME" \$x; echo a#b # comment
one two three  four five / $x
a#b
$ echo '' "" x$NOTHING'' end
  x end
$ $NOTHING; $NOTHING echo vanished
vanished
$ "ec""ho" q'u'o"t"e\d \
> joined
quoted joined
$ echo "two
> lines" 'and
> two'
two
lines and
two
$ echo "\$HOME \` \\ \" \a '" 'a"b\'
$HOME ` \ " \a ' a"b\
$ echo "$1" $2 $# "$@" $0
p 1 p2 2 p 1 p2 sh
$ X=1 Y="a  b"; echo $X "$Y" $Y ${X}y "${Y}z"
1 a  b a b 1y a  bz

Lists.

$ false && echo no || echo yes; true || echo no && echo yes
yes
yes
$ ! true; echo $?; ! false; echo $?
1
0
$ true;
> # a line of comment
>
> echo after
after
$ false; true && echo status $?
status 0

Pipelines.

$ echo a b c | cat | cat
a b c
$ echo x | (exit 3); echo $?
3
$ exit 4 | true; echo $?
0
$ echo one |
> cat
one
$ echo in | { read x; echo got $x; }
got in
$ true | false | true; echo $?
0
$ nothing=1 | cat; echo "[$nothing]"
[]

Compound commands.

$ for i in 1 2 3; do echo -n $i; done; echo
123
$ for a; do echo "[$a]"; done
[p 1]
[p2]
$ for x in; do echo never; done; echo $?
0
$ i=0; while [ $i -lt 5 ]; do i=$((i+1)); [ $i = 2 ] && continue; [ $i = 4 ] && break; echo w$i; done
w1
w3
$ i=3; until [ $i = 0 ]; do i=$((i-1)); done; echo $i
0
$ for i in 1 2; do for j in a b; do [ $j = b ] && continue 2; echo $i$j; done; done
1a
2a
$ for i in 1 2; do for j in a b; do break 2; done; done; echo $i$j
1a
$ if false; then echo a; elif true; then echo b; else echo c; fi
b
$ if false; then echo a; fi; echo $?
0
$ case foo.c in *.h) echo h;; *.[cd]|x) echo c;; *) echo other;; esac
c
$ case 'a*' in a'*') echo quoted;; esac; case ab in a'*') echo no;; (a?) echo yes; esac
quoted
yes
$ case x in y) ;; esac; echo $?
0
$ (echo sub; X=5; exit 4); echo $? $X.
sub
4 .
$ { echo group; }; (cd /bin; pwd); pwd
group
/bin
/
$ while read a b; do echo "$b-$a"; done <<X
> 1 one
> 2 two
> X
one-1
two-2
$ while false; do :; done; echo $?
0
$ if [ -d /bin ] && ! [ -f /bin ]; then echo yes; fi | cat
yes

Functions.

$ f() { echo f $# $1; return 3; }; f a b; echo $? $#
f 2 a
3 2
$ f() { [ $1 = 0 ] || { echo $1; f $(($1 - 1)); }; }; f 3
3
2
1
$ f() { x=changed; set -- 9 8; echo $1; }; x=old; f 1; echo $x $1
9
changed p 1
$ f() (exit 7); f; echo $?
7
$ f() { echo one; f() { echo two; }; }; f; f
one
two
$ f() { cat; } <<X; echo text | f
> here
> X
here
$ f() { echo out; echo err >&2; } 2>/dev/null; f
out
$ f() { for i in 1 2 3; do [ $i = 2 ] && return 5; echo $i; done; }; f; echo $?
1
5
$ V=1 f() { :; }
sh: line 1: syntax error: unexpected (
[2]
$ f() { echo $V; }; V=1; V=2 f; echo $V
2
1
$ f() { :; }; unset -f f; f
sh: line 1: f: not found
[127]
