"""What a guest consists of: CPUs, processes, LWPs and threads, read from a machine that stands still.

    guest = Guest(machine, Path("build/weft.elf"), Programs(files, build))
    for process in guest.processes:
        for thread in process.threads: ...

Everything is read when it is asked for, and kept until forget().  Memory may be damaged, or in the middle
of a change: what cannot be read is left out, and `damage` says so.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .layout import LayoutError, Object, items, layout_of
from .library import Library, Record
from .memory import FRAME, MASK, KernelSpace, MemoryFault, Physical, Space
from .programs import Programs
from .symbols import Symbols
from .userspace import UserSpace

if TYPE_CHECKING:
    from .waits import Wait

Registers = dict[str, int]
# Where a register can be written: in this processor of QEMU, or at an address of a space.
Home = int | tuple[Space, int]

GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
           "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
FRAME_REGISTERS = (*GENERAL, "rflags", "cs", "ss")

# What vcpu_switch leaves on the stack (kernel/timing/lockstep.S).
SWITCH_SAVED = ("r15", "r14", "r13", "r12", "rbp", "rbx", "rip")
# What a switch between threads leaves at struct thread's rsp (libthread/core/tcb.h).
THREAD_SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")
KERNEL_CS = 0x08
USER_CS, USER_SS = 0x2B, 0x23  # kern/trap.h
ANYWHERE_STACK = 4096  # bytes, of an NMI and the like (kernel/cpu/cpu.c)
OTHER_STACKS = (1, 2)  # in struct tss: of a double fault, of a machine check

MOST_CPUS = 64
MOST_WCHAN = 16  # bytes, as lwp_info has them
SC_ONCPU = 1  # weft/schedctl.h
NO_CALL = 0xFFFFFFFF
ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")  # of a system call

# LWP_ST_* (weft/lwp.h) in the words of the guest's lwps (user/bin/threads/states.h); and those of ThreadMon
# for an LWP that is a thread.
LWP_STATES = ("new", "run", "cpu", "sleep", "stop", "exited")
THREAD_STATES = {"new": "Stopped", "run": "Dispatchable", "cpu": "OnLWP", "sleep": "Blocked", "stop": "Stopped",
                 "exited": "exited"}


class Machine(Protocol):
    """What QEMU has, or had when it was written into a file."""

    @property
    def physical(self) -> Physical: ...

    def processors(self) -> dict[int, Registers]:
        """The registers of each processor, by its number from 0: GENERAL, rflags, cs, ss, fs_base,
        gs_base, cr3 at least."""
        ...


@dataclass(eq=False)
class Cpu:
    """processor: QEMU's processor that executes it; None: it is put aside by exact timing's engine `one`.
    registers: of where it will go on; if it waits for its turn, where its last window ended.  interrupted:
    the registers that an NMI or a machine check, which is still being handled, has found."""

    guest: "Guest" = field(repr=False)
    id: int
    processor: int | None
    registers: Registers
    homes: dict[str, Home] = field(repr=False)
    waits: bool
    space: Space = field(repr=False)
    interrupted: Registers | None = None
    interrupted_homes: dict[str, Home] = field(default_factory=dict, repr=False)
    lwp_address: int = 0
    idle: bool = False

    @property
    def lwp(self) -> "Lwp | None":
        """None: it is idle, or executes an LWP of the kernel."""
        return self.guest.lwp_at(self.lwp_address)

    @property
    def user(self) -> bool:
        return bool(self.registers["cs"] & 3)


@dataclass(eq=False)
class Lwp:
    """cpu: that it is on or was last on.  on: the CPU that executes it now.  user_registers: where it goes on
    in user mode.  arguments: of the system call that it is in."""

    process: "Process"
    object: Object = field(repr=False)
    id: int
    name: str
    state: str
    cpu: int
    priority: int
    sclass: str
    wchan: str
    syscall: str
    arguments: tuple[int, ...]
    on: Cpu | None
    user_registers: Registers
    homes: dict[str, Home] = field(repr=False)
    since: int | None  # nanoseconds since it began to sleep, to be stopped, or to wait for a CPU; None: not known

    @property
    def address(self) -> int:
        """Of the kernel's struct lwp."""
        return self.object.address


