# labs.mk - builds a student's solution of a lab (tools/weft_lab/build.py): the student's files take the
# place of weft's, and all else comes from the plain build.
#
#	make LAB=02-park LAB_OUT=DIR lab-tests	compiles what is the same for all students
#	make LAB=02-park LAB_OUT=DIR lab-includes	lists what the student's files include
#	make LAB=02-park LAB_OUT=DIR lab-code		compiles them to assembly
#	make LAB=02-park LAB_OUT=DIR lab		makes DIR a build: weft.elf, bin/, initrd.cpio;
#							with LAB_ONLY=labpark only this program is in bin/
#
# DIR/src has the student's files, under the names of those that they replace, and the files of the lab's folder
# given/.  Between the goals build.py looks at what the student's files have made.  What a student's file includes
# with "" is looked up in DIR/src, and beside the file that it replaces.
#
# tests/kernel/*.c of a lab goes into the kernel, to test what no program can see.  Where it defines __wrap_NAME,
# the kernel's other files call that function in place of NAME, which is __real_NAME to it (ld(1), --wrap).
ifneq ($(LAB_OUT),)
L := $(LAB_OUT)
LAB_SRC := $(patsubst $(L)/src/%,%,$(sort $(shell find $(L)/src -name '*.[cS]')))
LAB_TESTS := $(sort $(wildcard labs/$(LAB)/tests/*.c))
LAB_COMMON := $(sort $(wildcard labs/common/*.c))
LAB_IN_KERNEL := $(sort $(wildcard labs/$(LAB)/tests/kernel/*.c))

# $(1): a part of weft, $(2): its sources.  Their objects; a file of the student's that replaces none comes too.
LAB_OBJECTS = $(foreach s,$(filter-out $(LAB_SRC),$(2)),$(B)/$(s).o) $(patsubst %,$(L)/%.o,$(filter $(1)/%,$(LAB_SRC)))
LAB_K_OBJ := $(call LAB_OBJECTS,kernel,$(K_SRC)) $(LAB_IN_KERNEL:%=$(B)/%.o)
ifneq ($(LAB_IN_KERNEL),)
LAB_WRAP := $(patsubst __wrap_%,--wrap=%,$(sort $(shell grep -oh '__wrap_[a-z0-9_]*' $(LAB_IN_KERNEL))))
endif
LAB_LT_OBJ := $(call LAB_OBJECTS,libthread,$(LT_SRC))
LAB_REPLACES = $(filter $(1)/%,$(LAB_SRC))

# A student's warning is shown, and is no error.
LAB_K_CC = $(Q)mkdir -p $(@D) && $(CC) $(K_CFLAGS) -Wno-error -iquote $(dir kernel/$*)
LAB_LT_CC = $(Q)mkdir -p $(@D) && $(CC) $(LT_CFLAGS) -Wno-error -iquote $(dir libthread/$*)

$(L)/kernel/%.c.includes: $(L)/src/kernel/%.c
	$(LAB_K_CC) -M -MF $@ $<

$(L)/kernel/%.S.includes: $(L)/src/kernel/%.S
	$(LAB_K_CC) -M -MF $@ $<

$(L)/libthread/%.c.includes: $(L)/src/libthread/%.c
	$(LAB_LT_CC) -M -MF $@ $<

$(L)/libthread/%.S.includes: $(L)/src/libthread/%.S
	$(LAB_LT_CC) -M -MF $@ $<

# Also after a change of weft's headers.
$(L)/kernel/%.c.s: $(L)/src/kernel/%.c $(B)/weft.elf
	$(LAB_K_CC) -S -o $@ $<

$(L)/kernel/%.S.s: $(L)/src/kernel/%.S $(B)/weft.elf
	$(LAB_K_CC) -E -o $@ $<

$(L)/libthread/%.c.s: $(L)/src/libthread/%.c $(SYSROOT)/lib/libthread.a
	$(LAB_LT_CC) -S -o $@ $<

$(L)/libthread/%.S.s: $(L)/src/libthread/%.S $(SYSROOT)/lib/libthread.a
	$(LAB_LT_CC) -E -o $@ $<

$(L)/%.c.o: $(L)/%.c.s
	$(Q)$(CC) -c -o $@ $<

$(L)/%.S.o: $(L)/%.S.s
	$(Q)$(CC) -c -o $@ $<

lab-tests: $(LAB_TESTS:%=$(B)/%.o) $(LAB_COMMON:%=$(B)/%.o) $(LAB_IN_KERNEL:%=$(B)/%.o)
lab-includes: $(LAB_SRC:%=$(L)/%.includes)
lab-code: $(LAB_SRC:%=$(L)/%.s)

# --- the kernel ------------------------------------------------------------------------------

ifneq ($(call LAB_REPLACES,kernel),)
$(L)/pass1.elf: $(LAB_K_OBJ) $(K_LDSCRIPT)
	$(Q)$(LD) $(K_LDFLAGS) $(LAB_WRAP) -T $(K_LDSCRIPT) -o $@ $(LAB_K_OBJ)

$(L)/ksyms.S: $(L)/pass1.elf tools/ksyms.py
	$(Q)$(NM) -n $< | $(PYTHON) tools/ksyms.py > $@.new && mv $@.new $@

$(L)/ksyms.o: $(L)/ksyms.S
	$(Q)$(CC) -c -o $@ $<

$(L)/weft.elf: $(L)/ksyms.o
	$(Q)$(LD) $(K_LDFLAGS) $(LAB_WRAP) -T $(K_LDSCRIPT) -o $@ $(LAB_K_OBJ) $<
else
$(L)/weft.elf: $(B)/weft.elf
	$(Q)mkdir -p $(@D) && ln -sf $(abspath $<) $@
endif

# --- the threads library, and the programs of the tests ------------------------------------------

$(L)/lib/libthread.a: $(LAB_LT_OBJ)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(LAB_LT_OBJ)

LAB_LIBRARY := $(if $(call LAB_REPLACES,libthread),$(L)/lib/libthread.a)

# *Race:* the builds of two students find no object of a test, and both make it.  *Without this:* the second build
# links what the compiler of the first has not yet written, and fails.  *Closed by:* the last command, a
# rename, so that an object that is there is whole.
$(B)/labs/%.c.o: labs/%.c user/user.mk $(NEWLIB)/stamp
	$(Q)mkdir -p $(@D) && $(CC) $(U_CFLAGS) -Ilabs/common -Itests/guest -MMD -MP -MF $@.$$$$.d -MT $@ \
		-c -o $@.$$$$ $< && mv -f $@.$$$$.d $(@:.o=.d) && mv -f $@.$$$$ $@

$(B)/labs/$(LAB)/tests/kernel/%.c.o: labs/$(LAB)/tests/kernel/%.c kernel/kernel.mk
	$(Q)mkdir -p $(@D) && $(CC) $(K_CFLAGS) -iquote kernel/cpu -MMD -MP -MF $@.$$$$.d -MT $@ -c -o $@.$$$$ $< && \
		mv -f $@.$$$$.d $(@:.o=.d) && mv -f $@.$$$$ $@

# $(1): the source of a program.
define LAB_PROGRAM
$(L)/bin/$(basename $(notdir $(1))): $(B)/$(1).o $(LAB_COMMON:%=$(B)/%.o) $(LAB_LIBRARY) $(U_LIBS)
	$(Q)mkdir -p $$(@D) && $(CC) -o $$@ $(B)/$(1).o $(LAB_COMMON:%=$(B)/%.o) \
		$(if $(LAB_LIBRARY),-L$(L)/lib) $(U_TEST_LDFLAGS) $(call SYSROOT_LDFLAGS,$(SYSROOT))
endef
$(foreach t,$(LAB_TESTS),$(eval $(call LAB_PROGRAM,$(t))))

$(L)/initrd.cpio: $(B)/initrd.cpio
	$(Q)mkdir -p $(@D) && ln -sf $(abspath $<) $@

LAB_PROGRAMS := $(foreach t,$(LAB_TESTS),$(L)/bin/$(basename $(notdir $(t))))
lab: $(L)/weft.elf $(L)/initrd.cpio $(if $(LAB_ONLY),$(L)/bin/$(LAB_ONLY),$(LAB_PROGRAMS))
.PHONY: lab lab-tests lab-code lab-includes

-include $(LAB_TESTS:%=$(B)/%.d) $(LAB_IN_KERNEL:%=$(B)/%.d) $(LAB_COMMON:%=$(B)/%.d)
endif
