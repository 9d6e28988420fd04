"""weft gdb: a guest that is stopped before its first instruction, and GDB on it.

GDB has the kernel's symbols, those of the program that the guest is to run, and the commands
of tools/gdb.

With --reverse GDB has a run that has already ended, recorded, and goes through it in both directions
(recording.py, reverse.py).
"""

import contextlib
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from weft_debug.server import Server, serving

from . import build, mark, recording, reverse
from .cores import Place, batch
from .debugged import PORT, add_gdb_options, await_stub, find_gdb, run_gdb, served_of
from .guest import STATUS_HOST, die_with_parent
from .machine import UsageError
from .runcmd import add_machine_options, machine_from, print_bytes, tell_error
from .workdir import WorkDirectory

JOIN_SECONDS = 5


def add_options(parser):
    parser.usage = "weft gdb [OPTION]... [-- CMD ARG...]"
    add_machine_options(parser)
    add_gdb_options(parser)
    parser.add_argument("--attach", nargs="?", type=int, const=PORT, metavar="PORT",
                        help=f"opens GDB on a guest that `weft run --gdb-port` runs, {PORT} by default")
    parser.add_argument("--reverse", action="store_true",
                        help="records a run of exact timing to its end, or up to --timeout, and opens the "
                             "recording under GDB: reverse-step and its like work; GDB has help on "
                             "weft-when, weft-goto and weft-last-write")
    parser.add_argument("--at", metavar="PLACE",
                        help="where GDB begins: boot, before the first instruction, else at the program's; with "
                             "--reverse end, the default, start, or a virtual time in nanoseconds")


def _check_reverse(args, machine):
    """Raises UsageError."""
    if not args.reverse:
        if args.at not in (None, "boot"):
            raise UsageError(f"--at: boot, or with --reverse another place, not {args.at!r}")
        return
    replace(machine, recording="record").check()
    if args.at not in (None, "start", "end") and not args.at.isdigit():
        raise UsageError(f"--at: start, end or a virtual time in nanoseconds, not {args.at!r}")


def gdb(args):
    """GDB's exit status."""
    if args.reverse and args.timing is None:
        args.timing = "exact"
    machine = machine_from(args)
    if args.attach is not None:
        if args.reverse or args.argv:
            raise UsageError("--attach: the guest runs already; no --reverse and no command")
        return run_gdb(args, machine.build / "weft.elf", f"localhost:{args.attach}")
    _check_reverse(args, machine)
    if not args.no_build:
        build.make(debug=machine.debug)
    mark.warn(machine)
    return _gdb_reverse(args, machine) if args.reverse else _gdb_forward(args, machine)


def _gdb_forward(args, machine):
    with WorkDirectory() as work:
        stub = f"{work}/gdb"
        # With a command, its output comes to our terminal, and GDB has the keyboard.  A shell
        # needs a keyboard of its own: QEMU makes a pseudo-terminal and says which.
        console = "stdio,signal=off" if machine.argv else "pty"
        machine = replace(machine, stepped=True)
        command = machine.qemu(work, not machine.argv, console)
        command += ["-S", "-gdb", f"unix:{stub},server=on,wait=off"]
        place = Place() if machine.timing == "exact" else None

        def in_child():
            die_with_parent()
            if place is not None:
                place.settle()
            elif machine.boot == "kernel":
                batch()

        qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                preexec_fn=in_child,
                                # GDB's answers to a program have standard output for themselves.
                                stdout=sys.stderr if args.interpreter else None)
        try:
            await_stub(stub, qemu)
            if not machine.argv:
                print("weft: the shell's console is the pseudo-terminal named above "
                      "(for example: screen /dev/pts/N)", file=sys.stderr)
            served = served_of(machine, stub, qemu.kill)
            with serving(server := Server(served), path=f"{work}/server",
                         begin=bool(machine.argv) and args.at != "boot"):
                status = run_gdb(args, machine.build / "weft.elf", f"{work}/server", machine.host_program())
            return status if server.failure is None else STATUS_HOST
        finally:
            qemu.kill()
            qemu.wait()
            if place is not None:
                place.leave()


def _gdb_reverse(args, machine):
    find_gdb()  # else there is no need to record
    with WorkDirectory() as work:
        recorded = recording.record(machine, Path(work), print_bytes)
        tell_error(recorded.result)
        with recording.Replay(recorded, at_start=args.at == "start") as replay, \
                _serving(replay, f"{work}/gdb") as server:
            print(f"weft: recorded {replay.end} instructions, to status {recorded.result.status}",
                  file=sys.stderr)
            place = [f"weft-goto {args.at}"] if args.at not in (None, "start", "end") else []
            with serving(proxy := Server(served_of(machine, f"{work}/gdb")), path=f"{work}/server"):
                status = run_gdb(args, machine.build / "weft.elf", f"{work}/server", machine.host_program(), place)
            return status if server.failure is None and proxy.failure is None else STATUS_HOST


@contextlib.contextmanager
def _serving(replay, path):
    """Serves GDB at this path while it lasts."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        server = reverse.Server(replay, listener)
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join(JOIN_SECONDS)