@dataclass(eq=False)
class Thread:
    """A thread of the program.  Without the library, each LWP is one.

    lwp: the LWP that it is on.  runs: this LWP runs it, and is not between two threads.  on: the CPU that
    executes it in user mode.  registers: of the innermost user frame; None: it has not begun, or they are
    nowhere.  saved: where each register can be written back.  record: what the library has of it."""

    process: "Process"
    id: int
    name: str
    state: str
    lwp: Lwp | None
    runs: bool
    priority: int
    bound: bool
    exited: bool
    registers: Registers | None
    saved: dict[str, Home]
    record: Record | None = None

    @property
    def on(self) -> Cpu | None:
        cpu = self.lwp.on if self.lwp is not None and self.runs else None
        return cpu if cpu is not None and cpu.user else None

    @cached_property
    def wait(self) -> "Wait | None":
        from .waits import wait_of
        return wait_of(self)

    def __str__(self) -> str:
        return f"thread {self.id} ({self.name})" if self.name else f"thread {self.id}"


@dataclass(eq=False)
class Process:
    """parent: its pid, 0 for none.  damage: why something may be missing; "": nothing is."""

    guest: "Guest"
    object: Object
    pid: int
    name: str
    parent: int
    zombie: bool
    space: Space | None
    damage: str = ""

    @cached_property
    def program(self) -> Path | None:
        """The program's file on the host."""
        return None if self.space is None else self.guest.programs.find(self.name, self.space)

    @cached_property
    def symbols(self) -> Symbols:
        return self.guest.programs.symbols(self.program)

    @cached_property
    def lwps(self) -> list[Lwp]:
        """By their ids; also those that have exited and wait to be waited for."""
        return self.guest.read_lwps(self)

    @cached_property
    def library(self) -> Library | str:
        """The threads library, or why none can be read."""
        return "it has ended" if self.space is None else Library.of(self.space)

    @cached_property
    def threads(self) -> list[Thread]:
        """By their ids."""
        return self.guest.read_threads(self)

    @property
    def address(self) -> int:
        """Of the kernel's struct proc."""
        return self.object.address

    def lwp(self, id: int) -> Lwp | None:
        return self._lwps_by_id.get(id)

    @cached_property
    def _lwps_by_id(self) -> dict[int, Lwp]:
        return {lwp.id: lwp for lwp in self.lwps}

    def thread_at(self, at: int) -> Thread | None:
        """The thread whose struct thread is at this address."""
        return self._by_address.get(at)

    @cached_property
    def _by_address(self) -> dict[int, Thread]:
        return {t.record.at: t for t in self.threads if t.record is not None}

    def note(self, damage: str) -> None:
        self.damage = self.damage or damage


