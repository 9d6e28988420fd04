"""Time travel: where and when a recorded run stands, and the ways to go elsewhere in it.

A place is the number of instructions that QEMU has executed before it.  The server between GDB and QEMU
(tools/weft_host/reverse.py) goes to places; `monitor` hands it our words.  GDB has to see each move as a stop
of the machine, or it would show the old registers.  So we name the goal to the server, and let GDB make a step: the
server then goes to the goal.

Virtual time is the kernel's (kernel/timing/lockstep.c): that of the CPU that has the token, in its window.
"""

import re

import gdb

from . import commands, inferiors, kernel
from .commands import Command
from .memory import KERNEL_HALF, UserMemory

PAGE = 4096
KNOWN_BY = "lockstep_switch"  # a function of kernel/timing/lockstep.c
STRIDE, MOST_STRIDES = 16, 50  # instructions: windows are longer, and what is between them is shorter
MOST_SHARES = 6
# Where a window begins and ends (kernel/timing/lockstep.S): from this symbol up to that.
BEGINNING = (("window_begin", "nmi_ignore"),)
ENDING = (("lockstep_nmi", "window_begin"), ("lockstep_op", "lockstep_send"))
WATCHPOINTS = (gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_READ_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT)


def _ask(words):
    return gdb.execute(f"monitor {words}", to_string=True).strip()


def _place():
    """(here, the last place)."""
    try:
        here, end = _ask("weft-place").split()
        return int(here), int(end)
    except (gdb.error, ValueError):
        raise gdb.GdbError("this run is not recorded: weft gdb --timing exact --reverse ... -- CMD") from None


def _move(place):
    with inferiors.silence(), inferiors.unchanged():
        # To GDB this is a step of a thread.  CPU 0 is there at each place, another CPU only from its beginning on.
        if gdb.selected_inferior().num != inferiors.KERNEL:
            gdb.execute(f"inferior {inferiors.KERNEL}", to_string=True)
        inferiors.cpu_threads()[0].switch()
        pid, tid = gdb.selected_thread().ptid[:2]
        _ask(f"weft-thread {pid} {tid}")
        _ask(f"weft-goal {place}")
        gdb.execute("reverse-stepi", to_string=True)


def _arrive(place):
    """As _move; then watchpoints have the values of this place."""
    _move(place)
    # A watchpoint stops only where its value differs from the last one that GDB has seen.  GDB reads it
    # when the watchpoint is enabled.
    watchpoints = [b for b in gdb.breakpoints() if b.type in WATCHPOINTS and b.enabled]
    _ask("weft-keep yes")
    try:
        for watchpoint in watchpoints:
            watchpoint.enabled = False
            watchpoint.enabled = True
    finally:
        _ask("weft-keep no")


def _processor_at(cpu):
    """The address of the next instruction; cpu: the one that has the token.  Another CPU's thread shows where that
    CPU waits for its turn."""
    selected = gdb.selected_thread()
    thread = inferiors.cpu_threads()[cpu]
    thread.switch()
    pc = int(gdb.newest_frame().pc())
    selected.switch()
    return pc


def _address(symbol):
    return int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))


def _is_in(pc, ranges):
    return any(_address(first) <= pc < _address(behind) for first, behind in ranges)


