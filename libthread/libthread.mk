# libthread.mk - builds the threads library into the sysroot (user/user.mk).

LT_SRC := $(sort $(wildcard libthread/core/*.[cS] libthread/sync/*.c libthread/model/*/*.c \
	libthread/model/*/*.S libthread/win/*.c libthread/win/*.S))
LT_OBJ := $(LT_SRC:%=$(B)/%.o)

$(B)/libthread/%.o: libthread/% libthread/libthread.mk user/user.mk build/newlib/stamp
	$(call U_SAY,CC,$<)mkdir -p $(@D) && $(CC) $(U_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/sysroot/lib/libthread.a: $(LT_OBJ) libthread/libthread.mk
	$(call U_SAY,AR,$@)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(LT_OBJ)

-include $(LT_OBJ:.o=.d)
