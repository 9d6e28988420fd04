"""What a thread waits for, and which thread can end the wait: in the words of the guest's plocks and pstack.

A thread that waits in a queue of the library has wchan, the object's address.  The library stores no kind of
object.  How the kind follows from what the library does store is said in user/bin/threads/common/waits.c,
which finds the same in the guest.  For a thread that waits in the kernel, the system call says what the object
is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .library import Library, Record
from .memory import MemoryFault

if TYPE_CHECKING:
    from .guest import Lwp, Process, Thread

# weft/ksync.h
LWP_MUTEX_OWNERDEAD = 0x4
LWP_MUTEX_NOTRECOVERABLE = 0x8
LWP_MUTEX_SHARED = 1 << 63
LWP_MUTEX_OWNER = 0x1FFFFFFFFFFFFFC0
LWP_OWNER_THREAD = 0x80000000
LWP_RWLOCK_WRITER = 0x80000000
LWP_RWLOCK_WAITING = 0x40000000
LWP_RWLOCK_SHARED = 0x20000000
LWP_RWLOCK_READERS = 0x1FFFFFFF
# Where the number and the process of an owner stand in such a word.
NUMBER_SHIFT, PROCESS_SHIFT, PROCESS_MASK = 8, 40, 0x1FFFFF

KINDS = {"mutex": "mutex", "rwlock": "reader-writer lock", "cond": "condition variable", "sema": "semaphore",
         "barrier": "barrier", "once": "pthread_once_t", "unknown": "an object of unknown kind,"}

# weft/signal.h, from 1 on
SIGNALS = ("HUP INT QUIT ILL TRAP ABRT - FPE KILL BUS SEGV SYS PIPE ALRM TERM URG STOP TSTP CONT CHLD TTIN TTOU "
           "IO XCPU XFSZ VTALRM PROF WINCH - USR1 USR2 WAITING LWP").split()
FIRST_REALTIME, ALL_SIGNALS = 34, (1 << 64) - 1


@dataclass(eq=False)
class Wait:
    """kind: a key of KINDS, or join, join_any, signals, time.

    object: its address.  mutex: the mutex that a waiter of a condition variable acquires again; 0: not known.
    set: the signals that are awaited, bit 0 is signal 1.  write: waits for a reader-writer lock to write.
    timed: it has a deadline.  asleep: the thread is in the wait, and in no handler that has interrupted it.

    held: how the object is held: "" (it has no owner, or is free), thread (owner), exited (a thread that has
    exited), number (thread or, with is_lwp, LWP `number` of process `pid`; owner, if it is known), readers
    (so many), unreadable.  For kind join the owner is the thread that is to end.  For a barrier `number`
    threads have arrived, of `count`.  dead: what the death of an owner has made of a robust mutex.  since: for how
    many nanoseconds the thread has slept; None: not known, because it is on no LWP, for example.
    """

    process: "Process"
    kind: str
    object: int = 0
    mutex: int = 0
    set: int = 0
    count: int = 0
    write: bool = False
    timed: bool = False
    asleep: bool = False
    held: str = ""
    owner: "Thread | None" = None
    pid: int = 0
    number: int = 0
    is_lwp: bool = False
    dead: str = ""
    since: int | None = None

    @property
    def is_locks(self) -> bool:
        """Does plocks show it?"""
        return self.kind not in ("time", "signals")

    def object_words(self) -> str:
        """What is awaited."""
        match self.kind:
            case "join":
                return f"the end of {self.owner}"
            case "join_any":
                return "the end of any thread"
            case "signals":
                return _set_words(self.set)
            case "time":
                return "a time"
        return f"{KINDS[self.kind]} {self.process.symbols.object(self.object)}"

    def owner_words(self) -> str:
        """How it is held, or ""."""
        if self.kind == "join":
            return ""
        if self.kind == "barrier":
            said = f"{self.number} of {self.count} threads have arrived"
        elif self.kind == "cond" and self.mutex:
            said = f"with mutex {self.process.symbols.object(self.mutex)}"
        else:
            said = self._held_words()
        return f"{said}, {self.dead}" if self.dead else said

    def _held_words(self) -> str:
        match self.held:
            case "thread":
                return f"held by {self.owner}"
            case "exited":
                return "held by a thread that has exited"
            case "number":
                return f"held by {'LWP' if self.is_lwp else 'thread'} {self.number} of process {self.pid}"
            case "readers":
                return f"held by {self.number} reader{'' if self.number == 1 else 's'}"
            case "unreadable":
                return "whose memory is damaged"
        return "free" if self.kind in ("mutex", "rwlock") else ""

    def __str__(self) -> str:
        """As pstack says it, behind "waits for"."""
        owner = self.owner_words()
        return self.object_words() + (f", {owner}" if owner else "") + self.times_words()

    def times_words(self) -> str:
        """For how long the thread has waited, and whether its wait has a deadline, each after a comma."""
        since = "" if self.since is None else f", for {self.since / 1e9:.3f} s"
        return since + (", until a deadline" if self.timed and self.kind != "time" else "")


def _set_words(signals: int) -> str:
    if signals == ALL_SIGNALS:
        return "any signal"
    names = [SIGNALS[n] if n < len(SIGNALS) else f"RTMIN+{n + 1 - FIRST_REALTIME}"
             for n in range(63) if signals >> n & 1]
    return " ".join(["a signal of", *(name for name in names if name != "-")])


# --- one wait -----------------------------------------------------------------------------------------


class _Finder:
    """Of one process with the library."""

    def __init__(self, process: "Process", library: Library) -> None:
        self._process = process
        self._library = library

    def _word(self, address: int, size: int = 8) -> int:
        """0 if it cannot be read."""
        try:
            return self._library.space.number(address, size)
        except MemoryFault:
            return 0

    def _owner_from_kernel(self, w: Wait, word: int) -> None:
        """The owner is what the kernel's word for it says (weft/ksync.h)."""
        word &= LWP_MUTEX_OWNER
        if word == 0:
            return
        number = word >> NUMBER_SHIFT & 0xFFFFFFFF
        w.held, w.is_lwp = "number", not number & LWP_OWNER_THREAD
        w.number, w.pid = number & ~LWP_OWNER_THREAD, word >> PROCESS_SHIFT & PROCESS_MASK
        process = self._process if w.pid == self._process.pid else self._process.guest.process(w.pid)
        w.owner = None if process is None else _thread_by_number(process, w.number, w.is_lwp)
        if process is self._process:
            w.held = "thread" if w.owner is not None else "number" if w.is_lwp else "exited"

    def _owner_from_address(self, w: Wait, at: int) -> None:
        """The owner is the thread whose structure lies there; 0: there is no owner."""
        if at == 0:
            return
        w.owner = self._process.thread_at(at)
        w.held = "thread" if w.owner is not None else \
            "exited" if self._library.is_thread(at) else "unreadable"

    def _mutex(self, w: Wait, word: int) -> None:
        w.kind = "mutex"
        if not word & LWP_MUTEX_SHARED:
            self._owner_from_address(w, word & ~self._library.value("value.mutex_flags"))
            return
        self._owner_from_kernel(w, word)
        if word & LWP_MUTEX_NOTRECOVERABLE:
            w.dead = "not recoverable"
        elif word & LWP_MUTEX_OWNERDEAD:
            w.dead = "not consistent since an owner died"

    def _rwlock(self, w: Wait, word: int, write: bool) -> None:
        writer = self._library.field(w.object, "rwlock.writer")
        w.kind, w.write = "rwlock", write
        if word & LWP_RWLOCK_WRITER:
            if word & LWP_RWLOCK_SHARED:
                self._owner_from_kernel(w, writer)
            else:
                self._owner_from_address(w, writer)
        elif word & LWP_RWLOCK_READERS:
            w.held, w.number = "readers", word & LWP_RWLOCK_READERS

    def _barrier(self, w: Wait) -> None:
        w.kind = "barrier"
        w.number = self._library.field(w.object, "barrier.word")
        w.count = self._library.field(w.object, "barrier.count")

    def _point(self, w: Wait, r: Record) -> None:
        """The wait is in the queues of cancellation points."""
        value = self._library.value
        joined = self._process.thread_at(r.wchan)
        if r.wchan == r.at + value("thread.sigmask"):
            w.set = self._word(r.wait_arg)
            w.kind = "signals" if w.set else "time"
        elif r.wchan == value("at.any_exit"):
            w.kind = "join_any"
        elif joined is not None:
            w.kind, w.held, w.owner = "join", "thread", joined
        elif r.wait_arg in (0, value("at.ends_in_sleep")):
            w.kind = "sema"
        else:
            w.kind, w.mutex = "cond", r.wait_arg

    def _is_mutex(self, r: Record, word: int) -> bool:
        """Does the word look like that of a mutex for which the thread waits?"""
        owner = word & ~self._library.value("value.mutex_flags")
        return r.wchan in (r.pi_wait, r.wait_arg) or self._library.is_thread(owner)

    def _lock(self, w: Wait, r: Record) -> None:
        """The wait is in the other queues."""
        value, field = self._library.value, self._library.field
        rwlock = field(r.wchan, "rwlock.word")
        write = r.wait_arg == value("value.wait_write")
        try:
            word = self._library.space.word(r.wchan + value("mutex.owner"))
        except MemoryFault:
            w.kind, w.held = "unknown", "unreadable"
            return
        if self._is_mutex(r, word):
            self._mutex(w, word)
        elif rwlock & LWP_RWLOCK_WAITING and (write or r.wait_arg == value("value.wait_read")):
            self._rwlock(w, rwlock, write)
        elif field(r.wchan, "once.state") == value("value.once_running"):
            w.kind = "once"
        elif 0 != word < field(r.wchan, "barrier.count"):
            self._barrier(w)
        elif word & value("value.mutex_waiters"):
            self._mutex(w, word)  # free, and about to be acquired by a waiter
        else:
            w.kind = "unknown"

    def _call(self, w: Wait, lwp: "Lwp") -> None:
        """The object is the system call's first argument."""
        w.object = lwp.arguments[0]
        word = self._word(w.object)
        match lwp.syscall:
            case "lwp_sleep":
                w.kind = "time"
            case "lwp_mutex_lock" | "lwp_mutex_timedlock":
                self._mutex(w, word)
            case "lwp_cond_wait" | "lwp_cond_timedwait":
                w.kind, w.mutex = "cond", lwp.arguments[1]
            case "lwp_sema_wait" | "lwp_sema_timedwait":
                w.kind = "sema"
            case "lwp_rwlock_rdlock" | "lwp_rwlock_wrlock":
                self._rwlock(w, word & 0xFFFFFFFF, lwp.syscall == "lwp_rwlock_wrlock")
            case "lwp_barrier_wait":
                self._barrier(w)

    def wait_for(self, kind: str, address: int) -> Wait:
        w = Wait(self._process, kind, address)
        match kind:
            case "mutex":
                self._mutex(w, self._library.field(address, "mutex.owner"))
            case "rwlock":
                self._rwlock(w, self._library.field(address, "rwlock.word"), False)
            case "barrier":
                self._barrier(w)
        return w

    def wait_of(self, r: Record, lwp: "Lwp | None") -> Wait | None:
        """lwp: that runs the thread, or None."""
        w = Wait(self._process, "", r.wchan, timed=r.timed, asleep=lwp is None)
        self._fill(w, r, lwp)
        if lwp is not None and w.asleep and lwp.state == "sleep":
            w.since = lwp.since
        return w if w.kind else None

    def _fill(self, w: Wait, r: Record, lwp: "Lwp | None") -> None:
        if lwp is not None:
            w.timed = _call_is_timed(lwp)
        if r.wchan == 0:
            if lwp is not None and lwp.arguments:
                self._call(w, lwp)
            w.asleep = w.kind != ""
            return
        if lwp is not None:
            w.asleep = lwp.syscall == "lwp_park"
        if self._in_table(r, "at.sleepq_point"):
            self._point(w, r)
        elif self._in_table(r, "at.sleepq_other"):
            self._lock(w, r)
        else:
            w.kind = "unknown"

    def _in_table(self, r: Record, table: str) -> bool:
        begin = self._library.value(table)
        return begin <= r.q < begin + self._library.value("value.sleepq_bytes")