class Clock:
    """The virtual time of a CPU at the place where the machine stands, in instructions.

    window: (its begin, its end) if the CPU is in one; None: it waits for its turn, or the kernel is choosing
    the next CPU, and its time stands still.  first: the first place in the window.
    """

    def __init__(self, cpu=None):
        """cpu: a number; None: the CPU that runs."""
        self.place, self.end = _place()
        self.first = self.place
        self.now, self.cpu, self.window, self.mips = 0, 0, None, 1
        with inferiors.in_kernel():
            self._look(cpu)

    def _look(self, cpu):
        try:
            self.begun = int(gdb.parse_and_eval("lockstep_icr")) != 0
        except gdb.MemoryError:  # the kernel's addresses are not there yet
            self.begun = False
        if self.begun:
            self._read(cpu)

    def _read(self, number):
        self.mips = int(kernel.kernel_variable("mips", KNOWN_BY))
        self.over = int(gdb.parse_and_eval("lockstep_stopped")) != 0
        token = int(gdb.parse_and_eval("lockstep_token"))
        self.cpu = token if number is None else number
        clock = kernel.kernel_variable("ls", KNOWN_BY)[self.cpu]
        cpu = gdb.parse_and_eval(f"cpus[{self.cpu}]").dereference()
        record = cpu["timerec"]
        begin, length = int(clock["now"]), int(clock["len"])
        # In exact timing the time stamp counter counts QEMU's instructions.
        first = int(record["ws"])
        self.now = begin
        if self.cpu != token:
            return
        pc = _processor_at(token)
        inside = int(cpu["inwin"]) and not _is_in(pc, BEGINNING)
        if inside:
            self.window, self.first = (begin, begin + length), first
        # `now` is brought up to the end of the window some instructions after that end, and when the kernel
        # ends exact timing in a window, never.
        if inside or _is_in(pc, ENDING) or (self.over and int(record["vbase"]) == self.ns(begin)):
            self.now += min(max(0, self.place - first), length)

    def ns(self, instructions):
        return instructions * 1000 // self.mips

    def __str__(self):
        instruction = f"instruction {self.place} of {self.end}"
        if not self.begun:
            return f"virtual time has not begun, {instruction}"
        outside = "" if self.window else ", after the last window" if self.over else ", between two windows"
        return f"{self.ns(self.now)} ns, CPU {self.cpu}{outside}, {instruction}"


def _show():
    """GDB shows the thread that the machine executes."""
    inferiors.refresh()
    pid, tid = map(int, _ask("weft-here").split())
    with inferiors.silence():
        for inferior in gdb.inferiors():
            for thread in inferior.threads() if inferior.pid == pid else ():
                if thread.ptid[1] == tid:
                    thread.switch()
    gdb.execute("frame")


class Travel(Command):
    """A command that may end in another thread."""

    stays = False


class When(Travel):
    """weft-when: where a recorded run stands.

The virtual time in nanoseconds, as the kernel's messages have it; the virtual CPU that runs; and how many
instructions have been executed so far, of how many in the recording, those of the boot and of the kernel's
changes from CPU to CPU included."""

    def __init__(self):
        super().__init__("weft-when")

    def call(self, argv):
        if argv:
            raise gdb.GdbError("usage: weft-when")
        print(Clock())


class Goto(Travel):
    """weft-goto TIME [CPU] | start | end: goes to a virtual time, or to an end of a recorded run.

TIME is in nanoseconds, as the kernel's messages and weft-when have it.  Each CPU reaches this time at a place
of its own.  The machine stops where CPU does, or else, where any CPU that runs does.  If the CPU is idle at
that time, the machine stops where the CPU runs next."""

    USAGE = "usage: weft-goto TIME [CPU] | start | end, the time in nanoseconds"

    def __init__(self):
        super().__init__("weft-goto")

    def call(self, argv):
        here, end = _place()
        if argv in (["start"], ["end"]):
            _arrive(0 if argv == ["start"] else end)
        elif 1 <= len(argv) <= 2 and all(word.isdigit() for word in argv):
            try:
                _arrive(find_time(*map(int, argv)))
            except BaseException:
                _arrive(here)
                raise
        else:
            raise gdb.GdbError(self.USAGE)
        _show()


