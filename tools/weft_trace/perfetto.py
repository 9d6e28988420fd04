"""A trace in the form of the Perfetto viewer: a Trace message, written packet by packet.

The dispatcher's part is what Linux's ftrace would have said, so that the viewer's tables sched and thread_state
are filled: an LWP is Linux's thread, and the idle LWPs are the thread 0.  Each LWP has a track with its system
calls and faults, and one with the threads that it runs.  Each thread has a track with its states, and each lock
one with its owners.  A wake-up is an arrow from the waker's track to the woken LWP's or thread's.

Numbers of fields: protos/perfetto/trace/perfetto_trace.proto.
"""

from __future__ import annotations

from collections import defaultdict
from typing import IO

from .model import Model, Watcher
from .objects import GONE, RUNNING, Cpu, Lock, Lwp, Process, Thread, Wake
from .protobuf import data, fixed, number, packed, text, varint

SEQUENCE = 1
BOOTTIME = 6  # BuiltinClock.BUILTIN_CLOCK_BOOTTIME
CLEARED, NEEDED = 1, 2  # SequenceFlags
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4  # TrackEvent.Type
TYPES = {kind: number(9, kind) for kind in (BEGIN, END, INSTANT, COUNTER)}
IN_SEQUENCE = number(10, SEQUENCE) + number(13, NEEDED)
SPAN = 10_000  # of the numbers of a process's LWPs
EXPLICIT = 3  # ChildTracksOrdering
BUNDLE = 2000  # events of a CPU in one packet
IN_INTERRUPT = 0x08  # TRACE_FLAG_HARDIRQ
# Linux's bits of a task's state.
TASK = {"waitcpu": 0, "sleep": 1, "lock": 1, "stopped": 4, GONE: 16}
# Ranges of track numbers.
PROCESSES, LWPS, MAPPINGS, THREADS, LOCKS, WAITERS, QUEUES, INTERRUPTS, GROUPS = (
    kind << 48 for kind in range(1, 10))


def packet(content: bytes) -> bytes:
    """Trace.packet."""
    return data(1, content)


def _pid(process: Process | None) -> int:
    """The viewer takes the process 2 and its children for Linux's kernel threads.  So each process has a number
    that leaves room for the numbers of its LWPs."""
    return SPAN * process.pid if process is not None else 0


class _Times:
    """TracePacket.timestamp; most times have the upper bits of the time before."""

    def __init__(self) -> None:
        self._upper, self._said = 0, b"\0"

    def field(self, time: int) -> bytes:
        upper = time >> 14
        if upper != self._upper:
            self._upper, self._said = upper, varint(upper)
        return bytes((0x40, time & 0x7f | 0x80, time >> 7 & 0x7f | 0x80)) + self._said


class _Sched:
    """The switches and wake-ups of a CPU that are not written yet (FtraceEventBundle.CompactSched)."""

    def __init__(self, cpu: int) -> None:
        self.cpu = cpu
        self.comms: dict[str, int] = {}
        self.switches: list[tuple[int, int, int, int, int]] = []  # time, state before, next: tid, priority, comm
        self.wakes: list[tuple[int, int, int, int, int, int]] = []  # time, tid, CPU, priority, comm, flags

    def comm(self, name: str) -> int:
        return self.comms.setdefault(name, len(self.comms))

    def full(self) -> bool:
        return len(self.switches) + len(self.wakes) >= BUNDLE

    def take(self) -> bytes:
        out = b"".join(text(5, name) for name in self.comms)
        for first, rows in ((1, self.switches), (7, self.wakes)):
            if rows:
                times, *columns = (list(column) for column in zip(*rows))
                steps = [now - before for now, before in zip(times, [0, *times])]
                numbers = (2, 3, 4, 6) if first == 1 else (8, 9, 10, 11, 12)
                out += packed(first, steps) + b"".join(map(packed, numbers, columns))
        self.comms, self.switches, self.wakes = {}, [], []
        return packet(number(10, SEQUENCE) + data(1, number(1, self.cpu) + data(4, out)))


