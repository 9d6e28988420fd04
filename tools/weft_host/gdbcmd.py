"""weft gdb: a guest that is stopped before its first instruction, and GDB on it.

GDB has the kernel's symbols, those of the program that the guest is to run, and the commands
of tools/gdb.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

from . import build, mark
from .cores import Place
from .machine import HostError
from .paths import TOP
from .runcmd import add_machine_options, machine_from
from .workdir import WorkDirectory

HELPERS = TOP / "tools/gdb/weft.py"
CONNECT_SECONDS = 30


def add_options(parser):
    parser.usage = "weft gdb [OPTION]... [-- CMD ARG...]"
    add_machine_options(parser)
    parser.add_argument("--ex", action="append", default=[], metavar="COMMAND",
                        help="a command for GDB to start with; may be repeated")
    parser.add_argument("--batch-commands", metavar="FILE",
                        help="GDB obeys FILE and ends, instead of asking for commands")


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


def _gdb_command(args, machine, socket):
    command = [find_gdb(), "-q", *(["-nx", "-batch"] if args.batch_commands else []),
               str(machine.build / "weft.elf"),
               "-ex", f"source {HELPERS}", "-ex", f"target remote {socket}"]
    program = machine.host_program()
    if program is not None:
        command += ["-ex", f"weft-program {program}"]
    for words in args.ex:
        command += ["-ex", words]
    if args.batch_commands:
        command += ["-x", args.batch_commands]
    return command


def gdb(args):
    """GDB's exit status."""
    machine = machine_from(args)
    if not args.no_build:
        build.make(debug=machine.debug)
    mark.warn(machine)
    with WorkDirectory() as work:
        socket = f"{work}/gdb"
        # With a command, its output comes to our terminal, and GDB has the keyboard.  A shell
        # needs a keyboard of its own: QEMU makes a pseudo-terminal and says which.
        console = "stdio,signal=off" if machine.argv else "pty"
        command = machine.qemu(work, not machine.argv, console)
        command += ["-S", "-gdb", f"unix:{socket},server=on,wait=off"]
        place = Place() if machine.timing == "exact" else None
        qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                preexec_fn=place and place.settle)
        try:
            _await_socket(socket, qemu)
            if not machine.argv:
                print("weft: the shell's console is the pseudo-terminal named above "
                      "(for example: screen /dev/pts/N)", file=sys.stderr)
            # Ctrl-C stops the guest: it is GDB's.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return subprocess.run(_gdb_command(args, machine, socket), preexec_fn=_take_ctrl_c
                                  ).returncode
        finally:
            qemu.kill()
            qemu.wait()
            if place is not None:
                place.leave()


def _take_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
