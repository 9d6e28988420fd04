"""Where the time of threads, LWPs and CPUs went: sums over a whole trace.

All times are nanoseconds of the guest.  LWPs of a process that have had the same number one after the other
count as one.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from typing import Any

from .model import Model, Watcher
from .objects import RUNNING, STATES, THREAD_STATES, Cpu, Lwp, Process, Thread, Wake
from .workers import Workers

PERCENTS = (50, 99, 99.9)


class Durations:
    """Some times, of which percentiles are wanted."""

    def __init__(self) -> None:
        self._all = array("q")

    def add(self, duration: int) -> None:
        self._all.append(duration)

    def __len__(self) -> int:
        return len(self._all)

    def figures(self) -> dict[str, Any]:
        """Count, mean, percentiles by the nearest rank, the longest, and a histogram by powers of two."""
        if not self._all:
            return {"count": 0}
        ordered = sorted(self._all)
        count = len(ordered)
        found: dict[str, Any] = {"count": count, "mean": sum(ordered) / count}
        for percent in PERCENTS:
            rank = -(-count * int(10 * percent) // 1000)
            found[f"p{percent:g}"] = ordered[max(rank, 1) - 1]
        found["max"] = ordered[-1]
        found["histogram"] = {str(1 << power): number for power, number in
                              sorted(Counter(max(one - 1, 0).bit_length() for one in ordered).items())}
        return found


class _Queue:
    """Of threads that wait for an LWP; how long it has had each length."""

    def __init__(self, begun: int) -> None:
        self._length = 0
        self._since = begun
        self._times: Counter[int] = Counter()

    def change(self, time: int, longer: int) -> None:
        self._times[self._length] += time - self._since
        self._length, self._since = self._length + longer, time

    def until(self, end: int) -> Counter[int]:
        self.change(end, 0)
        return self._times


class Stats(Watcher):
    """Consumes what a model tells."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.workers = Workers(model)
        self.lwps: defaultdict[str, Counter[str]] = defaultdict(Counter)  # {LWP: {state: time}}
        self.threads: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.cpus: defaultdict[int, Counter[str]] = defaultdict(Counter)  # RUNNING, "idle", "switch"
        self.lwp_on_cpu: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.thread_on_lwp: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.queues: defaultdict[int, Counter[int]] = defaultdict(Counter)  # {CPU: {length: time}}
        self.thread_queues: dict[int, _Queue] = {}  # of processes
        self.woken = Durations()  # from runnable to running, after a wake-up or as a new LWP
        self.preempted = Durations()  # the same, after the CPU was taken away
        self.dispatched = Durations()  # of threads: from RunQueue or Dispatchable to OnLWP
        self.switches: Counter[int] = Counter()
        self.migrations = 0
        self.wakes = 0
        self.records = 0
        self.names: dict[str, str] = {}  # of the processes, by number
        self._queue_since: dict[int, int] = {}
        self._last_cpu: dict[str, int] = {}
        self._runnable: dict[str, tuple[int, Durations]] = {}  # since when an LWP is
        self._ready: dict[str, int] = {}  # since when a thread could run
        model.watch(self)

    def process(self, time: int, process: Process) -> None:
        self.names[str(process.pid)] = process.name

    def lwp(self, time: int, lwp: Lwp, before: str, since: int) -> None:
        duration = time - since
        self.lwps[lwp.key][before] += duration
        if before in RUNNING:
            self.cpus[lwp.cpu][before] += duration
            self.lwp_on_cpu[lwp.key][lwp.cpu] += duration
        elif lwp.state in RUNNING:
            began = self._runnable.pop(lwp.key, None)
            if began is not None:
                began[1].add(time - began[0])
        if lwp.state == "waitcpu" and before != "waitcpu":
            self._runnable[lwp.key] = time, self.preempted if before in RUNNING else self.woken

    def cpu(self, time: int, cpu: Cpu, before: Lwp | None, since: int) -> None:
        if before is None:
            self.cpus[cpu.number]["idle"] += time - since
        lwp = cpu.lwp
        if lwp is not before:
            self.switches[cpu.number] += 1
        if lwp is not None and lwp is not before:
            if self._last_cpu.get(lwp.key, cpu.number) != cpu.number:
                self.migrations += 1
            self._last_cpu[lwp.key] = cpu.number

    def queue(self, time: int, cpu: Cpu, before: int) -> None:
        since = self._queue_since.get(cpu.number, self.model.begin or 0)
        self.queues[cpu.number][before] += time - since
        self._queue_since[cpu.number] = time

    def thread(self, time: int, thread: Thread, before: str, since: int, lwp: Lwp | None) -> None:
        self.threads[thread.key][before] += time - since
        longer = (thread.state == "RunQueue") - (before == "RunQueue")
        if longer and thread.process is not None:
            self.thread_queues.setdefault(thread.process.pid, _Queue(thread.process.begun)).change(time, longer)
        if before == "OnLWP" and lwp is not None:
            self.thread_on_lwp[thread.key][lwp.key] += time - since
        if thread.state in ("RunQueue", "Dispatchable"):
            self._ready.setdefault(thread.key, time)
        else:
            ready = self._ready.pop(thread.key, None)
            if thread.state == "OnLWP" and ready is not None:
                self.dispatched.add(time - ready)

    def wake(self, time: int, wake: Wake) -> None:
        self.wakes += 1

    def figures(self) -> dict[str, Any]:
        """All of it, for machines, after Model.end()."""
        model = self.model
        begin = model.begin or model.now
        for cpu in model.cpus:  # the few instructions from one LWP's end on a CPU to the beginning of the next
            self.cpus[cpu]["switch"] = model.now - begin - sum(self.cpus[cpu].values())
        return {
            "begin": begin, "end": model.now, "records": self.records,
            "lost": {str(cpu): count for cpu, count in sorted(model.lost.items())},
            "processes": self.names,
            "lwps": {key: _in_order(times, STATES) for key, times in sorted(self.lwps.items(), key=_by_number)},
            "threads": {key: _in_order(times, THREAD_STATES)
                        for key, times in sorted(self.threads.items(), key=_by_number)},
            "workers": self.workers.figures(),
            "cpus": {str(cpu): _in_order(times, (*STATES, "switch", "idle"))
                     for cpu, times in sorted(self.cpus.items())},
            "lwp_on_cpu": {key: {str(cpu): time for cpu, time in sorted(times.items())}
                           for key, times in sorted(self.lwp_on_cpu.items(), key=_by_number)},
            "thread_on_lwp": {key: dict(times) for key, times in
                              sorted(self.thread_on_lwp.items(), key=_by_number)},
            "queues": {str(cpu): _lengths(times) for cpu, times in sorted(self.queues.items())},
            "thread_queues": {str(pid): _lengths(queue.until(model.processes[pid].gone or model.now))
                              for pid, queue in sorted(self.thread_queues.items())},
            "latency": {"woken": self.woken.figures(), "preempted": self.preempted.figures(),
                        "dispatched": self.dispatched.figures()},
            "switches": sum(self.switches.values()), "migrations": self.migrations, "wakes": self.wakes,
        }


def _by_number(item: tuple[str, Any]) -> tuple[int, ...]:
    """PID/ID or PID.ID; what is no number comes last."""
    parts = item[0].replace("/", ".").split(".")
    return tuple(int(part) for part in parts) if all(map(str.isdigit, parts)) else (1 << 62,)


def _in_order(times: Counter[str], names: tuple[str, ...]) -> dict[str, int]:
    return {name: times[name] for name in names if times[name]}


def _lengths(times: Counter[int]) -> dict[str, Any]:
    """Of one queue: the mean over time, the greatest length, and how long it had each."""
    total = sum(times.values())
    return {"mean": sum(length * time for length, time in times.items()) / total if total else 0,
            "max": max(times, default=0),
            "time": {str(length): times[length] for length in sorted(times) if times[length]}}
