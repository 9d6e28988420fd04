"""What the machine was at every moment of a trace: CPU, LWP and thread, their states, queues and wakers.

A model consumes records in the order of time, from a file or while they are recorded, and tells watchers of
each change.  It goes on after records that are missing: it then takes what the next record says.
"""

from __future__ import annotations

from collections.abc import Callable

from weft_host.machine import HostError

from .dispatching import Dispatching
from .events import Record
from .objects import Cpu
from .watcher import Watcher

__all__ = ["Model", "Watcher"]


class Model(Dispatching):
    def __init__(self) -> None:
        super().__init__()
        self._does: dict[str, Callable[[Cpu, dict[str, str]], None]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")}

    def feed(self, record: Record) -> None:
        """Raises HostError: a value is missing or wrong."""
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
                try:
                    does(cpu or self._cpu(record.cpu), record.values)
                except (KeyError, ValueError) as error:
                    raise HostError(f"the record {str(record)!r} has no or a wrong value: {error}") from error
        for hook in self._hooks["event"]:
            hook(record.time, record)

    def end(self) -> None:
        """The trace has ended: watchers see how all states have lasted up to now, as if they changed."""
        for cpu in self.cpus.values():
            self._tell("cpu", cpu, cpu.lwp, cpu.since)
            cpu.since = self.now
            self._tell("queue", cpu, cpu.queue)
        for lwp in self.lwps.values():
            self._tell("lwp", lwp, lwp.state, lwp.since)
            lwp.since = self.now
        for thread in self.threads.values():
            self._tell("thread", thread, thread.state, thread.since, thread.lwp)
            thread.since = self.now
        for lock in self.locks.values():
            self._tell("lock", lock, lock.owner, lock.since)
            lock.since = self.now
