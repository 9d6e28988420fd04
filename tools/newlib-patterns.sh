#!/bin/sh
# newlib-patterns.sh PREFIX - regular expressions and file name patterns (regcomp, fnmatch
# and their kin) from newlib's source, as objects in build/patterns.
#
# newlib builds its POSIX folder for few systems, and most of that folder is what our own
# libc has; these files are what it lacks.  PREFIX and the source: as newlib.sh, which has
# been run before.
set -eu

[ $# -eq 1 ] || { echo "usage: newlib-patterns.sh PREFIX" >&2; exit 2; }
P=$1
top=$(cd "$(dirname "$0")/.." && pwd)
src=${NEWLIB_SOURCE:-$(ls /usr/src/newlib/newlib-*.tar.* | tail -n 1)}
work=$(mktemp -d "$top/build/patterns-work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

cd "$work"
tar xf "$src" --strip-components=4 --wildcards '*/newlib/libc/posix/*.[ch]'
# There is one collating order: that of the codes.
echo "int __collate_load_error = 1;" >collorder.c
mkdir objects
for f in regcomp regexec regerror regfree fnmatch collcmp collorder; do
	"${P}gcc" -O2 -ffreestanding -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
		-U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix \
		-D_GNU_SOURCE -D__DYNAMIC_REENT__ -nostdinc -I. \
		-isystem "$top/build/newlib/x86_64-elf/include" \
		-isystem "$("${P}gcc" -print-file-name=include)" -c "$f.c" -o "objects/$f.o"
done
touch objects/stamp
rm -rf "$top/build/patterns"
mv objects "$top/build/patterns"
