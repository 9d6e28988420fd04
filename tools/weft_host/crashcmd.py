"""weft crash: what is left of a guest that has failed."""

import shlex
import sys
from pathlib import Path

from weft_debug.crash import CrashError, CrashFile
from weft_debug.layout import LayoutError
from weft_debug.picture import picture

from .machine import HostError
from .workdir import WorkDirectory


def add_options(parser):
    parser.usage = "weft crash FILE"
    parser.add_argument("file", metavar="FILE", help="what --keep has left")
    parser.add_argument("--pid", type=int, metavar="PID", help="shows this process alone")


def crash(args):
    """The exit status."""
    try:
        opened = CrashFile(Path(args.file))
    except CrashError as error:
        raise HostError(str(error)) from error
    try:
        with WorkDirectory() as work:
            return _show(opened, Path(work), args.pid)
    except (CrashError, LayoutError) as error:
        raise HostError(str(error)) from error
    finally:
        opened.close()


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
