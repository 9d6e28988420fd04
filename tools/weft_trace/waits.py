"""Waits of a trace: the longest ones and what ended them; what ran while an LWP waited for a CPU; CPUs that were
idle meanwhile."""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from .model import Model, Watcher
from .objects import Cpu, Lock, Lwp, Thread, Wake

IDLE = -1
READY = ("RunQueue", "Dispatchable")


@dataclass
class Wait:
    """An interval in which an LWP was blocked, or waited for a CPU, or a thread was blocked."""

    waiter: str
    state: str  # lock, sleep, waitcpu; Blocked
    what: str  # it waited for
    begin: int
    end: int
    woken_by: str
    owner: str = ""  # of the lock, as the wait ended
    cpus: tuple[tuple[int, int], ...] = ()  # of waitcpu: in whose queue, from when

    @property
    def duration(self) -> int:
        return self.end - self.begin


class Longest:
    """Keeps the longest waits."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._heap: list[tuple[int, int, Wait]] = []
        self._number = 0

    def add(self, wait: Wait) -> None:
        self._number -= 1  # among equal waits, the first
        entry = wait.duration, self._number, wait
        if len(self._heap) < self._count:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def takes(self, duration: int) -> bool:
        return len(self._heap) < self._count or duration > self._heap[0][0]

    def waits(self) -> list[Wait]:
        return [wait for *_, wait in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


class History:
    """What has run on a CPU."""

    def __init__(self) -> None:
        self._begins = array("q")
        self._lwps = array("q")  # numbers, or IDLE

    def add(self, begin: int, lwp: int) -> None:
        self._begins.append(begin)
        self._lwps.append(lwp)

    def between(self, begin: int, end: int) -> Counter[int]:
        """{LWP: time}."""
        found: Counter[int] = Counter()
        for at in range(max(bisect_right(self._begins, begin) - 1, 0), len(self._begins)):
            start = max(self._begins[at], begin)
            if start >= end:
                break
            stop = self._begins[at + 1] if at + 1 < len(self._begins) else end
            found[self._lwps[at]] += min(stop, end) - start
        return found


class Turns:
    """The intervals in which threads of a process had an LWP."""

    def __init__(self) -> None:
        self._begins = array("q")
        self._ends = array("q")  # in this order
        self._threads: list[str] = []

    def add(self, begin: int, end: int, thread: str) -> None:
        self._begins.append(begin)
        self._ends.append(end)
        self._threads.append(thread)

    def between(self, begin: int, end: int) -> Counter[str]:
        """{thread: time}."""
        found: Counter[str] = Counter()
        for at in range(bisect_right(self._ends, begin), len(self._ends)):
            had = min(self._ends[at], end) - max(self._begins[at], begin)
            if had > 0:
                found[self._threads[at]] += had
        return found


class Waits(Watcher):
    """`of`: an LWP of which all waits for a CPU are kept."""

    def __init__(self, model: Model, count: int = 10, of: str | None = None) -> None:
        self._model = model
        self._of = of
        self.blocked = Longest(count)
        self.runnable = Longest(count)
        self.ready = Longest(count)  # of threads, for an LWP
        self.waits_of: list[Wait] = []
        self.total: Counter[str] = Counter()  # of waiting for a CPU, by LWP; for an LWP, by thread
        self.idle_meanwhile = Longest(count)  # a CPU was idle, and an LWP was in the queue of a busy one
        self.idle_total = 0
        self._history: defaultdict[int, History] = defaultdict(History)
        self._turns: defaultdict[str, Turns] = defaultdict(Turns)  # by process
        self._ready: dict[str, int] = {}  # since when a thread is
        self._numbers: dict[str, int] = {}
        self._keys: list[str] = []
        self._queued: dict[str, tuple[tuple[int, int], ...]] = {}
        self._owners: dict[str, str] = {}  # of the lock that a thread has waited for, as the thread was woken
        self._idle: set[int] = set()  # CPUs
        self._crowded: set[int] = set()  # CPUs that run an LWP and have another one in the queue
        self._both: tuple[int, int, int] | None = None  # since when both are there; one of each
        model.watch(self)

    def _number(self, lwp: Lwp | None) -> int:
        if lwp is None:
            return IDLE
        number = self._numbers.get(lwp.key)
        if number is None:
            number = self._numbers[lwp.key] = len(self._keys)
            self._keys.append(lwp.key)
        return number

    def event(self, time: int, record: Any) -> None:
        if record.name == "lwp_idle":
            cpu = int(record.values["cpu"])  # no LWP has run there yet
            self._idle.add(cpu)
            self._history[cpu].add(time, IDLE)
        elif record.name == "queue":  # perhaps it waits already, and its queue is another one now
            lwp = record.values["lwp"]
            stays = self._queued.get(lwp)
            to = int(record.values["cpu"])
            if stays is not None and stays[-1][1] != to:
                self._queued[lwp] = *stays, (time, to)

    def cpu(self, time: int, cpu: Cpu, before: Lwp | None, since: int) -> None:
        self._history[cpu.number].add(time, self._number(cpu.lwp))
        self._look(time, cpu)

    def queue(self, time: int, cpu: Cpu, before: int) -> None:
        self._look(time, cpu)

    def lwp(self, time: int, lwp: Lwp, before: str, since: int) -> None:
        if before == "waitcpu":
            self._ran(time, lwp, since)
        elif before in ("lock", "sleep") and self.blocked.takes(time - since):
            woken = lwp.woken if lwp.woken is not None and lwp.woken.time >= since else None
            lock = lwp.waits or (lwp.thread.waits if lwp.thread is not None else None)
            self.blocked.add(Wait(lwp.key, before, str(lock or lwp.wchan), since, time, _waker(woken),
                                  _owner(lock)))
        if lwp.state == "waitcpu":
            on = lwp.queued.number if lwp.queued else self._model.cpu
            self._queued[lwp.key] = ((time, on),)

    def _ran(self, time: int, lwp: Lwp, since: int) -> None:
        cpus = self._queued.pop(lwp.key, ())
        self.total[lwp.key] += time - since
        wait = Wait(lwp.key, "waitcpu", f"CPU {cpus[-1][1]}" if cpus else "", since, time, "", cpus=cpus)
        self.runnable.add(wait)
        if lwp.key == self._of:
            self.waits_of.append(wait)

    def thread(self, time: int, thread: Thread, before: str, since: int, lwp: Lwp | None) -> None:
        if before == "Blocked" and self.blocked.takes(time - since):
            woken = thread.woken if thread.woken is not None and thread.woken.time >= since else None
            self.blocked.add(Wait(thread.key, before, str(thread.waits or ""), since, time, _waker(woken),
                                  self._owners.get(thread.key) or _owner(thread.waits)))
        if before == "Blocked":
            self._owners.pop(thread.key, None)
        self._turn(time, thread, before, since)

    def _turn(self, time: int, thread: Thread, before: str, since: int) -> None:
        """RunQueue and Dispatchable are one wait."""
        if before == "OnLWP":
            self._turns[thread.key.partition(".")[0]].add(since, time, thread.key)
        if thread.state not in READY or thread.state == before:  # the same state: the trace ends
            began = self._ready.pop(thread.key, None)
            if began is not None:
                self.total[thread.key] += time - began
                self.ready.add(Wait(thread.key, "ready", "an LWP", began, time, ""))
        else:
            self._ready.setdefault(thread.key, time)

    def wake(self, time: int, wake: Wake) -> None:
        if isinstance(wake.woken, Thread):
            self._owners[wake.woken.key] = _owner(wake.woken.waits)

    def _look(self, time: int, cpu: Cpu) -> None:
        """Begins and ends the intervals in which a CPU is idle and an LWP waits in the queue of another one."""
        for cpus, there in (self._idle, cpu.lwp is None), (self._crowded, cpu.lwp is not None and cpu.queue > 0):
            if there:
                cpus.add(cpu.number)
            else:
                cpus.discard(cpu.number)
        both = bool(self._idle and self._crowded)
        if both and self._both is None:
            self._both = time, min(self._idle), min(self._crowded)
        elif not both and self._both is not None:
            (began, idle, crowded), self._both = self._both, None
            if time > began:
                self.idle_total += time - began
                self.idle_meanwhile.add(Wait(f"CPU {idle}", "idle", f"queue of CPU {crowded}", began, time, ""))

    # --- questions, after Model.end() ---------------------------------------------------------------------

    def ran_during(self, wait: Wait) -> Counter[str]:
        """What ran on the CPU in whose queue the LWP waited: {LWP: time}, with "idle".  For a thread, the threads
        of its process that had an LWP."""
        found: Counter[str] = Counter()
        if wait.state == "ready":
            return self._turns[wait.waiter.partition(".")[0]].between(wait.begin, wait.end)
        ends = [begin for begin, _ in wait.cpus[1:]] + [wait.end]
        for (begin, cpu), end in zip(wait.cpus, ends):
            for number, time in self._history[cpu].between(begin, end).items():
                found["idle" if number == IDLE else self._keys[number]] += time
        return found

    def antagonists(self) -> Counter[str]:
        """What ran while the LWP `of` waited for a CPU."""
        found: Counter[str] = Counter()
        for wait in self.waits_of:
            found.update(self.ran_during(wait))
        return found


def _owner(lock: Lock | None) -> str:
    """The owner, or the thread that has just released the lock."""
    owner = (lock.owner or lock.former) if lock is not None else None
    return owner.key if owner is not None else ""


def _waker(wake: Wake | None) -> str:
    return "" if wake is None else wake.waker.key if wake.waker is not None else wake.cause
