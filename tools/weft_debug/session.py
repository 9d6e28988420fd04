"""One GDB's session: each packet, and its answer."""

from collections.abc import Callable
from dataclasses import replace

from weft_host.machine import HostError
from weft_host.packets import Closed
from weft_host.recording import Point

from . import words
from .debugger import Debugger, Served
from .memory import MemoryFault
from .motion import Action, Exit, Report
from .numbering import Numbering
from .points import KERNEL_PID
from .protocol import ALL, ANY, PACKET_SIZE, Id, Wire, piece, unescape
from .qemu import Ended
from .view import NoThread, Subject

OK, ERROR, NOTHING = b"OK", b"E01", b""
FAULT = b"E0e"  # EFAULT
REFUSED = b"E.a recorded run cannot be changed"
RUN = (b"vCont;", b"s", b"c", b"S", b"C", b"bs", b"bc", b"?")
PIECE = 0x400  # bytes that QEMU is asked for at once
SUPPORTED = (b"PacketSize=%x;multiprocess+;QStartNoAckMode+;vContSupported+;qXfer:features:read+;"
             b"qXfer:threads:read+;qXfer:exec-file:read+;qXfer:osdata:read+" % PACKET_SIZE)
RECORDED = b";ReverseStep+;ReverseContinue+"


