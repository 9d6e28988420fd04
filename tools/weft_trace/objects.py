"""What a trace is about: processes, CPUs, LWPs, threads, locks and wake-ups, as model.py keeps them."""

from __future__ import annotations

# enum in kernel/include/weft/msacct.h.  In the first six an LWP has a CPU.
STATES = ("user", "system", "trap", "tfault", "dfault", "kfault", "lock", "sleep", "waitcpu", "stopped")
RUNNING = frozenset(STATES[:6])
GONE = "gone"
# enum thread_state in libthread/core/tcb.h.
THREAD_STATES = ("Stopped", "Blocked", "RunQueue", "Dispatchable", "OnLWP")


class Process:
    __slots__ = ("begun", "gone", "lwps", "name", "parent", "pid", "threads")

    def __init__(self, pid: int, parent: int, begun: int) -> None:
        self.pid = pid
        self.parent = parent
        self.name = ""
        self.begun = begun
        self.gone: int | None = None  # when it ended
        self.lwps: dict[int, Lwp] = {}  # those that live
        self.threads: dict[int, Thread] = {}  # those that live

    def __str__(self) -> str:
        return f"{self.pid} {self.name}".rstrip()


class Wake:
    """One wake-up.  The waker is None where a timer or an interrupt woke; `cause` says which."""

    __slots__ = ("cause", "cpu", "time", "waker", "woken")

    def __init__(self, time: int, cpu: int, waker: Lwp | Thread | None, woken: Lwp | Thread, cause: str) -> None:
        self.time = time
        self.cpu = cpu  # of the waker
        self.waker = waker
        self.woken = woken
        self.cause = cause


class Lwp:
    __slots__ = ("begun", "call", "cpu", "exiting", "faulted", "id", "key", "name", "pri", "process", "queued",
                 "resume", "since", "state", "thread", "waits", "wchan", "woken")

    def __init__(self, key: str, process: Process | None, number: int, time: int) -> None:
        self.key = key  # PID/ID; for an LWP of the kernel, or one that began before the trace, what the records say
        self.process = process
        self.id = number
        self.name = ""  # what it is for, as far as a record tells
        self.state = "stopped"
        self.since = time  # since when it is in its state
        self.begun = time
        self.resume = "user" if "/" in key else "system"  # the state in which it goes on when it has a CPU again
        self.faulted = "system"  # the state in which the kernel's last fault for it was
        self.cpu = 0  # where it runs, or has run
        self.pri = 0
        self.queued: Cpu | None = None  # whose dispatch queue it is on
        self.thread: Thread | None = None
        self.call: str | None = None  # the system call that it is in
        self.wchan = ""  # what it sleeps for
        self.waits: Lock | None = None  # the object of the kernel that it waits for; of several, the first
        self.woken: Wake | None = None  # the last time
        self.exiting = False

    def __str__(self) -> str:
        return self.key


class Thread:
    """A thread of the library.  In its state since `since`; on `lwp` if that is not None."""

    __slots__ = ("begun", "bound", "first", "id", "key", "lwp", "name", "process", "since", "state", "waits",
                 "woken")

    def __init__(self, key: str, process: Process | None, number: int, time: int) -> None:
        self.key = key  # PID.ID
        self.process = process
        self.id = number
        self.name = ""
        self.state = "Stopped"
        self.since = time
        self.begun = time
        self.lwp: Lwp | None = None
        self.bound = False
        self.first = False  # of its process
        self.waits: Lock | None = None
        self.woken: Wake | None = None

    def __str__(self) -> str:
        return self.key


class Lock:
    """A lock, condition variable or other object that a thread has waited for."""

    __slots__ = ("address", "former", "key", "kind", "owner", "process", "since", "waiters")

    def __init__(self, key: str, process: Process | None, address: str, kind: str, time: int) -> None:
        self.key = key  # PID:ADDRESS
        self.process = process
        self.address = address
        self.kind = kind
        self.owner: Thread | None = None  # as far as records tell
        self.former: Thread | None = None  # the last thread that has released it
        self.since = time  # when the owner got it
        self.waiters: dict[Thread, None] = {}  # in the order in which they came

    def __str__(self) -> str:
        """By its name in the program, if the address comes with one (ADDRESS:NAME)."""
        address, _, name = self.address.partition(":")
        return f"{self.kind} {name or address}"


class Cpu:
    __slots__ = ("cause", "lwp", "number", "queue", "since")

    def __init__(self, number: int, time: int) -> None:
        self.number = number
        self.lwp: Lwp | None = None  # None: idle
        self.since = time
        self.queue = 0  # LWPs that wait in its dispatch queue
        self.cause = ""  # the timer or interrupt that it is busy with
