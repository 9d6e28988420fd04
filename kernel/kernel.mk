# kernel.mk - builds the kernel, $(B)/weft.elf.
#
# Included by the top-level Makefile, which sets B (build directory), CC, LD, NM,
# DEBUG (1: assertions and lock-order checks) and V (1: show commands).
#
# The kernel is linked twice.  The first link gives every function its address;
# tools/ksyms.py turns those into a table (section .ksyms, after everything that
# it describes), and the second link puts the table in, for backtraces.

K_SRC := $(sort $(wildcard kernel/*/*.c kernel/*/*.S))
K_OBJ := $(K_SRC:%=$(B)/%.o)
K_LDSCRIPT := kernel/boot/weft.ld

K_CFLAGS := -std=gnu11 -O2 $(DEBUG_LINES) -ffreestanding -fno-pic -fno-pie -mcmodel=kernel -mno-red-zone \
	-mgeneral-regs-only -mpreferred-stack-boundary=3 -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-fno-strict-aliasing -fno-common $(NO_PADDING) -Wall -Wextra -Werror -Wno-unused-parameter \
	-Wmissing-prototypes -Wstrict-prototypes -Ikernel/include $(if $(filter 1,$(DEBUG)),-DWEFT_DEBUG)
K_LDFLAGS := -nostdlib -static -z max-page-size=4096 -z noexecstack --build-id=none \
	--orphan-handling=error

K_Q := $(if $(filter 1,$(V)),,@)
K_SAY = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)";)

$(B)/kernel/%.c.o: kernel/%.c kernel/kernel.mk
	$(call K_SAY,CC,$<)mkdir -p $(@D) && $(CC) $(K_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/kernel/%.S.o: kernel/%.S kernel/kernel.mk
	$(call K_SAY,AS,$<)mkdir -p $(@D) && $(CC) $(K_CFLAGS) -MMD -MP -c -o $@ $<

# Changes when a source file comes or goes, so that the kernel is linked again.
$(B)/kernel/objects: K_FORCE
	$(K_Q)mkdir -p $(@D) && echo "$(K_OBJ)" | cmp -s - $@ || echo "$(K_OBJ)" > $@

$(B)/kernel/pass1.elf: $(K_OBJ) $(K_LDSCRIPT) $(B)/kernel/objects
	$(K_Q)$(LD) $(K_LDFLAGS) -T $(K_LDSCRIPT) -o $@ $(K_OBJ)

$(B)/kernel/ksyms.S: $(B)/kernel/pass1.elf tools/ksyms.py
	$(K_Q)$(NM) -n $< | $(or $(PYTHON),python3) tools/ksyms.py > $@.new && mv $@.new $@

$(B)/kernel/ksyms.o: $(B)/kernel/ksyms.S
	$(K_Q)$(CC) -c -o $@ $<

$(B)/weft.elf: $(B)/kernel/ksyms.o
	$(call K_SAY,LD,$@)$(LD) $(K_LDFLAGS) -T $(K_LDSCRIPT) -o $@ $(K_OBJ) $(B)/kernel/ksyms.o

K_FORCE:
.PHONY: K_FORCE

-include $(K_OBJ:.o=.d)
