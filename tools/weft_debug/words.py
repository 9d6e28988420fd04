"""What `monitor` of GDB can ask of the server.

    weft-programs                    each process that GDB is to have, and the file with its symbols: PID PATH
    weft-show PID...                 GDB has these processes from its next list of threads on
    weft-want PID                    weft-programs has this process again that GDB has detached
    weft-stay                        the next packet that runs the machine does not
    weft-join                        the program's threads are the kernel's inferior's (numbering.py)
    weft-main                        the pid of the program that the guest runs first, or none
    weft-cpu PID TID                 the CPU that executes a thread of a process, or that its LWP is on, or None
    weft-thread PID TID              GDB steps this thread
    weft-here                        the thread that the first processor executes: PID TID
    weft-program PATH                its symbols are in the kernel's inferior, too
    weft-locks [PID], weft-queues, weft-timers, weft-object KIND ADDRESS [PID]   texts
    weft-place, weft-goal, weft-write, weft-keep    of a recorded run (weft_host/reverse.py)

All else goes to QEMU's own monitor.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from weft_host.machine import HostError

from .layout import LayoutError
from .memory import MemoryFault
from .protocol import Id

if TYPE_CHECKING:
    from .session import Session


def answer(session: "Session", text: str) -> str:
    """The text that GDB prints."""
    debugger = session.debugger
    match text.split():
        case ["weft-programs"] if session.numbering.joins:
            return ""
        case ["weft-programs"]:
            return "".join(f"{process.pid} {session.file_of(process.pid)}\n" for process in debugger.view.wanted())
        case ["weft-show", *pids]:
            debugger.view.shown.update(map(int, pids))
            return ""
        case ["weft-join"]:
            session.numbering.joins = True
            return ""
        case ["weft-main"]:
            main = debugger.main_process()
            return f"{debugger.main_pid or (main.pid if main is not None else 'none')}\n"
        case ["weft-want", pid]:
            if debugger.guest.process(int(pid)) is None:
                return f"there is no process {pid}\n"
            debugger.view.left.discard(int(pid))
            return ""
        case ["weft-stay"]:
            session.stays = True
            return ""
        case ["weft-cpu", pid, tid]:
            return f"{session.cpu_of(int(pid), int(tid))}\n"
        case ["weft-here"]:
            id = session.numbering.theirs(debugger.view.id_on(0))
            return f"{id.pid} {id.tid}\n"
        case ["weft-thread", pid, tid]:
            session.select(session.numbering.ours(Id(int(pid), int(tid))))
            return ""
        case ["weft-goal", _]:
            session.jumps = True
        case ["weft-program", *_]:
            path = text.strip().partition(" ")[2]
            debugger.program = Path(path) if path else None
            return ""
        case ["weft-locks" | "weft-queues" | "weft-timers" | "weft-object", *_] as words:
            return _picture(session, words)
    return debugger.stub.monitor(text)


def _picture(session: "Session", words: list[str]) -> str:
    """Of modules that are loaded only when they are asked for."""
    guest = session.debugger.guest
    try:
        match words:
            case ["weft-locks"]:
                text: str = importlib.import_module(".picture", __package__).picture(guest)
            case ["weft-locks", pid]:
                text = importlib.import_module(".picture", __package__).picture(guest, int(pid))
            case ["weft-queues"]:
                text = importlib.import_module(".queues", __package__).queues(guest)
            case ["weft-timers"]:
                text = importlib.import_module(".timers", __package__).timers(guest)
            case ["weft-object", kind, address]:
                text = importlib.import_module(".objects", __package__).show(guest, kind, int(address, 0), None)
            case ["weft-object", kind, address, pid]:
                text = importlib.import_module(".objects", __package__).show(guest, kind, int(address, 0), int(pid))
            case _:
                return f"{words[0]}: wrong number of words\n"
    except (ValueError, LayoutError, MemoryFault, HostError, ImportError) as error:
        return f"{words[0]}: {error}\n"
    return text