def find_time(ns, cpu=None):
    """The place where a CPU's clock reaches this time.  cpu: as in Clock.  The machine ends up anywhere.

    Between two places around it we guess by the share of the time that has passed.  Where a guess lies in the
    right window, the rest is counted: a window executes an instruction each nanosecond (at --mips 1000)."""
    _move(_place()[1])
    with inferiors.in_kernel():
        if cpu is not None and cpu >= int(gdb.parse_and_eval("ncpu")):
            raise gdb.GdbError(f"there is no CPU {cpu}")
    last = Clock(cpu)
    if not last.begun:
        raise gdb.GdbError("the recording ends before virtual time begins")
    if ns > last.ns(last.now):
        raise gdb.GdbError(f"the recording ends at {last.ns(last.now)} ns of CPU {last.cpu}")
    target = -(-ns * last.mips // 1000)
    low, low_time, high, high_time = 0, None, last.place, last.now
    guesses = 0
    while high - low > 1:
        guesses += 1
        # While all CPUs are idle, time jumps.  Shares then lead nowhere, and halves are better.
        share = 0.5 if guesses > MOST_SHARES or low_time is None else \
            (target - low_time) / max(1, high_time - low_time)
        guess = min(max(low + int((high - low) * share), low + 1), high - 1)
        for clock in _tries(guess, target, cpu):
            if clock.now == target and clock.window:
                return clock.place
            if not clock.begun or clock.now < target:
                low, low_time = max(low, clock.place), clock.now if clock.begun else None
            else:
                high, high_time = min(high, clock.place), clock.now
    return _next_window(high, last.place, cpu)


def _next_window(place, end, cpu):
    """The first place in the window that begins soon after this place, where time has jumped; if none does:
    this place."""
    for step in range(MOST_STRIDES):
        _move(min(place + step * STRIDE, end))
        clock = Clock(cpu)
        if clock.window:
            return clock.first
    return place


def _tries(guess, target, cpu):
    """The clock at this place; then, if the window there contains the time, at the place that this gives."""
    _move(guess)
    clock = Clock(cpu)
    yield clock
    if clock.window and clock.window[0] <= target < clock.window[1] and clock.now != target:
        _move(clock.place + target - clock.now)
        yield Clock(cpu)


class LastWrite(Travel):
    """weft-last-write EXPRESSION: goes back to the instruction that wrote a variable last.

EXPRESSION is anything that has an address.  The machine stops before that instruction, which is the next to
be executed.  Every store into these bytes counts, also one that does not change them.

A variable of a program is watched at its address in one process: that which runs the program given to
weft-program, or else the process whose address space the CPU has.  Stores by other processes to this address
are not meant.  Stores through another address of the same memory (memory that processes share) are not seen.
A variable that the kernel's or the program's file brings, and nothing has written, has no last write."""

    def __init__(self):
        super().__init__("weft-last-write", completer=gdb.COMPLETE_EXPRESSION)

    def words(self, argument):
        return argument.strip()  # an expression is one word, blanks and all

    def call(self, expression):
        if not expression:
            raise gdb.GdbError("usage: weft-last-write EXPRESSION")
        _place()
        pointer = gdb.parse_and_eval(f"&({expression})")
        address, kind = int(pointer), pointer.type.target()
        space = _space(address, expression)
        new = _value(space, address, kind)
        place = _ask(f"weft-write {address} {kind.sizeof} {space}")
        if not place.isdigit():
            raise gdb.GdbError(f"{expression} has not been written before here" if place == "none" else
                               f"interrupted: {place}")
        _arrive(int(place))
        old = _value(space, address, kind)
        print(f"{expression} = {new}, was {old}: written at {Clock()}")
        _show()


def _space(address, expression):
    """CR3 of the address space in which a user address is meant."""
    current = int(gdb.parse_and_eval("$cr3")) & -PAGE
    if address >= KERNEL_HALF or commands.program is None or gdb.selected_inferior().num != inferiors.KERNEL:
        return current
    process = commands.loaded_process()
    if process is None:
        raise gdb.GdbError(f"{expression}: no process runs the program here; where it has ended, `break exit` "
                           "and `reverse-continue` go back to its end")
    space = int(process["as"]["pml4"])
    if space != current and re.search(r"->|\*", expression):
        raise gdb.GdbError(f"{expression}: the CPU has another process's memory here; name the variable "
                           "without -> and *, or go to where the program runs")
    return space


def _value(space, address, kind):
    if address < KERNEL_HALF:
        return UserMemory(space).value(address, kind)
    return gdb.Value(address).cast(kind.pointer()).dereference().format_string()


for command in (When, Goto, LastWrite):
    command()
