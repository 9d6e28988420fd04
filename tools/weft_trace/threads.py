"""The library's events in a model: threads, their states and LWPs, and the locks that they wait for.

A record of the library comes from the LWP that runs on its CPU, and mostly from the thread that this LWP runs.
Threads are PID.ID.  In place of a thread there may be a context of the pool, in which an LWP looks for a thread.
"""

from __future__ import annotations

from .objects import GONE, Cpu, Lock, Lwp, Process, Thread
from .state import State


class Threads(State):
    # --- objects ------------------------------------------------------------------------------------------

    def _thread(self, key: str) -> Thread | None:
        """The thread, which is made if no record has told of it.  None: a context of the pool."""
        thread = self.threads.get(key)
        if thread is None:
            pid, dot, number = key.partition(".")
            if not dot or not pid.isdigit():  # `?`: the records of its process are lost
                return None
            thread = self.threads[key] = Thread(key, self.processes.get(int(pid)), int(number), self.now)
            if thread.process is not None:
                thread.process.threads[thread.id] = thread
            self._tell("thread_new", thread)
        return thread

    def _thread_state(self, thread: Thread | None, state: str, lwp: Lwp | None) -> None:
        """A bound thread keeps its LWP."""
        if thread is None:
            return
        before, since, on = thread.state, thread.since, thread.lwp
        if thread.bound and lwp is None and state != GONE:
            lwp = on
        if state == before and lwp is on:
            return
        thread.state, thread.since, thread.lwp = state, self.now, lwp
        if on is not None and on is not lwp and on.thread is thread:
            on.thread = None
        if lwp is not None:
            lwp.thread = thread
        self._tell("thread", thread, before, since, on)
        if before == "Blocked":
            self._waits(thread, None)

    def _lock(self, cpu: Cpu, address: str, kind: str) -> Lock:
        process = cpu.lwp.process if cpu.lwp is not None else None
        key = f"{process.pid if process else '?'}:{address}"
        lock = self.locks.get(key)
        if lock is None:
            lock = self.locks[key] = Lock(key, process, address, kind, self.now)
        return lock

    def _waits(self, thread: Thread, lock: Lock | None) -> None:
        """What the thread waits for; None: nothing any more."""
        old, thread.waits = thread.waits, lock
        if old is lock:
            return
        if old is not None and thread in old.waiters:
            del old.waiters[thread]
            self._tell("lock", old, old.owner, old.since)
        if lock is not None:
            lock.waiters[thread] = None
            self._tell("lock", lock, lock.owner, lock.since)

    def _owned(self, lock: Lock, owner: Thread | None) -> None:
        before, since = lock.owner, lock.since
        if before is not owner:
            lock.owner, lock.since = owner, self.now
            self._tell("lock", lock, before, since)

    def _running(self, cpu: Cpu) -> Thread | None:
        return cpu.lwp.thread if cpu.lwp is not None else None

    # --- threads ------------------------------------------------------------------------------------------

    def _on_thread_first(self, cpu: Cpu, values: dict[str, str]) -> None:
        """The thread that is there as the process begins, or after a fork."""
        self._on_thread_new(cpu, values)
        thread = self._thread(values["thread"])
        if thread is not None:
            thread.first = True
            self._thread_state(thread, "OnLWP", cpu.lwp)

    def _on_thread_new(self, _: Cpu, values: dict[str, str]) -> None:
        key = values["thread"]
        if key in self.threads:
            self._gone_thread(self.threads[key])
        thread = self._thread(key)
        if thread is not None:
            thread.bound = values.get("bound", "0") != "0"

    def _on_thread_begin(self, cpu: Cpu, values: dict[str, str]) -> None:
        self._thread_state(self._thread(values["thread"]), "OnLWP", cpu.lwp)

    def _on_thread_name(self, _: Cpu, values: dict[str, str]) -> None:
        thread = self._thread(values["thread"])
        if thread is not None:
            thread.name = values["name"]
            self._tell("thread_new", thread)

    def _on_thread_exit(self, _: Cpu, values: dict[str, str]) -> None:
        thread = self._thread(values["thread"])
        if thread is not None:
            self._gone_thread(thread)

    def _gone_threads(self, process: Process) -> None:
        """The process has ended, or executes another program."""
        for thread in [*process.threads.values()]:
            self._gone_thread(thread)

    def _gone_thread(self, thread: Thread) -> None:
        self._thread_state(thread, GONE, None)
        self._waits(thread, None)
        self.threads.pop(thread.key, None)
        if thread.process is not None and thread.process.threads.get(thread.id) is thread:
            del thread.process.threads[thread.id]

    def _on_thread_state(self, cpu: Cpu, values: dict[str, str]) -> None:
        state = values["state"]
        self._thread_state(self._thread(values["thread"]), state, cpu.lwp if state == "OnLWP" else None)

    def _on_thread_switch(self, cpu: Cpu, values: dict[str, str]) -> None:
        """From one thread to another, on one LWP."""
        self._thread_state(self._thread(values["thread"]), values["state"], None)
        self._thread_state(self._thread(values["next"]), "OnLWP", cpu.lwp)

    def _on_thread_leave(self, cpu: Cpu, values: dict[str, str]) -> None:
        self._thread_state(self._thread(values["next"]), "OnLWP", cpu.lwp)

    def _on_thread_dispatchable(self, _: Cpu, values: dict[str, str]) -> None:
        self._thread_state(self._thread(values["thread"]), "Dispatchable", None)

    def _on_thread_stop(self, _: Cpu, values: dict[str, str]) -> None:
        thread = self._thread(values["thread"])
        if thread is not None:
            self._thread_state(thread, "Stopped", thread.lwp)

    def _on_thread_continue(self, _: Cpu, values: dict[str, str]) -> None:
        thread = self._thread(values["thread"])
        if thread is not None:
            self._thread_state(thread, "OnLWP", thread.lwp)

    def _on_thread_wake(self, cpu: Cpu, values: dict[str, str]) -> None:
        thread = self._thread(values["thread"])
        if thread is not None:
            waker = self._running(cpu) or cpu.lwp  # an LWP of the library's own runs no thread
            self._wake(cpu, waker, thread, "")

    def _on_thread_woken(self, cpu: Cpu, values: dict[str, str]) -> None:
        """A wake-up that puts the thread into the run queue."""
        self._on_thread_wake(cpu, values)
        self._thread_state(self._thread(values["thread"]), "RunQueue", None)

    # --- locks --------------------------------------------------------------------------------------------

    def _on_lock_wait(self, cpu: Cpu, values: dict[str, str]) -> None:
        lock = self._lock(cpu, values["lock"], values["kind"])
        thread = self._running(cpu)
        if "owner" in values and values["owner"] != "-":
            self._owned(lock, self._owner(values["owner"]))
        if "mutex" in values:  # that a wait for a condition variable releases
            self._owned(self._lock(cpu, values["mutex"], "mutex"), None)
        if thread is not None:
            self._waits(thread, lock)

    def _owner(self, key: str) -> Thread | None:
        """A thread, or the thread that an LWP runs."""
        if "/" not in key:
            return self._thread(key)
        return self.lwps[key].thread if key in self.lwps else None

    def _waits_in_kernel(self, cpu: Cpu, lock: Lock) -> None:
        """The LWP is about to sleep for an object of the kernel.  Its thread stays OnLWP."""
        lwp = cpu.lwp
        if lwp is None or lwp.waits is not None:
            return
        lwp.waits = lock
        if lwp.thread is not None:
            self._waits(lwp.thread, lock)
            self._told_again(lwp.thread)

    def _waits_no_more(self, lwp: Lwp, acquired: bool) -> None:
        """The system call in which the LWP has perhaps waited ends."""
        lock, thread = lwp.waits, lwp.thread
        lwp.waits = None
        if thread is not None and thread.waits is not None:
            lock = thread.waits
            self._waits(thread, None)
            self._told_again(thread)
        if lock is not None and lock.kind == "mutex":  # without waiters nothing tells of a new owner
            self._owned(lock, thread if acquired and lock.waiters else None)

    def _told_again(self, thread: Thread) -> None:
        """In the same state it waits for something else."""
        since, thread.since = thread.since, self.now
        self._tell("thread", thread, thread.state, since, thread.lwp)

    def _on_lock_own(self, cpu: Cpu, values: dict[str, str]) -> None:
        thread = self._running(cpu)
        if thread is not None:
            lock = self._lock(cpu, values["lock"], values["kind"])
            self._waits(thread, None)
            self._owned(lock, thread)

    def _on_lock_free(self, cpu: Cpu, values: dict[str, str]) -> None:
        """Its owner is perhaps not known: a mutex that no thread waits for is acquired without a record."""
        lock = self._lock(cpu, values["lock"], values["kind"])
        lock.former = self._running(cpu)
        self._owned(lock, None)

    def _on_lock_move(self, cpu: Cpu, values: dict[str, str]) -> None:
        """A waiter of a condition variable becomes one of the mutex."""
        thread = self._thread(values["thread"])
        if thread is not None:
            self._waits(thread, self._lock(cpu, values["lock"], "mutex"))
