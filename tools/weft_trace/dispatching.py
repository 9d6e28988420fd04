"""The kernel's events in a model: processes, LWPs, CPUs, system calls and faults."""

from __future__ import annotations

from .objects import RUNNING, Cpu, Lwp, Process
from .threads import Threads

# What an LWP sleeps for (kernel/sync/): the kind of the object.
OBJECTS = {"lwp_mutex": "mutex", "lwp_cond": "cond", "lwp_sema": "sema", "lwp_barrier": "barrier",
           "lwp_rwlock": "rwlock"}


class Dispatching(Threads):
    def __init__(self) -> None:
        super().__init__()
        self._unnamed: dict[str, list[Lwp]] = {}  # of processes that have no number yet, by the address

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
            self._gone_threads(process)
            self._tell("process", process)

    def _on_lwp_exit(self, _: Cpu, values: dict[str, str]) -> None:
        self._lwp(values["lwp"]).exiting = True  # it is gone when it is off its CPU

    def _on_exec(self, cpu: Cpu, values: dict[str, str]) -> None:
        """The LWP that stays has a new number perhaps."""
        lwp, key = cpu.lwp, values["lwp"]
        if lwp is not None and lwp.process is not None:
            self._gone_threads(lwp.process)
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
        self._wake(cpu, waker, lwp, cause)

    def _on_priority(self, _: Cpu, values: dict[str, str]) -> None:
        self._lwp(values["lwp"]).pri = int(values["new"])

    # --- the kernel's entries and exits -------------------------------------------------------------------

    def _on_syscall(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        lwp = cpu.lwp
        if lwp is not None:
            lwp.call = values["number"]
            self._state(lwp, "system")

    def _on_syscall_end(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        lwp = cpu.lwp
        if lwp is not None:
            if lwp.waits is not None or (lwp.call or "").startswith("lwp_mutex_"):
                self._waits_no_more(lwp, values.get("result") == "0")
            lwp.call = None
            self._state(lwp, "user")

    _on_park_end = _on_syscall_end

    def _on_object_wait(self, cpu: Cpu, values: dict[str, str]) -> None:
        """For a lock in the program's memory; the library has perhaps told more of it."""
        thread = self._running(cpu)
        told = thread.waits if thread is not None else None
        kind = OBJECTS.get(values.get("wchan", ""), "mutex")
        self._waits_in_kernel(cpu, told or self._lock(cpu, values["object"], kind))

    def _on_kobj_wait(self, cpu: Cpu, values: dict[str, str]) -> None:
        """For a mutex, an event or a semaphore of NT."""
        lock = self._lock(cpu, values["object"], values["kind"])
        if values["kind"] == "mutex":
            self._owned(lock, self._owner(values["owner"]) if values["owner"] != "-" else None)
        self._waits_in_kernel(cpu, lock)

    def _on_trap(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = ""
        if cpu.lwp is not None:
            page, fetch = values["vector"] == "14", int(values["error"]) & 16
            self._state(cpu.lwp, "tfault" if page and fetch else "dfault" if page else "trap")

    def _on_trap_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = ""
        if cpu.lwp is not None:
            self._state(cpu.lwp, "user")

    def _on_kfault(self, cpu: Cpu, _: dict[str, str]) -> None:
        if cpu.lwp is not None and cpu.lwp.state != "kfault":
            cpu.lwp.faulted = cpu.lwp.state
            self._state(cpu.lwp, "kfault")

    def _on_kfault_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        if cpu.lwp is not None:
            self._state(cpu.lwp, cpu.lwp.faulted)

    def _on_interrupt(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = "interrupt"

    def _on_timer(self, cpu: Cpu, values: dict[str, str]) -> None:
        cpu.cause = values["function"]

    def _on_interrupt_end(self, cpu: Cpu, _: dict[str, str]) -> None:
        cpu.cause = ""
