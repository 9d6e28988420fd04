"""The changes of a recording, made of what a model of a trace tells (weft_trace/model.py).

The recording begins when init starts the command: time 0.  What there is then, init's LWP and the CPUs, comes
first.
"""

from typing import TYPE_CHECKING

from . import changes
from .changes import NO_CPU, NONE

if TYPE_CHECKING:
    from weft_trace.events import Record
    from weft_trace.model import Model
    from weft_trace.objects import Cpu, Lock, Lwp, Process, Thread, Wake

from weft_trace import model as trace_model
from weft_trace import objects

COMMAND = 2  # the command's process, which init (1) has made

THREAD_STATE = {"gone": 0, "Stopped": 1, "Blocked": 2, "RunQueue": 3, "Dispatchable": 4, "OnLWP": 5}
LWP_STATE = {objects.GONE: 0, "stopped": 1, "sleep": 2, "lock": 3, "waitcpu": 4, "user": 6,
             **dict.fromkeys(("system", "trap", "tfault", "dfault", "kfault"), 5)}
KINDS = {"cond": "condition variable", "sema": "semaphore", "read": "rwlock", "write": "rwlock"}
IDLE, SYSTEM, USER = 1, 3, 4  # of CPU_STATES

# Records that the page names where they happen, with words in place of their names.
NOTES = {"sigwaiting": "SIGWAITING", "upcall": "upcall", "preempt": "preempted",
         "preempt_deferred": "preemption deferred",
         "process_new": "new process", "process_exit": "end of a process",
         "pool_lwp": "the pool grows", "pool_gone": "the pool shrinks", "cond_signal": "signal",
         "cond_broadcast": "broadcast"}

# Records that tell nothing to the page, and those that tell something only if there is the record of the end, too.
SKIPPED = {"selftest", "priority", "interrupt", "pool_size"}
PAIRS = {"trap": "trap_end", "kfault": "kfault_end"}


def events_of(names: set[str]) -> list[str]:
    """Of the events that there are, those to record."""
    return sorted(name for name in names - SKIPPED if PAIRS.get(name, name) in names)


def _lock_name(lock: "Lock") -> str:
    """Its kind, and its name in the program or its address.  What a joining thread waits for is a thread."""
    address, _, name = lock.address.partition(":")
    if not address.startswith("0x"):
        return f"the end of thread {address.rpartition('.')[2]}"
    return f"{KINDS.get(lock.kind, lock.kind)} {name or address}"


