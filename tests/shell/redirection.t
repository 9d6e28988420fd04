$ echo hi >/tmp/o1; cat </tmp/o1; echo more >>/tmp/o1; cat /tmp/o1; >/tmp/o1; cat /tmp/o1
hi
hi
more
$ { echo out; echo err >&2; } >/tmp/o2 2>&1; cat /tmp/o2; { echo out; echo err >&2; } 2>&1 >/dev/null
out
err
err
$ sh -c 'echo out; echo err >&2' 2>/dev/null; sh -c 'echo out; echo err >&2' >/tmp/o3 2>&1; cat /tmp/o3
out
out
err
$ echo a 3>/tmp/o4 >&3; cat /tmp/o4; sh -c 'echo to three >&3' 3>/tmp/o4; cat /tmp/o4
a
to three
$ exec 4</tmp/o4; read x <&4; echo $x; exec 4<&-
to three
$ x=1; cat <<EOF
> here $x ${x:-2} $(echo cmd) \$no "q" 'r' \
> joined $((x+1))
> 	tab
> EOF
here 1 1 cmd $no "q" 'r' joined 2
	tab
$ cat <<'EOF'
> here $x `no` \
> EOF
here $x `no` \
$ cat <<-EOF | cat -
> 	stripped
> 		twice
> 	EOF
stripped
twice
$ cat <<A; cat <<B
> a
> A
> b
> B
a
b
$ f() { cat <<X
> in $1
> X
> }; f one; f two
in one
in two
$ x=$(cat <<X
> in a substitution
> X
> ); echo "$x"
in a substitution
$ while read l; do echo "[$l]"; done </tmp/o2
[out]
[err]
$ for i in 1 2; do echo $i; done >/tmp/o5; cat /tmp/o5; (echo sub) >/tmp/o5; cat </tmp/o5
1
2
sub
$ cat /nonexistent 2>/dev/null || echo failed; : </nonexistent2>/dev/null; echo still
failed
sh: line 1: /nonexistent2: No such file or directory
[1]
$ i=0; x=0123456789abcdef; while [ $i -lt 8 ]; do x=$x$x; i=$((i+1)); done; { read x; echo ${#x}; } <<X
> $x
> X
4096
$ read x <<X; echo $x
> $(echo line)
> X
line
$ echo one >/tmp/o6; echo two <>/tmp/o6 1>&0; cat /tmp/o6; echo abc >|/tmp/o6; cat /tmp/o6
two
abc
$ exec </tmp/o6; read x; echo $x
abc
$ echo x >/tmp/with\ blank; cat "/tmp/with blank" </dev/null
x
$ ls /nonexistent >/tmp/o7 2>&1 && echo no; [ -s /tmp/o7 ] && echo error in file
error in file

$ echo 'echo dot $1; x=set; return 4; echo never' >/tmp/dot; . /tmp/dot; echo $? $x
dot p 1
4 set
$ exec 3>/tmp/three; echo text >&3; exec 3>&-; cat /tmp/three; exec echo replaced; echo never
text
replaced
$ cd /tmp; >gb; >ga; >.gh; echo g* .g* ../t*/ga; echo ../tm*/
ga gb .gh ../tmp/ga
../tmp/
