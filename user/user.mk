# user.mk - builds what runs in user space: the C library's port, the sysroot that
# programs are compiled against, and the programs.
#
# Included by the top-level Makefile, which sets U (build directory), P (prefix of
# the compiler), CC, AR and V.  For other parts it sets
#
#	NEWLIB		where newlib is installed
#	SYSROOT		include/, lib/ and the files cflags and ldflags: options, one
#			a line, to compile and to link any program with ("weft cc")
#	U_CFLAGS	to compile our own user-space code with
#	PROGRAMS	the programs, $(U)/bin/NAME, all of which go into /bin
#	TEST_PROGRAMS	those of tests/guest, which do not
#
# A program is a file FOLDER/NAME.c or a folder FOLDER/NAME/ with *.c, for each FOLDER
# of U_FOLDERS.  FOLDER/common is none, but a library for the programs of FOLDER.
# libthread.mk makes $(SYSROOT)/lib/libthread.a, which every program is linked with: it gives
# newlib its locks and per-thread state.

NEWLIB := build/newlib
SYSROOT := $(U)/sysroot
U_FOLDERS := user/bin/files user/bin/threads user/bench user/demo tests/guest

U_Q := $(if $(filter 1,$(V)),,@)
U_SAY = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)";)

# What the ABI of every object is.  A Linux compiler defines __linux__; we are not.
# Frame pointers cost little and let a debugger walk any stack without tables.
U_UNDEF := -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix
U_ABI := -O2 -g -fno-pie -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -fno-omit-frame-pointer -ffunction-sections \
	-fdata-sections -U_FORTIFY_SOURCE $(U_UNDEF) -D__weft__ -D__DYNAMIC_REENT__ \
	-D_READ_WRITE_RETURN_TYPE=_ssize_t -nostdinc
U_GCCINC := $(shell $(CC) -print-file-name=include)
U_LIBGCC := $(shell $(CC) -print-libgcc-file-name)

# Leaf functions keep no frame: the fast paths of locks, thread-specific data and clocks are
# leaves, and a frame would be half of them.
U_CFLAGS := -std=gnu11 $(U_ABI) $(NO_PADDING) -momit-leaf-frame-pointer -Wall -Wextra -Werror -Wno-unused-parameter \
	-Wmissing-prototypes -Wstrict-prototypes \
	-Ilibthread/include -Iuser/libc/include -Ikernel/include \
	-isystem $(NEWLIB)/x86_64-elf/include -isystem $(U_GCCINC)

# Our headers come before newlib's: several take the place of newlib's or add to them.
# $(1): the sysroot.  The files cflags and ldflags have @SYSROOT@ there, since the tree may be moved
# or copied; weft cc fills it in.
SYSROOT_CFLAGS = $(U_ABI) -isystem $(1)/include -isystem $(1)/newlib/include -isystem $(U_GCCINC)
SYSROOT_LDFLAGS = -nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id=none \
	-Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,-z,norelro \
	-T $(1)/lib/libthread.ld $(1)/lib/crt0.o -L$(1)/lib \
	-Wl,--start-group -lthread -lweft -lc -lm $(U_LIBGCC) -Wl,--end-group

U_OBJ_SRC :=

# --- newlib ---------------------------------------------------------------

$(NEWLIB)/stamp: tools/newlib.sh tools/newlib/positional-arguments.patch
	$(U_Q)tools/newlib.sh "$(P)"

