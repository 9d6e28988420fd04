"""GDB's side of the host command: which GDB, how it is started, and guests that are served to it.

The debugger is imported where it is used: its modules take Python longer than a guest takes to boot, and most
runs have none.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .machine import COUNTER, HostError
from .packets import Packets, connect
from .paths import BUILD, TOP

PROVED = BUILD / "gdb"
HELPERS = TOP / "tools/gdb/weft.py"
STUB = "stub"  # QEMU's socket for GDB, in the directory for temporary files
CONNECT_SECONDS = 30
PORT = 1234  # QEMU's for GDB


def add_gdb_options(parser):
    """How GDB is to run."""
    parser.add_argument("--ex", action="append", default=[], metavar="COMMAND",
                        help="a command for GDB to start with; may be repeated")
    parser.add_argument("--batch-commands", metavar="FILE",
                        help="GDB obeys FILE and ends, instead of asking for commands")
    parser.add_argument("--interpreter", metavar="I",
                        help="GDB's, for programs that drive it: mi, mi2, mi3")


def find_gdb(again=False):
    """A GDB that knows x86-64 and has Python.  again: each is asked, also one that has proved it before."""
    for name in ("x86_64-elf-gdb", "gdb-multiarch", "x86_64-linux-gnu-gdb", "gdb"):
        path = shutil.which(name)
        if path and ((_proved(path) and not again) or _proves(path)):
            return name
    raise HostError("there is no GDB with x86-64 and Python (Debian: gdb or gdb-multiarch)")


def _mark(path):
    stat = os.stat(path)
    return f"{path} {stat.st_mtime_ns} {stat.st_size}\n".encode()


def _proved(path):
    """To ask a GDB takes as long as a guest takes to boot.  So the file build/gdb says which has been asked."""
    with contextlib.suppress(OSError):
        return PROVED.read_bytes() == _mark(path)
    return False


def _proves(path):
    probe = [path, "-nx", "-batch", "-ex", "set architecture i386:x86-64", "-ex", "python print('python', 1 + 1)"]
    done = subprocess.run(probe, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or "python 2" not in done.stdout:
        return False
    with contextlib.suppress(OSError):
        PROVED.write_bytes(_mark(path))
    return True


def run_gdb(args, kernel, address, program=None, then=()):
    """GDB on a server at this address.  program: the file whose symbols the kernel's inferior has, too.
    then: more commands for its beginning.  GDB's exit status."""
    command = [find_gdb(), "-q", *(["-nx", "-batch"] if args.batch_commands else []),
               *([f"--interpreter={args.interpreter}"] if args.interpreter else []), str(kernel)]
    # Between commands of its command line and of a file no event loop of GDB runs (weft_gdb/inferiors.py).
    words = ["set $weft_batch = 1",
             # so that GDB takes -exec-interrupt while the machine runs
             *(["set mi-async on"] if args.interpreter else []), f"source {HELPERS}",
             f"target extended-remote {address}"]
    if program is not None:
        words.append(f"weft-program {program}")
    for word in [*words, "weft-main", *then, *args.ex]:
        command += ["-ex", word]
    command += ["-x", args.batch_commands] if args.batch_commands else \
        ["-ex", "set $weft_batch = $weft_not", "-ex", "weft-refresh"]
    # Ctrl-C stops the guest: it is GDB's.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(command, preexec_fn=_take_ctrl_c).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _take_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def await_stub(path, qemu):
    """Blocks until QEMU listens on this socket.  Raises HostError."""
    deadline = time.monotonic() + CONNECT_SECONDS
    while not os.path.exists(path):
        if qemu.poll() is not None:
            raise HostError(f"QEMU ended with status {qemu.returncode}")
        if time.monotonic() > deadline:
            raise HostError("QEMU does not open its GDB socket")
        time.sleep(0.02)


def programs_of(machine):
    """Where the programs' files are that the processes of this machine run."""
    from weft_debug.programs import Programs

    return Programs.of_build(machine.build, {guest: path for path, guest in machine.guest_files()})


def served_of(machine, stub, kill=lambda: None):
    """A machine with QEMU's stub, or that of a recorded run, at this path."""
    from weft_debug.debugger import Served

    return Served(lambda: Packets(connect(stub), False), machine.build / "weft.elf", programs_of(machine),
                  machine.timing == "exact", machine.host_program(), kill,
                  Path(stub).with_name(COUNTER) if machine.is_counted() else None)


@contextlib.contextmanager
def on_port(guest, port):
    """Serves a guest that `weft run` runs at a port of localhost, while this lasts; None: does nothing.  Raises
    HostError."""
    if port is None:
        yield
        return
    from weft_debug.server import Server, serving

    stub = Path(guest.work) / STUB
    await_stub(stub, guest.qemu)
    machine = guest.machine
    try:
        server = Server(served_of(machine, stub, guest.qemu.kill))
        guest.held = lambda: server.busy
        with serving(server, port=port,
                     begin=machine.debugger == "wait" and bool(machine.argv)):
            print(f"weft: weft gdb --attach {port} opens GDB on this guest\r", file=sys.stderr, flush=True)
            yield
    except OSError as error:
        raise HostError(f"--gdb-port {port}: {error.strerror or error}") from error
