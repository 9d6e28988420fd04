"""weft run, and the options that it shares with weft gdb."""

import os
import shlex
import shutil
import signal
import sys
import termios
import time
import tty
from pathlib import Path

from . import build, cores, debugged, mark, outfiles, seeds
from .counts import counted
from .guest import STATUS_HOST, STATUS_PANIC, STATUS_TIMEOUT, Guest, Leave
from .machine import ENGINES, Machine, UsageError


def add_machine_options(parser):
    parser.add_argument("--smp", type=int, default=1, metavar="N", help="CPUs, 1 to 64")
    parser.add_argument("--mem", metavar="SIZE", help="memory, as 512M, the default, or 1G")
    parser.add_argument("--free", metavar="SIZE",
                        help="in place of --mem: so much memory is free when the program starts, "
                             "whatever the kernel and the RAM disk take")
    parser.add_argument("--model", metavar="M",
                        help="how threads map to LWPs: lwp, mxn, n1, sa (sets LIBTHREAD)")
    parser.add_argument("--options", metavar="O",
                        help="mechanisms of the threads library (sets LIBTHREAD_OPTIONS)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable of the program's environment; may be repeated")
    parser.add_argument("--file", action="append", default=[], metavar="HOST[:GUEST]",
                        help="puts a file into the guest, as /host/NAME or GUEST; "
                             "may be repeated")
    parser.add_argument("--timing", choices=("fast", "exact"),
                        help="kind of time: fast, the default, is the host's; exact counts "
                             "instructions")
    parser.add_argument("--seed", type=int, metavar="S",
                        help="exact timing: one interleaving out of many")
    parser.add_argument("--quantum", type=int, metavar="Q",
                        help="exact timing: instructions of a round, 1000 by default: how late "
                             "CPUs see each other's stores")
    parser.add_argument("--engine", choices=ENGINES, default=ENGINES[0],
                        help="exact timing: one, the default, runs all CPUs in turn on one processor "
                             "of QEMU; processors runs each on its own, prints the same, and takes "
                             "longer")
    parser.add_argument("--mips", type=int, metavar="M",
                        help="exact timing: speed of a CPU, million instructions a second, 1000 "
                             "by default")
    parser.add_argument("--until", type=int, metavar="MS",
                        help="exact timing: as --timeout, after so many virtual milliseconds since the boot, which "
                             "are the same on every host")
    parser.add_argument("--accel", choices=("tcg", "kvm"), default="tcg",
                        help="what executes the guest's instructions")
    parser.add_argument("--boot", choices=("kernel", "iso"), default="kernel",
                        help="by QEMU itself, or by GRUB from a CD")
    parser.add_argument("--timeout", type=float, metavar="S",
                        help="ends the guest after S seconds, with status 124, and tells what ran "
                             "and what waited")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="more words for the kernel's command line")
    parser.add_argument("--verbose", action="store_true", help="let the kernel tell of its boot")
    parser.add_argument("--debug", action="store_true", help="the build with DEBUG=1")
    parser.add_argument("--build", metavar="DIR", help="another kernel and its programs: the build that weft lab "
                                                       "test leaves in a student's folder")
    parser.add_argument("--no-build", action="store_true", help="do not call make first")


def add_options(parser):
    """Of run alone."""
    add_machine_options(parser)
    add_keep(parser)
    parser.add_argument("--gdb-port", nargs="?", type=int, const=debugged.PORT, metavar="PORT",
                        help=f"`weft gdb --attach PORT` opens GDB on the guest, {debugged.PORT} by default")
    parser.add_argument("--gdb-wait", action="store_true",
                        help="with --gdb-port: the guest waits for GDB, before the first instruction of CMD")
    parser.add_argument("--seeds", metavar="A..B",
                        help="exact timing: runs each of these seeds, side by side, up to the first "
                             "that fails, and says how to repeat it")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="with --seeds: runs side by side; the host's CPUs by default")
    parser.add_argument("--out", action="append", default=[], metavar="GUEST[:HOST]",
                        help="takes a file or directory out of the guest when CMD has ended, to HOST or "
                             "into the current directory; may be repeated")


def add_keep(parser, folder=None):
    parser.add_argument("--keep", metavar="DIR", default=folder,
                        help="after a panic, a standstill or a time limit, leaves the guest's memory as a file in "
                             "DIR, for weft crash" + (f"; {folder} by default" if folder else ""))


