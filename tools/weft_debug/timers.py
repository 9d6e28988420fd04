"""The timers of a guest, by the CPU that has armed them, and the deadlines of threads that are on no LWP.

Times are seconds since boot.  In exact timing the time of the guest is known too, and what is left is said.
"""

from collections.abc import Iterator

from .guest import Guest, Process
from .layout import LayoutError, Object
from .lists import NEVER, lwp_name, lwp_name_at, seconds, tree_items
from .memory import MASK, MemoryFault

REAL_TIME = 1 << 63  # a deadline of CLOCK_REALTIME (libthread/core/tcb.h)


def timers(guest: Guest) -> str:
    """weft-timers."""
    if not guest.cpus:
        return "no CPU has started yet\n"
    at = guest.now
    lines = [] if at is None else [f"now {seconds(at)}"]
    for cpu in guest.cpus:
        lines.append(f"CPU {cpu.id}")
        found: list[str] = []
        try:
            found += _cpu_lines(guest, cpu.id, at)
        except (MemoryFault, LayoutError) as error:
            found.append(f"    damaged: {error}")
        lines += found or ["    no timer"]
    for process in guest.processes:
        found = list(_library_lines(process))
        if found:
            lines += [f"threads library of process {process.pid} ({process.name})", *found]
    return "\n".join(lines) + "\n"


def _when(at: int, since: int | None) -> str:
    """A time, and what is left of it."""
    if since is None:
        return seconds(at)
    return f"{seconds(at)}, in {seconds(at - since)}" if at >= since else f"{seconds(at)}, due"


# --- timers of the kernel -------------------------------------------------------------------------------


def _cpu_lines(guest: Guest, number: int, since: int | None) -> Iterator[str]:
    """The end of the slice, then the timers, the earliest first."""
    cpu = guest.variable("cpus", "cpu/cpu.c")[number].pointed()
    slice_end = guest.object("struct dispq", cpu["dispq"].number(), "sched/switch.c")["slice_end"].number()
    if slice_end != NEVER:
        yield f"    {_when(slice_end, since)}: the slice of {lwp_name_at(guest, cpu['lwp'].number())} ends"
    queue = guest.object("struct timerq", cpu["timerq"].number(), "sched/timer.c")
    kind = guest.layout.type("struct ktimer", "sched/timer.c")
    for timer in tree_items(queue["tree"], kind, "node"):
        yield f"    {_when(timer['when'].number(), since)}: {_purpose(guest, timer)}"


def _purpose(guest: Guest, timer: Object) -> str:
    """What happens then.  The timer's function says which structure the timer is a part of."""
    name = guest.symbols.name(timer["fn"].number()) or f"{timer['fn'].number():#x}"
    try:
        match name:
            case "sleep_timeout":
                return _sleeper(guest, timer.address - guest.layout.type("struct lwp").offset("timer") & MASK)
            case "wall_expire":
                return _itimer(guest, timer)
            case "cpu_look" | "upcall_check":
                process = next((p for p in guest.processes if p.address <= timer.address
                                < p.address + p.object.type.size), None)
                what = "a look at timers of CPU time" if name == "cpu_look" else "a check of SIGWAITING"
                return f"{what} of {_process(process)}"
    except (MemoryFault, LayoutError):
        pass
    return name


def _process(process: Process | None) -> str:
    return "a process" if process is None else f"process {process.pid} ({process.name})"


def _sleeper(guest: Guest, address: int) -> str:
    lwp = guest.lwp_at(address)
    if lwp is None:
        return f"the sleep of {lwp_name_at(guest, address)} ends"
    words = " in ".join(word for word in (lwp.wchan, lwp.syscall) if word)
    return f"the sleep of {lwp_name(lwp)} ends" + (f": {words}" if words else "")


def _itimer(guest: Guest, timer: Object) -> str:
    """An interval timer (proc/itimer.c)."""
    kind = guest.layout.type("struct itimer", "proc/itimer.c")
    t = Object(guest.kernel, kind, timer.address - kind.offset("timer") & MASK)
    process = next((p for p in guest.processes if p.address == t["proc"].number()), None)
    lwp, interval = t["lwpid"].number(), t["interval"].number()
    to = f"LWP {lwp} of {_process(process)}" if lwp else _process(process)
    how = "no signal" if t["silent"].number() else f"signal {t['signo'].number()} to {to}"
    return f"timer {t['id'].number()}: {how}" + (f", each {seconds(interval)}" if interval else "")


# --- deadlines of threads ---------------------------------------------------------------------------------


def _library_lines(process: Process) -> Iterator[str]:
    """Of threads on no LWP (model/mxn/timeout.c), the earliest first."""
    library = process.library
    if isinstance(library, str) or "thread.deadline" not in library.fields:
        return
    found = [(library.field(t.record.at, "thread.deadline"), t) for t in process.threads
             if t.record is not None and t.record.timed and not t.runs]
    for deadline, thread in sorted(found, key=lambda item: (item[0], item[1].id)):
        clock = " of CLOCK_REALTIME" if deadline & REAL_TIME else ""
        wait = "" if thread.wait is None else f" for {thread.wait.object_words()}"
        yield f"    {seconds(deadline & ~REAL_TIME)}{clock}: the wait of {thread}{wait} ends"
