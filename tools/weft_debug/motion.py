"""Runs the machine for GDB, and decides whether a stop of the machine is one for GDB.

The machine runs as a whole: `continue` of one inferior lets all run.  A step is one of a thread.  While a processor
executes the thread in user mode, that is a step of the processor.  A thread elsewhere (in the kernel, preempted, on
no LWP) goes on until it comes to its next instruction in user mode, where a point waits for it.

In exact timing a stop changes nothing (standstill.py).  Where the window of a CPU ends, the other CPUs have their
turns before its next step.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weft_host.recording import Point

from .guest import Registers
from .layout import LayoutError, Object
from .memory import FRAME, KERNEL_HALF, MASK, MemoryFault
from .points import KERNEL_PID, Placed, Points
from .protocol import Id
from .qemu import Ended, LiveMachine, Stop, Stub
from .spaces import Spaces
from .standstill import RDTSC, Standstill
from .view import NoThread, View

USER_END = 1 << 47
SYSCALL, HLT = b"\x0f\x05", b"\xf4"
SIGNALS = "proc/sigdeliver.c"
MOST_STEPS = 1000  # up to the first reading of the clock
POLL_SECONDS = 0.5  # how often a thread that is waited for is looked for
MOST_WORDS = 4  # on the kernel's stack, above what the interrupted code has
# Qqemu.sstep: interrupts and timers stay out of a step, or not.
ALONE, AS_IT_IS = 7, 1
EXIT = "machine_exit+"
SIGINT, SIGQUIT, SIGTRAP, SIGABRT = 2, 3, 5, 6
SIGURG = 16  # GDB neither stops nor prints anything


@dataclass(frozen=True)
class Report:
    """A stop that GDB is told.  more: fields of the packet T, as "watch:ADDRESS;"."""

    signal: int
    id: Id
    more: str = ""


@dataclass(frozen=True)
class Exit:
    """A process, or with KERNEL_PID the machine, has ended.  signal: that has killed it, or 0."""

    pid: int
    status: int
    signal: int = 0


@dataclass(frozen=True)
class Action:
    """Of vCont.  kind: c or s.  begin, end: a step goes on within these addresses."""

    kind: str
    id: Id
    begin: int = 0
    end: int = 0


@dataclass(frozen=True)
class Meeting:
    """Where a thread is waited for.  accepts: whether the processor that came there executes this thread."""

    address: int
    space: int | None
    accepts: Callable[[int], bool]
    thread: Id | None = None


@dataclass(frozen=True)
class Landmark:
    """A place in the kernel where GDB gets the machine, asked for or not.  tells: the text for GDB, and the
    stop in place of the CPU's own; None: GDB does not get it after all."""

    address: int
    tells: Callable[[Registers], tuple[str, Exit | None] | None]
    signal: int = 0


