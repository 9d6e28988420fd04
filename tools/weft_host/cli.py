"""The command line: one subcommand a job."""

import argparse
import fcntl
import os
import signal
import subprocess
import sys

from . import bench, ccmd, check, crashcmd, doctor, gdbcmd, project, report, results, runcmd, site, torture, venv
from .machine import HostError, UsageError

STATUS_USAGE = 2
STATUS_HOST = 69

EXIT_STATUSES = """\
exit status of run: the program's; 128 + N if signal N killed it; 127 no such program;
124 time-out; 70 kernel panic or reset; 69 the host could not do it; 2 wrong usage"""


class _Version(argparse.Action):
    """Asks git only when it is wanted."""

    def __call__(self, parser, *_):
        print(f"weft {project.version()} ({results.revision()})")
        parser.exit()


def _parser():
    parser = argparse.ArgumentParser(
        prog="weft", description="A laboratory for thread models: the host command.")
    parser.add_argument("--version", action=_Version, nargs=0,
                        help="tells the version and the revision of the sources, and ends")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, handler, text, **more):
        sub = commands.add_parser(name, help=text, description=text, **more)
        sub.set_defaults(handler=handler)
        return sub

    runcmd.add_run_options(add(
        "run", runcmd.run, "boots a guest: a shell, or one command",
        usage="weft run [OPTION]... [-- CMD ARG...]", epilog=EXIT_STATUSES))
    add("cc", None, "compiles a C program against libthread and the C library")
    gdbcmd.add_options(add(
        "gdb", gdbcmd.gdb, "boots a guest stopped before its first instruction, under GDB"))
    crashcmd.add_options(add(
        "crash", crashcmd.crash, "shows the memory that --keep has left of a guest that failed"))
    bench.add_options(add("bench", bench.main, "runs experiments and prints their tables"))
    report.add_options(add(
        "report", report.main, "writes the papers' tables and figures beside weft's, as web pages"))
    site.add_options(add("site", site.main, "makes web pages of the documents"))
    add("setup", setup, "adds a group of Python packages that only some commands need").add_argument(
        "names", nargs="+", choices=venv.GROUPS, metavar="GROUP", help=", ".join(venv.GROUPS))
    doctor.add_options(add(
        "doctor", doctor.doctor, "says whether weft works on this host, and what to do if not"))
    torture.add_options(add(
        "torture", torture.torture, "seeded stress of the threads library"))
    add("check-format", check.check_format,
        "says what clang-format, ruff, mypy and the check of the English find wrong")
    add("format", check.format_all, "formats the C sources, and mends Python where ruff does that safely")
    add("pytest", None, "runs the tests; options are pytest's")
    return parser


def setup(args):
    """weft setup GROUP..."""
    for name in args.names:
        venv.add(name)
    return 0


# These take options of another program, which argparse need not understand.
PASS_ON = {"cc": ccmd.cc, "pytest": check.run_pytest}


def _leave_on_signal(number, _frame):
    # An exception, so that guests are ended and terminals restored on the way out.
    sys.exit(128 + number)


def _is_writable(descriptor):
    """A shell script between the caller and Python may have put itself on a descriptor that was closed."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def _open_standard_streams():
    """A descriptor that the caller has closed would be given to the next file that is opened, and what
    is printed would go into that.  Raises HostError if there is nowhere to print to."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free: 0
    printable = sys.stdout is not None
    if not printable:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stderr is None or not _is_writable(2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)
    if not printable:
        raise HostError("standard output is closed: there is nowhere to print to")


def _print_nowhere():
    """What is left to be printed must not fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _call(argv):
    if argv and argv[0] in PASS_ON:
        return PASS_ON[argv[0]](argv[1:])
    # What follows the first -- is the guest's, whatever it looks like.
    own = argv[:argv.index("--")] if "--" in argv else argv
    args = _parser().parse_args(own)
    args.argv = argv[len(own) + 1:]
    return args.handler(args)


def _call_and_flush(argv):
    try:
        return _call(argv)
    finally:
        sys.stdout.flush()


def main(argv):
    """Returns the exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave_on_signal)
    name = " ".join(["weft", *argv[:1]])
    try:
        _open_standard_streams()
        return _call_and_flush(argv)
    except UsageError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return STATUS_USAGE
    except (HostError, subprocess.SubprocessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return STATUS_HOST
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be said to it.
        _print_nowhere()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.filename is None:  # a write, then: an open would name its file
            _print_nowhere()
            print(f"{name}: cannot write: {error.strerror}", file=sys.stderr)
        else:
            print(f"{name}: {error.filename}: {error.strerror}", file=sys.stderr)
        return STATUS_HOST


def command():
    """The program `weft` of the environment (pyproject.toml)."""
    sys.exit(main(sys.argv[1:]))
