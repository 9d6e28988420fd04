"""weft trace: runs a command as `weft run` does, and writes what happens in the kernel and in the library.

Forms: for the Perfetto viewer (weft_trace/perfetto.py), tables (weft_trace/tables.py), and the raw form, a text of
one record a line (weft_trace/events.py), which `weft stats` reads, and of which the other forms can be made later.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from weft_trace import events
from weft_trace.ctf import CommonTrace
from weft_trace.events import Record
from weft_trace.model import Model
from weft_trace.perfetto import Perfetto
from weft_trace.tables import Tables

from . import traced
from .machine import UsageError

DEFAULT = "weft.pftrace"


def add_options(parser):
    traced.add_options(parser)
    parser.add_argument("-o", dest="output", metavar="FILE",
                        help=f"a trace for the Perfetto viewer; {DEFAULT} if no other form is asked for")
    parser.add_argument("--raw", metavar="FILE", help="the records as text, one a line, for weft stats")
    parser.add_argument("--csv", metavar="DIR", help="tables, one for each kind of event, in a new directory")
    parser.add_argument("--ctf", metavar="DIR", help="the Common Trace Format, for babeltrace2, in a new directory")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="runs nothing: takes the records that --raw has written to FILE")


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of the old one when it is whole.  Devices and pipes are written at once."""
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
        return
    path = path.resolve()
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: no such directory")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(file.name, 0o666 & ~mask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextlib.contextmanager
def forms(raw: str | None, perfetto: str | None,
          tables: str | None, common: str | None = None) -> Iterator[Callable[[Iterable[Record]], None]]:
    """Opens the files that are asked for, so that a place that cannot be written is found at once; all are written
    in one pass.  Raises UsageError, HostError, OSError."""
    sinks: list[Callable[[Record], object]] = []
    with contextlib.ExitStack() as stack:
        if raw is not None:
            text = stack.enter_context(replaced(Path(raw)))
            sinks.append(lambda record: text.write(f"{record}\n".encode()))
        if perfetto is not None:
            model = Model()
            writer = Perfetto(model, stack.enter_context(replaced(Path(perfetto))))
            stack.callback(writer.finish)
            sinks.append(model.feed)
        if tables is not None:
            sinks.append(stack.enter_context(contextlib.closing(Tables(Path(tables)))).feed)

        if common is not None:
            sinks.append(stack.enter_context(contextlib.closing(CommonTrace(Path(common)))).feed)

        def write(records: Iterable[Record]) -> None:
            for record in records:
                for sink in sinks:
                    sink(record)

        yield write


def trace(args):
    """weft trace: the exit status is the program's."""
    if args.output is None and args.raw is None and args.csv is None and args.ctf is None:
        args.output = DEFAULT
    if args.source is not None and args.argv:
        raise UsageError("--from runs no command")
    with forms(args.raw, args.output, args.csv, args.ctf) as write:
        if args.source is None:
            return traced.run(args, write).status
        write(events.read(args.source))
    return 0