def words_of(machine):
    """The options of the host command that describe a machine of machine_from(), without its seed."""
    plain = Machine()
    words = []
    for name in ("smp", "mem", "free", "model", "options", "timing", "quantum", "engine", "mips", "until", "accel",
                 "boot", "timeout", "append"):
        value = getattr(machine, name)
        if value != getattr(plain, name):
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    for name, value in machine.env.items():
        words += ["--env", f"{name}={value}"]
    for item in machine.files:
        words += ["--file", item]
    return words + [f"--{name}" for name in ("debug", "verbose") if getattr(machine, name)]


def seeded_words_of(machine):
    """The same, with its seed."""
    return [*words_of(machine), *([] if machine.seed is None else ["--seed", str(machine.seed)])]


def machine_from(args):
    """The Machine that the options describe.  Raises UsageError."""
    env = {}
    for item in args.env:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"--env: {item!r} is not NAME=VALUE")
        env[name] = value
    if args.mem is not None and args.free is not None:
        raise UsageError("--mem and --free: one of them says how much memory there is")
    if args.build is not None:
        if args.debug:
            raise UsageError("--build and --debug: one of them says which build")
        args.no_build = True
    machine = Machine(build=None if args.build is None else Path(args.build), argv=args.argv, smp=args.smp,
                      mem=Machine.mem if args.mem is None else args.mem,
                      free=args.free, model=args.model, options=args.options, env=env,
                      files=args.file, timing=args.timing or "fast", seed=args.seed,
                      quantum=args.quantum, engine=args.engine, mips=args.mips, until=args.until,
                      accel=args.accel, boot=args.boot, timeout=args.timeout, debug=args.debug,
                      append=args.append, verbose=args.verbose)
    machine.check()
    return machine


class RawTerminal:
    """Standard input's terminal, without line editing and signals of its own, for a while."""

    def __enter__(self):
        self._fd = sys.stdin.fileno()
        self._saved = termios.tcgetattr(self._fd)
        tty.setraw(self._fd)

    def __exit__(self, *exc):
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._saved)


def print_bytes(text):
    """On standard output, at once."""
    while text:
        text = text[os.write(sys.stdout.fileno(), text):]


class WindowSize:
    """Tells a guest when the window of its terminal has another size, for a while."""

    def __init__(self, guest):
        self._guest = guest

    def __enter__(self):
        self._reader, writer = os.pipe()
        self._pipe = os.fdopen(self._reader, "rb", 0), os.fdopen(writer, "wb", 0)
        os.set_blocking(writer, False)
        os.set_blocking(self._reader, False)
        # The handler's own work is to be there: what wakes the relay is the byte in the pipe.
        self._handler = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._guest.watched[self._reader] = self._tell

    def _tell(self):
        os.read(self._reader, 4096)
        size = os.get_terminal_size(sys.stdin.fileno())
        if size.columns and size.lines:  # some terminals do not know
            self._guest.resize(size.columns, size.lines)

    def __exit__(self, *exc):
        del self._guest.watched[self._reader]
        signal.set_wakeup_fd(self._wakeup)
        signal.signal(signal.SIGWINCH, self._handler)
        for end in self._pipe:
            end.close()


def _interactive(machine, wanted, port):
    size = shutil.get_terminal_size()
    machine.env = {"TERM": os.environ.get("TERM", "vt100"), "COLUMNS": str(size.columns),
                   "LINES": str(size.lines), **machine.env}
    print("weft: leave with Ctrl-A x", file=sys.stderr)
    with Guest(machine, terminal=True) as guest, debugged.on_port(guest, port), RawTerminal(), WindowSize(guest):
        try:
            result = guest.relay(print_bytes, sys.stdin.fileno())
        except Leave:
            result = None
        return result, outfiles.fetch(guest, wanted)


STAT_SECONDS = 0.1  # long enough for ten ticks of each core


def _core_times(path="/proc/stat"):
    """{core: (idle ticks, all ticks)} of the cores that this process may use."""
    times = {}
    with open(path) as stat:
        for line in stat:
            name, *ticks = line.split()
            if name[:3] == "cpu" and name[3:].isdigit():
                ticks = [int(tick) for tick in ticks[:8]]
                times[int(name[3:])] = ticks[3] + ticks[4], sum(ticks)
    return {core: times[core] for core in cores.usable() if core in times}


