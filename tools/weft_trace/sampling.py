"""A model of samples: what CPUs, LWPs and threads were at some moments, in place of what happened between them.

A sample begins with the kernel's records (kernel/sched/sample.c): all CPUs, then the LWPs of one process.  The
threads of this process follow (libthread/core/sampler.c).  CPUs and LWPs are told at the moment of the first
thread.  The threads are told together when the monitor goes to sleep again: told one by one, a thread would come
onto its LWP before the thread that it has followed there has left.

The CPUs go on while the kernel looks, so that the parts of a sample may not fit.  The CPUs are right then, since
each is one record.  Such a sample is torn, and is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Model
from .objects import GONE, RUNNING, STATES, Cpu, Lock, Lwp, Process

# What the records of samples need besides them: the names of processes and LWPs.
EVENTS = frozenset(("sample_self", "sample_cpu", "sample_lwp", "sample_thread", "lwp_idle", "lwp_new", "exec",
                    "process_new", "process_name", "process_exit"))


@dataclass
class _Sample:
    """What the kernel has seen.  cpus: number: LWP, its microstate, the length of the queue.  lwps: LWP: its
    microstate, its CPU."""

    cpus: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    lwps: dict[str, tuple[str, int]] = field(default_factory=dict)


class Sampled(Model):
    """count: samples; torn: those of them whose parts do not fit.  An LWP of a process that has no monitor is GONE,
    except on a CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.count = self.torn = 0
        self._spent: dict[int, int] = {}  # by process: the CPU time of its monitor, up to its last sample
        self._spent_before = 0  # of monitors that are gone
        self._taking: dict[int, _Sample] = {}  # by the CPU that takes it
        # By process: the LWPs of its sample, and the records of its threads, which are not told yet.
        self._seen: dict[int, tuple[set[str], dict[str, dict[str, str]]]] = {}

    @property
    def spent(self) -> int:
        """The CPU time of all monitors, in nanoseconds."""
        return self._spent_before + sum(self._spent.values())

    # --- the kernel's part --------------------------------------------------------------------------------

    def _on_sample_cpu(self, cpu: Cpu, values: dict[str, str]) -> None:
        at = int(values["at"])
        number = at & 0xff
        if number == 0:
            self._taking[cpu.number] = _Sample()
        if (sample := self._taking.get(cpu.number)) is not None:
            sample.cpus[number] = values["lwp"], STATES[at >> 8 & 0xff], at >> 16

    def _on_sample_lwp(self, cpu: Cpu, values: dict[str, str]) -> None:
        at = int(values["at"])
        if (sample := self._taking.get(cpu.number)) is not None:
            sample.lwps[values["lwp"]] = STATES[at >> 8], at & 0xff

    def _taken(self, pid: int) -> None:
        """The kernel's part of the sample of this process is whole."""
        for number, sample in self._taking.items():
            if next(iter(sample.lwps), "").startswith(f"{pid}/"):
                del self._taking[number]
                self.count += 1
                self.torn += self._is_torn(sample)
                self._seen[pid] = set(sample.lwps), {}
                self._show(sample)
                return

    @staticmethod
    def _is_torn(sample: _Sample) -> bool:
        """An LWP is on two CPUs, or on none although it runs."""
        on = [key for key, _, _ in sample.cpus.values() if key != "idle"]
        return len(set(on)) < len(on) or any(state in RUNNING and key not in on
                                             for key, (state, _) in sample.lwps.items())

    def _show(self, sample: _Sample) -> None:
        on = {key: number for number, (key, _, _) in sample.cpus.items() if key != "idle"}
        for key, (state, number) in sample.lwps.items():
            if key not in on:
                lwp = self._lwp(key)
                lwp.cpu = number
                # It came onto a CPU after the CPUs were read: before, it waited for one.
                self._state(lwp, "waitcpu" if state in RUNNING else state)
        for lwp in self.lwps.values():
            if lwp.state in RUNNING and lwp.key not in on and lwp.key not in sample.lwps:
                self._state(lwp, GONE)
        for number, (key, state, queue) in sample.cpus.items():
            self._place(self._cpu(number), self._lwp(key) if on.get(key) == number else None, state)
            self._length(self._cpu(number), queue)

    def _place(self, cpu: Cpu, lwp: Lwp | None, state: str) -> None:
        before, since = cpu.lwp, cpu.since
        cpu.lwp, cpu.since = lwp, self.now
        if lwp is not None:
            lwp.cpu = cpu.number
            # An LWP that is on its way off the CPU has its next state already.
            self._state(lwp, state if state in RUNNING else "system")
        self._tell("cpu", cpu, before, since)

    def _length(self, cpu: Cpu, queue: int) -> None:
        before, cpu.queue = cpu.queue, queue
        if before != queue:
            self._tell("queue", cpu, before)

    # --- the library's part -------------------------------------------------------------------------------

    def _on_sample_thread(self, _: Cpu, values: dict[str, str]) -> None:
        key = values["thread"]
        pid = int(key.partition(".")[0])
        self._taken(pid)
        if pid in self._seen:
            self._seen[pid][1][key] = values

    def _show_thread(self, key: str, values: dict[str, str]) -> None:
        thread, on = self._thread(key), values["lwp"]
        if thread is None:
            return
        self._thread_state(thread, values["state"], None if on == "-" else self._lwp(on))
        lock = None
        if thread.state == "Blocked" and values["object"] != "-":
            lock = self._object(thread.process, values["object"])
        if lock is not thread.waits:
            self._waits(thread, lock)
            self._tell("thread", thread, thread.state, thread.since, thread.lwp)

    def _object(self, process: Process | None, address: str) -> Lock:
        """What a thread waits for.  Of which kind it is, a sample does not say."""
        key = f"{process.pid if process else '?'}:{address}"
        if key not in self.locks:
            self.locks[key] = Lock(key, process, address, "object", self.now)
        return self.locks[key]

    def _on_sample_self(self, _: Cpu, values: dict[str, str]) -> None:
        """A monitor goes to sleep again: its sample is whole, and what it does not have is gone."""
        monitor = self._lwp(values["lwp"])
        if not monitor.name:
            monitor.name = "monitor"
            self._tell("lwp_new", monitor)
        pid = int(values["lwp"].partition("/")[0])
        self._spent[pid] = int(values["ns"])
        process, seen = self.processes.get(pid), self._seen.pop(pid, None)
        if process is None or seen is None:
            return
        lwps, threads = seen
        for key, told in threads.items():
            self._show_thread(key, told)
        for lwp in [lwp for lwp in process.lwps.values() if lwp.key not in lwps]:
            self._gone(lwp)
        for thread in [thread for thread in process.threads.values() if thread.key not in threads]:
            self._gone_thread(thread)

    # --- what the events of a trace would tell ------------------------------------------------------------

    def _lwp_add(self, lwp: Lwp) -> Lwp:
        """Nothing is known of it before the next sample."""
        lwp.state = GONE
        return super()._lwp_add(lwp)

    def _on_process_exit(self, cpu: Cpu, values: dict[str, str]) -> None:
        super()._on_process_exit(cpu, values)
        self._spent_before += self._spent.pop(int(values["process"]), 0)
        self._seen.pop(int(values["process"]), None)
        process = self.processes.get(int(values["process"]))
        if process is None:
            return
        for one in self.cpus.values():
            if one.lwp is not None and one.lwp.process is process:
                self._place(one, None, "")
        for lwp in [*process.lwps.values()]:
            self._gone(lwp)

    def _on_exec(self, _: Cpu, values: dict[str, str]) -> None:
        pid = int(values["lwp"].partition("/")[0])
        self._spent_before += self._spent.pop(pid, 0)
        self._seen.pop(pid, None)  # the end of that sample does not come
        process = self.processes.get(pid)
        if process is not None:
            self._gone_threads(process)
