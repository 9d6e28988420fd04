"""libthread's threads, found in the user memory of their process."""

import struct

import gdb

from .kernel import process_lwps, user_memory, user_registers

STATES = {"TS_STOPPED": "Stopped", "TS_BLOCKED": "Blocked", "TS_RUNQUEUE": "RunQueue",
          "TS_DISPATCHABLE": "Dispatchable", "TS_ONLWP": "OnLWP"}

# What a switch between threads leaves at struct thread's rsp (libthread/core/tcb.h); the
# thread's own stack goes on above.
SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")


class Thread:
    """One struct thread, and where it is."""

    def __init__(self, memory, value, registers_of_lwp):
        self.id = int(value["id"])
        self.priority = int(value["pri"])
        names = {f.enumval: f.name for f in gdb.lookup_type("enum thread_state").fields()}
        self.state = STATES[names[int(value["state"])]]
        self.bound = bool(value["bound"])
        self.exited = bool(value["exited"])
        self.wchan = int(value["wchan"])
        self.start = int(value["start"])
        lwp = value["lwp"]
        self.lwp = int(memory.value(int(lwp), lwp.type.target())["id"])
        self._memory = memory
        if self.exited:
            self.registers = None
        elif self.lwp:
            self.registers = registers_of_lwp.get(self.lwp)
        else:
            self.registers = self._saved(int(value["rsp"]))

    def _saved(self, rsp):
        words = struct.unpack("<7Q", self._memory.read(rsp, 56))
        return {**dict(zip(SAVED, words)), "rsp": rsp + 56}

    def backtrace(self, unwinder):
        """The frames, as the unwinder gives them, the innermost first."""
        if self.registers is not None:
            yield from unwinder.backtrace(self._memory, self.registers)


def program_symbol(name):
    """The user address of a global variable of the program whose symbols are loaded."""
    symbol = gdb.lookup_global_symbol(name)
    if symbol is None:
        raise gdb.GdbError("no program with libthread is loaded: weft-program FILE")
    return int(symbol.value().address)


def threads(proc, vcpus):
    """The threads of a process, by their ids."""
    memory = user_memory(proc)
    registers = {int(lwp["id"]): user_registers(lwp, vcpus) for lwp in process_lwps(proc)}
    kind = gdb.lookup_type("struct thread")
    found = []
    at = memory.word(program_symbol("__thread_list"))
    seen = set()
    while at and at not in seen:
        seen.add(at)
        value = memory.value(at, kind)
        if int(value["id"]) != 0:  # else a free one (libthread/core/ids.h)
            found.append(Thread(memory, value, registers))
        at = int(value["list_next"])
    return sorted(found, key=lambda t: t.id)

