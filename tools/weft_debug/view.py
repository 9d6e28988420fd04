"""The guest as GDB is shown it: inferiors, their threads, and where the registers of each are.

The kernel is an inferior with a thread for each CPU, and each process is one with the threads of its program.
A thread that a processor of QEMU executes has that processor's registers.  Of any other one the guest's memory has
what was saved.
"""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .guest import Cpu, Guest, Home, Lwp, Process, Registers, Thread
from .memory import MemoryFault, Space
from .numbering import Numbering
from .points import KERNEL_PID
from .protocol import ALL, ANY, Id

TRAP_SYSCALL, TRAP_NONE = 0x100, 0x101  # kern/trap.h
OWN = 1_000_000  # + its LWP: the id of a thread that is none of the program's
BY_SYSRET = {"rip": "rcx", "rflags": "r11"}
PRESERVED = ("rbx", "r12", "r13", "r14", "r15")


class NoThread(Exception):
    """There is no such thread (any more)."""


@dataclass
class Subject:
    """A thread of GDB's.  processor: of QEMU, if its registers are the thread's.  registers: else."""

    id: Id
    processor: int | None
    registers: Registers | None
    homes: dict[str, Home]
    space: Space | None
    cpu: Cpu | None = None
    thread: Thread | None = None


@dataclass
class View:
    """shown: the inferiors that GDB has.  left: those that the user has detached.  processors: the numbers of
    QEMU's."""

    guest: Guest
    processors: list[int]
    shown: set[int] = field(default_factory=lambda: {KERNEL_PID})
    left: set[int] = field(default_factory=set)
    # LWPs that have come to a point of GDB's while they executed no thread of the program: (pid, LWP).
    own: set[tuple[int, int]] = field(default_factory=set)
    _subjects: dict[Id, Subject] = field(default_factory=dict)
    _before: dict[Id, Subject] = field(default_factory=dict)

    def forget(self) -> None:
        self.guest.forget()
        self._before, self._subjects = self._subjects, {}

    # --- what there is ---------------------------------------------------------------------------

    def living(self) -> list[Process]:
        """The processes that GDB can have."""
        return [p for p in self.guest.processes if p.space is not None and not p.zombie]

    def wanted(self) -> list[Process]:
        """Those of which GDB makes inferiors without being asked."""
        living = self.living()
        self.left &= {p.pid for p in living}
        self.own = {(pid, lwp) for pid, lwp in self.own if any(p.pid == pid for p in living)}
        return [p for p in living if p.pid not in self.left]

    def processes(self) -> list[Process]:
        """Those that GDB has."""
        return [p for p in self.living() if p.pid in self.shown and self.threads_of(p)]

    def threads_of(self, process: Process) -> list[Thread]:
        """Those of the program; and LWPs of the library's own that GDB has been told of, while they execute none of
        these."""
        own = [number for pid, number in self.own if pid == process.pid]
        return [thread for thread in process.threads if not thread.exited] + \
            [thread for lwp in process.lwps if lwp.id in own and (thread := _without_thread(lwp)) is not None]

    def process(self, pid: int) -> Process | None:
        return next((p for p in self.processes() if p.pid == pid), None)

    def _started(self) -> dict[int, Cpu | None]:
        """The CPUs by the kernel's numbers, and processors that no CPU has been started on."""
        cpus: dict[int, Cpu | None] = {cpu.id: cpu for cpu in self.guest.cpus}
        used = {cpu.processor for cpu in self.guest.cpus}
        for number in self.processors:
            if number not in used:
                cpus.setdefault(number, None)
        return dict(sorted(cpus.items()))

    def ids(self) -> Iterator[Id]:
        """All threads, the kernel's first."""
        if KERNEL_PID in self.shown:
            yield from (Id(KERNEL_PID, number + 1) for number in self._started())
        for process in self.processes():
            yield from (Id(process.pid, thread.id) for thread in self.threads_of(process))

    # --- one thread --------------------------------------------------------------------------------

    def resolve(self, wanted: Id) -> Subject:
        """Raises NoThread."""
        if wanted not in self._subjects:
            self._subjects[wanted] = self._find(wanted)
        return self._subjects[wanted]

    def _find(self, wanted: Id) -> Subject:
        if wanted.pid == KERNEL_PID:
            return self._find_cpu(wanted)
        process = self.process(wanted.pid)
        for thread in self.threads_of(process) if process is not None else ():
            if wanted.tid in (thread.id, ALL, ANY):
                return self._subject(thread)
        raise NoThread

    def _find_cpu(self, wanted: Id) -> Subject:
        cpus = self._started()
        number = wanted.tid - 1 if wanted.tid > 0 else next(iter(cpus), 0)
        if number not in cpus:
            raise NoThread
        cpu, id = cpus[number], Id(KERNEL_PID, number + 1)
        if cpu is None:
            return Subject(id, number, None, {}, None)
        if cpu.processor is not None and not cpu.waits:
            return Subject(id, cpu.processor, None, {}, cpu.space, cpu)
        return Subject(id, None, cpu.registers, cpu.homes, cpu.space, cpu)

    @staticmethod
    def _subject(thread: Thread) -> Subject:
        id, space, cpu = Id(thread.process.pid, thread.id), thread.process.space, thread.on
        if cpu is not None and cpu.processor is not None and not cpu.waits:
            return Subject(id, cpu.processor, None, {}, space, cpu, thread)
        return Subject(id, None, thread.registers, thread.saved, space, cpu, thread)

    def still(self, id: Id, processor: int) -> None:
        """The processor executes this thread, as it did before a step: nobody needs to read the guest for it."""
        known = self._before.get(id)
        if known is not None and known.processor == processor:
            self._subjects[id] = known

    def cpu_on(self, processor: int) -> Cpu | None:
        """The CPU that this processor executes."""
        return next((c for c in self.guest.cpus if c.processor == processor and not c.waits), None)

    def kernel_id(self, processor: int) -> Id:
        cpu = self.cpu_on(processor)
        return Id(KERNEL_PID, (processor if cpu is None else cpu.id) + 1)

    def thread_on(self, processor: int, pid: int | None = None) -> Id | None:
        """The thread that this processor executes, of a process (pid) also while it is in the kernel.  An LWP
        that executes none is one from now on."""
        cpu = self.cpu_on(processor)
        lwp = cpu.lwp if cpu is not None else None
        if cpu is None or lwp is None or (pid is None and not cpu.user):
            return None
        process = self.process(lwp.process.pid)
        if process is None or pid not in (None, process.pid):
            return None
        here = _running(lwp) or _without_thread(lwp)
        if here is None:  # it exits
            return None
        if here.id >= OWN:
            self.own.add((process.pid, lwp.id))
        return Id(process.pid, here.id)

    def id_on(self, processor: int) -> Id:
        """The thread in user mode that this processor executes, or else the CPU."""
        return self.thread_on(processor) or self.kernel_id(processor)

    # --- texts ----------------------------------------------------------------------------------------

    def xml(self, ids: Iterable[Id], numbering: Numbering) -> bytes:
        """A list of threads (qXfer:threads:read)."""
        out = ["<threads>"]
        for id in ids:
            name, text, core = self._words(id)
            if numbering.joins:  # VS Code shows the name alone
                name, text = f"{name or id.tid}: {text}", ""
            where = "" if core is None else f' core="{core}"'
            named = f' name="{html.escape(name)}"' if name else ""
            out.append(f'<thread id="{numbering.theirs(id)}"{where}{named}>{_content(text)}</thread>')
        return "\n".join([*out, "</threads>"]).encode()

    def osdata(self) -> bytes:
        """The processes that GDB can attach to (qXfer:osdata:read:processes)."""
        out = ['<osdata type="processes">']
        for process in self.living():
            columns = {"pid": str(process.pid), "command": process.name, "parent": str(process.parent),
                       "threads": str(len(self.threads_of(process)))}
            out += ["<item>", *(f'<column name="{name}">{_content(text)}</column>'
                                for name, text in columns.items()), "</item>"]
        return "\n".join([*out, "</osdata>"]).encode()

    def _words(self, id: Id) -> tuple[str, str, int | None]:
        """Name, what more there is to say, and the CPU."""
        subject = self.resolve(id)
        if subject.thread is not None:
            thread = subject.thread
            return thread.name, describe(thread), None if thread.lwp is None else thread.lwp.cpu
        if subject.cpu is None:
            return f"CPU {id.tid - 1}", "not started", None
        return f"CPU {subject.cpu.id}", describe_cpu(subject.cpu), subject.cpu.id

    # --- registers ---------------------------------------------------------------------------------------

    def write(self, subject: Subject, name: str, value: int) -> None:
        """A register of a thread that no processor executes.  Raises ValueError, MemoryFault."""
        home = subject.homes.get(name)
        if home is None or isinstance(home, int):
            raise ValueError(f"{name} of this thread is nowhere to be changed")
        lwp = subject.thread.lwp if subject.thread is not None else None
        if lwp is not None and subject.homes is lwp.homes:
            self._prepare_return(lwp, name, value)
        space, address = home
        space.write(address, value.to_bytes(8, "little"))

    def is_interrupted(self, subject: Subject) -> bool:
        """Of a thread that no processor executes: is the instruction where it goes on still to be executed?  A
        system call, and a switch of threads by the library, have been when they return there."""
        lwp = subject.thread.lwp if subject.thread is not None else None
        if lwp is None or subject.registers is not lwp.user_registers:
            return False
        if lwp.on is not None and (lwp.on.user or subject.registers is lwp.on.interrupted):
            return True
        frame = self.guest.object("struct trapframe", lwp.object["frame"].number())
        return frame["vec"].number() != TRAP_SYSCALL

    def _prepare_return(self, lwp: Lwp, name: str, value: int) -> None:
        """A system call does not take all registers from the frame as it returns: SYSRET takes
        RIP and RFLAGS from RCX and R11, and what C preserves it has preserved (syscall_entry in
        kernel/cpu/entry.S).  IRETQ takes all."""
        frame = self.guest.object("struct trapframe", lwp.object["frame"].number())
        if frame["vec"].number() != TRAP_SYSCALL and not lwp.syscall:
            return
        if name == "rip" and value >> 47:  # SYSRET would fault in the kernel
            raise ValueError("no address of a process")
        if name in BY_SYSRET:
            self.guest.kernel.write(frame[BY_SYSRET[name]].address, value.to_bytes(8, "little"))
        elif name in PRESERVED:
            self.guest.kernel.write(frame["vec"].address, TRAP_NONE.to_bytes(frame["vec"].type.size, "little"))


