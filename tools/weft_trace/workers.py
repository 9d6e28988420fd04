"""The states of the threads that a process has made, while the most of them live.

So the beginning and the end of a program do not count.  A thread counts from the first moment at which it can run
until it exits.  The first thread of a process mostly waits for the others, and does not count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .model import Model, Watcher
from .objects import GONE, THREAD_STATES, Lwp, Process, Thread

COUNTS = tuple(state.lower() for state in THREAD_STATES)  # names of the numbers in a mix
Mix = tuple[int, ...]  # how many threads are in each of THREAD_STATES


@dataclass
class Times:
    """Of one process: how long its threads were in which states at once."""

    threads: int = 0  # the most that live at once
    mixes: Counter[Mix] = field(default_factory=Counter)  # {mix: time}
    changes: Counter[tuple[Mix, Mix]] = field(default_factory=Counter)  # {(before, after): how often}
    lwps: set[str] = field(default_factory=set)  # that have run the threads

    @property
    def time(self) -> int:
        return sum(self.mixes.values())

    def states(self) -> dict[str, int]:
        """{state: time}, of all threads together."""
        return {state: sum(mix[at] * time for mix, time in self.mixes.items())
                for at, state in enumerate(THREAD_STATES)}


class _Process:
    """What goes on in one process."""

    def __init__(self) -> None:
        self.times = Times()
        self._mix = [0] * len(THREAD_STATES)
        self._live: set[Thread] = set()
        self._since = 0

    def change(self, time: int, thread: Thread, before: str, lwp: Lwp | None) -> None:
        """thread was in the state before, on lwp."""
        times, live, was = self.times, len(self._live), tuple(self._mix)
        all_there = live == times.threads > 0
        if all_there:
            times.mixes[was] += time - self._since
            if before == "OnLWP" and lwp is not None and thread in self._live:
                times.lwps.add(lwp.key)
        self._since = time
        self._count(thread, before)
        if len(self._live) > times.threads:
            self.times = Times(threads=len(self._live))
        elif all_there and len(self._live) == live and tuple(self._mix) != was:
            times.changes[was, tuple(self._mix)] += 1

    def _count(self, thread: Thread, before: str) -> None:
        if thread in self._live:
            self._mix[THREAD_STATES.index(before)] -= 1
        elif thread.state not in ("Stopped", GONE):
            self._live.add(thread)
        if thread.state == GONE:
            self._live.discard(thread)
        elif thread in self._live:
            self._mix[THREAD_STATES.index(thread.state)] += 1


class Workers(Watcher):
    """Consumes what a model tells, of all processes."""

    def __init__(self, model: Model) -> None:
        self._processes: dict[Process, _Process] = {}
        model.watch(self)

    def thread(self, time: int, thread: Thread, before: str, since: int, lwp: Lwp | None) -> None:
        if thread.process is not None and not thread.first:
            self._processes.setdefault(thread.process, _Process()).change(time, thread, before, lwp)

    def times(self) -> dict[Process, Times]:
        """After Model.end(): of the processes that have made threads, in the order in which they did."""
        return {process: found.times for process, found in self._processes.items() if found.times.time}

    def figures(self) -> dict[str, Any]:
        """For machines."""
        return {str(process.pid): {"threads": times.threads, "time": times.time, "lwps": sorted(times.lwps),
                                   "states": {state: time for state, time in times.states().items() if time}}
                for process, times in self.times().items()}
