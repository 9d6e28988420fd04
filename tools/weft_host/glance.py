"""A look into a guest that runs: it is stopped for as long as its memory is read, and goes on.

In exact timing the guest does not notice, since its time stands still with it.
"""

from pathlib import Path

from weft_debug.guest import Thread
from weft_debug.memory import MemoryFault
from weft_debug.picture import columns, deadlock_lines, thread_row
from weft_debug.unwind import Unwinder

from .machine import HostError, Machine
from .standing import Standing, explained


class Glance(Standing):
    """Use it by `with`.  Raises HostError."""

    def __enter__(self) -> "Glance":
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            with explained():
                # Without this, the next glance finds the stub's socket taken.
                self._monitor.ask("human-monitor-command", **{"command-line": "gdbserver none"})
                self._monitor.ask("cont")
        finally:
            super().__exit__(*exc)

    def thread(self, pid: int, number: int) -> str:
        """What the thread waits for, which thread holds it, and its stack."""
        process = self.guest.process(pid)
        thread = next((one for one in process.threads if one.id == number), None) if process is not None else None
        if process is None or thread is None:
            raise HostError("the thread has ended")
        lines = columns([("THREAD", "NAME", "STATE", "LWP", "CPU", "WAITS FOR"), thread_row(thread)], "")
        return "\n".join([*lines, *self._stack(thread), *deadlock_lines(process.threads)]) + "\n"

    @staticmethod
    def _stack(thread: Thread) -> list[str]:
        process = thread.process
        if thread.registers is None or process.space is None:
            return ["it has no stack: it has not begun, or has ended"]
        if process.program is None:
            return ["its program's file is not known: no stack"]
        symbols = process.symbols
        unwinder = Unwinder([process.program], symbols.function_start, MemoryFault)
        return [f"#{depth:<3}{symbols.function(inside)}"
                for depth, (_, inside) in enumerate(unwinder.backtrace(process.space, thread.registers))]


def backtrace(work: Path, machine: Machine, pid: int, thread: int) -> str:
    """Of a thread of the guest whose files are in `work`.  Raises HostError."""
    if not Glance.is_possible(work):
        raise HostError("the guest's monitor cannot be reached")
    with Glance(work, machine) as glance, explained():
        return glance.thread(pid, thread)
