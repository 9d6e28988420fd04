"""One lock or other object, at an address of a process or of the kernel: its state, its owner, its waiters.

    mutex first of process 3 (held_locks), held by thread 2 (left)
        thread 3 (right) waits
"""

from collections.abc import Iterator, Sequence

from .guest import Guest, Process, Thread
from .layout import Object, items
from .library import Library
from .lists import lwp_name_at
from .memory import KERNEL_HALF, MemoryFault
from .picture import deadlock_lines, waiter_words
from .queues import queue_order
from .waits import Wait, cycles, wait_for

USER_KINDS = ("mutex", "cond", "rwlock", "sema", "barrier")
KERNEL_KINDS = ("mutex", "rwlock")
SEMA_WAITING = 0x80000000  # weft/ksync.h
# pthread.h
RECURSIVE = 1
TYPES = {RECURSIVE: "recursive", 2: "error checking"}
PROTOCOLS = {1: "PTHREAD_PRIO_INHERIT", 2: "PTHREAD_PRIO_PROTECT"}


def show(guest: Guest, kind: str, address: int, pid: int | None) -> str:
    """weft-mutex and its like.  pid: of the process to which the address belongs; None: an object of the kernel.
    ValueError: why there is nothing to show."""
    if kind not in USER_KINDS:
        raise ValueError(f"there is no kind {kind} of object; there are: {', '.join(USER_KINDS)}")
    if address >= KERNEL_HALF:
        return "\n".join(_of_kernel(guest, kind, address)) + "\n"
    if pid is None:
        raise ValueError(f"{address:#x} is an address of a process: select one (inferior N)")
    process = guest.process(pid)
    if process is None:
        raise ValueError(f"there is no process {pid}")
    if isinstance(process.library, str):
        raise ValueError(f"process {pid} has no such objects: {process.library}")
    return "\n".join(_of_process(process, process.library, kind, address)) + "\n"


# --- of a process --------------------------------------------------------------------------------------


def _of_process(process: Process, library: Library, kind: str, address: int) -> Iterator[str]:
    try:
        process.space.read(address, 8)  # type: ignore[union-attr]
    except MemoryFault as error:
        raise ValueError(f"process {process.pid}: {error}") from error
    wait = wait_for(process, library, kind, address)
    threads = queue_order([t for t in process.threads if _waits_for(t, kind, address)])
    said = [_head(process, wait)]
    if kind == "mutex":
        said += _mutex_state(library, address)
    elif kind == "sema" and "sema.word" in library.fields:
        word = library.field(address, "sema.word")
        said.append(f"value {0 if word & SEMA_WAITING else word}")
    elif kind == "cond":
        said += [] if threads else ["no thread waits"]
    yield ", ".join(said)
    yield from (waiter_words(t, t.wait) for t in threads if t.wait is not None)
    yield from _deadlocks(process, wait, threads)


def _head(process: Process, wait: Wait) -> str:
    """The object, its process, its owner."""
    owner = wait.owner_words()
    return f"{wait.object_words()} of process {process.pid} ({process.name})" + (f", {owner}" if owner else "")


def _waits_for(thread: Thread, kind: str, address: int) -> bool:
    return thread.wait is not None and (thread.wait.kind, thread.wait.object) == (kind, address)


def _mutex_state(library: Library, address: int) -> list[str]:
    """What only a look at the mutex tells."""
    kind, count, protocol = (library.field(address, name) if name in library.fields else 0
                             for name in ("mutex.type", "mutex.count", "mutex.protocol"))
    said = [TYPES[kind]] if kind in TYPES else []
    if kind == RECURSIVE and count:
        said.append(f"locked {count + 1} times")
    return said + ([PROTOCOLS[protocol]] if protocol in PROTOCOLS else [])


def _deadlocks(process: Process, wait: Wait, waiters: Sequence[Thread]) -> list[str]:
    """Those that the owner or a waiter is a part of."""
    concerned = {*waiters, wait.owner}
    found = [cycle for cycle in cycles(process.threads) if concerned & set(cycle)]
    return [line for cycle in found for line in deadlock_lines(cycle)]


# --- of the kernel -------------------------------------------------------------------------------------


def _of_kernel(guest: Guest, kind: str, address: int) -> Iterator[str]:
    """A struct kmutex or a struct krwlock."""
    if kind not in KERNEL_KINDS:
        raise ValueError(f"the kernel has no objects of kind {kind}; it has: {', '.join(KERNEL_KINDS)}")
    try:
        lock = guest.object("struct kmutex" if kind == "mutex" else "struct krwlock", address,
                            "sched/kmutex.c")
        yield from _kmutex(guest, lock) if kind == "mutex" else _krwlock(guest, lock)
    except MemoryFault as error:
        raise ValueError(str(error)) from error


def _kmutex(guest: Guest, lock: Object) -> Iterator[str]:
    owner = lock["owner"].number()
    held = f"held by {lwp_name_at(guest, owner)}" if owner else "free"
    yield f"kernel mutex {_kernel_name(guest, lock, 'waiters')}, {held}"
    yield from _sleepers(guest, lock["waiters"], "")


def _krwlock(guest: Guest, lock: Object) -> Iterator[str]:
    holders = lock["holders"].number()
    held = "free" if holders == 0 else "held by a writer" if holders < 0 else \
        f"held by {holders} reader{'' if holders == 1 else 's'}"
    yield f"kernel reader-writer lock {_kernel_name(guest, lock, 'readers')}, {held}"
    yield from _sleepers(guest, lock["writers"], " to write")
    yield from _sleepers(guest, lock["readers"], " to read")


def _kernel_name(guest: Guest, lock: Object, queue: str) -> str:
    """The lock's variable or address, and its own name, which sleepers show as what they wait for."""
    try:
        name = lock[queue]["name"].text(64)
    except MemoryFault:
        name = ""
    at = guest.symbols.object(lock.address)
    return f"{at} ({name})" if name else at


def _sleepers(guest: Guest, queue: Object, how: str) -> Iterator[str]:
    """The LWPs in a struct waitq, in the order of their arrival."""
    if queue["sleepers"]["next"].number() == 0:  # not initialised
        return
    waiter = guest.layout.type("struct waiter", "sched/waitq.c")
    try:
        for w in items(queue["sleepers"], waiter, "link"):
            yield f"    LWP {lwp_name_at(guest, w['lwp'].number())} waits{how}"
    except MemoryFault as error:
        yield f"    damaged: {error}"
