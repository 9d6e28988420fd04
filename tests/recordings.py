"""Recordings of weft monitor that no guest has made: a small M:N machine, of as many threads as a test wants.

Each thread runs on an LWP of the pool for a while, blocks, and is woken by the thread that runs then.  The LWPs
have the CPUs in turn.  The states that are told agree with each other at every moment.
"""

import heapq
import random

from weft_monitor import changes
from weft_monitor.changes import CPU, LWP, NONE, OWNER, QUEUE, THREAD, WOKEN, Writer
from weft_monitor.check import check

BLOCKED, RUN_QUEUE, ON_LWP = 2, 3, 5
GONE, PARKED, USER = 0, 3, 6
IDLE, CPU_USER = 1, 4


class Machine:
    def __init__(self, writer, threads, lwps, seed=1, name="worker"):
        """One CPU for each LWP."""
        self.writer = writer
        self.random = random.Random(seed)
        self.time = 0
        self.blocked, self.queue, self.free = list(range(threads)), [], list(range(lwps))
        self.on = {}  # LWP: thread
        self.states = {}  # thread: (state, LWP), as the last change has it
        writer.say(title=f"a made-up run of {threads} threads", cpus=lwps)
        writer.define("texts", [0, "mutex lock"])
        for number in range(lwps):
            writer.define("lwps", [number, 2, number + 1, "made-up"])
        writer.define("lwps", [lwps, 2, lwps + 1, "ended before"])
        writer.change(0, LWP, GONE, a=lwps)
        for number in range(threads):
            writer.define("threads", [number, 2, str(number + 1), f"{name}{number + 1}"])
        for number in range(lwps):
            writer.change(0, LWP, PARKED, a=number)
            writer.change(0, CPU, IDLE, cpu=number)
            writer.change(0, QUEUE, cpu=number, a=0)
        for number in range(threads):
            self._thread(number, BLOCKED, NONE, 0)

    def _thread(self, number, state, lwp=NONE, waits=NONE):
        self.states[number] = state, lwp
        self.writer.change(self.time, THREAD, state, a=number, b=lwp, c=waits)

    def _wake(self, waker):
        thread = self.blocked.pop(self.random.randrange(len(self.blocked)))
        self.writer.change(self.time, WOKEN, 1, a=thread, b=waker)
        self.queue.append(thread)
        self._thread(thread, RUN_QUEUE)

    def _run(self, lwp):
        thread = self.queue.pop(0)
        self.on[lwp] = thread
        self._thread(thread, ON_LWP, lwp)
        self.writer.change(self.time, LWP, USER, a=lwp, b=lwp)
        self.writer.change(self.time, CPU, CPU_USER, cpu=lwp, a=lwp)

    def _leave(self, lwp):
        thread = self.on.pop(lwp)
        self.writer.change(self.time, OWNER, a=0, b=thread)
        self._thread(thread, BLOCKED, NONE, 0)
        self.blocked.append(thread)
        self.free.append(lwp)
        self.writer.change(self.time, LWP, PARKED, a=lwp)
        self.writer.change(self.time, CPU, IDLE, cpu=lwp)

    def run(self, turns, length=100_000):
        """Each turn: a thread runs for about so many nanoseconds."""
        ends = []
        for _ in range(turns):
            while self.blocked and len(self.queue) < 2 * len(self.free) + 2:
                self._wake(next(iter(self.on.values()), NONE))
            while self.free and self.queue:
                lwp = self.free.pop(0)
                self._run(lwp)
                heapq.heappush(ends, (self.time + self.random.randrange(length // 2, 2 * length), lwp))
            self.time, lwp = heapq.heappop(ends)
            self._leave(lwp)
        return self


def write(path, threads, lwps, turns, **options):
    """The machine as it was in the end."""
    with open(path, "wb") as file:
        writer = Writer(file)
        machine = Machine(writer, threads, lwps, **options).run(turns)
        writer.say(over=True, now=machine.time)
        writer.flush()
    check(path)
    return machine


def read(path):
    """(definitions together, changes)"""
    check(path)
    what, found = {}, []
    with open(path, "rb") as file:
        for letter, data in changes.blocks(file, str(path)):
            if letter == "C":
                found += data
                continue
            for key, value in data.items():
                if isinstance(value, list):
                    what.setdefault(key, []).extend(value)
                elif isinstance(value, dict):
                    what.setdefault(key, {}).update(value)
                else:
                    what[key] = value
    return what, found