def idle_cores():
    """How many cores' time was idle just now, to the nearest whole one; not on Linux: all are."""
    if sys.platform != "linux":
        return len(cores.usable())
    before = _core_times()
    time.sleep(STAT_SECONDS)
    after = _core_times()
    idle = sum((after[core][0] - before[core][0]) / max(1, after[core][1] - before[core][1])
               for core in before.keys() & after.keys())
    return round(idle)


def note_of_times(machine):
    """A line for a person, where the host's times may be taken for the guest's, or None."""
    if machine.smp <= (idle := idle_cores()):
        return None
    return (f"weft: {counted(machine.smp, 'CPU')} on {counted(idle, 'idle core')}: times are the host's. "
            "--timing exact gives exact ones, --timing fast these without this line")


def _check_seeds(args):
    """Raises UsageError.  --seeds means exact timing."""
    if args.seeds is None:
        if args.jobs is not None:
            raise UsageError("--jobs has no meaning without --seeds")
        return
    seeds.parse(args.seeds)
    if args.out:
        raise UsageError("--out is for one run: repeat the seed that failed with --seed and --out")
    if args.seed is not None or args.timing == "fast":
        raise UsageError(f"--seeds cannot be together with "
                         f"{'--timing fast' if args.seed is None else '--seed'}")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs: a number above 0")
    args.timing = "exact"


def _check_debugger(args, machine):
    """Raises UsageError."""
    if args.gdb_port is None:
        if args.gdb_wait:
            raise UsageError("--gdb-wait has no meaning without --gdb-port")
        return
    if args.seeds is not None:
        raise UsageError("--gdb-port is for one run: repeat the seed that failed with --seed and --gdb-port")
    machine.debugger = "wait" if args.gdb_wait else "may"


def run(args):
    """weft run: the exit status."""
    _check_seeds(args)
    machine = machine_from(args)
    if not args.no_build:
        build.make(debug=machine.debug)
    mark.warn(machine)
    if machine.timing == "exact" and sys.stdin and not sys.stdin.isatty():
        machine.stdin = sys.stdin.buffer.read()
    machine.keep = None if args.keep is None else Path(args.keep)
    _check_debugger(args, machine)
    wanted = [outfiles.Wanted.parse(item) for item in args.out]
    machine.wanted = [one.guest for one in wanted]
    if args.seeds is not None:
        result = seeds.run(machine, args.seeds, args.jobs or len(cores.usable()), words_of(machine), _tell)
        return 0 if result is None else result.status
    # Named, it is chosen; and nobody compares what comes on a terminal.
    if args.timing is None and sys.stderr.isatty() and (note := note_of_times(machine)):
        print(note, file=sys.stderr)
    if machine.timing == "exact":
        with Guest(machine) as guest, debugged.on_port(guest, args.gdb_port):
            result = guest.relay(print_bytes)
            trouble = outfiles.fetch(guest, wanted)
    elif sys.stdin and sys.stdin.isatty() and sys.stdout.isatty():
        result, trouble = _interactive(machine, wanted, args.gdb_port)
        if result is None:
            print(file=sys.stderr)
            return _tell_trouble(trouble, 0)
    else:
        with Guest(machine) as guest, debugged.on_port(guest, args.gdb_port):
            result = guest.relay(print_bytes, sys.stdin.fileno() if sys.stdin else None)
            trouble = outfiles.fetch(guest, wanted)
    tell_error(result)
    return _tell_trouble(trouble, result.status)


def _tell_trouble(trouble, status):
    """What of --out did not come; the exit status."""
    for line in trouble:
        print(f"weft: --out {line}", file=sys.stderr)
    return STATUS_HOST if trouble and status == 0 else status


def tell_error(result):
    """On standard error: the kernel's report, what its memory tells, and why the status is not the program's."""
    sys.stderr.write(result.report)
    if result.error:
        print(f"weft: {result.error}", file=sys.stderr)
    if result.kept is not None:
        print(f"weft: {told_kept(result)}", file=sys.stderr)


def told_kept(result):
    """Where the guest's memory is, and what opens it."""
    return f"its memory is kept: tools/weft crash {shlex.quote(str(result.kept))}"


def _tell(result):
    """What a run gave that did not print it itself."""
    sys.stdout.write(result.output)
    sys.stdout.flush()
    tell_error(result)


__all__ = ["STATUS_PANIC", "STATUS_TIMEOUT", "add_machine_options", "add_options",
           "machine_from", "print_bytes", "run", "tell_error"]
