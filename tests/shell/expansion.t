Parameters.

$ x=abc.tar.gz; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${#x} ${x}
abc.tar abc tar.gz gz 10 abc.tar.gz
$ echo ${y:-def} ${y:=new} $y ${y:+alt} ${z+no} ${z-un set} "${z-un  set}"
def new new alt un set un  set
$ e=; echo "${e-a}" "${e:-b}" "${e+c}" "${e:+d}."
 b c .
$ echo ${1-a} ${3-none} $# ${#} ${#1}
p 1 none 2 2 3
$ x=/a/b/c; echo ${x##*/} ${x%/*} "${x#"/a"}" ${x#'/*'} ${x%"?"}
c /a/b /b/c /a/b/c /a/b/c
$ x='a*b'; echo "${x%'*'b}" "${x%\*b}" "${x#a\*}"
a a b
$ echo "${u:-"x  y"}" ${u:-'q  q'} "${u:-a}b" ${u:-$1 $2}
x  y q  q ab p 1 p2
$ echo ${u:-${v:-deep $((1+1))}}
deep 2
$ x=5; echo $x$x ${x}0 $x-1 "$x"'$x'
55 50 5-1 5$x
$ case $$ in *[!0-9]*) ;; ?*) echo number;; esac; [ "$$" = "$(echo $$)" ] && echo same
number
same
$ set a b c d e f g h i j k; echo $1$10 ${10} ${11}
aa0 j k

Lists of parameters.

$ set -- a "b c" d; echo $# "$@" $*; for i in "$@"; do echo "[$i]"; done; for i in $*; do echo "<$i>"; done
3 a b c d a b c d
[a]
[b c]
[d]
<a>
<b>
<c>
<d>
$ set -- a "b c"; IFS=:; echo "$*"; for i in x"$@"y; do echo "[$i]"; done
a:b c
[xa]
[b cy]
$ set --; for i in "$@"; do echo never; done; for i in "$*"; do echo "[$i]"; done; echo $#
[]
0
$ set -- 1 2 3; shift; echo $*; shift 2; echo $#
2 3
0
$ set -- "" x; for i in "$@"; do echo "[$i]"; done; echo ${1+set} ${1:+not empty}
[]
[x]
set
$ set -- a b; echo "pre $@ post" "${@:-x}" ${#@}
pre a b post a b 2

Fields.

$ x='a b  c'; set -- $x; echo $#; set -- "$x"; echo $#
3
1
$ IFS=,; v=a,,b,; set -- $v; echo "$#:$1:$2:$3"
3:a::b
$ IFS=' ,'; v=' a , b,c  d '; set -- $v; echo "$#:$1:$2:$3:$4"
4:a:b:c:d
$ v=' lead'; set -- x$v; echo $#; set -- $v$v; echo $#
2
2
$ IFS=; v='a b'; set -- $v; echo $#
1
$ x="  "; set -- $x; echo $#; set -- $x""; echo $#
0
1
$ a='x y'; b=$a; echo "$b"; c=$(echo 'p  q'); echo "$c"
x y
p  q

Commands and arithmetic.

$ echo $(echo sub; echo two) `echo back \`echo nested\`` "$(echo "in  ner")"
sub two back nested in  ner
$ x=$(false); echo $?; x=$(exit 3)y; echo $? $x
1
3 y
$ x=$(printf 'a\n\n\n'); echo "[$x]"; x=$(printf '\n\na'); echo "[$x]"
[a]
[
<empty>
a]

a]
$ echo $(case x in (x) echo case;; esac) $(echo ')') $(echo a # comment )
> )
case ) a
$ echo $((1+2*3)) $(( (1+2)*3 )) $((7%3)) $((1<<4)) $((-3/2)) $((0x1f)) $((010)) $((~5)) $((!0))
7 9 1 16 -1 31 8 -6 1
$ x=5; echo $((x*2)) $(($x+1)) $((x=7)) $x $((x+=1)) $((x<<=1)) $x
10 6 7 7 8 16 16
$ echo $((1<2)) $((2<=1)) $((1==1)) $((1!=1)) $((1&&0)) $((1||0)) $((0&&(y=1))) $y. $((5&3)) $((5|3)) $((5^3))
1 0 1 0 0 1 0 . 1 7 6
$ echo $((2?3:4)) $((0?3:4)) $((1?2:0?3:4)) "$((1 + $(echo 2)))" $((- -1)) $(( 1 , 2 ))
3 4 2 3 1 2
$ echo $((9223372036854775807 + 1)) $((a)) $((a+1))
-9223372036854775808 0 1

Files.

$ cd /bin; echo [t]ru? fals* nomatch*z "*" \*
true false nomatch*z * *
$ echo /*n/tr?e /bin/[!a-su-z]rue /bin/../b?n
/bin/true /bin/true /bin/../bin
$ cd /bin; x='tr*e'; echo $x "$x"; set -f; echo $x
true tr*e
tr*e
$ echo ~ ~/x "~" a~ ~nobody; HOME=/h; echo ~/y; x=~/z:~; echo $x
/ //x ~ a~ ~nobody
/h/y
/h/z:/h
$ case /a/b in /*/b) echo crosses;; esac; case .x in *x) echo dot;; esac
crosses
dot
$ case a-b in a[b-]b) echo one;; esac; case ']' in []]) echo two;; esac; case '\' in \\) echo three;; esac
one
two
three
