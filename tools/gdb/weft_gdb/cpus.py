"""The CPUs, and the registers of each.

In fast timing each CPU is a processor of QEMU, which GDB calls a thread.  In exact timing the CPUs
take turns (kernel/timing): GDB's registers are those of the CPU that has the token.  A CPU that
waits for the token has its registers in the frame where its last window ended.
"""

import struct

import gdb

from .kernel import kernel_type, kernel_variable, lwp_type
from .memory import UserMemory, read_kernel

GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
           "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
REGISTERS = (*GENERAL, "rflags", "cs", "ss", "fs_base", "gs_base", "cr3")

# What vcpu_switch leaves on the stack (kernel/timing/lockstep.S).
SWITCH_SAVED = ("r15", "r14", "r13", "r12", "rbp", "rbx", "rip")
KERNEL_CS = 8


class VirtualCPU:
    """A CPU of the guest, with the kernel's struct cpu.

    registers: the interrupted ones if it waits for its turn.  shown: GDB's own commands show
    this CPU."""

    def __init__(self, struct_cpu, registers, waits, shown):
        self.cpu = struct_cpu
        self.id = int(struct_cpu["id"])
        self.lwp = struct_cpu["lwp"].cast(lwp_type().pointer())
        self.registers = registers
        self.user = bool(registers["cs"] & 3)
        self.waits = waits
        self.shown = shown

    @property
    def idle(self):
        return int(self.lwp) == int(self.cpu["idle"])

    def memory(self):
        """What the CPU's own page tables map, whichever CPU GDB reads through."""
        return UserMemory(self.registers["cr3"])


def _processors():
    """The registers of each processor of QEMU, by its number."""
    names = {name: "eflags" if name == "rflags" else name for name in REGISTERS}
    selected, frame = gdb.selected_thread(), gdb.selected_frame()
    found = {}
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            newest = gdb.newest_frame()
            found[_number(thread)] = {name: int(newest.read_register(theirs)) & (1 << 64) - 1
                                      for name, theirs in names.items()}
    finally:
        selected.switch()
        frame.select()
    return found


def _number(thread):
    """QEMU counts from 1.  With machine pc, this is the APIC id."""
    return thread.ptid[1] - 1


def _interrupted(cpu):
    """The registers in the frame where the CPU's last window ended; None: it had no window yet."""
    if not int(cpu["frame"]):
        return None
    frame = cpu["frame"].cast(kernel_type("struct lockstep_frame", "lockstep_switch").pointer())
    registers = {name: int(frame[name]) for name in (*GENERAL, "rflags", "cs", "ss")}
    return {**registers, "gs_base": int(frame["gsbase"])}


def _put_aside(cpu):
    """The registers of a CPU that has no processor (kernel/timing/one.c); None: it has not started."""
    vcpu = kernel_variable("vcpus", "lockstep_start_cpu")[int(cpu["id"])]
    rsp = int(vcpu["rsp"])
    if not rsp:
        return None
    registers = _interrupted(cpu)
    if registers is None:  # it starts other CPUs, or is about to start
        size = 8 * len(SWITCH_SAVED)
        words = struct.unpack(f"<{len(SWITCH_SAVED)}Q", read_kernel(rsp, size))
        registers = {**dict(zip(SWITCH_SAVED, words)), "rsp": rsp + size, "cs": KERNEL_CS}
    return {**registers, "fs_base": int(vcpu["fsbase"]), "cr3": int(vcpu["cr3"])}


def _on_one_processor(cpus, registers):
    """Exact timing's engine of one processor: the holder of the token has it.  While the token changes
    hands (one_give), the next CPU is the holder already."""
    holder = int(gdb.parse_and_eval("lockstep_token"))
    for cpu in cpus:
        waits = int(cpu["id"]) != holder
        its = _put_aside(cpu) if waits else registers
        if its is not None:
            yield VirtualCPU(cpu, its, waits, shown=not waits)


def _on_processors(cpus, registers):
    """Each CPU has a processor, which in exact timing may wait for the token in a HLT."""
    selected = _number(gdb.selected_thread())
    for cpu in cpus:
        number = int(cpu["apic_id"])
        if number in registers:
            interrupted = (_interrupted(cpu) if int(cpu["waiting"]) else None) or {}
            yield VirtualCPU(cpu, {**registers[number], **interrupted}, bool(interrupted),
                             shown=number == selected)


def virtual_cpus():
    """The CPUs that the kernel has started, by its numbers.  The selected thread stays so."""
    cpus = [gdb.parse_and_eval(f"cpus[{number}]")
            for number in range(int(gdb.parse_and_eval("ncpu")))]
    cpus = [cpu.dereference() for cpu in cpus if int(cpu) and int(cpu["lwp"])]
    registers = _processors()
    if int(kernel_variable("engine", "lockstep_switch")) == int(gdb.parse_and_eval("&engine_one")):
        return list(_on_one_processor(cpus, registers[0]))
    return list(_on_processors(cpus, registers))
