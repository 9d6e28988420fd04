"""The picture of a guest that stands still: what each thread waits for, and deadlocks.

Of each process: its threads, the objects that they wait for, with owners and waiters, deadlocks, and its LWPs;
then the CPUs.  The words are those of pstack, plocks and lwps in the guest.
"""

from collections.abc import Iterable, Sequence

from .guest import Cpu, Guest, Lwp, Process, Thread
from .waits import Wait, cycles


def picture(guest: Guest, pid: int | None = None, most: int | None = None) -> str:
    """pid: of this process only, and without the CPUs.  most: only so many processes, and lines of each table,
    and how many are left out.  ValueError: there is no such process."""
    chosen = guest.processes
    if pid is not None:
        found = guest.process(pid)
        if found is None:
            raise ValueError(f"there is no process {pid}")
        chosen = [found]
    lines: list[str] = []
    for process in chosen[:most]:
        lines += [*process_lines(process, most), ""]
    if most is not None and len(chosen) > most:
        lines += [f"... {len(chosen) - most} more processes", ""]
        chosen = chosen[:most]
    if chosen:
        lines += [*lwp_lines(chosen, most), ""]
    if pid is None:
        lines += cpu_lines(guest)
    for process in chosen:
        if process.damage:
            lines.append(f"damaged: process {process.pid}: {process.damage}")
    if guest.damage:
        lines.append(f"damaged: {guest.damage}")
    return "\n".join(lines).rstrip() + "\n" if lines else "the kernel has no processes yet\n"


def shortened(lines: list[str], most: int | None) -> list[str]:
    """So many lines, and how many are left out."""
    if most is None or len(lines) <= most:
        return lines
    return [*lines[:most], f"  ... {len(lines) - most} more"]


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Rows in columns as wide as need be; the last is not padded."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [(indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths))).rstrip() for row in rows]


# --- a process -----------------------------------------------------------------------------------------


def process_lines(process: Process, most: int | None) -> list[str]:
    head = f"{process.pid}:\t{process.name}"
    if process.zombie:
        return [f"{head}, has ended"]
    threads = process.threads
    lines = [head]
    if threads:
        lines += shortened(columns([("THREAD", "NAME", "STATE", "LWP", "CPU", "WAITS FOR"),
                                    *(thread_row(t) for t in threads)]), most)
    return [*lines, *shortened(object_lines(threads), most),
            *shortened(deadlock_lines(threads), most)]


def thread_row(thread: Thread) -> tuple[str, str, str, str, str, str]:
    lwp = thread.lwp
    return (str(thread.id), thread.name or "-", thread.state, "-" if lwp is None else str(lwp.id),
            str(lwp.on.id) if lwp is not None and thread.runs and lwp.on is not None else "-",
            thread_words(thread))


def thread_words(thread: Thread) -> str:
    """What it waits for, or why it is where it is."""
    if thread.exited:
        return "to be joined" if thread.record is not None else "-"
    if thread.wait is not None:
        return str(thread.wait)
    if thread.lwp is None:
        return "an LWP" if thread.state == "RunQueue" else "to begin" if thread.registers is None else "-"
    return lwp_words(thread.lwp) if thread.runs else f"LWP {thread.lwp.id}, which does not run it now"


def lwp_words(lwp: Lwp) -> str:
    """What the kernel knows of its wait."""
    if lwp.state == "run":
        return "a CPU"
    if lwp.state != "sleep":
        return "-"
    return " in ".join(word for word in (lwp.wchan, lwp.syscall) if word) or "-"


def lwp_lines(processes: Iterable[Process], most: int | None) -> list[str]:
    """As lwps in the guest, without times.  The name is the program's, and the LWP's own or that of the thread
    that it runs."""
    rows = [("PID", "LWP", "STATE", "CLS", "PRI", "CPU", "SYSCALL", "WAITS FOR", "NAME")]
    for process in processes:
        names = {thread.lwp: thread.name for thread in process.threads if thread.runs}
        rows += [(str(process.pid), str(lwp.id), lwp.state, lwp.sclass or "-", str(lwp.priority), str(lwp.cpu),
                  lwp.syscall or "-", lwp.wchan or "-",
                  "/".join(word for word in (process.name, lwp.name or names.get(lwp)) if word))
                 for lwp in process.lwps]
    return shortened(columns(rows, ""), most)


# --- objects and deadlocks -------------------------------------------------------------------------------


# The order of plocks.
ORDER = ("mutex", "rwlock", "cond", "sema", "barrier", "once", "join", "join_any", "unknown")


def object_lines(threads: Iterable[Thread]) -> list[str]:
    """As plocks: each object with its owner and its waiters.  An object is found through its waiters."""
    waits: dict[tuple[str, int], list[tuple[Thread, Wait]]] = {}
    for thread in threads:
        w = thread.wait
        if w is not None and w.is_locks:
            waits.setdefault((w.kind, w.object), []).append((thread, w))
    lines: list[str] = []
    for _, waiters in sorted(waits.items(), key=lambda item: (ORDER.index(item[0][0]), item[0][1])):
        w = waiters[0][1]
        owner = "" if w.kind == "cond" else w.owner_words()
        lines.append(w.object_words() + (f", {owner}" if owner else ""))
        lines += [waiter_words(thread, w) for thread, w in waiters]
    return lines


def waiter_words(thread: Thread, w: Wait) -> str:
    how = f" to {'write' if w.write else 'read'}" if w.kind == "rwlock" else ""
    mutex = w.owner_words() if w.kind == "cond" else ""
    return f"    {thread} waits{how}" + (f", {mutex}" if mutex else "") + w.times_words()


def deadlock_lines(threads: Sequence[Thread]) -> list[str]:
    """"deadlock: ..." of each cycle through these threads."""
    return [deadlock_words(cycle) for cycle in cycles(threads)]


def deadlock_words(cycle: Sequence[Thread]) -> str:
    several = len({thread.process for thread in cycle}) > 1
    waits = []
    for thread in cycle:
        w = thread.wait
        assert w is not None
        owner = w.owner_words()
        waits.append(f"waits for {w.object_words()}" + (f" {owner}" if owner else ""))
    of = f" of process {cycle[0].process.pid}" if several else ""
    return f"deadlock: {cycle[0]}{of} " + ", which ".join(waits)


# --- CPUs -----------------------------------------------------------------------------------------------


def cpu_lines(guest: Guest) -> list[str]:
    """None in the boot of exact timing, because they would differ from run to run."""
    if not guest.cpus or guest.boots:
        return []
    return columns([("CPU", "LWP", "PROCESS", "MODE", "AT"), *(cpu_row(cpu) for cpu in guest.cpus)], "")


def cpu_row(cpu: Cpu) -> tuple[str, str, str, str, str]:
    """Where a CPU is; or, while it handles an NMI, where this has found it."""
    lwp = cpu.lwp
    registers = cpu.interrupted or cpu.registers
    user = bool(registers.get("cs", 0) & 3)
    at = registers.get("rip", 0)
    symbols = lwp.process.symbols if user and lwp is not None else cpu.guest.symbols
    return (str(cpu.id), "-" if lwp is None else f"{lwp.process.pid}/{lwp.id}",
            lwp.process.name if lwp is not None else "(idle)" if cpu.idle else "(kernel)",
            "user" if user else "kernel", symbols.function(at))
