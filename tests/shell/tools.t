grep

$ printf 'one\ntwo\nThree\nfour\n' >/tmp/g; cd /tmp; grep o g; grep -v o g; grep -n t g; grep -c o g; grep -i T g
one
two
four
Three
2:two
3
two
Three
$ cd /tmp; printf 'other\n' >g2; grep -l o g g2; grep o g g2; grep -h t g g2; grep -H four g; grep -c t g g2
g
g2
g:one
g:two
g:four
g2:other
two
other
g:four
g:1
g2:1
$ cd /tmp; grep -q two g; echo $?; grep -q x g; echo $?; grep x g none; echo $?; grep -s x none; echo $?
0
1
grep: none: No such file or directory
2
2
$ cd /tmp; grep -E '^(one|t.o)$' g; grep -E 'o+|h{1}r' g; grep '^.\{4\}$' g; grep '[[:upper:]]' g; grep -x two g; grep '\(.\)\1' g
one
two
one
two
Three
four
four
Three
two
Three
$ printf 'a.c\nabc\na*c\n' | grep -F 'a*c'; printf 'a.c\nabc\n' | grep -F .; printf 'a\nb\nc\n' | grep -e a -e c; printf 'x\ny\nz' | grep 'x
> z'
a*c
a.c
a
c
x
z
$ grep -r nothing_like_it /dev/null; echo $?; echo text | grep text -; echo text | grep ''; echo x | grep '*'; echo $?
1
text
text
1

sort, uniq

$ printf 'b\na\nc\na\n' | sort; printf 'b\na\nc\na\n' | sort -r; printf 'b\na\nc\na\n' | sort -u
a
a
b
c
c
b
a
a
a
b
c
$ printf '10\n9\n-1\n2.5\nx\n' | sort -n; printf '10\n9\n100\n' | sort -rn; printf '10\n9\n100\n' | sort
-1
x
2.5
9
10
100
10
9
10
100
9
$ printf 'x 3 a\ny 1 b\nz 2 c\n' | sort -k 2; printf 'a:10:x\nb:9:y\nc:10:w\n' | sort -t : -k 2n -k 3; printf 'a:10\nb:9\n' | sort -t : -k 2,2
y 1 b
z 2 c
x 3 a
b:9:y
c:10:w
a:10:x
a:10
b:9
$ printf 'b 1\na 1\nb 2\na 2\n' | sort -k 1,1 -u; printf 'b 1\na 1\nb 2\n' | sort -k 2,2nr -k 1,1; printf 'ab\naa\nba\n' | sort -k 1.2,1.2
a 1
b 1
b 2
a 1
b 1
aa
ba
ab
$ printf '  b\n a\nc\n' | sort -b; printf 'b\na\n' | sort -c; echo $?; printf 'a\nb\n' | sort -c; echo $?; printf 'a\na\n' | sort -uc; echo $?
 a
  b
c
sort: line 2 is out of order: a
1
0
sort: line 2 is out of order: a
1
$ printf 'z\ny\n' >/tmp/s; sort -o /tmp/s /tmp/s; cat /tmp/s; echo x | sort /tmp/s -; sort /dev/null
y
z
x
y
z
$ printf 'a\na\nb\nc\nc\nc\n' >/tmp/u; uniq /tmp/u; uniq -c /tmp/u; uniq -d /tmp/u; uniq -u /tmp/u; uniq </dev/null; uniq /tmp/u /tmp/u2; cat /tmp/u2
a
b
c
      2 a
      1 b
      3 c
a
c
b
a
b
c
$ seq 2000 | sort -r | sort -n | tail -1; seq 1000 -1 1 | sort -n | head -1; yes | head -20000 | sort | uniq -c
2000
1
  20000 y

cut, tr

$ printf 'a:b:c\nd:e:f\nplain\n' >/tmp/c; cut -d : -f 2 /tmp/c; cut -d : -f 1,3- -s /tmp/c; cut -c 2-3 /tmp/c; cut -b -2 /tmp/c
b
e
plain
a:c
d:f
:b
:e
la
a:
d:
pl
$ printf 'a\tb\tc\n' | cut -f 2-; echo abcdef | cut -c 1,3,5-; echo x | cut -c 5
b	c
acef
<empty>
$ echo hello | tr a-y b-z; echo hello | tr -d l; echo aabbcc | tr -s a-z; echo 'a  b   c' | tr -s ' '; echo 'a b' | tr ' ' '\n'
ifmmp
heo
abc
a b c
a
b
$ echo Hello1 | tr '[:lower:]' '[:upper:]'; echo a1b2 | tr -d '[:digit:]'; echo a1b2 | tr -cd '[:alpha:]'; echo; echo abc | tr abc x; printf 'a\0b' | tr '\0' -; echo
HELLO1
ab
ab
xxx
a-b
$ echo 'one two' | tr -cs 'a-z' '\n'; echo 'a\b' | tr '\\' /; echo aabb | tr -ds a b
one
two
a/b
b

seq, basename, dirname, tee

