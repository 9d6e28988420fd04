#!/bin/sh
# newlib-extra.sh PREFIX - what newlib leaves out for our target, or has wrong, from its own
# source, as objects in build/newlib-extra.
#
# Regular expressions and file name patterns: newlib builds its POSIX folder for few systems,
# and most of that folder is what our own libc has.  getopt, which takes a lone "-" for an
# option, and starts with optind 0 (POSIX: 1).  mktemp, whose mkdtemp makes no directory without
# HAVE_MKDIR.  PREFIX and the source: as newlib.sh, which
# has been run before.
set -eu

[ $# -eq 1 ] || { echo "usage: newlib-extra.sh PREFIX" >&2; exit 2; }
P=$1
top=$(cd "$(dirname "$0")/.." && pwd)
src=${NEWLIB_SOURCE:-$(ls /usr/src/newlib/newlib-*.tar.* | tail -n 1)}
work=$(mktemp -d "$top/build/extra-work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

cd "$work"
tar xf "$src" --strip-components=4 --wildcards '*/newlib/libc/posix/*.[ch]' \
	'*/newlib/libc/stdlib/getopt.c' '*/newlib/libc/stdio/mktemp.c'
# Without fuzz: where the source is another than a patch expects, this ends here.
for p in getopt mktemp; do
	patch -s -p4 --fuzz=0 --no-backup-if-mismatch <"$top/tools/newlib/$p.patch"
done
cp "$top/tools/newlib/collorder.c" .
mkdir objects
for f in regcomp regexec regerror regfree fnmatch collcmp collorder getopt mktemp; do
	"${P}gcc" -O2 -ffreestanding -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
		-U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix \
		-D_GNU_SOURCE -D__DYNAMIC_REENT__ -DHAVE_MKDIR -nostdinc -I. \
		-isystem "$top/build/newlib/x86_64-elf/include" \
		-isystem "$("${P}gcc" -print-file-name=include)" -c "$f.c" -o "objects/$f.o"
done
touch objects/stamp
rm -rf "$top/build/newlib-extra"
mv objects "$top/build/newlib-extra"