class Perfetto(Watcher):
    """Writes what a model tells.  finish() is to be called at the end."""

    def __init__(self, model: Model, file: IO[bytes]) -> None:
        self._model = model
        self._file = file
        self._sched: dict[int, _Sched] = {}
        self._times = _Times()
        self._names: dict[str, bytes] = {}  # interned: TrackEvent.name_iid
        self._places: dict[int, bytes] = {}  # of tracks: TrackEvent.track_uuid
        self._tids: dict[str, int] = {}
        self._left: dict[int, int] = {}  # of a CPU: the state of the LWP that has left it last
        self._tracks: dict[str, int] = {}
        self._open: set[int] = set()  # tracks in which a slice is open
        # Arrows that have begun, by what has been woken: more than one, if it is woken again before it runs.
        self._flows: defaultdict[str, list[int]] = defaultdict(list)
        self._flow = 0
        self._write(number(10, SEQUENCE) + number(13, CLEARED) + number(87, 1) + data(59, number(58, BOOTTIME)))
        model.watch(self)

    def _write(self, content: bytes) -> None:
        self._file.write(packet(content))

    def finish(self) -> None:
        for sched in self._sched.values():
            self._file.write(sched.take())

    # --- tracks and their events --------------------------------------------------------------------------

    def _track(self, kind: int, key: str, parent: int, more: bytes = b"") -> int:
        """The number of a track; its descriptor is written at the first time, and again if `more` is given."""
        name = f"{kind:x} {key}"
        track = self._tracks.get(name)
        if track is None or more:
            if track is None:
                track = self._tracks[name] = kind + len(self._tracks)
            self._write(number(10, SEQUENCE) + data(60, number(1, track) + (number(5, parent) if parent else b"") +
                                                     more))
        return track

    def _event(self, time: int, kind: int, track: int, name: str | None = None, more: bytes = b"") -> None:
        """A TrackEvent.  Most packets are made here, and so from parts that are encoded already."""
        intern = b""
        place = self._places.get(track)
        if place is None:
            place = self._places[track] = number(11, track)
        said = TYPES[kind] + place + more
        if name is not None:
            known = self._names.get(name)
            if known is None:
                number_of = len(self._names) + 1
                intern = data(12, data(2, number(1, number_of) + text(2, name)))
                known = self._names[name] = number(10, number_of)
            said += known
        content = self._times.field(time) + IN_SEQUENCE + intern + b"\x5a" + varint(len(said)) + said
        self._file.write(b"\x0a" + varint(len(content)) + content)

    def _slice(self, time: int, track: int, name: str | None, more: bytes = b"") -> None:
        """The slice that is open ends, and another begins, or (None) none."""
        if track in self._open:
            self._event(time, END, track)
            self._open.discard(track)
        if name is not None:
            self._event(time, BEGIN, track, name, more)
            self._open.add(track)

    # --- processes and LWPs -------------------------------------------------------------------------------

    def process(self, time: int, process: Process) -> None:
        known = number(1, _pid(process)) + number(2, SPAN * process.parent) + text(3, process.name)
        self._write(number(8, time) + number(10, SEQUENCE) + data(2, data(1, known)))
        self._track(PROCESSES, str(process.pid), 0, data(3, number(1, _pid(process)) + text(6, process.name)))

    def _group(self, process: Process | None, name: str) -> int:
        """A track of a process for the tracks of its threads, or its locks."""
        track = self._tracks.get(f"{GROUPS:x} {process.pid if process else 0} {name}")
        if track is None:
            track = self._track(GROUPS, f"{process.pid if process else 0} {name}", self._process_track(process),
                                text(2, name) + number(11, EXPLICIT))
        return track

    def _process_track(self, process: Process | None) -> int:
        return self._tracks.get(f"{PROCESSES:x} {process.pid}", 0) if process else 0

    def _tid(self, lwp: Lwp | None) -> int:
        if lwp is None:
            return 0
        tid = self._tids.get(lwp.key)
        if tid is None:
            plain = lwp.process is not None and lwp.id < SPAN
            tid = _pid(lwp.process) + lwp.id if plain else (1 << 31) - 1 - len(self._tids)
            self._tids[lwp.key] = tid
        return tid

    def _comm(self, lwp: Lwp | None) -> str:
        return "idle" if lwp is None else f"LWP {lwp.id}" if lwp.process else f"kernel {lwp.key}"

    def lwp_new(self, time: int, lwp: Lwp) -> None:
        tid, pid = self._tid(lwp), _pid(lwp.process)
        name = self._comm(lwp)
        thread = number(1, tid) + number(3, pid or tid) + text(2, name)
        self._write(number(8, time) + number(10, SEQUENCE) + data(2, data(2, thread)))
        self._track(LWPS, lwp.key, self._process_track(lwp.process),
                    data(4, number(1, pid or tid) + number(2, tid) + text(5, name)))

    def lwp(self, time: int, lwp: Lwp, before: str, since: int) -> None:
        state = lwp.state
        if before in RUNNING and state not in RUNNING:
            self._left[self._model.cpu] = TASK[state]
        if state == "waitcpu" and before not in RUNNING and before != state:
            self._woken(time, lwp)
        track = self._tracks[f"{LWPS:x} {lwp.key}"]
        if state in ("user", GONE):
            if track in self._open:
                self._slice(time, track, None)
        elif state in RUNNING and track not in self._open and before == "user":
            self._slice(time, track, lwp.call if state == "system" and lwp.call else state)
        if state in RUNNING and before not in RUNNING and (ends := self._arrow_ends(lwp.key)):
            self._event(time, INSTANT, track, "runs after a wake-up", ends)

    def _woken(self, time: int, lwp: Lwp) -> None:
        """sched_waking, which Linux has for a new thread too."""
        sched = self._sched_of(self._model.cpu)
        wake = lwp.woken
        flags = IN_INTERRUPT if wake is not None and wake.waker is None else 0
        target = lwp.queued.number if lwp.queued else self._model.cpu
        sched.wakes.append((time, self._tid(lwp), target, lwp.pri, sched.comm(self._comm(lwp)), flags))

    def _sched_of(self, cpu: int) -> _Sched:
        sched = self._sched.get(cpu)
        if sched is None:
            sched = self._sched[cpu] = _Sched(cpu)
            # The table sched begins with the second switch of a CPU.
            begin = self._model.begin or 0
            sched.switches += 2 * [(begin, 0, 0, 0, sched.comm(self._comm(None)))]
        elif sched.full():
            self._file.write(sched.take())
        return sched

    def cpu(self, time: int, cpu: Cpu, before: Lwp | None, since: int) -> None:
        sched = self._sched_of(cpu.number)
        lwp = cpu.lwp
        state = self._left.pop(cpu.number, 0)
        sched.switches.append((time, state, self._tid(lwp), lwp.pri if lwp else 0, sched.comm(self._comm(lwp))))

    def queue(self, time: int, cpu: Cpu, before: int) -> None:
        track = self._tracks.get(f"{QUEUES:x} {cpu.number}")
        if track is None:
            track = self._track(QUEUES, str(cpu.number), 0, text(2, f"CPU {cpu.number} run queue") + data(8, b""))
        self._event(time, COUNTER, track, None, number(30, cpu.queue))

    # --- wake-ups, threads and locks ----------------------------------------------------------------------

    def wake(self, time: int, wake: Wake) -> None:
        self._flow += 1
        woken = wake.woken
        self._flows[woken.key].append(self._flow)
        kind = "thread" if isinstance(woken, Thread) else "LWP"
        if wake.waker is None:
            track = self._tracks.get(f"{INTERRUPTS:x} {wake.cpu}")
            if track is None:
                track = self._track(INTERRUPTS, str(wake.cpu), 0, text(2, f"CPU {wake.cpu} interrupts"))
        else:
            track = self._tracks[f"{THREADS if isinstance(wake.waker, Thread) else LWPS:x} {wake.waker.key}"]
        by = f" ({wake.cause})" if wake.cause else ""
        self._event(time, INSTANT, track, f"wakes {kind} {woken.key}{by}", fixed(47, self._flow))

    def _arrow_ends(self, key: str) -> bytes:
        return b"".join(fixed(48, flow) for flow in self._flows.pop(key, ()))

    def thread_new(self, time: int, thread: Thread) -> None:
        """A track keeps the name that it has first.  So it has no name that the thread is given later."""
        if f"{THREADS:x} {thread.key}" not in self._tracks:
            self._track(THREADS, thread.key, self._group(thread.process, "threads"),
                        text(2, f"thread {thread.id}") + number(12, thread.id))

    def thread(self, time: int, thread: Thread, before: str, since: int, lwp: Lwp | None) -> None:
        if lwp is not thread.lwp:
            if lwp is not None:
                self._slice(time, self._mapping(lwp), None)
            if thread.lwp is not None:
                self._slice(time, self._mapping(thread.lwp), f"thread {thread.id} {thread.name}".rstrip())
        ends = self._arrow_ends(thread.key) if thread.state != "Blocked" else b""
        on = (f" on LWP {thread.lwp.id}" if thread.lwp is not None else
              f" on {thread.waits}" if thread.waits is not None and thread.state == "Blocked" else "")
        self._slice(time, self._tracks[f"{THREADS:x} {thread.key}"],
                    None if thread.state == GONE else thread.state + on, ends)

    def _mapping(self, lwp: Lwp) -> int:
        track = self._tracks.get(f"{MAPPINGS:x} {lwp.key}")
        if track is None:
            track = self._track(MAPPINGS, lwp.key, self._tracks[f"{LWPS:x} {lwp.key}"], text(2, "runs"))
        return track

    def lock(self, time: int, lock: Lock, before: Thread | None, since: int) -> None:
        track = self._tracks.get(f"{LOCKS:x} {lock.key}")
        if track is None:
            group = self._group(lock.process, "locks")
            track = self._track(LOCKS, lock.key, group, text(2, str(lock)))
            self._track(WAITERS, lock.key, group, text(2, f"waiters of {lock}") + data(8, b""))
        if lock.owner is not before:
            self._slice(time, track, f"thread {lock.owner.id}" if lock.owner is not None else None)
        self._event(time, COUNTER, self._tracks[f"{WAITERS:x} {lock.key}"], None, number(30, len(lock.waiters)))
