"""What queues.py, timers.py and objects.py share: the kernel's trees, times, and the names of LWPs."""

from collections.abc import Iterator

from .guest import Guest, Lwp, Thread
from .layout import MOST_ITEMS, Object, Type
from .memory import MASK, MemoryFault

NEVER = MASK


def tree_items(tree: Object, outer: Type, member: str) -> Iterator[Object]:
    """The structures in a struct tree (kern/tree.h), in its order, up to the first damage: MemoryFault."""
    offset, node_type, _ = outer.member(member)
    path: list[int] = []
    at, seen = tree["root"].number(), set[int]()
    while at or path:
        while at:
            if at in seen or len(seen) >= MOST_ITEMS:
                raise MemoryFault(at)
            seen.add(at)
            path.append(at)
            at = Object(tree.space, node_type, at)["child"][0].number()
        node = path.pop()
        yield Object(tree.space, outer, node - offset & MASK)
        at = Object(tree.space, node_type, node)["child"][1].number()


def seconds(ns: int) -> str:
    """Nanoseconds as seconds, to the microsecond."""
    return f"{ns // 10**9}.{ns % 10**9 // 1000:06} s"


def lwp_name(lwp: Lwp) -> str:
    """PID/LWP, as weft-cpus has it, the process, and the LWP's own name."""
    return f"{lwp.process.pid}/{lwp.id} ({lwp.process.name}{f'/{lwp.name}' if lwp.name else ''})"


def lwp_name_at(guest: Guest, address: int) -> str:
    """Of the LWP whose structure is there."""
    lwp = guest.lwp_at(address)
    if lwp is not None:
        return lwp_name(lwp)
    return f"an LWP of the kernel at {address:#x}" if address else "none"


def thread_on(lwp: Lwp) -> Thread | None:
    """The thread that an LWP runs."""
    return next((t for t in lwp.process.threads if t.runs and t.lwp is lwp), None)


def thread_name(thread: Thread) -> str:
    """With its process."""
    return f"{thread} of process {thread.process.pid} ({thread.process.name})"
