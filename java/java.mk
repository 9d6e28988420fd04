# java.mk - builds the Java machine: java/vm in C, with the class files of java/lib as a jar inside.
#
# The class files lie beside their sources, so that the build needs no Java compiler; java/classes.py makes them
# again. java is no program of the initial RAM disk, which has no room for it: the host brings it to a guest whose
# command names it (tools/weft_host/machine.py), as BROUGHT. So it does bench.jar, the programs of java/bench.

JAVA_SRC := $(sort $(wildcard java/vm/*.c))
JAVA_OBJ := $(JAVA_SRC:%=$(U)/%.o) $(U)/java/vm/library.S.o
# Without those of inner classes, which have a dollar in their names, and change with the outer ones.
JAVA_CLASSES := $(sort $(shell find java/lib -name '*.class' ! -name '*$$*'))
JAVA_BENCH := $(sort $(wildcard java/bench/*.class))
JAVA_CFLAGS = $(U_CFLAGS) -fwrapv -fno-strict-aliasing
BROUGHT += $(U)/brought/java $(U)/brought/bench.jar

$(U)/java/vm/%.c.o: java/vm/%.c java/java.mk user/user.mk $(NEWLIB)/stamp
	$(call U_SAY,CC,$<)mkdir -p $(@D) && $(CC) $(JAVA_CFLAGS) -MMD -MP -c -o $@ $<

$(U)/java/library.jar: $(JAVA_CLASSES) java/jar.py java/java.mk
	$(call U_SAY,JAR,$@)mkdir -p $(@D) && $(PYTHON) java/jar.py $@ java/lib

$(U)/java/vm/library.S.o: java/vm/library.S $(U)/java/library.jar
	$(call U_SAY,AS,$<)mkdir -p $(@D) && $(CC) $(U_CFLAGS) -DJAVA_LIBRARY='"$(U)/java/library.jar"' -c -o $@ $<

$(U)/bin/java: $(JAVA_OBJ) $(U_LIBS) java/java.mk user/user.mk
	$(call U_SAY,LD,$@)mkdir -p $(@D) && $(CC) -o $@ $(JAVA_OBJ) $(call SYSROOT_LDFLAGS,$(SYSROOT))

$(U)/brought/java: $(U)/bin/java
	$(U_Q)mkdir -p $(@D) && $(OBJCOPY) --strip-debug $< $@

$(U)/brought/bench.jar: $(JAVA_BENCH) java/jar.py java/java.mk
	$(call U_SAY,JAR,$@)mkdir -p $(@D) && $(PYTHON) java/jar.py $@ java/bench

-include $(JAVA_OBJ:.o=.d)
