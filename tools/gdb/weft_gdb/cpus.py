"""The CPUs, and the registers of each.

The kernel's inferior has a thread for each CPU.  In exact timing the CPUs take turns (kernel/timing); the thread
of a CPU that waits has the registers with which its last window ended.
"""

import contextlib

import gdb

from .inferiors import cpu_shown, cpu_threads
from .kernel import kernel_variable, lwp_type
from .memory import UserMemory

GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
           "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
REGISTERS = (*GENERAL, "rflags", "cs", "ss", "fs_base", "gs_base", "cr3")


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


def _registers():
    """The registers of each CPU, by its number, those left out that GDB does not know."""
    names = {name: "eflags" if name == "rflags" else name for name in REGISTERS}
    selected, frame = gdb.selected_thread(), gdb.selected_frame()
    found = {}
    try:
        for number, thread in cpu_threads().items():
            thread.switch()
            newest = gdb.newest_frame()
            values = found[number] = {}
            for name, theirs in names.items():
                with contextlib.suppress(gdb.error):  # it is not available
                    values[name] = int(newest.read_register(theirs)) & (1 << 64) - 1
    finally:
        selected.switch()
        frame.select()
    return found


def _waits(cpu, one):
    """Does it wait for its turn?  While the token changes hands (one_give), the next CPU is the holder already."""
    if one:
        return int(cpu["id"]) != int(gdb.parse_and_eval("lockstep_token"))
    return bool(int(cpu["waiting"]) and int(cpu["frame"]))


def virtual_cpus():
    """The CPUs that the kernel has started, by its numbers.  The selected thread stays so."""
    cpus = [gdb.parse_and_eval(f"cpus[{number}]")
            for number in range(int(gdb.parse_and_eval("ncpu")))]
    cpus = [cpu.dereference() for cpu in cpus if int(cpu) and int(cpu["lwp"])]
    registers, shown = _registers(), cpu_shown()
    one = int(kernel_variable("engine", "lockstep_switch")) == int(gdb.parse_and_eval("&engine_one"))
    return [VirtualCPU(cpu, registers[int(cpu["id"])], _waits(cpu, one), int(cpu["id"]) == shown)
            for cpu in cpus if int(cpu["id"]) in registers]