build/newlib-extra/stamp: tools/newlib-extra.sh $(wildcard tools/newlib/*) $(NEWLIB)/stamp
	$(U_Q)tools/newlib-extra.sh "$(P)"

# --- objects ----------------------------------------------------------------

define U_COMPILE
$(call U_SAY,$(1),$<)mkdir -p $(@D) && $(CC) $(U_CFLAGS) -MMD -MP -c -o $@ $<
endef

$(U)/user/%.c.o: user/%.c user/user.mk $(NEWLIB)/stamp
	$(call U_COMPILE,CC)

$(U)/user/%.S.o: user/%.S user/user.mk $(NEWLIB)/stamp
	$(call U_COMPILE,AS)

$(U)/tests/guest/%.c.o: tests/guest/%.c user/user.mk $(NEWLIB)/stamp
	$(call U_COMPILE,CC)

# --- the sysroot -------------------------------------------------------------

U_HEADERS := $(sort $(shell find libthread/include user/libc/include kernel/include/weft \
	-name '*.h' 2>/dev/null))
U_LIBC_SRC := $(sort $(filter-out user/libc/crt0.S,$(wildcard user/libc/*.[cS])))
U_LIBC_OBJ := $(U_LIBC_SRC:%=$(U)/%.o)
U_OBJ_SRC += $(U_LIBC_SRC) user/libc/crt0.S
U_LIBS := $(SYSROOT)/lib/crt0.o $(SYSROOT)/lib/libweft.a $(SYSROOT)/lib/libthread.a \
	$(SYSROOT)/lib/libthread.ld $(SYSROOT)/lib/newlib-stamp

# Headers are copied again when one changes, comes or goes.  Not those of newlib that include what
# it has for other systems alone.
U_NO_HEADERS := ndbm.h regdef.h utmp.h sys/custom_file.h
$(SYSROOT)/include-list: U_FORCE
	$(U_Q)mkdir -p $(@D) && echo "$(U_HEADERS)" | cmp -s - $@ || echo "$(U_HEADERS)" > $@

$(SYSROOT)/include-stamp: $(SYSROOT)/include-list $(U_HEADERS) $(NEWLIB)/stamp user/user.mk
	$(call U_SAY,COPY,$(SYSROOT)/include)rm -rf $(SYSROOT)/include $(SYSROOT)/newlib && \
	mkdir -p $(SYSROOT)/include/weft $(SYSROOT)/newlib && \
	cp -R $(NEWLIB)/x86_64-elf/include $(SYSROOT)/newlib/ && \
	rm $(addprefix $(SYSROOT)/newlib/include/,$(U_NO_HEADERS)) && \
	for d in user/libc/include libthread/include; do \
		if [ -d $$d ]; then cp -R $$d/. $(SYSROOT)/include/; fi; \
	done && cp kernel/include/weft/*.h $(SYSROOT)/include/weft/ && touch $@

# Without the objects that libthread (locks) and we define instead: a linker that met
# newlib's first would then find them twice.  (newlib's rename calls itself, and its remove
# knows no directories; getopt, mktemp: newlib-extra.sh.)
# Names are changed in the objects, and not by patches: mallocr.c is the source of six objects, and
# stdio's calls come of macros of newlib's in ten objects.  objcopy says nothing of a name that is not there,
# so nm looks whether each new one has come to be.
# What malloc is, is chosen at run time (libthread/malloc): newlib's functions are one choice,
# under names of their own, and what called them calls the choice.
U_MALLOC := mallocr freer callocr reallocr malignr msizer
U_MALLOC_NAMES := malloc free calloc realloc memalign malloc_usable_size
# stdio's list of streams grows by the library's own malloc (malloc.c says why).
# stdio's functions are no cancellation points: they have calls of their own (libc/plain.c).
U_STDIO := lib_a-fopen lib_a-freopen lib_a-stdio lib_a-tmpfile lib_a-tmpnam lib_a-perror \
	lib_a-__dprintf lib_a-vdprintf lib_a-vdiprintf mktemp
U_STDIO_CALLS := open close read write
# $(1): T, defined, or U, used; $(2): names that some object of this folder must have.
U_RENAMED = for f in $(2); do $(NM) *.o | grep -q " $(1) $$f\$$" || \
	{ echo "newlib has nothing that is to be called $$f" >&2; exit 1; }; done
U_REPLACED := assert malloc calloc realloc malign msize getopt mktemp lock clock rename remove system \
	abort raise signal strsignal psignal setjmp random

$(SYSROOT)/lib/newlib-stamp: $(NEWLIB)/stamp build/newlib-extra/stamp user/user.mk
	$(U_Q)mkdir -p $(@D) && cp $(NEWLIB)/x86_64-elf/lib/libc.a $(NEWLIB)/x86_64-elf/lib/libm.a \
		$(@D) && \
	$(AR) d $(@D)/libc.a $(U_REPLACED:%=lib_a-%.o) $(U_REPLACED:%=libc_a-%.o) && \
	$(AR) rD $(@D)/libc.a build/newlib-extra/*.o && \
	rm -rf $(@D)/malloc && mkdir $(@D)/malloc && cd $(@D)/malloc && \
	$(AR) x ../libc.a $(U_MALLOC:%=lib_a-%.o) && \
	for o in *.o; do \
		$(OBJCOPY) $(foreach f,$(U_MALLOC_NAMES),--redefine-sym _$(f)_r=__newlib_$(f)_r) $$o; \
	done && $(call U_RENAMED,T,$(U_MALLOC_NAMES:%=__newlib_%_r)) && $(AR) x ../libc.a lib_a-findfp.o && \
	$(OBJCOPY) --redefine-sym _malloc_r=__libc_malloc_r lib_a-findfp.o && \
	$(call U_RENAMED,U,__libc_malloc_r) && \
	$(AR) rD ../libc.a *.o && cd - >/dev/null && rm -r $(@D)/malloc
	$(U_Q)rm -rf $(@D)/stdio && mkdir $(@D)/stdio && cd $(@D)/stdio && \
	$(AR) x ../libc.a $(U_STDIO:%=%.o) && \
	for o in *.o; do \
		$(OBJCOPY) $(foreach f,$(U_STDIO_CALLS),--redefine-sym $(f)=__plain_$(f)) $$o; \
	done && $(call U_RENAMED,U,$(U_STDIO_CALLS:%=__plain_%)) && $(AR) rD ../libc.a *.o && cd - >/dev/null && rm -r $(@D)/stdio && touch $@

$(SYSROOT)/lib/crt0.o: $(U)/user/libc/crt0.S.o
	$(U_Q)mkdir -p $(@D) && cp $< $@

$(SYSROOT)/lib/libthread.ld: libthread/libthread.ld
	$(U_Q)mkdir -p $(@D) && cp $< $@

$(SYSROOT)/lib/libweft.a: $(U_LIBC_OBJ) user/libc user/user.mk
	$(call U_SAY,AR,$@)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(U_LIBC_OBJ)

$(SYSROOT)/cflags: user/user.mk
	$(U_Q)mkdir -p $(@D) && printf '%s\n' $(call SYSROOT_CFLAGS,@SYSROOT@) > $@

$(SYSROOT)/ldflags: user/user.mk
	$(U_Q)mkdir -p $(@D) && printf '%s\n' $(call SYSROOT_LDFLAGS,@SYSROOT@) > $@

sysroot: $(U_LIBS) $(SYSROOT)/include-stamp $(SYSROOT)/cflags $(SYSROOT)/ldflags

# --- programs ----------------------------------------------------------------

U_COMMON := $(wildcard $(U_FOLDERS:%=%/common))
U_COMMON_LIB = $(1:%=$(U)/%.a)
U_COMMON_OF = $(foreach c,$(U_COMMON),$(if $(filter $(dir $(c))%,$(1)),$(call U_COMMON_LIB,$(c))))

# $(1): the folder.
define U_COMMON_RULE
U_OBJ_SRC += $(wildcard $(1)/*.c)
$(call U_COMMON_LIB,$(1)): $(patsubst %,$(U)/%.o,$(sort $(wildcard $(1)/*.c))) $(1) user/user.mk
	$$(call U_SAY,AR,$$@)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcsD $$@ $$(filter %.o,$$^)
endef
$(foreach c,$(U_COMMON),$(eval $(call U_COMMON_RULE,$(c))))

U_FILES := $(sort $(foreach d,$(U_FOLDERS),$(wildcard $(d)/*.c)))
U_SUBDIRS := $(filter-out $(U_COMMON),$(patsubst %/,%,$(sort $(dir \
	$(foreach d,$(U_FOLDERS),$(wildcard $(d)/*/*.c))))))
