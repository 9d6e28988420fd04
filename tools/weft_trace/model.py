"""What the machine was at every moment of a trace: CPU, LWP and thread, their states, queues and wakers.

A model consumes records in the order of time, from a file or while they are recorded, and tells watchers of
each change.  It goes on after records that are missing: it then takes what the next record says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .events import Record
from .objects import GONE, RUNNING, Cpu, Lock, Lwp, Process, Thread, Wake


class Watcher:
    """What changes.  Each method is called when the objects have their new values.  `before` is the former
    value, and `since` says from when."""

    def process(self, time: int, process: Process) -> None:
        """It is new, has a new name, or has ended."""

    def lwp_new(self, time: int, lwp: Lwp) -> None: ...

    def lwp(self, time: int, lwp: Lwp, before: str, since: int) -> None:
        """Another state; GONE at the end."""

    def cpu(self, time: int, cpu: Cpu, before: Lwp | None, since: int) -> None:
        """Another LWP runs, or none."""

    def queue(self, time: int, cpu: Cpu, before: int) -> None:
        """The length of a dispatch queue."""

    def wake(self, time: int, wake: Wake) -> None: ...

    def thread_new(self, time: int, thread: Thread) -> None: ...

    def thread(self, time: int, thread: Thread, before: str, since: int, lwp: Lwp | None) -> None:
        """Another state, GONE at the end, or another LWP than `lwp`."""

    def lock(self, time: int, lock: Lock, before: Thread | None, since: int) -> None:
        """Another owner, or other waiters."""

    def event(self, time: int, record: Record) -> None:
        """Each record, after its changes."""


HOOKS = ("process", "lwp_new", "lwp", "cpu", "queue", "wake", "thread_new", "thread", "lock", "event")


class Model:
    def __init__(self) -> None:
        self.now = 0
        self.cpu = 0  # that has made the last record
        self.begin: int | None = None  # the time of the first record
        self.lost: dict[int, int] = {}
        self.processes: dict[int, Process] = {}
        self.cpus: dict[int, Cpu] = {}
        self.lwps: dict[str, Lwp] = {}  # those that live
        self.threads: dict[str, Thread] = {}  # those that live
        self.locks: dict[str, Lock] = {}
        self._unnamed: dict[str, list[Lwp]] = {}  # of processes that have no number yet, by the address
        self._hooks: dict[str, list[Callable[..., None]]] = {hook: [] for hook in HOOKS}
        self._does: dict[str, Callable[[Cpu, dict[str, str]], None]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")}

    def watch(self, watcher: Watcher) -> None:
        """From the next record on."""
        for hook in HOOKS:
            method = getattr(watcher, hook)
            if getattr(type(watcher), hook) is not getattr(Watcher, hook):
                self._hooks[hook].append(method)

    def feed(self, record: Record) -> None:
        """Raises ValueError or KeyError: a value is missing or wrong."""
        if self.begin is None:
            self.begin = record.time
        self.now = record.time
        self.cpu = record.cpu
        name = record.name
        if name == "lost":
            self.lost[record.cpu] = self.lost.get(record.cpu, 0) + int(record.values["count"])
        else:
            does = self._does.get(name)
            if does is not None:
                cpu = self.cpus.get(record.cpu)
                does(cpu or self._cpu(record.cpu), record.values)
        for hook in self._hooks["event"]:
            hook(record.time, record)

    def end(self) -> None:
        """The trace has ended: watchers see how all states have lasted up to now, as if they changed."""
        now = self.now
        for cpu in self.cpus.values():
            self._tell("cpu", cpu, cpu.lwp, cpu.since)
            self._tell("queue", cpu, cpu.queue)
        for lwp in self.lwps.values():
            self._tell("lwp", lwp, lwp.state, lwp.since)
        for thread in self.threads.values():
            self._tell("thread", thread, thread.state, thread.since, thread.lwp)
        for lock in self.locks.values():
            self._tell("lock", lock, lock.owner, lock.since)
        for thing in (*self.cpus.values(), *self.lwps.values(), *self.threads.values(), *self.locks.values()):
            thing.since = now

    def _tell(self, hook: str, *arguments: Any) -> None:
        for method in self._hooks[hook]:
            method(self.now, *arguments)

    # --- objects ------------------------------------------------------------------------------------------

    def _cpu(self, number: int) -> Cpu:
        cpu = self.cpus.get(number)
        if cpu is None:
            cpu = self.cpus[number] = Cpu(number, self.now)
        return cpu

    def _lwp(self, key: str) -> Lwp:
        """The LWP; a new one if no record has told of it: an LWP of the kernel, or its record is lost."""
        lwp = self.lwps.get(key)
        if lwp is None:
            pid, slash, number = key.partition("/")
            process = self.processes.get(int(pid)) if slash and pid.isdigit() else None
            lwp = self._lwp_add(Lwp(key, process, int(number) if slash else 0, self.now))
        return lwp

    def _lwp_add(self, lwp: Lwp) -> Lwp:
        self.lwps[lwp.key] = lwp
        if lwp.process is not None:
            lwp.process.lwps[lwp.id] = lwp
        self._tell("lwp_new", lwp)
        return lwp

    def _state(self, lwp: Lwp, state: str) -> None:
        before = lwp.state
        if state == before:
            return
        since, lwp.since = lwp.since, self.now
        lwp.state = state
        for method in self._hooks["lwp"]:
            method(self.now, lwp, before, since)

    def _queued(self, lwp: Lwp, cpu: Cpu | None) -> None:
        """On the dispatch queue of another CPU, or (None) on none."""
        old = lwp.queued
        if old is cpu:
            return
        lwp.queued = cpu
        if old is not None:
            old.queue -= 1
            self._tell("queue", old, old.queue + 1)
        if cpu is not None:
            cpu.queue += 1
            self._tell("queue", cpu, cpu.queue - 1)

    def _gone(self, lwp: Lwp) -> None:
        self._queued(lwp, None)
        self._state(lwp, GONE)
        if self.lwps.get(lwp.key) is lwp:
            del self.lwps[lwp.key]
        if lwp.process is not None and lwp.process.lwps.get(lwp.id) is lwp:
            del lwp.process.lwps[lwp.id]

    # --- processes and LWPs -------------------------------------------------------------------------------

    def _on_lwp_idle(self, _: Cpu, values: dict[str, str]) -> None:
        self._cpu(int(values["cpu"]))

    def _on_lwp_new(self, cpu: Cpu, values: dict[str, str]) -> None:
        pid, _, number = values["lwp"].partition("/")
        process = self.processes.get(int(pid)) if pid != "?" else None
        if pid == "?":  # its process will have a number soon
            self._unnamed.setdefault(values["process"], []).append(
                Lwp(values["lwp"], None, int(number), self.now))
            return
        if (old := self.lwps.get(values["lwp"])) is not None:
            self._gone(old)
        self._lwp_add(Lwp(values["lwp"], process, int(number), self.now))

    def _on_process_new(self, _: Cpu, values: dict[str, str]) -> None:
        pid, parent = int(values["pid"]), values["parent"]
        process = Process(pid, int(parent) if parent.isdigit() else 0, self.now)
        self.processes[pid] = process
        self._tell("process", process)
        for lwp in self._unnamed.pop(values["process"], ()):
            lwp.key = f"{pid}/{lwp.id}"
            lwp.process = process
            self._lwp_add(lwp)

    def _on_process_name(self, _: Cpu, values: dict[str, str]) -> None:
        process = self.processes.get(int(values["process"]))
        if process is not None:
            process.name = values["name"]
            self._tell("process", process)

    def _on_process_exit(self, _: Cpu, values: dict[str, str]) -> None:
        process = self.processes.get(int(values["process"]))
        if process is not None:
            process.gone = self.now
            for lwp in process.lwps.values():
                lwp.exiting = True
            self._tell("process", process)

    def _on_lwp_exit(self, _: Cpu, values: dict[str, str]) -> None:
        self._lwp(values["lwp"]).exiting = True  # it is gone when it is off its CPU

    def _on_exec(self, cpu: Cpu, values: dict[str, str]) -> None:
        """The LWP that stays has a new number perhaps."""
        lwp, key = cpu.lwp, values["lwp"]
        if lwp is None or lwp.key == key:
            return
        if (old := self.lwps.get(key)) is not None:
            self._gone(old)
        del self.lwps[lwp.key]
        if lwp.process is not None:
            lwp.process.lwps.pop(lwp.id, None)
        lwp.key, lwp.id = key, int(values["id"])
        self._lwp_add(lwp)

    # --- the dispatcher -----------------------------------------------------------------------------------

    def _on_queue(self, _: Cpu, values: dict[str, str]) -> None:
        lwp = self._lwp(values["lwp"])
        if lwp.state in RUNNING:  # the record that took its CPU away is lost
            lwp.resume = lwp.state
        self._queued(lwp, self._cpu(int(values["cpu"])))
        self._state(lwp, "waitcpu")

    def _on_off_cpu(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        if values["lwp"] == "idle":
            return
        lwp = self._lwp(values["lwp"])
        if lwp.exiting:
            self._gone(lwp)
            return
        if lwp.state in RUNNING:
            lwp.resume = lwp.state
        state, wchan = values["mstate"], values["wchan"]
        lwp.wchan = wchan if state in ("lock", "sleep") else ""
        if state == "waitcpu":
            self._queued(lwp, cpu)
        self._state(lwp, state)

    def _on_on_cpu(self, cpu: Cpu, values: dict[str, str]) -> None:
        key = values["lwp"]
        lwp = None if key == "idle" else self._lwp(key)
        before, since = cpu.lwp, cpu.since
        cpu.cause = ""
        cpu.lwp, cpu.since = lwp, self.now
        if lwp is not None:
            lwp.cpu = cpu.number
            lwp.pri = int(values["pri"])
            self._queued(lwp, None)
            self._state(lwp, lwp.resume)
        for method in self._hooks["cpu"]:
            method(self.now, cpu, before, since)

    def _on_wake(self, cpu: Cpu, values: dict[str, str]) -> None:
        lwp = self._lwp(values["lwp"])
        waker = cpu.lwp if not cpu.cause else None
        cause = cpu.cause or ("" if waker else "interrupt")
        lwp.woken = Wake(self.now, cpu.number, waker, lwp, cause)
        self._tell("wake", lwp.woken)

    def _on_priority(self, _: Cpu, values: dict[str, str]) -> None:
        self._lwp(values["lwp"]).pri = int(values["new"])

    # --- the kernel's entries and exits -------------------------------------------------------------------

    def _on_syscall(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        lwp = cpu.lwp
        if lwp is not None:
            lwp.call = values["number"]
            self._state(lwp, "system")

    def _on_syscall_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = ""
        lwp = cpu.lwp
        if lwp is not None:
            lwp.call = None
            self._state(lwp, "user")

    _on_park_end = _on_syscall_end

    def _on_trap(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        if cpu.lwp is not None:
            page, fetch = values["vector"] == "14", int(values["error"]) & 16
            self._state(cpu.lwp, "tfault" if page and fetch else "dfault" if page else "trap")

    def _on_trap_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = ""
        if cpu.lwp is not None:
            self._state(cpu.lwp, "user")

    def _on_timer(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = values["function"]

    def _on_interrupt_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = ""
