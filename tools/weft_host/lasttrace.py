"""After a failure under a seed, the same run once more, traced: its last records are kept.

In exact timing a traced run is the run, to the instruction.
"""

import contextlib
import shlex
from collections import deque
from dataclasses import replace
from pathlib import Path

from weft_trace import events

from . import traced
from .guest import Guests, Result
from .machine import HostError, Machine
from .spool import Last
from .tracecmd import replaced
from .workdir import WorkDirectory

LAST = 100_000  # records
# Without these, the names of what is older are missing.
NAMES = {"lwp_idle", "lwp_new", "process_new", "process_name", "process_exit", "exec", "thread_first", "thread_new",
         "thread_name"}


# A program of a lab has hundreds of faults at its begin and its end, one for each page.
FAULTS = {"trap", "trap_address", "trap_end", "kfault", "kfault_end"}


def _path(machine: Machine, folder: Path) -> Path:
    return folder / f"{machine.stem()}.trace"


def keep(guests: Guests, machine: Machine, stdin: bytes, folder: Path, failed: Result, last: int = LAST) -> str:
    """Runs a machine of exact timing, which has failed with this Result, again.  Its last records are in
    FOLDER/STEM.trace then; the line says so, or why there are none."""
    path = _path(machine, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # of an earlier run
        result = _traced(guests, replace(machine, keep=None), stdin, path, last)
    except (HostError, OSError) as error:
        return f"its last records cannot be had: {error}"
    other = "" if (result.status, result.error) == (failed.status, failed.error) else \
        f", which ended otherwise ({result.error or f'status {result.status}'})"
    return f"its last records, of another run{other}: tools/weft stats {shlex.quote(str(path))}"


def told(machine: Machine, folder: Path, count: int) -> str:
    """The last `count` records that keep() has left, without faults, as text with a heading.  "": there are
    none."""
    path = _path(machine, folder)
    if count == 0 or not path.is_file():
        return ""
    last = deque((str(one) for one in events.read(path) if one.name not in FAULTS), maxlen=count)
    return "\n".join(["the last records (time in ns, CPU, event), without faults:", *last])


def _traced(guests: Guests, machine: Machine, stdin: bytes, path: Path, last: int) -> Result:
    """Writes the file."""
    with WorkDirectory() as directory:
        work = Path(directory)
        naming, rings = traced.prepare(machine, work, traced.ring_size(machine))
        with contextlib.closing(Last(machine.smp, rings, last, naming.points(NAMES),
                                     naming.points({"on_cpu"}))) as records:
            try:
                result = guests.run(machine, stdin, work)
            finally:
                records.stop()
            with replaced(path) as file:
                for record in traced.named(records, naming):
                    file.write(f"{record}\n".encode())
    return result
