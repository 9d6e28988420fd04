#!/bin/sh
# setup.sh [test] - sees that everything that weft needs on the host is there; test: also what only
# its tests need.
#
# On Debian and Ubuntu it installs the packages that are missing if it may (root, or sudo
# without a password); otherwise, and on other systems, it lists them and stops.
# Silent when nothing is missing.  A tool counts as there if it can be called.
set -eu
cd "$(dirname "$0")/.."

have() {
	command -v "$1" >/dev/null 2>&1
}

have_gdb() {
	for gdb in x86_64-elf-gdb gdb-multiarch x86_64-linux-gnu-gdb gdb; do
		if have $gdb && $gdb -nx -batch -ex 'set architecture i386:x86-64' \
			-ex 'python print("python")' 2>/dev/null | grep -q python; then
			return 0
		fi
	done
	return 1
}

# The host's own compiler: newlib's configure and some tests want it.
have_host_cc() {
	echo '#include <stdio.h>
int main(void) { return puts("") < 0; }' | gcc -x c -o /dev/null - 2>/dev/null
}

have_newlib() {
	[ -e build/newlib/stamp ] || [ -n "${NEWLIB_SOURCE:-}" ] ||
		ls /usr/src/newlib/newlib-*.tar.* >/dev/null 2>&1
}

have_grub() {
	{ have grub-mkrescue && [ -e /usr/lib/grub/i386-pc/multiboot2.mod ]; } ||
		have grub2-mkrescue || have i686-elf-grub-mkrescue || have x86_64-elf-grub-mkrescue
}

# The report's test drives one.  Ubuntu's package is a snap, which containers cannot run: there the test
# gets one for itself.
have_browser() {
	have chromium || have google-chrome || have google-chrome-stable ||
		[ -n "${WEFT_BROWSER:-}" ] || [ -d "/Applications/Google Chrome.app" ] ||
		ls "$HOME"/.cache/ms-playwright/chromium* >/dev/null 2>&1 ||
		grep -qx ID=ubuntu /etc/os-release 2>/dev/null
}

goal=${1:-}
case $(uname -m) in
x86_64 | amd64) native=yes gcc="gcc libc6-dev" gdb=gdb ;;
*) native=no gcc=gcc-x86-64-linux-gnu gdb=gdb-multiarch ;;
esac

packages= tools=
need() { # PACKAGES-OF-DEBIAN WHAT
	packages="$packages $1"
	tools="$tools
  $2"
}

check() {
	packages= tools=
	tools/find-cc >/dev/null ||
		need "$gcc" "GCC and binutils for x86-64 (x86_64-elf-gcc or x86_64-linux-gnu-gcc)"
	have_host_cc || need "gcc libc6-dev" "a C compiler for this machine"
	have xz || need xz-utils xz
	have patch || need patch patch
	have_newlib || need newlib-source "newlib's source, 3.3.0 (set NEWLIB_SOURCE to the archive)"
	have qemu-system-x86_64 || need qemu-system-x86 "QEMU, 7.2 or newer (qemu-system-x86_64)"
	have_gdb || need "$gdb" "GDB with Python that knows x86-64"
	have python3 && python3 -c 'import ensurepip, venv' 2>/dev/null ||
		need "python3 python3-venv" "Python 3.10 or newer, with venv"
	have git || need git git
	have_grub || need "grub-common grub-pc-bin" "grub-mkrescue with GRUB's i386-pc modules"
	have xorriso || need xorriso xorriso
	have mformat || need mtools "mtools (mformat)"
	[ "$goal" != test ] || have babeltrace2 || need babeltrace2 "babeltrace2, for the test of traces"
	[ "$goal" != test ] || have_browser || need chromium "Chromium or Chrome, for the report's test"
}

# GRUB's boot code for PCs is packaged for PCs alone, but it is data: taken as it is.
grub_for_other_hosts() {
	dir=$(mktemp -d)
	(cd "$dir" && chmod 755 . && $sudo dpkg --add-architecture amd64 && $sudo apt-get -q update &&
		apt-get -q download grub-pc-bin:amd64 && $sudo dpkg-deb -x grub-pc-bin_*.deb /)
	rm -rf "$dir"
}

list() {
	echo "weft needs what is not installed here:$tools"
	if have apt-get; then
		echo "Install it with:"
		echo "  sudo apt-get install --no-install-recommends$packages"
		[ $native = yes ] || echo "  (grub-pc-bin: unpack the amd64 package with dpkg-deb -x)"
	else
		cat <<-END
		Where packages have other names:
		  Fedora  gcc (x86-64) or gcc-x86_64-linux-gnu, qemu-system-x86-core, gdb,
		          python3, git, grub2-tools-extra, grub2-pc-modules, xorriso, mtools,
		          babeltrace2
		  Arch    gcc (x86-64) or x86_64-elf-gcc, qemu-system-x86, gdb, python, git,
		          grub, libisoburn, mtools, babeltrace2
		  macOS   brew install x86_64-elf-gcc x86_64-elf-gdb qemu python git xorriso
		          mtools x86_64-elf-grub babeltrace make  (call gmake)
		  newlib  https://sourceware.org/pub/newlib/newlib-3.3.0.tar.gz; then
		          export NEWLIB_SOURCE=.../newlib-3.3.0.tar.gz
		Or use the container in .devcontainer/, which has everything.
		END
	fi
} >&2

check
[ -n "$packages" ] || exit 0

sudo=
if ! have apt-get; then
	list
	exit 1
elif [ "$(id -u)" -ne 0 ]; then
	sudo="sudo -n"
	if ! sudo -n true 2>/dev/null; then
		list
		exit 1
	fi
fi

echo "weft: installing$packages" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get -q update
if [ $native = no ] && ! have_grub; then
	grub_for_other_hosts
	packages=$(echo "$packages" | sed 's/ grub-pc-bin//')
fi
# shellcheck disable=SC2086 # a list of words
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $packages

check
if [ -n "$packages" ]; then
	echo "weft: still missing after the installation:$tools" >&2
	exit 1
fi
