"""Where LWPs and threads wait: the dispatch queues of the CPUs, the queues of the kernel for sleepers, and those
of each process's threads library."""

from collections.abc import Iterable, Iterator

from .guest import Cpu, Guest, Process, Thread
from .layout import LayoutError, Object, items
from .lists import lwp_name, lwp_name_at, thread_on, tree_items
from .memory import MemoryFault
from .picture import ORDER

BITS = 64  # of a word of a run queue's bit map
MOST_NAMES = 40  # of one line


def queues(guest: Guest) -> str:
    """weft-queues."""
    if not guest.cpus:
        return "no CPU has started yet\n"
    lines = ["dispatch queues"]
    for cpu in guest.cpus:
        lines += _dispatch_lines(guest, cpu)
    lines += ["sleepers of the kernel", *_sleeper_lines(guest)]
    lines += ["queues for locks in user memory", *(_lock_lines(guest) or ["    no LWP waits"])]
    for process in guest.processes:
        found = _library_lines(process)
        if found:
            lines += [f"threads library of process {process.pid} ({process.name})", *found]
    return "\n".join(lines) + "\n"


def _names(names: list[str]) -> str:
    """So many of them, and how many are left out."""
    left = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f", and {left} more" if left > 0 else "")


# --- dispatch queues ---------------------------------------------------------------------------------


def _dispatch_lines(guest: Guest, cpu: Cpu) -> Iterator[str]:
    """What the CPU runs, and the LWPs that wait for it, by their priorities, the next first."""
    lwp = cpu.lwp
    runs = "is idle" if cpu.idle else "runs an LWP of the kernel" if lwp is None else \
        f"runs {lwp_name(lwp)}, priority {lwp.priority}"
    yield f"CPU {cpu.id} {runs}"
    try:
        queue = guest.variable("cpus", "cpu/cpu.c")[cpu.id].pointed()["dispq"]
        q = guest.object("struct dispq", queue.number(), "sched/switch.c")
        waiting: dict[int, list[str]] = {}
        for name, suffix in (("free", ""), ("tied", ", bound")):
            for priority, address in _run_queue(guest, q[name]):
                waiting.setdefault(priority, []).append(lwp_name_at(guest, address) + suffix)
    except (MemoryFault, LayoutError) as error:
        yield f"    damaged: {error}"
        return
    for priority in sorted(waiting, reverse=True):
        yield f"    priority {priority}: {_names(waiting[priority])}"


def _run_queue(guest: Guest, queue: Object) -> Iterator[tuple[int, int]]:
    """The LWPs of a struct runq: priority and address, in the order of the lists."""
    kind = guest.layout.type("struct lwp")
    for word in range(len(queue["bits"])):
        bits = queue["bits"][word].number()
        for priority in range(word * BITS, min((word + 1) * BITS, len(queue["list"]))):
            if bits >> priority % BITS & 1:
                for lwp in items(queue["list"][priority], kind, "runlink"):
                    yield priority, lwp.address


# --- sleepers of the kernel -----------------------------------------------------------------------------


def _sleeper_lines(guest: Guest) -> list[str]:
    """LWPs by what they sleep for (the column of lwps)."""
    sleepers: dict[str, list[str]] = {}
    for process in guest.processes:
        for lwp in process.lwps:
            if lwp.state == "sleep":
                sleepers.setdefault(lwp.wchan or "-", []).append(lwp_name(lwp))
    return [f"    {wchan}: {_names(names)}" for wchan, names in sorted(sleepers.items())] or \
        ["    no LWP sleeps"]


def _lock_lines(guest: Guest) -> list[str]:
    """The LWPs that sleep for locks in user memory, by lock, the next first (sync/usleep.h, sync/inherit.c)."""
    lines: list[str] = []
    try:
        waiter = guest.layout.type("struct uwaiter", "sync/usleep.c")
        buckets = guest.variable("buckets", "sync/usleep.c")
        for number in range(len(buckets)):
            bucket = buckets[number]["waiters"]
            if bucket["root"].number():
                lines += _waiter_lines(guest, [
                    (_key(w["key"].pointed()), w["lwp"].number(), " to write" if w["writes"].number() else "")
                    for w in tree_items(bucket, waiter, "node")])
        mutex = guest.layout.type("struct imutex", "sync/inherit.c")
        sleeper = guest.layout.type("struct isleeper", "sync/inherit.c")
        for m in tree_items(guest.variable("contended", "sync/inherit.c"), mutex, "node"):
            lines += _waiter_lines(guest, [(_key(m["key"]), s["lwp"].number(), "")
                                           for s in tree_items(m["sleepers"], sleeper, "node")])
    except (MemoryFault, LayoutError) as error:
        lines.append(f"    damaged: {error}")
    return lines


def _key(key: Object) -> tuple[int, int]:
    """The lock: what is mapped there, and the offset; or the address space, and the address."""
    return key["object"].number(), key["offset"].number()


def _waiter_lines(guest: Guest, waiters: Iterable[tuple[tuple[int, int], int, str]]) -> Iterator[str]:
    """(key, address of the LWP, how) in the order of the queue.  A new line for each lock."""
    last = None
    for key, address, how in waiters:
        lwp = guest.lwp_at(address)
        thread = None if lwp is None else thread_on(lwp)
        if key != last:
            wait = None if thread is None else thread.wait
            name = f"offset {key[1]:#x} of {key[0]:#x}" if wait is None else wait.object_words()
            place = "" if thread is None else f" of process {thread.process.pid}"
            yield f"    {name}{place}"
        last = key
        priority = "" if lwp is None else f", priority {lwp.priority}"
        yield f"        {lwp_name_at(guest, address)} waits{how}{priority}"


# --- the library's queues ---------------------------------------------------------------------------------


def _library_lines(process: Process) -> list[str]:
    """Threads without an LWP that could run, and the waiters for each object, the next first."""
    if isinstance(process.library, str):
        return []
    lines: list[str] = []
    runnable: dict[int, list[str]] = {}
    for thread in process.threads:
        if thread.state == "RunQueue":
            runnable.setdefault(thread.priority, []).append(str(thread))
    lines += [f"    run queue, priority {priority}: {_names(runnable[priority])}"
              for priority in sorted(runnable, reverse=True)]
    waiters: dict[tuple[int, int], list[Thread]] = {}
    for thread in process.threads:
        wait = thread.wait
        if wait is not None and thread.record is not None and thread.record.wchan:
            waiters.setdefault((ORDER.index(wait.kind) if wait.kind in ORDER else len(ORDER), wait.object),
                               []).append(thread)
    for _, threads in sorted(waiters.items()):
        wait = threads[0].wait
        assert wait is not None
        lines.append(f"    {wait.object_words()}: {_names([str(t) for t in queue_order(threads)])}")
    return lines


def queue_order(threads: list[Thread]) -> list[Thread]:
    """The waiters for one object in the order of its queue (libthread/core/sleepq.h): each has the next.  The
    rest, if the queue is damaged, follow by their numbers."""
    library = threads[0].process.library if threads else ""
    if isinstance(library, str) or "thread.q_next" not in library.fields:
        return threads
    by_address = {t.record.at: t for t in threads if t.record is not None}
    next_of = {at: library.field(at, "thread.q_next") for at in by_address}
    at = next((at for at in by_address if at not in next_of.values()), 0)
    order: list[Thread] = []
    while at in by_address:
        order.append(by_address.pop(at))
        at = next_of[at]
    return order + list(by_address.values())
