"""weft gdb: a guest that is stopped before its first instruction, and GDB on it.

GDB has the kernel's symbols, those of the program that the guest is to run, and the commands
of tools/gdb.

With --reverse GDB has a run that has already ended, recorded, and goes through it in both directions
(recording.py, reverse.py).
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from weft_debug.debugger import Served
from weft_debug.programs import Programs
from weft_debug.server import Server, serving

from . import build, mark, recording, reverse
from .cores import Place
from .guest import STATUS_HOST
from .machine import HostError, UsageError
from .packets import Packets, connect
from .paths import TOP
from .runcmd import add_machine_options, machine_from, print_bytes, tell_error
from .workdir import WorkDirectory

HELPERS = TOP / "tools/gdb/weft.py"
CONNECT_SECONDS = 30
JOIN_SECONDS = 5


def add_options(parser):
    parser.usage = "weft gdb [OPTION]... [-- CMD ARG...]"
    add_machine_options(parser)
    parser.add_argument("--ex", action="append", default=[], metavar="COMMAND",
                        help="a command for GDB to start with; may be repeated")
    parser.add_argument("--batch-commands", metavar="FILE",
                        help="GDB obeys FILE and ends, instead of asking for commands")
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


def find_gdb():
    """A GDB that knows x86-64 and has Python."""
    for name in ("x86_64-elf-gdb", "gdb-multiarch", "x86_64-linux-gnu-gdb", "gdb"):
        if shutil.which(name):
            probe = [name, "-nx", "-batch", "-ex", "set architecture i386:x86-64",
                     "-ex", "python print('python', 1 + 1)"]
            done = subprocess.run(probe, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode == 0 and "python 2" in done.stdout:
                return name
    raise HostError("there is no GDB with x86-64 and Python (Debian: gdb or gdb-multiarch)")


def _await_socket(path, qemu):
    deadline = time.monotonic() + CONNECT_SECONDS
    while not os.path.exists(path):
        if qemu.poll() is not None:
            raise HostError(f"QEMU ended with status {qemu.returncode}")
        if time.monotonic() > deadline:
            raise HostError("QEMU does not open its GDB socket")
        time.sleep(0.02)


def _run_gdb(args, machine, address):
    """GDB's exit status."""
    command = [find_gdb(), "-q", *(["-nx", "-batch"] if args.batch_commands else []),
               str(machine.build / "weft.elf")]
    words = [*(["set $weft_batch = 1"] if args.batch_commands else []), f"source {HELPERS}", f"target extended-remote {address}"]
    program = machine.host_program()
    if program is not None:
        words.append(f"weft-program {program}")
    words.append("weft-main")
    if args.at not in (None, "start", "end", "boot"):
        words.append(f"weft-goto {args.at}")
    for word in [*words, *args.ex]:
        command += ["-ex", word]
    if args.batch_commands:
        command += ["-x", args.batch_commands]
    # Ctrl-C stops the guest: it is GDB's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.run(command, preexec_fn=_take_ctrl_c).returncode


def gdb(args):
    """GDB's exit status."""
    if args.reverse and args.timing is None:
        args.timing = "exact"
    machine = machine_from(args)
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
        command = replace(machine, stepped=True).qemu(work, not machine.argv, console)
        command += ["-S", "-gdb", f"unix:{stub},server=on,wait=off"]
        place = Place() if machine.timing == "exact" else None
        qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                preexec_fn=place and place.settle)
        try:
            _await_socket(stub, qemu)
            if not machine.argv:
                print("weft: the shell's console is the pseudo-terminal named above "
                      "(for example: screen /dev/pts/N)", file=sys.stderr)
            served = Served(lambda: Packets(connect(stub), False), machine.build / "weft.elf",
                            programs_of(machine), machine.timing == "exact", machine.host_program(), qemu.kill)
            with serving(server := Server(served), path=f"{work}/server",
                         begin=bool(machine.argv) and args.at != "boot"):
                status = _run_gdb(args, machine, f"{work}/server")
            return status if server.failure is None else STATUS_HOST
        finally:
            qemu.kill()
            qemu.wait()
            if place is not None:
                place.leave()


def programs_of(machine):
    """Where the programs' files are that the processes of this machine run."""
    return Programs.of_build(machine.build, {guest: path for path, guest in machine.guest_files()})


def _gdb_reverse(args, machine):
    find_gdb()  # else there is no need to record
    with WorkDirectory() as work:
        recorded = recording.record(machine, Path(work), print_bytes)
        tell_error(recorded.result)
        with recording.Replay(recorded, at_start=args.at == "start") as replay, \
                _serving(replay, f"{work}/gdb") as server:
            print(f"weft: recorded {replay.end} instructions, to status {recorded.result.status}",
                  file=sys.stderr)
            served = Served(lambda: Packets(connect(f"{work}/gdb"), False), machine.build / "weft.elf",
                            programs_of(machine), True, machine.host_program())
            with serving(proxy := Server(served), path=f"{work}/server"):
                status = _run_gdb(args, machine, f"{work}/server")
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


def _take_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