def _running(lwp: Lwp) -> Thread | None:
    return next((t for t in lwp.process.threads if t.lwp is lwp and t.runs and not t.exited), None)


def _without_thread(lwp: Lwp) -> Thread | None:
    """An LWP that serves the library, or that is about to choose a thread, as a thread of GDB's; None: it executes
    a thread of the program, or has exited."""
    if lwp.state == "exited" or _running(lwp) is not None:
        return None
    return replace(Guest.lwp_as_thread(lwp), id=OWN + lwp.id, name=lwp.name or "of the library")


def _content(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def describe(thread: Thread) -> str:
    """As GDB's `info threads` shows a thread."""
    words = [thread.state]
    lwp = thread.lwp
    if lwp is not None:
        words.append(f"LWP {lwp.id}")
        words.append(f"CPU {lwp.cpu}" if lwp.on is not None else lwp.state)
    words.append(f"priority {thread.priority}")
    try:
        wait = thread.wait
    except (ImportError, MemoryFault):
        wait = None
    if wait is not None:
        words.append(str(wait))
    elif lwp is not None and lwp.wchan:
        words.append(f"waits for {lwp.wchan}")
    return ", ".join(words)


def describe_cpu(cpu: Cpu) -> str:
    lwp = cpu.lwp
    what = f"LWP {lwp.process.pid}/{lwp.id} of {lwp.process.name}" if lwp is not None else \
        "idle" if cpu.idle else "LWP of the kernel"
    mode = "user mode" if cpu.user else "kernel mode"
    return f"{what}, {mode}{', waits for its turn' if cpu.waits else ''}"