class Story(trace_model.Watcher):
    """A watcher of the model; it must be there from the first record on."""

    def __init__(self, model: "Model", writer: changes.Writer, cpus: int) -> None:
        self._model = model
        self._writer = writer
        self._begin: int | None = None
        self._numbers: dict[object, int] = {}  # of LWPs and threads
        self._texts: dict[str, int] = {}
        self._cpu_is: dict[int, tuple[int, int]] = {}
        self._lwp_is: dict[int, tuple[int, int, int]] = {}
        self._thread_is: dict[int, tuple[int, int, int]] = {}
        self.threads: list[Thread] = []  # by their numbers
        self._lwps = 0
        writer.say(cpus=cpus)
        model.watch(self)

    def time(self, time: int) -> float:
        """Since the begin of the command."""
        return time - (self._begin or 0)

    @property
    def begun(self) -> bool:
        return self._begin is not None

    # --- numbers ------------------------------------------------------------------------------------------

    def _text(self, text: str) -> int:
        if not text:
            return NONE
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = len(self._texts)
            self._writer.define("texts", [number, text])
        return number

    def _number(self, kind: str, one: "Lwp | Thread") -> int:
        number = self._numbers.get(one)
        if number is None:
            if isinstance(one, objects.Thread):
                number = len(self.threads)
                self.threads.append(one)
            else:
                number = self._lwps
                self._lwps += 1
            self._numbers[one] = number
            self._define(kind, one, number)
        return number

    def _define(self, kind: str, one: "Lwp | Thread", number: int) -> None:
        process = one.process
        name = one.name or (process.name if process is not None else "")
        if kind == "threads":
            # One process has its threads' numbers alone; of others the process is told, too.
            label = str(one.id) if process is None or process.pid == COMMAND else f"{process.pid}.{one.id}"
            self._writer.define(kind, [number, process.pid if process else 0, label, name])
        else:
            self._writer.define(kind, [number, process.pid if process else 0, one.id, name])

    # --- what the model tells -----------------------------------------------------------------------------

    def process(self, time: int, process: "Process") -> None:
        if process.pid == COMMAND and self._begin is None:
            self._begin = time
            self._writer.say(facts={"begin": time})
            for cpu in self._model.cpus.values():
                self._tell_cpu(time, cpu)
            for lwp in self._model.lwps.values():
                self._tell_lwp(time, lwp)
            for thread in self._model.threads.values():
                self._tell_thread(time, thread)
        for lwp in process.lwps.values():
            if (number := self._numbers.get(lwp)) is not None:
                self._define("lwps", lwp, number)
        for thread in process.threads.values():
            if (number := self._numbers.get(thread)) is not None:
                self._define("threads", thread, number)

    def lwp_new(self, time: int, lwp: "Lwp") -> None:
        """It is new, or has a new name."""
        if (number := self._numbers.get(lwp)) is not None:
            self._define("lwps", lwp, number)
        if self.begun:
            self._tell_lwp(time, lwp)

    def lwp(self, time: int, lwp: "Lwp", before: str, since: int) -> None:
        if self.begun:
            self._tell_lwp(time, lwp)
            cpu = self._model.cpus.get(lwp.cpu)
            if cpu is not None and cpu.lwp is lwp:
                self._tell_cpu(time, cpu)

    def _tell_lwp(self, time: int, lwp: "Lwp") -> None:
        number, state = self._number("lwps", lwp), LWP_STATE[lwp.state]
        cpu, text = NONE, NONE
        match state:
            case 2 | 3 if lwp.waits is not None:
                text = self._text(_lock_name(lwp.waits))
            case 2:
                text = self._text(lwp.wchan if lwp.wchan not in ("", "-") else lwp.call or "")
            case 4:
                cpu = lwp.queued.number if lwp.queued is not None else lwp.cpu
            case 5:
                cpu, text = lwp.cpu, self._text(lwp.call or ("fault" if "fault" in lwp.state else ""))
            case 6:
                cpu = lwp.cpu
        what = state, cpu, text
        if self._lwp_is.get(number) != what:
            self._lwp_is[number] = what
            self._writer.change(self.time(time), changes.LWP, state, NO_CPU, number, cpu, text)

    def cpu(self, time: int, cpu: "Cpu", before: "Lwp | None", since: int) -> None:
        if self.begun:
            self._tell_cpu(time, cpu)

    def _tell_cpu(self, time: int, cpu: "Cpu") -> None:
        if cpu.lwp is None:
            what = IDLE, NONE
        else:
            what = USER if cpu.lwp.state == "user" else SYSTEM, self._number("lwps", cpu.lwp)
        if self._cpu_is.get(cpu.number) != what:
            self._cpu_is[cpu.number] = what
            self._writer.change(self.time(time), changes.CPU, what[0], cpu.number, what[1])

    def queue(self, time: int, cpu: "Cpu", before: int) -> None:
        if self.begun:
            self._writer.change(self.time(time), changes.QUEUE, 0, cpu.number, cpu.queue)

    def wake(self, time: int, wake: "Wake") -> None:
        if not self.begun:
            return
        kind = "threads" if isinstance(wake.woken, objects.Thread) else "lwps"
        waker, cause = NONE, wake.cause
        if wake.waker is not None and isinstance(wake.waker, type(wake.woken)):
            waker = self._number(kind, wake.waker)
        elif wake.waker is not None:  # an LWP of the library's own, on which no thread runs
            cause = cause or f"LWP {wake.waker}"
        self._writer.change(self.time(time), changes.WOKEN, int(kind == "threads"), wake.cpu,
                            self._number(kind, wake.woken), waker, self._text(cause))

    def thread_new(self, time: int, thread: "Thread") -> None:
        """It is new, or has a new name."""
        if (number := self._numbers.get(thread)) is not None:
            self._define("threads", thread, number)

    def thread(self, time: int, thread: "Thread", before: str, since: int, lwp: "Lwp | None") -> None:
        if self.begun:
            self._tell_thread(time, thread)

    def _tell_thread(self, time: int, thread: "Thread") -> None:
        number, state = self._number("threads", thread), THREAD_STATE[thread.state]
        on = NONE if thread.lwp is None else self._number("lwps", thread.lwp)
        sleeps = thread.lwp is not None and thread.lwp.waits is not None and thread.lwp.waits is thread.waits
        waits = thread.waits if thread.state == "Blocked" or sleeps else None
        self._thread_change(time, number, (state, on, NONE if waits is None else self._text(_lock_name(waits))))

    def _thread_change(self, time: int, number: int, what: tuple[int, int, int]) -> None:
        if self._thread_is.get(number) != what:
            self._thread_is[number] = what
            self._writer.change(self.time(time), changes.THREAD, what[0], NO_CPU, number, what[1], what[2])

    def lock(self, time: int, lock: "Lock", before: "Thread | None", since: int) -> None:
        if self.begun and lock.owner is not before:
            owner = NONE if lock.owner is None else self._number("threads", lock.owner)
            self._writer.change(self.time(time), changes.OWNER, 0, NO_CPU, self._text(_lock_name(lock)), owner)

    def event(self, time: int, record: "Record") -> None:
        if not self.begun:
            return
        if record.name == "stack":
            self._tell_stack(time, record.values)
        if record.name == "lock_move" and (moved := self._model.threads.get(record.values["thread"])) is not None:
            self._tell_thread(time, moved)  # it stays Blocked, for another lock
        words = NOTES.get(record.name)
        if words is None:
            return
        why = record.values.get("why", "")
        lwp = self._model.lwps.get(record.values.get("lwp", "")) or self._running(record.cpu)
        thread = lwp.thread if lwp is not None else None
        self._writer.change(self.time(time), changes.NOTE, 0, record.cpu,
                            NONE if lwp is None else self._number("lwps", lwp),
                            NONE if thread is None else self._number("threads", thread),
                            self._text(f"{words} ({why})" if why else words))

    def _tell_stack(self, time: int, values: dict[str, str]) -> None:
        """An LWP that leaves its CPU has the stack of its thread."""
        lwp = self._model.lwps.get(values["of"])
        one = self._model.threads.get(values["of"]) if lwp is None else lwp.thread or lwp
        if one is not None:
            kind = "threads" if isinstance(one, objects.Thread) else "lwps"
            self._writer.change(self.time(time), changes.STACK, int(kind == "threads"), NO_CPU,
                                self._number(kind, one), NONE, self._text(values["calls"].replace(",", "\n")))

    def _running(self, cpu: int) -> "Lwp | None":
        return self._model.cpus[cpu].lwp if cpu in self._model.cpus else None