def _thread_by_number(process: "Process", number: int, is_lwp: bool) -> "Thread | None":
    return next((t for t in process.threads
                 if (t.lwp is not None and t.lwp.id == number if is_lwp else t.id == number)), None)


def _call_is_timed(lwp: "Lwp") -> bool:
    match lwp.syscall:
        case "lwp_mutex_timedlock" | "lwp_cond_timedwait" | "lwp_sema_timedwait":
            return True
        case "lwp_park":
            return lwp.arguments[0] != 0
        case "lwp_rwlock_rdlock":
            return lwp.arguments[2] != 0
        case "lwp_rwlock_wrlock":
            return lwp.arguments[1] != 0
    return False


def wait_of(thread: "Thread") -> Wait | None:
    """None: it waits for nothing that the library knows."""
    library = thread.process.library
    if thread.record is None or thread.exited or isinstance(library, str):
        return None
    return _Finder(thread.process, library).wait_of(thread.record, thread.lwp if thread.runs else None)


def wait_for(process: "Process", library: Library, kind: str, address: int) -> Wait:
    """What a wait for the object at this address would be.  kind: mutex, rwlock, cond, sema or barrier."""
    return _Finder(process, library).wait_for(kind, address)


# --- deadlocks ----------------------------------------------------------------------------------------


def next_of(thread: "Thread") -> "Thread | None":
    """The thread on which this waiting thread depends; None: it may go on by itself.  A handler that has
    interrupted a wait may do anything, so such a thread is no part of a deadlock."""
    w = thread.wait
    if w is None or w.owner is None or w.timed or not w.asleep or w.owner.wait is None:
        return None
    return w.owner


def cycles(threads: Iterable["Thread"]) -> Iterator[list["Thread"]]:
    """Each deadlock: the threads of a cycle, each of which waits for the next.  A thread depends on one other
    at most, so a search follows one chain."""
    visited: dict[Thread, int] = {}
    for search, first in enumerate(threads):
        at: Thread | None = first if first.wait is not None else None
        chain: list[Thread] = []
        while at is not None and at not in visited:
            visited[at] = search
            chain.append(at)
            at = next_of(at)
        if at is not None and visited[at] == search:
            yield chain[chain.index(at):]
