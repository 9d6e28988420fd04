"""The objects of a model, and how their values change: each change is told to the watchers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .objects import GONE, Cpu, Lock, Lwp, Process, Thread, Wake
from .watcher import Watcher

HOOKS = ("process", "lwp_new", "lwp", "cpu", "queue", "wake", "thread_new", "thread", "lock", "event")


class State:
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
        self._hooks: dict[str, list[Callable[..., None]]] = {hook: [] for hook in HOOKS}

    def watch(self, watcher: Watcher) -> None:
        """From the next record on."""
        for hook in HOOKS:
            method = getattr(watcher, hook)
            if getattr(type(watcher), hook) is not getattr(Watcher, hook):
                self._hooks[hook].append(method)

    def _tell(self, hook: str, *arguments: Any) -> None:
        for method in self._hooks[hook]:
            method(self.now, *arguments)

    def _cpu(self, number: int) -> Cpu:
        cpu = self.cpus.get(number)
        if cpu is None:
            cpu = self.cpus[number] = Cpu(number, self.now)
        return cpu

    def _lwp(self, key: str) -> Lwp:
        """The LWP, which is made if no record has told of it: an LWP of the kernel, or its record is lost."""
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

    def _wake(self, cpu: Cpu, waker: Lwp | Thread | None, woken: Lwp | Thread, cause: str) -> None:
        woken.woken = Wake(self.now, cpu.number, waker, woken, cause)
        self._tell("wake", woken.woken)
