"""A running guest: QEMU, its console, and how it ends.

    result = run(Machine(argv=["pp", "-i", "1000"], smp=2, timeout=60))
    result.status, result.output

QEMU's standard input and output are the guest's serial console.  Whatever happens to the
caller (an exception, a signal, a closed pipe), QEMU does not outlive it.
"""

import contextlib
import ctypes
import functools
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .console import ConsoleFilter
from .cores import Place, batch, threads
from .disks import DISKS
from .events import Events
from .machine import INITRD, QMP_SOCKET, HostError, Machine
from .monitor import Monitor
from .workdir import WorkDirectory, explained

STATUS_TIMEOUT = 124
STATUS_PANIC = 70
STATUS_HOST = 69  # QEMU could not do its work

QEMU_HALTED = 33  # 2 * QEMU_EXIT_OK + 1
QEMU_PANICKED = 35  # 2 * QEMU_EXIT_PANIC + 1
QEMU_STANDSTILL = 37  # 2 * QEMU_EXIT_STANDSTILL + 1

LAST_WORDS = 5.0  # seconds for the kernel's report at the time limit
AGAIN = 0.5  # seconds without one
HELD_SECONDS = 0.2  # how often a debugger is looked for

RESET = "the guest has reset itself"

CTRL_A, CTRL_D = b"\x01", b"\x04"

# Byte 255 begins a command of Telnet's on the console (kernel/dev/telnet.h); twice it is itself.
IAC, SB, SE, NAWS = b"\xff", b"\xff\xfa", b"\xff\xf0", b"\x1f"


@dataclass
class Result:
    """How a guest ended.  error: why status is not the program's, or empty."""

    status: int
    output: str = ""
    error: str = ""
    panic: str = ""  # the kernel's report
    picture: str = ""  # of a guest that stood still: every process, and what its threads wait for
    kept: Path | None = None  # the crash file
    seconds: float = 0.0  # on the host, from QEMU's start to its end
    cpu_seconds: float | None = None  # of the host's cores, for QEMU; None: it was killed, or not on Linux

    @property
    def report(self) -> str:
        """What the kernel says, and what its memory tells."""
        return "\n".join(text.rstrip("\n") + "\n" for text in (self.panic, self.picture) if text)

    @property
    def timed_out(self) -> bool:
        return self.error != "" and self.status == STATUS_TIMEOUT


Sink = Callable[[bytes], object]  # takes each piece of a program's output


class _TooMuch(Exception):
    """The program has printed more than Machine.most_output."""


class Leave(Exception):
    """The user typed Ctrl-A x."""


