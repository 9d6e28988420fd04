"""Exact timing under GDB: a stop of the machine takes no virtual time.

When a breakpoint, a watchpoint or a step stops the only processor that is not in HLT, QEMU takes the machine for
idle, and lets its clock jump to the next timer before it stands still (icount_start_warp_timer, with -icount
sleep=off).  In exact timing the next timer is the end of the window: up to a millisecond later if one CPU is
active, up to a round otherwise.  The window would be over after fewer instructions than it has.

How far the clock has jumped is known, because QEMU also counts the instructions that it has executed
(query-replay), and these do not jump.  So the kernel gets the number in `lockstep_jumped`.  As the machine goes on,
the window's timer comes at once, and the kernel begins the rest of the window
(kernel/timing/lockstep.c).  A step with interrupts and timers held back makes no jump.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from .guest import Guest
from .layout import LayoutError, Object
from .memory import MASK, MemoryFault
from .qemu import LiveMachine, Stub

COUNT = re.compile(r"current_count = (\d+)")
RDTSC, RDTSCP = b"\x0f\x31", b"\x0f\x01\xf9"
UNIT = "timing/lockstep.c"
MOST_WINDOW = 1 << 31  # instructions: QEMU's timers are shorter


_Place = tuple[int, int]  # a physical address, and a number of bytes


@dataclass(frozen=True)
class _Record:
    """Of a CPU.  processor: of QEMU, that executes it.  lapic: its number.  The others are places in memory:
    whether a window is on, the time stamp counter at its begin, its length."""

    processor: int
    lapic: int
    inwin: _Place
    begin: _Place
    length: _Place


class Standstill:
    """count: the instructions that QEMU has executed; None: nothing is known, and nothing is done (fast timing, a
    recorded run)."""

    def __init__(self, stub: Stub, machine: LiveMachine, guest: Guest, count: Callable[[], int] | None) -> None:
        self._stub = stub
        self._machine = machine
        self._guest = guest
        self._count = count
        # The time stamp counter, less the instructions executed; it changes with each jump.  None: not known.
        self._lead: int | None = None
        self._left: int | None = None  # at least so many instructions of the window
        self._token, self._jumped = (
            self._place(guest.variable(name, UNIT)) for name in ("lockstep_token", "lockstep_jumped"))
        self._records: dict[int, _Record] = {}  # by the numbers of CPUs
        # Outside of virtual time, although the CPU is in a window by what the kernel says.
        code = guest.layout.symbols
        self._outside = range(code.get("lockstep_nmi", 0), code.get("lockstep_wait", 0))
        self._begins = code.get("cpu_set_nmi_entry") if count is not None else None

    @property
    def begins(self) -> int | None:
        """A place in the kernel before virtual time begins: from there on, learn() finds the clock.  None: there
        is no need."""
        return self._begins if self._lead is None else None

    def learn(self, clock: int) -> None:
        """The machine has just read its time stamp counter."""
        if self._count is not None:
            self._lead = clock - self._count()

    def stopped(self, by_user: bool) -> None:
        """The machine has stopped, and timers were not held back.  by_user: not at a point; then its clock has made
        no jump.  Raises Ended, HostError."""
        self._left = None
        if self._count is None:
            return
        try:
            window = self._window()
            if window is not None:
                self._correct(*window, self._count())
            elif not by_user:  # it is not known what other timers there are
                self._lead = None
        except (MemoryFault, LayoutError):
            self._lead = None

    def stepped(self) -> None:
        """A processor has made a step, with timers held back."""
        if self._left is not None:
            self._left -= 1

    def left(self) -> int | None:
        """The instructions that the window still has, at least; None: not known, or there is no window."""
        if self._left is not None and self._left <= 0 and self._lead is not None and self._count is not None:
            try:
                window = self._window()
                if window is not None:
                    self._left = window[0] - (self._lead + self._count() - self._peek(self._jumped))
            except (MemoryFault, LayoutError):
                self._left = None
        return self._left

    def is_shown(self, processor: int, address: int) -> int:
        """How far the time stamp counter is ahead for the instruction at this address: its reader gets
        the counter, and the kernel has not yet heard of the jump.  0: it does not read it."""
        if self._left is None or address in self._outside or not (jumped := self._peek(self._jumped)):
            return 0
        code = self._stub.ask_virtual(processor, b"m%x,3" % address)
        code = b"" if code.startswith(b"E") else bytes.fromhex(code.decode())
        return jumped if code.startswith((RDTSC, RDTSCP)) else 0

    # --- windows ----------------------------------------------------------------------------------

    def _window(self) -> tuple[int, int] | None:
        """The time stamp counter at the end of the window, as it was planned, and the number of the LAPIC; None: no
        CPU is in a window."""
        number = self._peek(self._token)
        if number not in self._records and not self._find(number):
            return None
        record = self._records[number]
        if not self._peek(record.inwin) or self._machine.registers(record.processor)["rip"] in self._outside:
            return None
        return self._peek(record.begin) - 1 + self._peek(record.length), record.lapic

    def _find(self, number: int) -> bool:
        """Where the clock of a CPU is; False: exact timing has not begun."""
        guest = self._guest
        if not guest.engine:
            return False
        cpu = guest.variable("cpus", "cpu/cpu.c")[number].pointed()
        if not cpu["inwin"].number():
            return False
        found = cpu["inwin"], cpu["timerec"].pointed()["ws"], guest.variable("ls", UNIT)[number]["len"]
        self._records[number] = _Record(0 if guest.engine == "one" else number, cpu["lapic"].number(),
                                        *map(self._place, found))
        return True

    def _place(self, field: Object) -> _Place:
        return self._guest.kernel.translate(field.address), field.type.size

    def _peek(self, place: _Place) -> int:
        return int.from_bytes(self._machine.physical.peek(*place), "little")

    def _correct(self, end: int, lapic: int, count: int) -> None:
        found = COUNT.search(self._stub.monitor(f"info lapic {lapic}"))
        if found is None:
            self._lead = None
            return
        left = int(found[1])
        if left > 0:
            clock = end - left - 1
        elif self._lead is None:
            clock = end
        else:  # steps that held the timer back may have come past the end
            clock = max(end, self._lead + count)
        jump = 0 if self._lead is None else clock - self._lead - count
        known, self._lead = self._lead is not None, clock - count
        if not 0 <= jump < MOST_WINDOW:  # a clock of the machine that we do not know
            return
        jumped = self._peek(self._jumped)
        if jump:
            jumped += jump
            address, size = self._jumped
            self._machine.physical.write(address, (jumped & MASK).to_bytes(size, "little"))
        if known:
            self._left = end - (self._lead + count - jumped)
