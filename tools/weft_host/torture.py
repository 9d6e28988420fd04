"""weft torture: seeded stress of the threads library, over its models and options.

Every run boots a guest that plays user/bench/torture from one seed, in a setting (model, options,
CPUs, timing) that the seed chooses too: so a seed, and what was fixed on the command line, tell
all.  In exact timing the same seed is the same run, to the instruction; in fast timing the
interleaving is the host's.
"""

import concurrent.futures
import contextlib
import itertools
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import build, cores, lasttrace
from .counts import counted
from .guest import Guests
from .machine import ENGINES, Machine, UsageError
from .paths import CRASHES
from .runcmd import add_keep, told_kept
from .seeds import repeat

CPU_COUNTS = (1, 2, 4, 8)
MODELS = ("lwp", "mxn", "n1", "sa")
TIMINGS = ("exact", "fast")
ENGINE_CHOICES = ("one", "one", "one", "processors")  # the second takes longer

# Per option, its values; "" stands for not to name it.
EVERY = {"schedctl": ("", "off"), "malloc": ("", "mt"), "queue": ("", "lifo", "fifo")}
SPINNING = {"spin": ("", "always", "never"), "unlock": ("", "adaptive", "plain")}
OPTIONS = {
    "lwp": EVERY | SPINNING | {"sleep": ("", "", "kernel")},
    "mxn": EVERY | SPINNING | {"concurrency": ("", "2", "5"),
                               "waiting": ("", "", "signal", "none"), "aging": ("", "1")},
    "n1": EVERY,
    "sa": EVERY | SPINNING | {"concurrency": ("", "", "2"), "aging": ("", "1"), "idle": ("", "spin"),
                              "slices": ("", "", "off"), "unblocked": ("", "", "stay")},
}
# As OPTIONS.  Each value is of a chance of its own: a seed gives the rest that it gave before there were these.
LATER = {
    "mxn": {"waiting": ("", "", "", "early")},
    "sa": {"idle": ("", "", "leave"), "preempted": ("", "", "stay"), "runqueue": ("", "", "common"),
           "sleepq": ("", "", "common"), "lone": ("", "", "off"), "signals": ("", "", "aslwp")},
}

# Moves of each worker.  An exact run is short, for many seeds find more than long runs; a fast one
# is long, for the host's interleavings come for nothing.
MOVES = {"exact": 40, "fast": 400}
PATIENCE = {"exact": 5, "fast": 100}  # guest's seconds that a player may wait
TIMEOUT = {"exact": 300, "fast": 400}  # host's seconds for a run

CHECK = "torture_failed"  # where the watchdog and a check that fails end

TOLD = 400  # lines of a failing run's output: stacks are among them


@dataclass(frozen=True)
class Setting:
    """What one run is made of."""

    seed: int
    model: str
    options: str
    smp: int
    timing: str
    quantum: int
    workers: int
    engine: str = ENGINES[0]
    debug: bool = False

    def argv(self):
        return ["torture", "-s", str(self.seed), "-t", str(self.workers),
                "-n", str(MOVES[self.timing]), "-w", str(PATIENCE[self.timing])]

    def machine(self):
        exact = ({"seed": self.seed, "quantum": self.quantum, "engine": self.engine}
                 if self.timing == "exact" else {})
        return Machine(argv=self.argv(), smp=self.smp, model=self.model, options=self.options,
                       timing=self.timing, timeout=TIMEOUT[self.timing], debug=self.debug,
                       background=self.timing == "exact", **exact)

    def words(self):
        """Of the host command, before --."""
        words = ["--smp", str(self.smp), "--model", self.model]
        if self.options:
            words += ["--options", self.options]
        if self.debug:
            words += ["--debug"]
        words += ["--timing", self.timing]
        if self.timing == "exact":
            words += ["--seed", str(self.seed), "--quantum", str(self.quantum)]
            if self.engine != ENGINES[0]:
                words += ["--engine", self.engine]
        return words

    def __str__(self):
        return f"seed {self.seed}: {self.timing}, {self.model}, {self.smp} CPUs" + (
            f", {self.options}" if self.options else "") + (
            f", engine {self.engine}" if self.engine != ENGINES[0] else "")

    def repeat(self, result):
        """The lines that repeat it, with this Result: as it was, and under GDB at its failure."""
        return repeat(self.words(), self.machine(), CHECK, reached=result.status == 1)


def setting(seed, model=None, options=None, smp=None, timing=None, engine=None, debug=False):
    """The setting that the seed chooses, except for what is given."""
    chance = random.Random(seed)
    # Chosen all the same, so that what is given does not change the rest.
    chosen = chance.choice(MODELS[:3]), chance.choice(CPU_COUNTS), chance.choice(TIMINGS)
    # A chance of its own gives sa one seed in four. The others give what they gave before there was sa.
    if random.Random(f"model {seed}").randrange(len(MODELS)) == MODELS.index("sa"):
        chosen = "sa", *chosen[1:]
    model, smp, timing = model or chosen[0], smp or chosen[1], timing or chosen[2]
    if options is None:
        values = {name: chance.choice(of) for name, of in OPTIONS[model].items()}
        for name, of in LATER.get(model, {}).items():
            values[name] = random.Random(f"{name} {seed}").choice(of) or values.get(name, "")
        options = ",".join(f"{name}={value}" for name, value in values.items() if value)
    if engine is None:
        # Of a chance of its own: a seed gives the rest that it gave before there was a choice.
        engine = random.Random(f"engine {seed}").choice(ENGINE_CHOICES)
    return Setting(seed, model, options, smp, timing, debug=debug,
                   engine=engine if timing == "exact" else ENGINES[0],
                   quantum=chance.choice((100, 200, 300, 1000)), workers=chance.randint(2, 8))