U_NAMES := $(notdir $(U_FILES:.c=) $(U_SUBDIRS))
TEST_PROGRAMS := $(addprefix $(U)/bin/,$(notdir \
	$(patsubst %.c,%,$(filter tests/guest/%,$(U_FILES) $(U_SUBDIRS)))))
PROGRAMS += $(filter-out $(TEST_PROGRAMS),$(addprefix $(U)/bin/,$(sort $(U_NAMES))))
ifneq ($(words $(U_NAMES)),$(words $(sort $(U_NAMES))))
$(error two programs have the same name: $(foreach n,$(sort $(U_NAMES)),$(if \
	$(word 2,$(filter $(n),$(U_NAMES))),$(n))))
endif

# What the shell is too (user/bin/files/sh/main.c).
LINKS += $(foreach p,echo printf stty test [,bin/$(p)=sh)

# A breakpoint at a user address stops every program that has code there: where tests stop, no
# other program has any (tests/guest/tap.h).
U_TEST_LDFLAGS := -Wl,--section-start=.tap=0x10000000

# $(1): program, $(2): its sources, $(3): the folder that it is made of, if any: it changes
# when a source comes or goes.
define U_PROGRAM
U_OBJ_SRC += $(2)
$(U)/bin/$(1): $(2:%=$(U)/%.o) $(call U_COMMON_OF,$(2)) $(3) $(U_LIBS) user/user.mk
	$$(call U_SAY,LD,$$@)mkdir -p $$(@D) && \
	$(CC) -o $$@ $(2:%=$(U)/%.o) $(call U_COMMON_OF,$(2)) \
		$(if $(filter tests/guest/% user/bench/torture/%,$(2)),$(U_TEST_LDFLAGS)) \
		$(call SYSROOT_LDFLAGS,$(SYSROOT))
endef
$(foreach f,$(U_FILES),$(eval $(call U_PROGRAM,$(basename $(notdir $(f))),$(f))))
$(foreach d,$(U_SUBDIRS),$(eval $(call U_PROGRAM,$(notdir $(d)),$(sort $(wildcard $(d)/*.c)),$(d))))

U_FORCE:
.PHONY: U_FORCE sysroot

-include $(U_OBJ_SRC:%=$(U)/%.d)