class Session:
    """debugger: one that has the machine already; None: the session makes its own."""

    def __init__(self, wire: Wire, served: Served, debugger: Debugger | None) -> None:
        self._wire = wire
        self._served = served
        self._debugger = debugger
        self._main_pid = debugger.main_pid if debugger is not None else None
        self._selected = Id(KERNEL_PID, ANY)  # Hg
        self._told: set[int] = set()  # processes that GDB knows
        self.numbering = Numbering()
        self._ended = False  # the machine has
        self.used = False  # a packet has come
        self._threads = b""
        self._spaces: dict[int, int] = {}  # address spaces of processes that have had points
        self.stays = False  # the next packet that runs the machine does not
        self.jumps = False  # the next bs goes to the place that the recorded run has been told
        self._table: list[tuple[bytes, Callable[[bytes], bytes]]] = [
            (b"qSupported", self._supported), (b"QStartNoAckMode", lambda rest: OK), (b"!", lambda rest: OK),
            (b"qXfer:threads:read::", self._thread_list), (b"qXfer:exec-file:read:", self._exec_file),
            (b"qXfer:osdata:read:processes:", self._processes),
            (b"qXfer:features:read:", self._feature), (b"qAttached", lambda rest: b"1"),
            (b"qC", self._current), (b"qSymbol", lambda rest: OK),
            (b"qfThreadInfo", self._first_threads), (b"qsThreadInfo", lambda rest: b"l"),
            (b"qRcmd,", self._monitor), (b"vCont?", lambda rest: b"vCont;c;C;s;S;r"),
            (b"vAttach;", self._attach), (b"vKill;", self._kill_one), (b"D", self._detach),
            (b"H", self._select), (b"T", self._is_alive), (b"?", self._why), (b"g", self._read_all),
            (b"G", self._write_all), (b"p", self._read_one), (b"P", self._write_one), (b"m", self._read_memory),
            (b"M", self._write_hex), (b"X", self._write_binary), (b"Z", self._add_point),
            (b"z", self._remove_point)]

    # --- the session --------------------------------------------------------------------------------

    @property
    def debugger(self) -> Debugger:
        if self._debugger is None:
            if self._ended:
                raise Ended
            self._debugger = Debugger(self._served, main_pid=self._main_pid)
            self._debugger.program = self._served.main
        self._debugger.say = self._wire.say
        return self._debugger

    async def serve(self) -> None:
        """Until GDB closes the connection, or kills the machine.  Raises Closed, HostError."""
        while True:
            packet = await self._wire.receive()
            self.used = True
            if packet == b"k":
                self._served.kill()
                return
            self._wire.send(await self._answer(packet))
            if packet == b"QStartNoAckMode":
                self._wire.end_acknowledging()

    def leave(self) -> None:
        """GDB has gone: the machine goes on."""
        debugger, self._debugger = self._debugger, None
        if debugger is not None and not self._ended:
            try:
                debugger.leave()
            except (Ended, HostError):
                debugger.close()

    async def _answer(self, packet: bytes) -> bytes:
        try:
            if packet == b"bs" and self.jumps:
                self.jumps = False
                return self._stop(await self.debugger.motion.jump(packet, self._wire.stop))
            if packet in (b"bs", b"bc"):
                return self._stop(await self.debugger.motion.back(packet, self._wire.stop))
            if packet.startswith(b"vCont;") or packet[:1] in (b"s", b"c", b"S", b"C"):
                return await self._run(packet)
            for begin, answer in self._table:
                if packet.startswith(begin):
                    return answer(packet[len(begin):])
            return NOTHING
        except Ended:
            return self._end(packet.startswith(RUN))
        except MemoryFault:
            return FAULT
        except (NoThread, ValueError, IndexError):
            return ERROR

    def _end(self, runs: bool) -> bytes:
        """The machine has ended, and with it each inferior, one at a time.  runs: the packet is to run it."""
        if self._debugger is not None:
            self._debugger.close()
        self._ended, self._debugger = True, None
        if not runs:
            return ERROR
        if not self._told:
            raise Closed  # GDB would take an error for a mistake on the way, and ask for ever
        pid = KERNEL_PID if KERNEL_PID in self._told else min(self._told)
        self._told.discard(pid)
        return b"W00;process:%x" % pid

    # --- motion ---------------------------------------------------------------------------------------

    async def _run(self, packet: bytes) -> bytes:
        if packet.startswith(b"vCont;"):
            actions = [self._action(word) for word in packet[6:].decode().split(";") if word]
        else:  # of a GDB without vCont
            actions = [Action("s" if packet[:1] in (b"s", b"S") else "c", self._subject().id)]
        if self.stays:
            self.stays = False
            return self._stop(Report(5, self._subject().id))
        return self._stop(await self.debugger.motion.resume(actions, self._wire.stop))

    def _action(self, word: str) -> Action:
        action = _parse_action(word)
        return replace(action, id=self.numbering.ours(action.id))

    def _stop(self, what: Report | Exit) -> bytes:
        """A stop reply."""
        if isinstance(what, Exit):
            pid = self.numbering.inferior(what.pid)
            self._told.discard(pid)
            return b"%s;process:%x" % (b"X%02x" % what.signal if what.signal else b"W%02x" % what.status, pid)
        self.select(what.id)
        id = self.numbering.theirs(what.id)
        self._told.add(id.pid)
        return f"T{what.signal:02x}thread:{id};{what.more}".encode()

    def _why(self, rest: bytes) -> bytes:
        ids = list(self.debugger.view.ids())
        if not ids:
            return b"W00"
        return self._stop(Report(5, ids[0]))

    # --- what there is ----------------------------------------------------------------------------------

    def _supported(self, rest: bytes) -> bytes:
        return SUPPORTED + (RECORDED if self.debugger.stub.recorded else b"")

    def _feature(self, rest: bytes) -> bytes:
        return self.debugger.stub.ask(b"qXfer:features:read:" + rest)

    def _thread_list(self, rest: bytes) -> bytes:
        offset, length = _numbers(rest)
        if offset == 0:
            ids = self._ids()
            self._threads = self.debugger.view.xml(ids, self.numbering) if ids else b"<threads></threads>"
            self._told |= {self.numbering.inferior(id.pid) for id in ids}
        return piece(self._threads, offset, length)

    def _first_threads(self, rest: bytes) -> bytes:
        return b"m" + ",".join(str(self.numbering.theirs(id)) for id in self._ids()).encode()

    def _ids(self) -> list[Id]:
        """The threads that GDB is to have."""
        if self._ended:
            return []
        if self.numbering.joins:
            self.debugger.join(self.numbering)
        return list(self.debugger.view.ids())

    def _exec_file(self, rest: bytes) -> bytes:
        pid, _, where = rest.partition(b":")
        path = self.file_of(int(pid, 16))
        return piece(path.encode(), *_numbers(where)) if path else ERROR

    def _processes(self, rest: bytes) -> bytes:
        """For `info os processes`."""
        return piece(self.debugger.view.osdata(), *_numbers(rest))

    def file_of(self, pid: int) -> str:
        """The file with an inferior's symbols, or ""."""
        if pid == KERNEL_PID:
            return str(self._served.kernel)
        process = self.debugger.guest.process(pid)
        return str(process.program) if process is not None and process.program is not None else ""

    def cpu_of(self, pid: int, tid: int) -> int | None:
        """The CPU that a thread is on, in user mode or in the kernel."""
        thread = self.debugger.view.resolve(self.numbering.ours(Id(pid, tid))).thread
        on = thread.lwp.on if thread is not None and thread.lwp is not None else None
        return None if on is None else on.id

    def _current(self, rest: bytes) -> bytes:
        return f"QC{self.numbering.theirs(self._subject().id)}".encode()

    def _is_alive(self, rest: bytes) -> bytes:
        self.debugger.view.resolve(self.numbering.ours(Id.parse(rest.decode())))
        return OK

    def _select(self, rest: bytes) -> bytes:
        id = self.numbering.ours(Id.parse(rest[1:].decode()))
        if rest[:1] == b"g" and id.pid > 0:
            self.select(id)
        elif rest[:1] == b"c":
            self.debugger.motion.stepped = id if id.pid > 0 and id.tid > 0 else self._selected
        return OK

    def select(self, id: Id) -> None:
        self._selected = self.debugger.motion.focus = self.debugger.motion.stepped = id

    def _subject(self) -> Subject:
        return self.debugger.view.resolve(self._selected)

    # --- attaching and leaving -----------------------------------------------------------------------

    def _attach(self, rest: bytes) -> bytes:
        pid = int(rest, 16)
        view = self.debugger.view
        view.shown.add(pid)
        view.left.discard(pid)
        try:
            return self._stop(Report(0, view.resolve(Id(pid, ALL)).id))
        except NoThread:
            view.shown.discard(pid)
            return ERROR

    def _detach(self, rest: bytes) -> bytes:
        if self._ended:
            self._told.discard(int(rest[1:], 16) if rest else KERNEL_PID)
            return OK
        debugger = self.debugger
        pids = [int(rest[1:], 16)] if rest else sorted(self._told)
        for pid in pids:
            debugger.points.drop(pid)
            debugger.view.shown.discard(pid)
            debugger.view.left.add(pid)
            self._told.discard(pid)
        if not self._told:
            self._main_pid = debugger.main_pid
            self.leave()
        return OK

    def _kill_one(self, rest: bytes) -> bytes:
        if int(rest, 16) != KERNEL_PID:
            return ERROR
        self._served.kill()
        self._told.discard(KERNEL_PID)
        return OK

    # --- registers ---------------------------------------------------------------------------------

    def _changed(self) -> None:
        self.debugger.motion.forget()

    def _read_all(self, rest: bytes) -> bytes:
        subject = self._subject()
        if subject.processor is not None:
            return self.debugger.stub.g(subject.processor)
        return self.debugger.stub.description.encode(subject.registers or {})

    def _read_one(self, rest: bytes) -> bytes:
        subject, number = self._subject(), int(rest, 16)
        if subject.processor is not None:
            self.debugger.stub.select(subject.processor)
            return self.debugger.stub.ask(b"p" + rest)
        description = self.debugger.stub.description
        return description.word(description.by_number[number], subject.registers or {}).encode()

    def _write_one(self, rest: bytes) -> bytes:
        debugger, subject = self.debugger, self._subject()
        number, _, value = rest.partition(b"=")
        if debugger.stub.recorded:
            return REFUSED
        if subject.processor is not None:
            debugger.stub.select(subject.processor)
            answer = debugger.stub.ask(b"P" + rest)
        else:
            name = debugger.stub.description.by_number[int(number, 16)].name
            debugger.view.write(subject, name, int.from_bytes(bytes.fromhex(value.decode()), "little"))
            answer = OK
        self._changed()
        return answer

    def _write_all(self, rest: bytes) -> bytes:
        debugger, subject = self.debugger, self._subject()
        if debugger.stub.recorded:
            return REFUSED
        if subject.processor is not None:
            debugger.stub.select(subject.processor)
            answer = debugger.stub.ask(b"G" + rest)
            self._changed()
            return answer
        before = subject.registers or {}
        for name, value in debugger.stub.description.decode(rest).items():
            if name in before and before[name] != value:
                debugger.view.write(subject, name, value)
        self._changed()
        return OK

    # --- memory --------------------------------------------------------------------------------------

    def _read_memory(self, rest: bytes) -> bytes:
        address, length = _numbers(rest)
        subject = self._subject()
        if subject.processor is None:
            if subject.space is None:
                return FAULT
            return subject.space.read(address, length).hex().encode()
        out = b""
        for at in range(address, address + length, PIECE):
            part = self.debugger.stub.ask_virtual(
                subject.processor, b"m%x,%x" % (at, min(PIECE, address + length - at)))
            if part.startswith(b"E"):
                return out or FAULT
            out += part
        return out

    def _write_hex(self, rest: bytes) -> bytes:
        where, _, data = rest.partition(b":")
        return self._write_memory(where, bytes.fromhex(data.decode()))

    def _write_binary(self, rest: bytes) -> bytes:
        where, _, data = rest.partition(b":")
        return self._write_memory(where, unescape(data))

    def _write_memory(self, where: bytes, data: bytes) -> bytes:
        address, length = _numbers(where)
        if len(data) != length:
            return ERROR
        if not data:
            return OK
        subject = self._subject()
        if self.debugger.stub.recorded:
            return REFUSED
        if subject.processor is not None:
            return self._write_live(subject.processor, address, data)
        if subject.space is None:
            return FAULT
        subject.space.write(address, data)
        self._changed()
        return OK

    def _write_live(self, processor: int, address: int, data: bytes) -> bytes:
        """As a processor has this address."""
        for at in range(0, len(data), PIECE):
            part = data[at:at + PIECE]
            answer = self.debugger.stub.ask_virtual(
                processor, b"M%x,%x:%s" % (address + at, len(part), part.hex().encode()))
            if answer != OK:
                return FAULT
        self._changed()
        return OK

    # --- points ------------------------------------------------------------------------------------

    def _add_point(self, rest: bytes) -> bytes:
        point, pid = _point(rest), self.numbering.inferior(self._selected.pid)
        space = self.debugger.space_of(pid, point.address)
        if space is None and pid != KERNEL_PID:
            # In a recorded run it may have ended, or not begun.
            space = self._spaces.get(pid)
            if space is None or not self.debugger.stub.recorded:
                return ERROR
        elif space is not None:
            self._spaces[pid] = space
        return self.debugger.points.add(point, pid, space)

    def _remove_point(self, rest: bytes) -> bytes:
        # The process may have ended.
        self.debugger.points.remove(_point(rest), self.numbering.inferior(self._selected.pid))
        return OK

    # --- the monitor ----------------------------------------------------------------------------------

    def _monitor(self, rest: bytes) -> bytes:
        text = bytes.fromhex(rest.decode()).decode(errors="replace")
        said = words.answer(self, text)
        return said.encode().hex().encode() if said else OK


def _numbers(text: bytes) -> tuple[int, int]:
    first, _, second = text.partition(b",")
    return int(first, 16), int(second, 16)


def _point(rest: bytes) -> Point:
    kind, address, length = rest.partition(b";")[0].split(b",")
    return Point(int(kind), int(address, 16), int(length, 16))


def _parse_action(word: str) -> Action:
    """One of vCont's: c, C SIGNAL, s, S SIGNAL or r BEGIN,END, perhaps with :THREAD."""
    what, colon, id = word.partition(":")
    whose = Id.parse(id) if colon else Id(ALL, ALL)
    begin, _, end = what[1:].partition(",") if what[0] == "r" else ("0", "", "0")
    return Action("c" if what[0] in "cC" else "s", whose, int(begin, 16), int(end, 16))