$ seq 3; seq 2 4; seq 1 2 6; seq 3 -1 1; seq -s , 5; seq -w 8 11; seq 0 .5 1.5; seq 5 1; seq -2 0
1
2
3
2
3
4
1
3
5
3
2
1
1,2,3,4,5
08
09
10
11
0.0
0.5
1.0
1.5
-2
-1
0
$ basename /a/b.c .c; basename /a/b/; basename /; basename b.c b.c; dirname /a/b/c; dirname a; dirname /a; dirname /; dirname a//b//
b
b
/
b.c
/a/b
.
/
/
a

xargs, find

$ printf 'a b\nc\n' | xargs; printf 'a b\nc\n' | xargs -n 1 echo x; printf 'a b\nc d\n' | xargs -I @ echo '<@>' @; xargs </dev/null; xargs -r echo never </dev/null
a b c
x a
x b
x c
<a b> a b
<c d> c d
<empty>
$ printf "'a b' c\\\\ d \"e f\"\n" | xargs -n 1; printf 'a b\0c\n\0' | xargs -0 -n 1 echo; echo x | xargs false; echo $?; echo x | xargs nonexistent 2>/dev/null; echo $?
a b
c d
e f
a b
c
<empty>
123
127
$ seq 5000 | xargs | wc -w; seq 20000 | xargs echo | wc -l; echo 255 | xargs -n 1 sh -c 'exit $1' sh 2>/dev/null; echo $?; echo a b | xargs -t echo 2>&1
    5000
       5
124
echo a b
a b
$ mkdir -p /tmp/f/d/e; cd /tmp/f; echo 1 >a.c; echo 2 >d/b.c; echo 3 >d/e/c.h; find; find . -name '*.c'; find d -type d; find . -type f ! -name '*.c'
.
./a.c
./d
./d/b.c
./d/e
./d/e/c.h
./a.c
./d/b.c
d
d/e
./d/e/c.h
$ cd /tmp/f; find a.c d -maxdepth 1 -name '*.c' -o -name e; find . \( -name '*.h' -o -name a.c \) -exec echo found {} \; ; find d -name '*.c' -exec false \; -print; find none; echo $?
a.c
d/b.c
d/e
found ./a.c
found ./d/e/c.h
find: none: No such file or directory
1
$ cd /tmp/f; find . -path '*/d/*' -type f; find . -newer a.c -name c.h | wc -l
./d/b.c
./d/e/c.h
       1

Wrong usage.

