"""weft crash: what is left of a guest that has failed."""

import shlex
import sys
from pathlib import Path

from weft_debug.crash import CrashError, CrashFile
from weft_debug.crashstub import CrashStub
from weft_debug.debugger import Served
from weft_debug.layout import LayoutError
from weft_debug.picture import picture
from weft_debug.server import Server, serving

from .debugged import add_gdb_options, run_gdb
from .machine import HostError
from .workdir import WorkDirectory


def add_options(parser):
    parser.usage = "weft crash FILE [OPTION]..."
    parser.add_argument("file", metavar="FILE", help="what --keep has left")
    parser.add_argument("--gdb", action="store_true", help="opens GDB on it, without motion")
    add_gdb_options(parser)
    parser.add_argument("--pid", type=int, metavar="PID", help="shows this process alone")


def crash(args):
    """The exit status."""
    try:
        opened = CrashFile(Path(args.file))
    except CrashError as error:
        raise HostError(str(error)) from error
    try:
        with WorkDirectory() as work:
            if args.gdb or args.ex or args.batch_commands:
                return _debug(args, opened, Path(work))
            return _show(opened, Path(work), args.pid)
    except (CrashError, LayoutError) as error:
        raise HostError(str(error)) from error
    finally:
        opened.close()


def _debug(args, opened, work):
    guest = opened.guest(work)
    served = Served(CrashStub(opened).connect, guest.layout.elf, guest.programs)
    with serving(Server(served), path=work / "server"):
        return run_gdb(args, guest.layout.elf, work / "server")


def _show(opened, work, pid):
    guest = opened.guest(work)
    ended = opened.ended
    for path in opened.rebuilt:
        print(f"weft: {path} is not as it was; the crash file has what ran", file=sys.stderr)
    try:
        said = picture(guest, pid)
    except ValueError as error:
        raise HostError(str(error)) from error
    if pid is None:
        print(f"{shlex.join(ended.command)}: {ended.error}, status {ended.status}")
        if ended.report:
            print(ended.report.rstrip("\n"))
        print()
    sys.stdout.write(said)
    return 0
