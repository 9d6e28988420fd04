#!/bin/sh
# newlib.sh PREFIX - builds the C library (newlib) into build/newlib.
#
# PREFIX is the compiler's (x86_64-linux-gnu-, x86_64-elf-, or empty for plain
# gcc).  The source is Debian's newlib-source (3.3.0 and 4.5.0 are known to do);
# NEWLIB_SOURCE names another archive.  Does nothing if build/newlib was made by
# this very recipe with this compiler from this archive.  The result appears in one
# rename, so neither an interrupted run nor two at once leave half a library behind.
set -eu

[ $# -eq 1 ] || { echo "usage: newlib.sh PREFIX" >&2; exit 2; }
P=$1
top=$(cd "$(dirname "$0")/.." && pwd)
inst=$top/build/newlib
log=$top/build/newlib.log

die() {
	echo "newlib: $*" >&2
	exit 1
}

src=${NEWLIB_SOURCE:-$(ls /usr/src/newlib/newlib-*.tar.* 2>/dev/null | tail -n 1)}
[ -f "$src" ] || die "no source archive: install newlib-source (Debian, Ubuntu)," \
	"or set NEWLIB_SOURCE to newlib-3.3.0.tar.gz"
command -v "${P}gcc" >/dev/null || die "no compiler ${P}gcc"
command -v patch >/dev/null || die "no program patch: install patch"

patches=$top/tools/newlib/positional-arguments.patch
recipe=$(cat "$0" "$patches" | cksum)
stamp="recipe $recipe
compiler $("${P}gcc" --version | head -n 1), $("${P}gcc" -dumpmachine)
source $src"
if [ -f "$inst/stamp" ] && [ "$(cat "$inst/stamp")" = "$stamp" ]; then
	touch "$inst/stamp"
	exit 0
fi

mkdir -p "$top/build"
work=$(mktemp -d "$top/build/newlib-work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# A Linux compiler says that it compiles for Linux; newlib's headers would believe it.
UND="-U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix"
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# stdio, exit and malloc rely on these: reent through __getreent() of libthread,
# its locks, system calls under their plain names, and an exit() that does not
# wait for a stream which another thread reads (BSD semantics).  read and write
# return ssize_t, not newlib's int; programs are compiled with the same definition.
CFLAGS_FOR_TARGET="-O2 -g0 -ffreestanding -fno-pie -fno-stack-protector \
-fcf-protection=none -fno-asynchronous-unwind-tables -fno-common \
-ffunction-sections -fdata-sections -mno-red-zone -nostdinc $UND \
-D__DYNAMIC_REENT__ -DGETREENT_PROVIDED -DREENTRANT_SYSCALLS_PROVIDED \
-DSIGNAL_PROVIDED -D_STDIO_BSD_SEMANTICS -DHAVE_FCNTL \
-D_READ_WRITE_RETURN_TYPE=_ssize_t \
-isystem $("${P}gcc" -print-file-name=include)"
export CFLAGS_FOR_TARGET
export CC_FOR_TARGET="${P}gcc" AR_FOR_TARGET="${P}ar" RANLIB_FOR_TARGET="${P}ranlib"
export AS_FOR_TARGET="${P}as" LD_FOR_TARGET="${P}ld" NM_FOR_TARGET="${P}nm"
unset MAKEFLAGS MFLAGS MAKELEVEL

build() {
	cd "$work" && tar xf "$src" || return 1
	set -- */configure
	# Without fuzz: where the source is another than the patch expects, the build ends here.
	patch -p1 --fuzz=0 --no-backup-if-mismatch -d "$(dirname "$1")" <"$patches" || return 1
	mkdir obj
	cd obj
	"../$1" --target=x86_64-elf --prefix="$inst" --disable-multilib --disable-libgloss \
		--disable-nls --disable-newlib-supplied-syscalls \
		--enable-newlib-retargetable-locking --enable-newlib-global-stdio-streams \
		--enable-newlib-global-atexit --enable-newlib-io-c99-formats \
		--enable-newlib-io-long-long --enable-newlib-io-long-double \
		--enable-newlib-io-pos-args MAKEINFO=true &&
		make -j"$jobs" all-target-newlib MAKEINFO=true &&
		make install-target-newlib DESTDIR="$work/root" MAKEINFO=true
}

echo "newlib: building from $(basename "$src"), about a minute (log: build/newlib.log)"
(build) >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "the build failed; the whole log is build/newlib.log"
}

new=$work/root$inst
[ -f "$new/x86_64-elf/lib/libc.a" ] || die "the build left no libc.a; see build/newlib.log"
# It uses types that it does not include, so the compiler's own is to be found instead.
rm -f "$new/x86_64-elf/include/stdatomic.h"
echo "$stamp" >"$new/stamp"
rm -rf "$inst"
mv "$new" "$inst" 2>/dev/null || [ -f "$inst/stamp" ] || die "cannot install into build/newlib"
