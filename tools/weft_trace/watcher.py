"""What a model (model.py) tells of."""

from __future__ import annotations

from .events import Record
from .objects import Cpu, Lock, Lwp, Process, Thread, Wake


class Watcher:
    """What changes.  Each method is called when the objects have their new values.  `before` is the value
    until now, and `since` says from when."""

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
