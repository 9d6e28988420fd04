# Makefile - builds weft, and calls its host command (tools/weft) for all else.
#
# Everything that is made lies in build/ (with DEBUG=1: the kernel in build/debug, and links to all
# else, which is the same in both builds).  kernel/, libthread/ and user/ each bring a part of this file, which
# defines the rules of its outputs; there is no recursive make, except where a tool
# has to be installed before the rules can be read.
#
# Set here for the parts: B (build directory of the kernel), U (of what runs in user space), P (prefix of the
# compiler), CC LD AR NM OBJCOPY, DEBUG (1: assertions and lock-order checks), V (1: show the commands).
# Set by the parts: PROGRAMS, every program that goes to /bin of the initial RAM disk; LINKS, the
# symbolic links there, each as LINK=TARGET; TEST_PROGRAMS, those that only tests bring into a guest; BROUGHT, those
# that the host brings to a guest whose command names them.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

DEBUG ?=
V ?=
U := build
B := $(if $(filter 1,$(DEBUG)),$(U)/debug,$(U))
PYTHON ?= python3
# For a make that we call; a -j of the caller is obeyed.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN || echo 2))
WEFT := tools/weft

# These need no compiler, or have to install it first.
HOST_GOALS := help clean python setup run bench report test gdb races site format check-format

ifneq ($(filter-out $(HOST_GOALS),$(or $(MAKECMDGOALS),all)),)
CC := $(shell tools/find-cc)
ifeq ($(CC),)
$(error there is no compiler that makes x86-64 code; `make setup` installs it or says how to)
endif
P := $(CC:%gcc=%)
LD := $(P)ld
AR := $(P)ar
NM := $(P)nm
OBJCOPY := $(P)objcopy
# In exact timing an instruction that only aligns the next one costs as much as any.
NO_PADDING := -fno-align-jumps -fno-align-labels -fno-align-loops
# The debugging information lets a function begin with its own first line.  Otherwise GDB shows a
# breakpoint at an inline function that comes first, in another file.  The code stays the same.
DEBUG_LINES := -g -gno-statement-frontiers

all: $(B)/weft.elf $(U)/initrd.cpio sysroot brought
include kernel/kernel.mk
include $(wildcard libthread/libthread.mk)
include user/user.mk
include java/java.mk
include labs/labs.mk
endif

Q := $(if $(filter 1,$(V)),,@)
SAY = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)";)

# --- the initial RAM disk and the ISO image --------------------------------------------

# Without debugging information: the loader of the machine copies all of it.
STRIPPED := $(PROGRAMS:$(U)/bin/%=$(U)/initrd/bin/%)

$(STRIPPED): $(U)/initrd/bin/%: $(U)/bin/%
	$(Q)mkdir -p $(@D) && $(OBJCOPY) --strip-debug $< $@

# A guest of a test gets those that its command names (tests/conftest.py).
STRIPPED_TESTS := $(TEST_PROGRAMS:$(U)/bin/%=$(U)/tests/bin/%)
test-programs: $(STRIPPED_TESTS)
$(STRIPPED_TESTS): $(U)/tests/bin/%: $(U)/bin/%
	$(Q)mkdir -p $(@D) && $(OBJCOPY) --strip-debug $< $@

# After the rules of the parts, which add to it.
brought: $(BROUGHT)

# Changes when a program comes or goes, so that the archive is made again.
$(U)/initrd/programs: FORCE
	$(Q)mkdir -p $(@D) && echo "$(PROGRAMS) $(LINKS)" | cmp -s - $@ || echo "$(PROGRAMS) $(LINKS)" > $@

$(U)/initrd.cpio: $(STRIPPED) $(U)/initrd/programs tools/weft_host/cpio.py
	$(call SAY,CPIO,$@)$(PYTHON) tools/weft_host/cpio.py $@ bin/ etc/ tmp/ host/ dev/ \
		$(LINKS) \
		$(foreach p,$(STRIPPED),$(p):bin/$(notdir $(p)))