def failure(result):
    """Why a run's Result is none of a run that ended well; or empty."""
    if result.error:
        return result.error
    if result.status != 0:
        return f"status {result.status}"
    return "" if ", all well" in result.output else "it did not say that all is well"


MOST_KEPT = 10


class Torture:
    """Makes runs side by side, and tells of each as it ends.

    Of those in fast timing one at a time: its CPUs want a host thread each that runs, else one waits
    for the other.  Those in exact timing take what it leaves."""

    def __init__(self, settings, jobs, until=None, keep=None):
        """keep: a directory for the memory of the first runs that fail, MOST_KEPT of them."""
        self._settings = settings
        self._keep = keep
        self._kept = 0
        self._traced = 0
        self._lock = threading.Lock()
        self._fast = threading.Lock()
        self._jobs = jobs
        self._until = until  # time.monotonic(), after which no run begins
        self._guests = Guests()
        self.runs = 0
        self.failed = []

    def _next(self):
        with self._lock:
            if self._guests.stopped or (self._until is not None and time.monotonic() >= self._until):
                return None
            return next(self._settings, None)

    def _work(self):
        while (one := self._next()) is not None:
            with self._fast if one.timing == "fast" else contextlib.nullcontext():
                machine = one.machine()
                machine.keep = self._keep if self._kept < MOST_KEPT else None
                result = self._guests.run(machine)
            why = failure(result)
            traced = self._trace(machine, result) if why and one.timing == "exact" else None
            with self._lock:
                if self._guests.stopped:
                    return
                self.runs += 1
                self._kept += result.kept is not None
                if why:
                    self.failed.append(one)
                print(f"{one}: {why or 'well'} ({result.seconds:.1f} s)", flush=True)
                if why:
                    told = result.output.splitlines()[-TOLD:] + result.report.splitlines()
                    print("\n".join(f"    {line}" for line in told))
                    if result.kept is not None:
                        print(told_kept(result))
                    if traced is not None:
                        print(traced)
                    print(one.repeat(result), flush=True)

    def _trace(self, machine, result):
        """The line that says where the last records of a run that failed are; None for the later ones."""
        with self._lock:
            if self._guests.stopped or self._traced == MOST_KEPT:
                return None
            self._traced += 1
        return lasttrace.keep(self._guests, machine, b"", self._keep, result)

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            try:
                for worker in [pool.submit(self._work) for _ in range(self._jobs)]:
                    worker.result()
            finally:
                # By Ctrl-C, perhaps: the pool waits for its workers, and they for their guests.
                self._guests.stop()

    def summary(self):
        """What is known of all runs that have ended by themselves."""
        if self.failed:
            return (f"{len(self.failed)} of {counted(self.runs, 'run')} failed: seeds "
                    + " ".join(str(one.seed) for one in self.failed))
        return f"{counted(self.runs, 'run')}, all well"


def add_options(parser):
    parser.usage = "weft torture [OPTION]..."
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--runs", type=int, default=24, metavar="N", help="24 by default")
    how_long.add_argument("--minutes", type=float, metavar="M", help="as many as begin in M minutes")
    parser.add_argument("--seed", type=int, default=1, metavar="S",
                        help="of the first run; the others count on from it")
    parser.add_argument("--jobs", type=int, default=len(cores.usable()), metavar="N",
                        help="runs side by side; the host's CPUs by default")
    parser.add_argument("--model", choices=MODELS, help="only this model")
    parser.add_argument("--options", metavar="O", help="these alone, of the threads library")
    parser.add_argument("--smp", type=int, metavar="N", help="CPUs, always so many")
    parser.add_argument("--timing", choices=TIMINGS, help="only this timing")
    parser.add_argument("--engine", choices=ENGINES, help="only this engine of exact timing")
    add_keep(parser, CRASHES)
    parser.add_argument("--debug", action="store_true", help="the build with DEBUG=1")
    parser.add_argument("--no-build", action="store_true", help="do not call make first")


def torture(args):
    """The exit status: 1 if a run failed."""
    if args.runs < 1 or args.jobs < 1 or (args.minutes is not None and not args.minutes > 0):
        raise UsageError("--runs, --minutes, --jobs: numbers above 0")
    if not 0 <= args.seed < 2**32:
        raise UsageError(f"--seed: a number from 0 to {2**32 - 1}, not {args.seed}")
    if args.smp is not None:
        Machine(smp=args.smp).check()
    if not args.no_build:
        build.make(debug=args.debug)
    seeds = (seed % 2**32 for seed in itertools.count(args.seed))
    settings = (setting(seed, args.model, args.options, args.smp, args.timing, args.engine, args.debug)
                for seed in seeds)
    until = None
    if args.minutes is None:
        settings = itertools.islice(settings, args.runs)
    else:
        until = time.monotonic() + 60 * args.minutes
    all_runs = Torture(settings, args.jobs, until, Path(args.keep))
    try:
        all_runs.run()
    except (KeyboardInterrupt, SystemExit):
        print(f"interrupted: {all_runs.summary()}")
        raise
    print(all_runs.summary())
    return 1 if all_runs.failed else 0