class Motion:
    """exact: the timing is.  is_program: whether the process with this CR3 runs the program whose symbols the
    kernel's inferior has; a point at its addresses in that inferior is one of this program's."""

    def __init__(self, stub: Stub, machine: LiveMachine, view: View, points: Points, exact: bool,
                 is_program: Callable[[int], bool], say: Callable[[str], None], standstill: Standstill) -> None:
        self._stub = stub
        self._machine = machine
        self._view = view
        self._points = points
        self._exact = exact
        self._is_program = is_program
        self._say = say
        self._standstill = standstill
        # What an ending process calls in the kernel once it has its status; the argument is the process.
        self._ends = view.guest.layout.symbols.get("robust_proc_exit")
        self._ending: dict[int, int] = {}  # what waitpid would report, by pid
        self._hits: list[Stop] = []  # of watchpoints, to be judged
        self._misses = not exact and not stub.recorded and len(view.processors) > 1
        self._spaces = Spaces(machine.physical, view.guest)
        self._landmarks: dict[int, Landmark] = {}
        self._told: tuple[int, int] | None = None  # the processor that stands at a landmark, and the landmark
        self._sstep = ALONE
        self._reset = False  # QEMU will not let the machine go on
        self._later: Report | None = None  # has happened, and GDB is told when it lets all threads run
        self.focus = Id(KERNEL_PID, 1)  # what the user looks at
        self.stepped = self.focus  # the thread that GDB steps backwards
        self.joins = False  # the program has its threads in the kernel's inferior (numbering.py)

    def watch_for(self, landmarks: Iterable[Landmark]) -> None:
        self._landmarks = {landmark.address: landmark for landmark in landmarks}

    def forget(self) -> None:
        self._machine.forget()
        self._view.forget()

    # --- for GDB ----------------------------------------------------------------------------------

    async def resume(self, actions: list[Action], stop: asyncio.Event) -> Report | Exit:
        """Runs the machine until there is something to tell.  Raises Ended."""
        if self._reset:
            raise Ended
        if (kept := self._late() or self._next_hit()) is not None:
            return kept
        steps = next((action for action in actions if action.kind == "s"), None)
        others = any(action.kind == "c" for action in actions)
        try:
            if steps is not None:
                made = await self._step(steps, others, stop)
                return made if others else self._of_one(steps.id, made)
            report = await self._go(None, stop)
            assert report is not None  # there was no meeting
            return report
        except NoThread:
            return self._gone(steps.id if steps is not None else self.focus)

    def _of_one(self, id: Id, report: Report | Exit) -> Report | Exit:
        """What GDB is told after a step for which it lets one thread run: as it steps past a breakpoint.
        *Race:* the step faults into the kernel, which lets other threads run, and one of these, or the CPU itself
        there, comes to a point; *without this:* GDB gets a stop of a thread that it does not let run, and ends
        in an internal error (finish_step_over); *closed by:* a signal in place of the step, after which GDB lets
        all threads run, is told of that stop, and steps the thread again when it is back."""
        id = self._view.resolve(id).id
        if isinstance(report, Exit) or report.id == id:
            return report
        self._later = report
        return Report(SIGURG, id)

    def _late(self) -> Report | None:
        report, self._later = self._later, None
        return report if report is not None and report.id in self._view.ids() else None

    async def back(self, packet: bytes, stop: asyncio.Event) -> Report | Exit:
        """bs or bc of a recorded run.  bs goes back by an instruction of the thread that GDB steps."""
        id, before = self.stepped, self._registers_of(self.stepped) if packet == b"bs" else {}
        self._points.place()
        while True:
            told = await self._run(packet, stop)
            assert told is not None  # it has no time limit
            report = self._judge(told)
            if report is not None:
                return report
            if packet == b"bc":
                if self._points.breakpoints_at(self._machine.registers(told.processor)["rip"]):
                    continue  # of another process
                return Report(SIGTRAP, self._view.id_on(told.processor))
            here = self._view.id_on(told.processor)
            if id in (here, self._view.kernel_id(told.processor)):
                return Report(SIGTRAP, id)
            if id.pid == KERNEL_PID or not before:
                return Report(0, here)
            report = await self._back_to(id, before, stop)
            if report is not None:
                return report

    async def _back_to(self, id: Id, before: Registers, stop: asyncio.Event) -> Report | Exit | None:
        """A thread has come into user mode with these registers: goes back to where it left user mode before.
        None: by an interrupt, so that its last instruction is one further back."""
        meetings = [self._meeting(id, before, before["rip"] - back) for back in (0, len(SYSCALL))]
        self._points.place((Point(1, meeting.address, 1), meeting.space) for meeting in meetings)
        try:
            while True:
                told = await self._run(b"bc", stop)
                assert told is not None  # it has no time limit
                for meeting in meetings:
                    if told.log is None and self._is_met(meeting, told):
                        return None if meeting is meetings[0] else Report(SIGTRAP, id)
                report = self._judge(told)
                if report is not None:
                    return report
        finally:
            self._points.place()

    def _registers_of(self, id: Id) -> Registers:
        subject = self._view.resolve(id)
        if subject.processor is not None:
            return self._machine.registers(subject.processor)
        return subject.registers or {}

    async def jump(self, packet: bytes, stop: asyncio.Event) -> Report:
        """To a place of a recorded run that it has been told.  In GDB's eyes this is a step of its thread."""
        await self._run(packet, stop)
        return Report(SIGTRAP, self.stepped)

    async def meet(self, meeting: Meeting, stop: asyncio.Event) -> Report | Exit | None:
        """Runs the machine up to a meeting (None), or to something else that is to be told."""
        return await self._go(meeting, stop)

    # --- the machine ------------------------------------------------------------------------------

    async def _run(self, packet: bytes, stop: asyncio.Event, seconds: float | None = None,
                   held: bool = False) -> Stop | None:
        """held: timers are held back."""
        try:
            told = await self._stub.run(packet, stop, seconds)
        finally:
            self.forget()
        if held:
            self._standstill.stepped()
        else:
            self._standstill.stopped(by_user=told is None or told.signal != SIGTRAP)
        return told

    async def _step_processor(self, processor: int, flags: int, others: bool, stop: asyncio.Event) -> Stop:
        """By an instruction.  others: the other processors run meanwhile."""
        held, ahead = not self._stub.recorded and flags == ALONE, 0
        if not self._stub.recorded and self._sstep != flags:
            self._stub.ask(b"Qqemu.sstep=%x" % flags)
            self._sstep = flags
        if held:
            ahead = self._standstill.is_shown(processor, self._machine.registers(processor)["rip"])
        told = await self._run(b"vCont;s:p1.%x%s" % (processor + 1, b";c" if others else b""), stop, held=held)
        assert told is not None  # it has no time limit
        if ahead and told.processor == processor:
            now = self._machine.registers(processor)
            clock = (now["rdx"] << 32 | now["rax"]) - ahead & MASK
            for name, value in ("rax", clock & 0xFFFFFFFF), ("rdx", clock >> 32):
                self._stub.write(processor, name, value)
            self.forget()
        return told

    async def _learn(self, processor: int) -> None:
        """Goes on until the processor has read its time stamp counter, or comes to a point."""
        for _ in range(MOST_STEPS):
            address = self._machine.registers(processor)["rip"]
            reads = self._code(processor, address) == RDTSC
            await self._step_processor(processor, ALONE, False, asyncio.Event())
            now = self._machine.registers(processor)
            if reads:
                self._standstill.learn(now["rdx"] << 32 | now["rax"])
            if reads or self._points.breakpoints_at(now["rip"]):
                return

    async def _go(self, meeting: Meeting | None, stop: asyncio.Event) -> Report | Exit | None:
        """Runs the machine until there is something to tell; None: the meeting took place."""
        told: Stop | None = None
        if self._told is not None and self._machine.registers(self._told[0])["rip"] == self._told[1]:
            told = Stop(SIGTRAP, self._told[0])
        self._told, look = None, time.monotonic() + POLL_SECONDS
        while True:
            if told is not None and told.watch is None and self._standstill.left() != 0:
                # A hit that is none.  A step does not stop at the breakpoint where it begins.  If the window
                # ends here, the CPU comes here again in its next one.
                told = await self._step_processor(told.processor, ALONE, False, asyncio.Event())
                if told.watch is not None and (report := self._judge(told)) is not None:
                    return report
            self._points.place(self._more(meeting))
            told = await self._run(b"vCont;c", stop, POLL_SECONDS if meeting is not None else None)
            await self._gather(told)
            if told is None:
                if (report := self._next_hit()) is not None:
                    return report
                if meeting is not None and meeting.thread is not None:
                    self._view.resolve(meeting.thread)
                continue
            if meeting is not None and self._is_met(meeting, told):
                return self._next_hit()
            report = self._judge(told)
            if report is not None:
                return report
            self._note_end(told)
            if meeting is not None and meeting.thread is not None and \
                    (meeting.thread.pid in self._ending or time.monotonic() > look):
                self._view.resolve(meeting.thread)
                look = time.monotonic() + POLL_SECONDS
            if self._machine.registers(told.processor)["rip"] == self._standstill.begins:
                await self._learn(told.processor)
                told = None

    def _flags(self, user: bool) -> int:
        """How a step is made."""
        return AS_IT_IS if user and self._exact and self._standstill.left() is None else ALONE

    def _more(self, meeting: Meeting | None) -> list[Placed]:
        """The points that the machine has besides GDB's."""
        more: list[Placed] = []
        if not self._stub.recorded:
            more = [(Point(1, address, 1), None) for address in self._landmarks]
            more += [(Point(1, address, 1), None) for address in (self._standstill.begins, self._ends)
                     if address is not None]
        if meeting is not None:
            more.append((Point(1, meeting.address, 1), meeting.space))
        return more

    def _is_met(self, meeting: Meeting, told: Stop) -> bool:
        return told.watch is None and told.signal == SIGTRAP and \
            self._machine.registers(told.processor)["rip"] == meeting.address and meeting.accepts(told.processor)

    # --- what a stop is ------------------------------------------------------------------------------

    def _note_end(self, told: Stop) -> None:
        """The processor may have come to where a process ends: when we look next, it may be forgotten."""
        registers = self._machine.registers(told.processor)
        if registers["rip"] != self._ends:
            return
        for process in self._view.guest.processes:
            if process.address == registers["rdi"]:
                self._ending[process.pid] = process.object["status"].number()

    async def _gather(self, told: Stop | None) -> None:
        """QEMU tells why one processor has stopped.  *Race:* two processors of fast timing come to watchpoints at
        once, and QEMU tells of one; *without this:* the hit of the other is lost, because its instruction has been
        executed; *closed by:* a step of each other processor, where QEMU tells of the hit that is left."""
        if not self._misses or not self._points.watching:
            return
        known = told.processor if told is not None and told.signal == SIGTRAP else None
        for processor in self._view.processors:
            if processor != known and self._may_step(processor):
                hit = await self._step_processor(processor, ALONE, False, asyncio.Event())
                if hit.watch is not None:
                    self._hits.append(hit)

    def _may_step(self, processor: int) -> bool:
        """A processor that is halted makes no step; one that has come to a breakpoint would pass over it, and QEMU
        tells of its watchpoint when it comes there again."""
        registers = self._machine.registers(processor)
        address = registers["rip"]
        if address in self._landmarks or address in (self._ends, self._standstill.begins) or \
                self._points.breakpoints_at(address):
            return False
        return bool(registers["cs"] & 3) or HLT not in self._code(processor, address - 1)

    def _next_hit(self) -> Report | Exit | None:
        while self._hits:
            if (report := self._told_of(self._hits.pop(0))) is not None:
                return report
        return None

    def _judge(self, told: Stop) -> Report | Exit | None:
        """What GDB is told of this stop; None: nothing."""
        return self._told_of(told) or self._next_hit()

    def _told_of(self, told: Stop) -> Report | Exit | None:
        if told.log is not None:
            return Report(SIGTRAP, self._interrupted(told), f"replaylog:{told.log};")
        if told.signal == SIGQUIT:
            self._reset = True
            if self._exits():
                raise Ended
            self._say("weft: the guest has reset itself (a triple fault): it stands where that was\n")
            return Report(SIGABRT, self._view.kernel_id(told.processor))
        if told.signal != SIGTRAP:
            return Report(SIGINT, self._interrupted(told))
        if told.watch is not None:
            kind, address = told.watch
            hit = self._hit(self._points.owners(self._points.watchpoints_at(address)), told.processor, address)
            return None if hit is None else Report(SIGTRAP, hit, f"{kind}:{address:x};")
        address = self._machine.registers(told.processor)["rip"]
        if address in self._landmarks and not self._stub.recorded:
            self._told = told.processor, address
            tells = self._landmarks[address].tells(self._machine.registers(told.processor))
            if tells is not None:
                self._say(tells[0])
                return tells[1] or Report(self._landmarks[address].signal, self._view.kernel_id(told.processor))
        hit = self._hit(self._points.owners(self._points.breakpoints_at(address)), told.processor, address)
        return None if hit is None else Report(SIGTRAP, hit)

    def _exits(self) -> bool:
        """Has the kernel made QEMU end?  From 9.1 on, QEMU then stays as it does after a reset."""
        symbols = self._view.guest.symbols
        places = [self._machine.registers(processor)["rip"] for processor in self._view.processors]
        return any(symbols.function(place).startswith(EXIT) for place in places)

    def _hit(self, owners: dict[int, int | None], processor: int, address: int) -> Id | None:
        """The thread that has come to a point of these inferiors, or None."""
        here = self._machine.registers(processor)["cr3"] & FRAME
        for pid, space in owners.items():
            if pid != KERNEL_PID and here == (space if self._stub.recorded else self._spaces.of(pid)):
                thread = self._view.thread_on(processor, pid)
                if thread is not None:
                    return thread
        if KERNEL_PID in owners and (address >= KERNEL_HALF or self._is_program(here)):
            return (self._view.thread_on(processor) if self.joins else None) or self._view.kernel_id(processor)
        return None

    def _interrupted(self, told: Stop) -> Id:
        """The thread in which the user stops the machine: of the process that GDB shows."""
        pid = self.focus.pid
        if pid != KERNEL_PID:
            process = self._view.process(pid)
            for thread in self._view.threads_of(process) if process is not None else ():
                if thread.on is not None and thread.on.processor is not None:
                    return Id(pid, thread.id)
            try:
                return self._view.resolve(self.focus).id
            except NoThread:
                if process is not None:
                    return Id(pid, self._view.threads_of(process)[0].id)
        return self._view.kernel_id(told.processor)

    def _gone(self, id: Id) -> Report | Exit:
        """The thread that was to make a step has ended."""
        process = self._view.process(id.pid)
        if process is None and id.pid != KERNEL_PID:
            self._say(f"weft: process {id.pid} has ended\n")
            return Report(0, self._view.kernel_id(self._view.processors[0])) if self.joins else \
                self.exit_of(id.pid, 0)
        self._say(f"weft: thread {id.tid} of process {id.pid} has ended\n")
        return Report(0, next(other for other in self._view.ids() if other.pid == id.pid))

    def exit_of(self, pid: int, status: int) -> Exit:
        """How a process has ended; status: of exit, if the server has not seen its end."""
        seen = self._ending.pop(pid, status << 8)
        return Exit(pid, seen >> 8 & 0xFF, seen & 0x7F)

    # --- steps ------------------------------------------------------------------------------------------

    async def _step(self, action: Action, others: bool, stop: asyncio.Event) -> Report | Exit:
        """A thread's step.  Raises NoThread, Ended."""
        id = self._view.resolve(action.id).id
        while True:
            report = await (self._step_cpu(id, others, stop) if id.pid == KERNEL_PID else
                            self._step_thread(id, others, stop))
            if report is not None:
                return report
            pc = self._registers_of(id).get("rip", 0)
            owners = self._points.owners(self._points.breakpoints_at(pc))
            if not action.begin <= pc < action.end or id.pid in owners:
                return Report(SIGTRAP, id)
            if stop.is_set():
                return Report(SIGINT, id)

    async def _step_cpu(self, id: Id, others: bool, stop: asyncio.Event) -> Report | Exit | None:
        """None: the CPU has made its step."""
        subject = self._view.resolve(id)
        if subject.processor is not None and self._standstill.left() != 0:
            processor, user = subject.processor, subject.cpu is not None and subject.cpu.user
            report = await self._one_step(processor, self._flags(user), others, stop)
            subject = self._view.resolve(id)
            if report is not None or subject.processor is not None:
                return report
        # It waits for its turn (exact timing).
        registers = self._registers_of(id)
        here, stack = registers.get("rip", 0), registers.get("rsp", 0)
        return await self._go(Meeting(here, None, lambda p: self._view.kernel_id(p) == id and
                                      self._machine.registers(p)["rsp"] == stack), stop)

    async def _one_step(self, processor: int, flags: int, others: bool,
                        stop: asyncio.Event) -> Report | Exit | None:
        """Steps a processor; None: it has made its step."""
        before = self._machine.registers(processor)
        if others and not self._stub.recorded:
            self._points.place(self._more(None))
        while True:
            told = await self._step_processor(processor, flags, others, stop)
            if others:
                await self._gather(told)
            if told.signal != SIGTRAP:
                return self._judge(told)
            if told.log is not None or told.watch is not None or told.processor != processor:
                report = self._judge(told)
                if report is not None:
                    return report
                if told.processor == processor:
                    return None
                if told.watch is None:
                    await self._step_processor(told.processor, flags, False, asyncio.Event())
                # *Race:* this processor makes its step, another one comes to a point that is none of its
                # process's, and QEMU stops both.  *Without this:* the thread is told to have made a step
                # that it has not made.  *Closed by:* the registers are those of before; it is stepped again.
                if self._machine.registers(processor) == before:
                    continue
            return self._next_hit()

    async def _step_thread(self, id: Id, others: bool, stop: asyncio.Event) -> Report | Exit | None:
        """None: the thread has made its step."""
        while True:
            subject = self._view.resolve(id)
            if subject.processor is None:
                if subject.registers is None:
                    raise NoThread
                report = await self._go(self._meeting(id, subject.registers, subject.registers["rip"]), stop)
                if report is not None or not self._view.is_interrupted(subject):
                    return report
                continue
            if self._standstill.left() == 0:  # its window ends here
                registers = self._registers_of(id)
                report = await self._go(self._meeting(id, registers, registers["rip"]), stop)
                if report is not None:
                    return report
                continue
            processor = subject.processor
            before = self._machine.registers(processor)
            calls = self._code(processor, before["rip"]) == SYSCALL
            report = await self._one_step(processor, self._flags(True), others, stop)
            if report is not None:
                return report
            now = self._machine.registers(processor)
            if now["cs"] & 3:
                if all(now[name] == before[name] for name in ("cr3", "fs_base")):
                    self._view.still(id, processor)
                return None
            target = now["rcx"] if calls else self._return_of(processor, now)
            returns = self._context(processor, before) if calls else None
            if returns is not None:
                return await self._go(self._meeting(id, {**before, **returns}, returns["rip"]), stop)
            report = await self._go(self._meeting(id, before, target), stop)
            if report is not None or target != before["rip"]:
                return report
            # Else there was an interrupt or a fault before the instruction: now it may be executed.

    def _code(self, processor: int, address: int) -> bytes:
        answer = self._stub.ask_virtual(processor, b"m%x,2" % address)
        return b"" if answer.startswith(b"E") else bytes.fromhex(answer.decode())

    def _context(self, processor: int, before: Registers) -> Registers | None:
        """Where a thread goes on that calls sigreturn; None: it calls something else, or this call will fail."""
        guest = self._view.guest
        if guest.call_name(before["rax"]) != "sigreturn":
            return None
        try:
            kind = guest.layout.type("struct weft_ucontext", SIGNALS)
            context = Object(guest.space(before["cr3"]), kind, before["rdi"])
            found = {name: context[name].number() for name in ("rip", "rsp")}
        except (MemoryFault, LayoutError):
            return None
        return found if found["rip"] < USER_END else None

    def _return_of(self, processor: int, now: Registers) -> int:
        """Where a processor that has just entered the kernel comes from: it has pushed its RIP and its CS."""
        try:
            words = self._view.guest.space(now["cr3"]).read(now["rsp"], 8 * (MOST_WORDS + 1))
        except MemoryFault as error:
            raise NoThread from error
        numbers = [int.from_bytes(words[at:at + 8], "little") for at in range(0, len(words), 8)]
        for rip, cs in zip(numbers, numbers[1:]):
            if cs < 0x10000 and cs & 3 == 3 and rip < USER_END:
                return rip
        raise NoThread

    def _meeting(self, id: Id, registers: Registers, address: int) -> Meeting:
        """With a thread that comes back with these registers to this address in user mode."""
        wanted = {name: registers[name] for name in ("fs_base", "rsp") if name in registers}
        space = self._spaces.of(id.pid)

        def accepts(processor: int) -> bool:
            now = self._machine.registers(processor)
            return now["cr3"] & FRAME == space and all(now[name] == value for name, value in wanted.items())

        return Meeting(address, space, accepts, id)


