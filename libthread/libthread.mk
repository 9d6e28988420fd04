# libthread.mk - builds the threads library into the sysroot (user/user.mk).
#
# Fast paths call their slow paths behind the compiler's back (core/slow.S), so there is no red zone.
# Two stores are cheaper than one of a vector that has to be put together first.

LT_SRC := $(sort $(wildcard libthread/core/*.[cS] libthread/sync/*.c libthread/model/*/*.[cS] \
	libthread/malloc/*.c libthread/lockstat/*.c libthread/win/*.[cS]))
LT_OBJ := $(LT_SRC:%=$(U)/%.o)
LT_CFLAGS = $(U_CFLAGS) $(DEBUG_LINES) -mno-red-zone -fno-tree-slp-vectorize

$(U)/libthread/%.o: libthread/% libthread/libthread.mk user/user.mk build/newlib/stamp
	$(call U_SAY,CC,$<)mkdir -p $(@D) && $(CC) $(LT_CFLAGS) -MMD -MP -c -o $@ $<

# What is hardly ever executed, and goes into every program, shall be small.
LT_COLD := core/options core/sampler core/service lockstat/report lockstat/start model/mxn/grow model/mxn/services \
	model/mxn/pool model/mxn/realtime model/mxn/activation model/mxn/waiting
$(LT_COLD:%=$(U)/libthread/%.c.o): LT_CFLAGS += -Os

# The second copies of sync/: lines and functions are enough for a debugger, since these go into
# every program.
$(U)/libthread/lockstat/%.o: LT_CFLAGS += -g1

$(U)/sysroot/lib/libthread.a: $(LT_OBJ) libthread/libthread.mk
	$(call U_SAY,AR,$@)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(LT_OBJ)

-include $(LT_OBJ:.o=.d)