# A build with DEBUG=1 has all that a guest needs, like the plain one.
ifneq ($(B),$(U))
all test-programs sysroot: links
links:
	$(Q)mkdir -p $(B) && cd $(B) && for f in bin brought tests sysroot initrd.cpio; do \
		[ -h $$f ] || { rm -rf $$f && ln -s ../$$f $$f; } || exit 1; \
	done
endif

iso: $(B)/weft.iso
$(B)/weft.iso: $(B)/weft.elf $(U)/initrd.cpio tools/weft_host/iso.py
	$(call SAY,ISO,$@)$(PYTHON) tools/weft_host/iso.py $@ $(B)/weft.elf $(U)/initrd.cpio

# --- the host command ------------------------------------------------------------------

# make run SMP=4 MEM=1G MODEL=mxn OPTIONS=queue=fifo CMD="pp -v -i 1000" ARGS="--timeout 60"
RUN_ARGS := $(if $(SMP),--smp $(SMP)) $(if $(MEM),--mem $(MEM)) $(if $(MODEL),--model $(MODEL)) \
	$(if $(OPTIONS),--options $(OPTIONS)) $(if $(filter 1,$(DEBUG)),--debug) $(ARGS) \
	$(if $(CMD),-- $(CMD))

run: python
	@$(WEFT) run $(RUN_ARGS)

gdb: python
	@$(WEFT) gdb $(RUN_ARGS)

# What the host command cannot say itself.
python:
	@command -v $(PYTHON) >/dev/null || { echo "weft needs $(PYTHON), 3.10 or newer, with venv" \
		"(Debian, Ubuntu: python3 python3-venv); 'make setup' installs it where it may" >&2; exit 1; }

# Installs what is missing where it may, else says what to install and stops.
setup:
	@tools/setup.sh $(SETUP_FOR)

bench: setup
	@$(WEFT) bench $(if $(filter 1,$(FULL)),--full) $(ARGS)

# Of the results that are there; without any, after the quick experiments.
report: setup
	@ls build/results/*.json >/dev/null 2>&1 || $(WEFT) bench
	@$(WEFT) report $(ARGS)

# PYTEST="-k pingpong --soak 10" hands options to pytest.
# Of chosen tests, those of pages get themselves a browser (tests/browser.py).
test: SETUP_FOR := $(if $(PYTEST),,test)
test: setup
	@$(MAKE) $(PARALLEL) all test-programs iso
	@$(MAKE) $(PARALLEL) DEBUG=1 all test-programs
	@$(WEFT) pytest $(PYTEST)

# docs/races.md, of the headers of tests/bugs/*.patch.
races: python
	@$(WEFT) pytest -q tests/test_bugs.py --update-races

site: python
	@$(WEFT) site $(ARGS)

format check-format: python
	@$(WEFT) $@

clean:
	rm -rf build

help:
	@sed -n 's/^#: //p' Makefile

FORCE:
.PHONY: all brought test-programs links run gdb iso python setup bench report test races site format check-format clean help FORCE

#: make                 builds the kernel, the programs and the initial RAM disk into build/
#: make DEBUG=1         the same with a kernel that has assertions and lock-order checks, in build/debug/
#: make run             boots weft with a shell (leave it: Ctrl-A x)
#:      SMP=4 MEM=1G MODEL=lwp|mxn|n1 OPTIONS=... CMD="pp -v -i 1000"
#: make gdb             the same, stopped before the first instruction, under GDB
#: make bench           does all the set-up, then measures and prints the papers' tables, in a quick
#:                      form; FULL=1: in full
#: make report          writes build/report/index.html out of what make bench has measured
#: make test            does all the set-up, then runs every test  (PYTEST="-k name")
#: make site            makes web pages of the documents, build/site/index.html
#: make iso             a bootable CD image, build/weft.iso
#: make setup           installs the packages that are missing, or lists them
#: make races           makes docs/races.md of the headers of the planted bugs (tests/bugs)
#: make format          formats the sources; make check-format only checks them, and the types of Python
#: make clean           removes build/
#: tools/weft --help    all that the host command can do