class Guest:
    """Start it by `with`; relay() then serves the console until the guest ends."""

    def __init__(self, machine: Machine, terminal: bool = False, work: Path | None = None) -> None:
        """work: a directory of the caller's for the temporary files; None: one that ends with the guest."""
        self.machine = machine
        self._given = work
        self.recorded: int | None = None  # how many instructions, if the time limit has ended a recording
        self.terminal = terminal  # a person's terminal, in raw mode, is at the console
        self.filter = ConsoleFilter(crlf_to_lf=not terminal)
        self._to_guest = bytearray()
        self._source_open = True
        self._last_sent = b"\n"
        self._escape = False
        self._place: Place | None = None  # of exact timing
        # Descriptors: what relay() calls when one can be read.
        self.watched: dict[int, Callable[[], None]] = {}
        # Does a debugger hold the guest?  Then one that has reset itself stays until the debugger goes.
        self.held: Callable[[], bool] = lambda: False

    def __enter__(self) -> "Guest":
        self._work = None
        if self._given is not None:
            self.work = self._given
        else:
            self._work = WorkDirectory()
            self.work = Path(self._work.name)
        self._events = Events()
        self.watched[self._events.fileno()] = self._take_event
        try:
            try:
                events = self._events.theirs.fileno()
                command = self.machine.qemu(self.work, self.terminal, "stdio,signal=off", events)
                self._errors = open(self.work / "stderr", "w+")
            except OSError as error:
                raise explained(error, self.work) from error
            if self.machine.timing == "exact":
                self._place = Place()
            self.started = time.monotonic()
            # A session of its own: Ctrl-C on our terminal is ours to handle.  A function that runs in the
            # child makes Python copy all of its page tables: 25 ms with 250 MB.
            before = _bound_to_parent()
            self.qemu = subprocess.Popen([*before, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._errors, start_new_session=True,
                                         preexec_fn=None if before or _LIBC is None else die_with_parent,
                                         pass_fds=[events], bufsize=0)
            self._events.theirs.close()
            self._settle(self.qemu.pid)
        except BaseException:
            self._leave()
            raise
        assert self.qemu.stdin is not None and self.qemu.stdout is not None  # they are pipes
        self._into, self._out = self.qemu.stdin, self.qemu.stdout
        os.set_blocking(self._into.fileno(), False)
        return self

    def _settle(self, pid: int) -> None:
        if self.machine.background:
            _give_way(pid)
        if self.machine.cpu_limit is not None:
            resource.prlimit(pid, resource.RLIMIT_CPU, (self.machine.cpu_limit, resource.RLIM_INFINITY))
        if self._place is not None:
            self._place.settle(pid)
        elif self.machine.boot == "kernel":
            # A boot loader asks its drive in a loop, while the thread of QEMU that reads would wait for its turn.
            batch(pid)

    def _leave(self) -> None:
        self._events.close()
        if self._place is not None:
            self._place.leave()
        if self.machine.recording is None:  # else a replay is to come
            DISKS.give_back(self.work / INITRD)
        if self._work is not None:
            self._work.cleanup()

    def __exit__(self, *exc: object) -> None:
        self.qemu.kill()
        self.qemu.wait()
        self._into.close()
        self._out.close()
        self._errors.close()
        self._leave()

    def relay(self, sink: Sink, source: int | None = None) -> Result:
        """Serves the console until the guest ends or its time is up; returns its Result.

        sink is called with each piece of the program's output.  source is a file descriptor
        to read the console's input from; None: there is none.  The end of the input becomes
        Ctrl-D.  Raises Leave.
        """
        if source is None:
            self._end_of_input()
        timeout = self.machine.timeout
        deadline = None if timeout is None else self.started + timeout
        out, into = self._out.fileno(), self._into.fileno()
        while True:
            # Input goes in only after init has set the console up.
            wants = [out, *self.watched]
            if (source is not None and self._source_open and self.filter.ready
                    and len(self._to_guest) < 4096):
                wants.append(source)
            sends = [into] if self.filter.ready and self._to_guest else []
            left = None if deadline is None else deadline - time.monotonic()
            if self._events.reset:
                if not self.held():
                    return self._was_reset(sink, out)
                left = HELD_SECONDS
            if left is not None and left <= 0:
                hung = self.filter.panicked
                if self.machine.recording:
                    self._end_recording(sink, out)
                elif not hung:
                    self._have_it_tell(sink, out)
                self._flush(sink)
                return self._look(self._result(STATUS_PANIC, "the kernel panicked, and hung") if hung else
                                  self._result(STATUS_TIMEOUT, f"time-out after {timeout:g} s"))
            readable, writable = _wait(wants, sends, left)
            for fd in self.watched.keys() & set(readable):
                self.watched[fd]()
            if source is not None and source in readable:
                self._take_input(source)
            if writable:
                self._send(into)
            if out in readable:
                data = os.read(out, 65536)
                if not data:
                    break
                text = self.filter.feed(data)
                if text:
                    sink(text)
                if self.filter.stands is not None:
                    self._flush(sink)
                    return self._look(self._ended(2 * self.filter.stands + 1))
                status = self.filter.status
                if self.machine.wanted and self.filter.held is not None and status is not None:
                    return self._result(status & 0xff)
        self._flush(sink)
        cpu_seconds = _cpu_seconds(self.qemu.pid)
        result = self._ended(self.qemu.wait())
        result.cpu_seconds = cpu_seconds
        return result

    def _take_event(self) -> None:
        if not self._events.take():
            del self.watched[self._events.fileno()]

    def _was_reset(self, sink: Sink, out: int) -> Result:
        """It has reset itself, and stands still."""
        self._read_on(sink, out, 0)  # QEMU has written all before it told
        self._flush(sink)
        return self._look(self._result(STATUS_PANIC, RESET))

    def _look(self, result: Result) -> Result:
        """The guest has failed: takes from its memory what that tells, if QEMU is still there."""
        if not self.machine.picture and self.machine.keep is None:
            return result
        # Here, since most guests do not fail: what reads ELF files takes Python half as long as all else.
        from weft_debug.crash import Ended

        from .standing import Standing, crash_path

        if self.machine.recording or not Standing.is_possible(self.work) or self.qemu.poll() is not None:
            return result
        try:
            with Standing(self.work, self.machine, result.panic) as standing:
                if result.error == RESET and not standing.resets():
                    result.error += " (a triple fault)"
                result.picture = standing.picture()
                if self.machine.keep is not None:
                    path = crash_path(self.machine.keep, self.machine.stem())
                    ended = Ended(self.machine.argv, result.status, result.error, result.panic)
                    standing.keep(path, ended, result.picture)
                    result.kept = path
        except HostError as error:
            result.picture += f"weft: the guest's memory cannot be read: {error}\n"
        return result

    def _have_it_tell(self, sink: Sink, out: int) -> None:
        """Time is up: an NMI makes the kernel tell what runs and what waits, and end.  In exact timing an
        NMI that comes as a window ends anyway is lost, so it is sent again."""
        ends = time.monotonic() + LAST_WORDS
        while (left := ends - time.monotonic()) > 0:
            tells = self.filter.panicked
            asked = tells or self._interrupt()
            if self._read_on(sink, out, left if tells else min(left, AGAIN)) or not asked:
                break

    def _end_recording(self, sink: Sink, out: int) -> None:
        """Time is up: QEMU completes the log, and ends.  The kernel tells nothing, because an NMI of the
        host's is no part of a recording: GDB will show what runs and what waits.  Raises HostError."""
        try:
            with contextlib.closing(Monitor(self.work / QMP_SOCKET, LAST_WORDS)) as monitor:
                monitor.ask("stop")
                self.recorded = monitor.ask("query-replay")["icount"]
                monitor.ask("quit")
        except (OSError, HostError, ValueError):
            self.recorded = None  # it may just have ended by itself
        if not self._read_on(sink, out, LAST_WORDS):
            raise HostError("QEMU did not complete the log of the recording")

    def _interrupt(self) -> bool:
        """False: it cannot be.  If it has ended, what it has written may still be in the pipe."""
        try:
            with contextlib.closing(Monitor(self.work / QMP_SOCKET, LAST_WORDS)) as monitor:
                monitor.nmi()
        except (OSError, HostError, ValueError):
            return False
        return True

    def _read_on(self, sink: Sink, out: int, seconds: float) -> bool:
        """Takes what the guest writes for so long.  True: it has ended, or stands still for ever."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if out in _wait([out], [], left)[0]:
                data = os.read(out, 65536)
                if not data:
                    return True
                sink(self.filter.feed(data))
                if self.filter.stands is not None:
                    return True
        return False

    def _flush(self, sink: Sink) -> None:
        text = self.filter.finish()
        if text:
            sink(text)

    def _take_input(self, source: int) -> None:
        data = os.read(source, 1024)
        if not data:
            self._end_of_input()
        elif self.terminal:
            for byte in (data[i:i + 1] for i in range(len(data))):
                self._type(byte)
        else:
            self._to_guest += data.replace(IAC, IAC + IAC)
            self._last_sent = data[-1:]

    def _type(self, byte: bytes) -> None:
        """Ctrl-A x leaves; Ctrl-A Ctrl-A is one Ctrl-A."""
        if self._escape:
            self._escape = False
            if byte in (b"x", b"X"):
                raise Leave
            self._to_guest += byte if byte == CTRL_A else CTRL_A + byte
        elif byte == CTRL_A:
            self._escape = True
        else:
            self._to_guest += byte.replace(IAC, IAC + IAC)

    def resize(self, columns: int, rows: int) -> None:
        """Tells the guest the size of its terminal's window."""
        size = columns.to_bytes(2, "big") + rows.to_bytes(2, "big")
        self._to_guest += SB + NAWS + size.replace(IAC, IAC + IAC) + SE

    def _end_of_input(self) -> None:
        # The console takes Ctrl-D for the end of the input only at the start of a line; within
        # one, the first ends the line.
        self._source_open = False
        self._to_guest += CTRL_D if self._last_sent == b"\n" else CTRL_D + CTRL_D

    def _send(self, into: int) -> None:
        try:
            sent = os.write(into, self._to_guest)
        except BlockingIOError:
            return
        except BrokenPipeError:  # QEMU is gone; its output says so too
            sent = len(self._to_guest)
        del self._to_guest[:sent]

    def _result(self, status: int, error: str = "") -> Result:
        report = self.filter.report.decode(errors="replace").replace("\r\n", "\n")
        return Result(status, error=error, panic=report, seconds=time.monotonic() - self.started)

    def _ended(self, code: int) -> Result:
        if self.machine.cpu_limit is not None and -code == signal.SIGXCPU:
            return self._result(STATUS_TIMEOUT, f"time-out after {self.machine.cpu_limit} s of the host's cores")
        if code == QEMU_STANDSTILL:
            ends = self.machine.until is not None and self.filter.report.lstrip().startswith(b"weft: time limit")
            return self._result(STATUS_TIMEOUT, f"time-out after {self.machine.until} virtual ms" if ends else
                                "nothing could happen any more")
        if self.filter.panicked or code == QEMU_PANICKED:
            return self._result(STATUS_PANIC, "the kernel panicked")
        if code == QEMU_HALTED and self.filter.status is not None:
            return self._result(self.filter.status & 0xff)
        if code == 0:
            # With -no-reboot, QEMU ends so on a reset, if it does not stay.
            return self._result(STATUS_PANIC, RESET)
        self._errors.seek(0)
        said = self._errors.read().strip()
        return self._result(STATUS_HOST, f"QEMU ended with status {code}" +
                            (f": {said}" if said else ""))


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """In the child, on Linux: SIGKILL when the parent dies, even of SIGKILL."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@functools.cache
def _bound_to_parent() -> list[str]:
    """What stands before a command so that Linux kills it as die_with_parent() says; empty if the host has no such
    command (util-linux)."""
    words = [shutil.which("setpriv") or "setpriv", "--pdeathsig", "KILL"]
    with contextlib.suppress(OSError):
        if subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
            return words
    return []


def _give_way(pid: int) -> None:
    """Lets other work of the host go before this process, which leads a session, except for a tenth.
    Linux may share its time among sessions first: then a process's own niceness counts only within
    its session (sched(7), "The autogroup feature")."""
    for thread in threads(pid):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as group:
        group.write("10")


def _cpu_seconds(pid: int) -> float | None:
    """Waits for the end of a child, and leaves it to be waited for: the time of the host's cores that all its
    threads took, to a tick (proc(5)).  None: not on Linux, or it was killed.

    *Race:* another thread kills the child (Guests.stop), and Popen.kill() waits for one that has ended; *without
    this:* there is no such child any more, and an error ends the run; *closed by:* these exceptions."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (ChildProcessError, FileNotFoundError, ProcessLookupError):
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LONGEST_WAIT = 3600.0  # seconds


def _wait(reads: Iterable[int], writes: Iterable[int],
          timeout: float | None) -> tuple[Collection[int], list[int]]:
    with selectors.DefaultSelector() as selector:
        for fd in reads:
            try:
                selector.register(fd, selectors.EVENT_READ)
            except PermissionError:  # a regular file is always ready
                return [fd], []
        for fd in writes:
            selector.register(fd, selectors.EVENT_WRITE)
        # The caller asks again: its time may be longer than the system can wait.
        events = selector.select(timeout if timeout is None else min(timeout, LONGEST_WAIT))
    return ([key.fd for key, event in events if event & selectors.EVENT_READ],
            [key.fd for key, event in events if event & selectors.EVENT_WRITE])


def _input_file(data: bytes) -> IO[bytes]:
    """A file without a name that holds data, to be read from its beginning."""
    try:
        source = tempfile.TemporaryFile()
        source.write(data)
        source.seek(0)
    except OSError as error:
        raise explained(error, tempfile.tempdir or "no directory") from error
    return source


def run(machine: Machine, stdin: bytes = b"", started: Callable[[Guest], None] | None = None,
        work: Path | None = None) -> Result:
    """Runs a machine to its end with this input, and returns its Result with the output.  started
    is called with the Guest as soon as it runs; work: see Guest."""
    output = bytearray()

    def sink(text: bytes) -> None:
        output.extend(text)
        if machine.most_output is not None and len(output) > machine.most_output:
            raise _TooMuch

    if machine.timing == "exact":
        machine.stdin, stdin = stdin, b""
    with _input_file(stdin) as source, Guest(machine, work=work) as guest:
        if started is not None:
            started(guest)
        try:
            result = guest.relay(sink, source.fileno() if stdin else None)
        except _TooMuch:
            del output[machine.most_output:]
            result = Result(STATUS_TIMEOUT, error=f"more than {machine.most_output} bytes of output")
    result.output = output.decode(errors="replace")
    return result


class Guests:
    """Guests that run side by side, each in a thread of its caller's, until one stop() ends all.  within: Guests of
    a larger task, whose stop() ends these too."""

    def __init__(self, within: "Guests | None" = None) -> None:
        self._within = within
        self._lock = threading.Lock()  # of all below; held for itself, also where there is a larger task
        self._running: set[Guest] = set()
        self.stopped = False

    def run(self, machine: Machine, stdin: bytes = b"", work: Path | None = None) -> Result:
        """As run() does; after stop(), a Result that says nothing of the machine."""
        mine: set[Guest] = set()

        def started(guest: Guest) -> None:
            mine.add(guest)
            self._add(guest)

        try:
            return run(machine, stdin, started, work)
        finally:
            self._remove(mine)

    def _add(self, guest: Guest) -> None:
        with self._lock:
            self._running.add(guest)
            if self.stopped:
                guest.qemu.kill()
        if self._within is not None:
            self._within._add(guest)

    def _remove(self, guests: set[Guest]) -> None:
        with self._lock:
            self._running -= guests
        if self._within is not None:
            self._within._remove(guests)

    def stop(self) -> None:
        """Kills those that run, and each that still begins."""
        with self._lock:
            self.stopped = True
            for guest in self._running:
                guest.qemu.kill()


__all__ = ["Guest", "Guests", "HostError", "Leave", "Result", "run"]
