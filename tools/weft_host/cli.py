"""The command line: one subcommand a job.

A call imports the module of its own command alone: all of them take Python longer than a guest takes to boot.
"""

import argparse
import fcntl
import importlib
import os
import signal
import subprocess
import sys

from .machine import HostError, UsageError

STATUS_USAGE = 2
STATUS_HOST = 69

EXIT_STATUSES = """\
exit status of run: the program's; 128 + N if signal N killed it; 127 no such program;
124 time-out; 70 kernel panic or reset; 69 the host could not do it; 2 wrong usage"""


class _Version(argparse.Action):
    """Asks git only when it is wanted."""

    def __call__(self, parser, *_):
        from . import project, results

        print(f"weft {project.version()} ({results.revision()})")
        parser.exit()


# (name, its module and function, what it does, what its parser has beside its options).  The module's function
# add_options, if there is one, adds the options.
COMMANDS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("run", "runcmd.run", "boots a guest: a shell, or one command",
     {"usage": "weft run [OPTION]... [-- CMD ARG...]", "epilog": EXIT_STATUSES}),
    ("cc", "ccmd.cc", "compiles a C program against libthread and the C library", {}),
    ("gdb", "gdbcmd.gdb", "boots a guest stopped before its first instruction, under GDB", {}),
    ("trace", "tracecmd.trace", "runs a command, and records what happens in the kernel and in the library",
     {"usage": "weft trace [-o FILE] [--raw FILE] [--csv DIR] [OPTION]... -- CMD [ARG]..."}),
    ("stats", "statscmd.stats", "says from a trace where the time of threads, LWPs and CPUs went",
     {"usage": "weft stats [OPTION]... FILE | -- CMD [ARG]..."}),
    ("monitor", "monitorcmd.monitor", "shows threads, LWPs and CPUs of a running guest on a page",
     {"usage": "weft monitor [OPTION]... -- CMD [ARG]...\n       weft monitor --open FILE"}),
    ("crash", "crashcmd.crash", "shows the memory that --keep has left of a guest that failed", {}),
    ("bench", "bench.main", "runs experiments and prints their tables", {}),
    ("report", "report.main", "writes the papers' tables and figures beside weft's, as web pages", {}),
    ("site", "site.main", "makes web pages of the documents", {}),
    ("setup", "venv.setup", "adds a group of Python packages that only some commands need", {}),
    ("doctor", "doctor.doctor", "says whether weft works on this host, and what to do if not", {}),
    ("lab", "labcmd.lab_command", "coursework: a student's folder of a lab, and its tests", {}),
    ("grade", "gradecmd.grade", "the points of students' solutions of a lab", {}),
    ("torture", "torture.torture", "seeded stress of the threads library", {}),
    ("check-format", "check.check_format",
     "says what clang-format, ruff, mypy and the check of the English find wrong", {}),
    ("format", "check.format_all", "formats the C sources, and mends Python where ruff does that safely", {}),
    ("pytest", "check.run_pytest", "runs the tests; options are pytest's", {}),
)
# These take options of another program, which argparse need not understand.
PASS_ON = ("cc", "pytest")


def _command(name):
    """(The module of a command, the function that does it), or None."""
    for known, place, *_ in COMMANDS:
        if known == name:
            module, _, function = place.partition(".")
            module = importlib.import_module(f".{module}", __package__)
            return module, getattr(module, function)
    return None


def _parser(wanted):
    """Knows the command that is wanted, with its options; all commands, if that is none."""
    parser = argparse.ArgumentParser(
        prog="weft", description="A laboratory for thread models: the host command.")
    parser.add_argument("--version", action=_Version, nargs=0,
                        help="tells the version and the revision of the sources, and ends")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    known = any(name == wanted for name, *_ in COMMANDS)
    for name, _, text, more in COMMANDS:
        if known and name != wanted:  # argparse takes as long for all of them as for the options of `run`
            continue
        command = commands.add_parser(name, help=text, description=text, **more)
        if name == wanted:
            module, function = _command(name)
            command.set_defaults(handler=function)
            if hasattr(module, "add_options"):
                module.add_options(command)
    return parser


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
        return _command(argv[0])[1](argv[1:])
    # What follows the first -- is the guest's, whatever it looks like.
    own = argv[:argv.index("--")] if "--" in argv else argv
    args = _parser(own[0] if own else None).parse_args(own)
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