$ grep; echo $?; grep '\(' x; echo $?; grep -E 'a{2' x; echo $?; grep -y a b; echo $?; grep o none; echo $?; grep a /tmp; echo $?
usage: grep [-EFHchilnqrsvx] [-e PATTERN]... [PATTERN] [FILE...]
2
grep: \(: parentheses not balanced
2
grep: a{2: braces not balanced
2
grep: invalid option -- `-y'
usage: grep [-EFHchilnqrsvx] [-e PATTERN]... [PATTERN] [FILE...]
2
grep: none: No such file or directory
2
grep: /tmp: a directory
1
$ sort -k x; echo $?; sort -t ab; echo $?; sort none; echo $?; uniq a b c; echo $?; uniq none; echo $?
sort: not a key: x
2
sort: not one character: ab
2
sort: none: No such file or directory
2
usage: uniq [-c] [-d | -u] [INPUT [OUTPUT]]
2
uniq: none: No such file or directory
2
$ cut -f x; echo $?; cut; echo $?; cut -f 0 x; echo $?; cut -d ab -f 1; echo $?; cut -f 1 none; echo $?
cut: not a list of numbers from 1 on
2
usage: cut -b LIST | -c LIST | -f LIST [-d CHAR] [-s] [FILE...]
2
cut: not a list of numbers from 1 on
2
cut: not one character: ab
2
cut: none: No such file or directory
1
$ tr; echo $?; tr a ''; echo $?; tr z-a b; echo $?; tr '[:x:]' b; echo $?; seq; echo $?; seq x; echo $?; seq 1 0 2; echo $?
usage: tr [-c] [-d] [-s] SET1 [SET2]
2
tr: the second set is empty
2
tr: a range that goes down: z-a
2
tr: no such class: [:x:]
2
usage: seq [-w] [-s TEXT] [FIRST [STEP]] LAST
2
seq: not a number: x
2
seq: a step of 0
2
$ xargs -n x </dev/null; echo $?; echo "'" | xargs; echo $?; find . -nonsense; echo $?; find . -type q; echo $?; find . -exec x; echo $?; find . \( -print; echo $?; find . -name; echo $?
xargs: not a number: x
2
xargs: a quote is open at the end of a line
1
find: not an expression: -nonsense
2
find: no such type: q
2
find: -exec needs a command and a ;
2
find: ( needs a )
2
find: -name needs an operand
2
$ basename; echo $?; dirname; echo $?; which; echo $?; which -a sh; which nonexistent; echo $?; X=1 printenv X; printenv NONE; echo $?; yes no | head -2
usage: basename PATH [SUFFIX]
2
usage: dirname PATH
2
usage: which [-a] NAME...
2
/bin/sh
1
1
1
no
no

sed.

$ printf '%s\n' one two three | sed 's/o/0/'; echo aXbXc | sed 's/X/-/2;s/a/&&/'; echo aaa | sed s/a/b/g
0ne
tw0
three
aaXb-c
bbb
$ seq 5 | sed -n '2,4p'; seq 5 | sed '$d'; seq 3 | sed -n '$='; seq 5 | sed 2q
2
3
4
1
2
3
4
3
1
2
$ printf '%s\n' a b c d | sed '/b/,/c/d'; printf '%s\n' a b c | sed '/b/!s/$/!/'; seq 4 | sed -n '2{p;p;}'
a
d
a!
b
c!
2
2
$ echo 'John Smith' | sed 's/\(.*\) \(.*\)/\2, \1/'; echo ab12 | sed -E 's/([a-z]+)([0-9]+)/\2\1/'; echo a/b | sed 's|/|::|'
Smith, John
12ab
a::b
$ seq 3 | sed '2i\
> before' | sed '/3/a\
> after'; seq 3 | sed '2c changed'; seq 4 | sed '2,3c\
> both'
1
before
2
3
after
1
changed
3
1
both
4
$ seq 4 | sed 'N;s/\n/+/'; seq 3 | sed -n '1!G;h;$p'; seq 3 | sed '1{h;d;};x;$G' | tr '\n' ' '; echo
1+2
3+4
3
2
1
1 2 3 
$ echo hello | sed y/elo/ipa/; printf 'a\tb\\\n' | sed -n l; seq 3 | sed n\;d
hippa
a\tb\\$
1
3
$ printf '%s\n' a bb ccc | sed ':x
> s/^.\{1,3\}$/ &/
> tx'; echo aaa | sed -e :a -e 's/a/b/;ta'; printf 'x\ny\nz\n' | sed '$!N;P;D' | sed -n '$='
   a
  bb
 ccc
bbb
3
$ echo abc | sed 's/b*/x/g'; echo baaac | sed 's/a*/x/2'; printf 'no newline' | sed s/no/one/; echo .; echo AbA | sed s/a/x/gI
xaxcx
bxc
one newline.
xbx
$ printf 's/1/one/\n# comment\n2d\n' >sf; seq 3 | sed -f sf; seq 2 >in; seq 2 | sed -n "1r in
> 2w out"; cat out; seq 3 | sed -n 's/2/two/w out'; cat out; rm sf in out
one
3
1
2
2
two
$ sed; sed k; sed 's/a/b'; sed '{p'; sed 'b x'; sed p nonexistent; echo $?; sed 's/\(/x/' </dev/null; echo $?
usage: sed [-nE] SCRIPT [FILE...]
       sed [-nE] [-e SCRIPT | -f FILE]... [FILE...]
sed: command 1: no such command
sed: command 1: its delimiter is missing
sed: { without }
sed: no such label: x
sed: nonexistent: No such file or directory
1
sed: command 1: parentheses not balanced
2

kill: a number that is no process id.
$ /bin/kill -0 4294967297; echo $?
kill: 4294967297: not a process id
1

pgrep and pkill.

$ sleep 100 & p=$!; test $(pgrep -x sleep) = $p && echo found; test $(pgrep -fx 'sleep 100') = $p; echo $?; pkill -KILL slee; wait $p 2>/dev/null; echo $?; pgrep sleep; echo $?
found
0
137
1
$ sleep 100 & sleep 101 & a=$!; test $(pgrep -n sleep) = $a; echo $?; pgrep -P $$ -d, sleep | tr -cd ,; echo; pkill -P $$ sleep; echo $?
0
,
0
$ test "$(ps -o sid -p $$ | tail -1)" -eq 1 && priocntl -d -i sid 1 | grep -c "^ *$$ "
1
$ pgrep; echo $?; pgrep '('; echo $?; pkill -NOSUCH x; echo $?
usage: pgrep [-l] [-d SEPARATOR] [-fnovx] [-g PGRP] [-P PPID] [-s SESSION] [PATTERN]
2
pgrep: (: parentheses not balanced
2
pkill: NOSUCH: no such signal
2

Programs that are builtins too; sort's long numbers; where find starts; cp and mv into a directory.

$ /bin/test 1 -lt 2; echo $?; /bin/[ a = b ]; echo $?; /bin/[ a; echo $?; /bin/printf '%s-%d\n' x 7; /bin/echo -n a b; echo; /bin/test a -eq b; echo $?
0
1
[: ] is missing
2
x-7
a b
test: not a number: a
test: not a number: b
2
$ n=123456789012345678901234567890123456789012345678901234567890123456789; printf '%s\n' ${n}1 ${n}0 -${n}1 -${n}0 0.10 .1 -0 3.05 3.5 | sort -n | sed "s/$n/N/"
-N1
-N0
-0
.1
0.10
3.05
3.5
N0
N1
$ mkdir -p d/e; find d/ ; find d///; rm -r d
d
d/e
d
d/e
$ mkdir d; echo x >f; cp f f d//; mv f d/; ls d; cp -R d/ e; mv e/ d; ls d; cp nonexistent d; echo $?; rm -r d
f
e
f
cp: nonexistent: No such file or directory
1