class Guest:
    """All are empty as long as the kernel has not made them."""

    def __init__(self, machine: Machine, kernel: Path, programs: Programs) -> None:
        """Raises LayoutError: the kernel's file is not one."""
        self.machine = machine
        self.programs = programs
        self.layout = layout_of(kernel)
        self.layout.unit("kernel/proc/proc.c")
        self.symbols = programs.symbols(kernel)
        self.time: int | None = None  # nanoseconds since boot, where its reader knows more than the memory tells
        self.damage = ""
        self.forget()

    def forget(self) -> None:
        """The machine has run, or its memory was written."""
        self.kernel: Space = KernelSpace(self.machine.physical, self._kernel_cr3)
        self.damage = ""
        self._spaces: dict[int, Space] = {}
        for name in ("cpus", "processes", "now", "engine", "boots", "_lwps_by_address"):
            self.__dict__.pop(name, None)

    def note(self, damage: str) -> None:
        self.damage = self.damage or damage

    def _kernel_cr3(self) -> int:
        return self.variable("kernel_pml4", "mm/pagetable.c").number()

    def variable(self, name: str, unit: str) -> Object:
        """A variable of the kernel; unit: the source file that defines it.  Raises LayoutError."""
        address, kind = self.layout.variable(name, unit)
        return Object(self.kernel, kind, address)

    def object(self, kind: str, address: int, unit: str = "kernel/proc/info.c") -> Object:
        """A structure of the kernel at this address.  Raises LayoutError."""
        return Object(self.kernel, self.layout.type(kind, unit), address)

    def space(self, cr3: int) -> Space:
        cr3 &= FRAME
        return self._spaces.setdefault(cr3, Space(self.machine.physical, cr3))

    @cached_property
    def now(self) -> int | None:
        """Nanoseconds since boot; None: not known.  In exact timing, that of the CPU whose clock is ahead of all
        others, at the beginning of its window.  In fast timing the clock of the host has gone on."""
        if self.time is not None:
            return self.time
        with suppress(MemoryFault, LayoutError):
            if self.engine:
                clocks = self.variable("ls", "timing/lockstep.c")
                count = min(self.variable("ncpu", "cpu/cpu.c").number(), MOST_CPUS)
                mips = self.variable("mips", "timing/lockstep.c").number()
                ahead = max((clocks[n]["now"].number() for n in range(count)), default=0)
                return ahead * 1000 // mips if mips else None
        return None

    # --- CPUs ------------------------------------------------------------------------------------

    @cached_property
    def cpus(self) -> list[Cpu]:
        """Those that the kernel has started, by its numbers."""
        found: list[Cpu] = []
        try:
            found.extend(self._read_cpus())
        except (MemoryFault, LayoutError) as error:
            self.note(f"the CPUs cannot be read: {error}")
        return found

    def lwp_at(self, address: int) -> Lwp | None:
        """The LWP of a process whose structure is at this address."""
        return self._lwps_by_address.get(address)

    @cached_property
    def _lwps_by_address(self) -> dict[int, Lwp]:
        return {lwp.address: lwp for process in self.processes for lwp in process.lwps}

    def _cpu_of(self, lwp: int) -> Cpu | None:
        return next((cpu for cpu in self.cpus if cpu.lwp_address == lwp), None)

    @cached_property
    def engine(self) -> str:
        """The engine of exact timing: one, processors, or "" for fast timing."""
        if self.variable("lockstep_icr", "timing/lockstep.c").number() == 0 and \
                self.variable("engine", "timing/lockstep.c").number() == 0:
            return ""
        one = self.layout.variable("engine_one", "timing/one.c")[0]
        return "one" if self.variable("engine", "timing/lockstep.c").number() == one else "processors"

    @cached_property
    def boots(self) -> bool:
        """Exact timing has not begun: the CPUs run side by side, at the speed of the host."""
        return bool(self.engine) and self.variable("ls", "timing/lockstep.c")[0]["now"].number() == 0

    def _read_cpus(self) -> Iterator[Cpu]:
        table = self.variable("cpus", "cpu/cpu.c")
        count = min(self.variable("ncpu", "cpu/cpu.c").number(), MOST_CPUS)
        processors = self.machine.processors()
        holder = self.variable("lockstep_token", "timing/lockstep.c").number()
        for number in range(count):
            if table[number].number() == 0:
                continue
            c = table[number].pointed()
            lwp = c["lwp"].number()
            if lwp == 0:
                continue
            if self.engine == "one":
                made = self._on_one(c, number, holder, processors.get(0, {}))
            else:
                made = self._on_processor(c, number, processors)
            if made is not None:
                made.lwp_address, made.idle = lwp, lwp == c["idle"].number()
                yield made

    def _on_one(self, c: Object, number: int, holder: int, registers: Registers) -> Cpu | None:
        """Exact timing's engine of one processor: the holder of the token has it.  While the token changes
        hands (one_give), the next CPU is the holder already."""
        if number == holder:
            return self._with_processor(c, number, 0, registers) if registers else None
        v = self.variable("vcpus", "timing/one.c")[number]
        rsp = v["rsp"].number()
        if rsp == 0:
            return None
        frame = c["frame"].number()
        if frame:
            found, homes = self._lockstep_frame(frame)
        else:  # it starts other CPUs, or is about to start
            words = struct.unpack("<7Q", self.kernel.read(rsp, 56))
            found = {**dict.fromkeys(FRAME_REGISTERS, 0), **dict(zip(SWITCH_SAVED, words)),
                     "rsp": rsp + 56, "cs": KERNEL_CS, "gs_base": c.address}
            homes = {name: (self.kernel, rsp + 8 * i) for i, name in enumerate(SWITCH_SAVED)}
        for name, where in (("fs_base", "fsbase"), ("cr3", "cr3")):
            found[name] = v[where].number()
            homes[name] = (self.kernel, v[where].address)
        return Cpu(self, number, None, found, homes, True, self.space(found["cr3"]))

    def _on_processor(self, c: Object, number: int, processors: dict[int, Registers]) -> Cpu | None:
        """Each CPU has a processor, which in exact timing may wait for the token in a HLT."""
        processor = c["apic_id"].number()  # with machine pc, QEMU's number of the processor
        if processor not in processors:
            return None
        cpu = self._with_processor(c, number, processor, processors[processor])
        if c["waiting"].number() and c["frame"].number():
            found, homes = self._lockstep_frame(c["frame"].number())
            cpu.registers, cpu.homes = {**cpu.registers, **found}, {**cpu.homes, **homes}
            cpu.waits, cpu.interrupted = True, None
        return cpu

    def _with_processor(self, c: Object, number: int, processor: int, registers: Registers) -> Cpu:
        cpu = Cpu(self, number, processor, registers, dict.fromkeys(registers, processor), False,
                  self.space(registers["cr3"]))
        if not cpu.user and (frame := self._interrupted(c, registers["rsp"])) is not None:
            cpu.interrupted = {**registers, **frame[0]}
            cpu.interrupted_homes = {**cpu.homes, **frame[1]}
        return cpu

    def _interrupted(self, c: Object, rsp: int) -> tuple[Registers, dict[str, Home]] | None:
        """What an NMI, a double fault or a machine check has found, if the CPU is on the stack of one."""
        def holds(top: int) -> bool:
            return top - ANYWHERE_STACK <= rsp < top

        def frame(top: int) -> tuple[Registers, dict[str, Home]]:
            return self._trap_frame(top - self.layout.type("struct trapframe").size)

        nmi = [c["nmi_stack"][i].number() for i in range(2)]
        for number in OTHER_STACKS:
            if holds(top := c["tss"]["ist"][number].number()):
                return frame(top)
        if not any(holds(top) for top in nmi):
            return None
        if not self.engine:
            return frame(nmi[0])
        window = c["frame"].number()  # the NMI that has ended it
        return self._lockstep_frame(window) if window else None

    def _frame(self, o: Object) -> tuple[Registers, dict[str, Home]]:
        data = self.kernel.read(o.address, o.type.size)
        found: Registers = {}
        homes: dict[str, Home] = {}
        for name in FRAME_REGISTERS:
            offset = o.type.offset(name)
            found[name] = int.from_bytes(data[offset:offset + 8], "little")
            homes[name] = (self.kernel, o.address + offset)
        return found, homes

    def _lockstep_frame(self, address: int) -> tuple[Registers, dict[str, Home]]:
        o = self.object("struct lockstep_frame", address, "timing/lockstep.c")
        found, homes = self._frame(o)
        return {**found, "gs_base": o["gsbase"].number()}, {**homes, "gs_base": (self.kernel, o["gsbase"].address)}

    def _trap_frame(self, address: int) -> tuple[Registers, dict[str, Home]]:
        return self._frame(self.object("struct trapframe", address))

    # --- processes -------------------------------------------------------------------------------

    @cached_property
    def processes(self) -> list[Process]:
        """By their ids."""
        found: list[Process] = []
        try:
            head = self.variable("all_procs", "kernel/proc/proc.c")
            if head["next"].number() == 0:  # the kernel has not been loaded yet
                return []
            kind = self.layout.type("struct proc", "kernel/proc/proc.c")
            found.extend(self._process(o) for o in items(head, kind, "all_link"))
        except (MemoryFault, LayoutError) as error:
            self.note(f"the list of processes is damaged: {error}")
        return sorted(found, key=lambda p: p.pid)

    def process(self, pid: int) -> Process | None:
        return next((p for p in self.processes if p.pid == pid), None)

    def process_of(self, cr3: int) -> Process | None:
        """The process whose address space this is."""
        return next((p for p in self.processes if p.space is not None and p.space.cr3 == cr3 & FRAME), None)

    def _process(self, o: Object) -> Process:
        address = o["as"].number()
        space: Space | None = None
        with suppress(MemoryFault):
            space = UserSpace(self.machine.physical, self.layout, o["as"].pointed()) if address else None
        return Process(self, o, o["pid"].number(), o["name"].text(), o["ppid"].number(),
                       bool(o["zombie"].number()), space)

    # --- LWPs ------------------------------------------------------------------------------------

    def read_lwps(self, process: Process) -> list[Lwp]:
        found: list[Lwp] = []
        kind = self.layout.type("struct lwp")
        for name in ("lwps", "zombies"):
            try:
                found.extend(self._lwp(process, o) for o in items(process.object[name], kind, "proc_link"))
            except MemoryFault as error:
                process.note(f"the list of its LWPs is damaged: {error}")
        return sorted(found, key=lambda lwp: lwp.id)

    def _lwp(self, process: Process, o: Object) -> Lwp:
        number = o["state"].number()
        state = LWP_STATES[number] if number < len(LWP_STATES) else "?"
        cpu = self._cpu_of(o.address)
        registers, homes = self._user_registers(o, cpu)
        call, wchan, sclass = o["syscall"].number(), "", ""
        with suppress(MemoryFault):
            wchan = o["wchan"].text(MOST_WCHAN) if state == "sleep" else ""
        with suppress(MemoryFault):
            sclass = o["sclass"].pointed()["name"].text(MOST_WCHAN)
        return Lwp(process, o, o["id"].number(), o["name"].text(), state, o["cpu"].number(),
                   o["pri"].number(), sclass, wchan, self.call_name(call),
                   tuple(registers.get(name, 0) for name in ARGUMENTS) if call != NO_CALL else (),
                   cpu, registers, homes, self._since(o, state))

    def _since(self, o: Object, state: str) -> int | None:
        """For how long it has slept, been stopped, or waited for a CPU."""
        name = {"sleep": "since", "stop": "since", "run": "enqueued"}.get(state, "")
        if self.now is None or name not in o.type.fields:
            return None
        return max(0, self.now - o[name].number())

    def call_name(self, number: int) -> str:
        """The name of a system call, or "" for none.  The kernel's table has a function for each."""
        if number == NO_CALL:
            return ""
        with suppress(MemoryFault, LayoutError):
            table = self.variable("table", "syscall/syscall.c")
            name = self.symbols.name(table[number].number()) if number < len(table) else ""
            if name.startswith("sys_"):
                return name[4:]
        return str(number)

    def _user_registers(self, o: Object, cpu: Cpu | None) -> tuple[Registers, dict[str, Home]]:
        """Those of its CPU, or those saved at its entry to the kernel."""
        if cpu is not None:
            if cpu.user:
                return cpu.registers, cpu.homes
            if cpu.interrupted is not None and cpu.interrupted["cs"] & 3:
                return cpu.interrupted, cpu.interrupted_homes
        found: Registers = dict.fromkeys(FRAME_REGISTERS, 0)
        homes: dict[str, Home] = {}
        with suppress(MemoryFault):
            found, homes = self._trap_frame(o["frame"].number())
        if cpu is not None and "fs_base" in cpu.registers and self._fs_loaded(o):
            # From then on, while its LWP is on the CPU, in user mode or not, this register is the user's.
            found["fs_base"], homes["fs_base"] = cpu.registers["fs_base"], cpu.homes["fs_base"]
        else:
            found["fs_base"] = o["fsbase"].number()
            homes["fs_base"] = (self.kernel, o["fsbase"].address)
        found["gs_base"] = o["gsbase"].number()
        with suppress(MemoryFault):
            found["cr3"] = o["proc"].pointed()["as"].pointed()["pml4"].number()
        return found, homes

    @staticmethod
    def _fs_loaded(o: Object) -> bool:
        """Has the CPU that has taken this LWP loaded its FS base (lwp_fsbase_loaded in kern/lwp.h)?"""
        try:
            return o["sc"].number() == 0 or o["sc"].pointed()["state"].number() == SC_ONCPU
        except MemoryFault:
            return True

    # --- threads ---------------------------------------------------------------------------------

    def read_threads(self, process: Process) -> list[Thread]:
        library = process.library
        if isinstance(library, str):
            return [self.lwp_as_thread(lwp) for lwp in process.lwps]
        runs = {lwp.user_registers.get("fs_base", 0): lwp for lwp in process.lwps if lwp.state != "exited"}
        found = [self._thread(process, record, runs) for record in library.records()]
        if library.damage:
            process.note(library.damage)
        if not found:  # the library has not begun
            return [self.lwp_as_thread(lwp) for lwp in process.lwps]
        return sorted(found, key=lambda t: t.id)

    @staticmethod
    def lwp_as_thread(lwp: Lwp) -> Thread:
        exited = lwp.state == "exited"
        return Thread(lwp.process, lwp.id, lwp.name, THREAD_STATES.get(lwp.state, "?"), lwp, True, lwp.priority,
                      True, exited, None if exited else lwp.user_registers, {} if exited else lwp.homes)

    def _thread(self, process: Process, r: Record, runs: dict[int, Lwp]) -> Thread:
        lwp = runs.get(r.at)
        made = Thread(process, r.id, r.name, "exited" if r.exited else r.state, lwp, lwp is not None, r.priority,
                      r.bound, r.exited, None, {}, r)
        if lwp is not None:
            made.registers, made.saved = lwp.user_registers, lwp.homes
        elif r.lwp:
            made.lwp = process.lwp(r.lwp)
        elif r.rsp and not r.exited and process.space is not None:
            self._saved(made, process.space, r)
        return made

    @staticmethod
    def _saved(thread: Thread, space: Space, r: Record) -> None:
        try:
            words = struct.unpack("<7Q", space.read(r.rsp, 8 * len(THREAD_SAVED)))
        except MemoryFault:
            thread.process.note("the registers of a thread cannot be read")
            return
        thread.registers = {**dict(zip(THREAD_SAVED, words)), "rsp": r.rsp + 8 * len(THREAD_SAVED) & MASK,
                            "fs_base": r.at, "cs": USER_CS, "ss": USER_SS, "cr3": space.cr3}
        thread.saved = {name: (space, r.rsp + 8 * i) for i, name in enumerate(THREAD_SAVED)}
