"""weft trace: runs a command as `weft run` does, and writes what happens in the kernel and in the library.

Forms: for the Perfetto viewer (weft_trace/perfetto.py), tables (weft_trace/tables.py), and the raw form, a text of
one record a line (weft_trace/events.py), which `weft stats` reads, and of which the other forms can be made later.
"""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from weft_trace import events
from weft_trace.events import Record
from weft_trace.model import Model
from weft_trace.perfetto import Perfetto
from weft_trace.tables import Tables

from . import traced
from .machine import HostError, UsageError

DEFAULT = "weft.pftrace"


def add_options(parser):
    traced.add_options(parser)
    parser.add_argument("-o", dest="output", metavar="FILE",
                        help=f"a trace for the Perfetto viewer; {DEFAULT} if no other form is asked for")
    parser.add_argument("--raw", metavar="FILE", help="the records as text, one a line, for weft stats")
    parser.add_argument("--csv", metavar="DIR", help="tables, one for each kind of event, in a new directory")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="runs nothing: takes the records that --raw has written to FILE")


def write(records: Iterable[Record], raw: str | None, perfetto: str | None, tables: str | None) -> None:
    """Writes the forms that are asked for, all in one pass.  Raises HostError, OSError."""
    with contextlib.ExitStack() as stack:
        sinks: list[Callable[[Record], object]] = []
        if raw is not None:
            text = stack.enter_context(open(raw, "w"))
            sinks.append(lambda record: text.write(f"{record}\n"))
        if tables is not None:
            sinks.append(stack.enter_context(contextlib.closing(Tables(Path(tables)))).feed)
        if perfetto is not None:
            model = Model()
            writer = Perfetto(model, stack.enter_context(open(perfetto, "wb")))
            stack.callback(writer.finish)
            sinks.append(model.feed)
        for record in records:
            for sink in sinks:
                sink(record)


def trace(args):
    """weft trace: the exit status is the program's."""
    if args.output is None and args.raw is None and args.csv is None:
        args.output = DEFAULT

    def take(records):
        try:
            write(records, args.raw, args.output, args.csv)
        except (KeyError, ValueError) as error:
            raise HostError(f"a record has no or a wrong value: {error}") from error

    if args.source is None:
        return traced.run(args, take).status
    if args.argv:
        raise UsageError("--from runs no command")
    take(events.read(args.source))
    return 0
