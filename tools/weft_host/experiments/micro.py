"""What operations of the kernel and of libthread cost, in instructions.

The program micro measures; its source says what each figure is.  Exact timing at 1,000 million
instructions a second makes nanoseconds instructions, so that a figure is the same on every host,
and changes only when the code does (or the compiler).

The figures of the last commit are in the repository (BASELINE); a test fails if one has grown by
more than TOLERANCE (of several CPUs: TOLERANCE_SEVERAL).  Growth on purpose is stored with
weft bench micro --update-baseline.
"""

import csv
import re
import subprocess

from rich.console import Group
from rich.text import Text

from ..machine import HostError, UsageError
from ..paths import TOP
from .pingpong import grid

BASELINE = TOP / "tests/baseline/micro.csv"
TOLERANCE = 0.02
TOLERANCE_SEVERAL = 0.04  # of several CPUs, whose spinning has phases
COLUMNS = ("figure", "cpus", "model", "instructions")

MODELS = ("lwp", "mxn", "sa")
CPU_COUNTS = (1, 2, 4, 8)
QUANTUM = 200  # CPUs see each other's stores up to so many instructions late
# With rounds that are all of one length an operation of several CPUs takes a whole number of
# them, and a change of a few instructions shows as a step of a round, or not at all.  So their
# lengths are drawn, and the mean over many turns follows.
SEED = 1

# On one CPU: what lwp, and what mxn and sa shall need at most, and what Linux 6.1 with glibc 2.36 needs in the
# same mode on the same QEMU (None: not measured).
TARGETS = {
    "null_syscall": (110, 110, 329),
    "clock_gettime": (40, 40, 74),
    "mutex": (30, 30, 61),
    "rwlock_read": (36, 36, 67),
    "semaphore": (28, 28, 35),
    "getspecific": (10, 10, 21),
    "nanosleep_zero": (310, 330, None),
    "create_join": (6_000, 600, 69_917),
    "yield_pair": (450, 130, 891),
    "semaphore_round_trip": (1_450, 260, 6_754),
    "timed_semaphore_round_trip": (2_700, 950, None),
    "condition_round_trip": (1_750, 520, 12_698),
    "pingpong_iteration": (1_700, 500, 11_150),
}
# What a process may have done before; the program's -p.  The targets are the same.
PRELUDES = ("pair", "fork", "sleep", "idle")


def without_prelude(figure):
    """The name of the figure without what was done before."""
    return re.sub(f"_after_({'|'.join(PRELUDES)})$", "", figure)


def parse(output, cpus):
    """Pairs of figure and instructions; a ValueError quotes a line that is none of this machine."""
    figures = []
    for line in output.splitlines():
        words = line.split()
        if len(words) != 3 or words[1] != str(cpus):
            raise ValueError(f"not a figure of {cpus} CPUs: {line!r}")
        figures.append((words[0], float(words[2])))
    if not figures:
        raise ValueError("micro printed no figure")
    return figures


def run(ctx):
    """One boot for each model and number of CPUs."""
    if ctx.timing != "exact":
        raise UsageError("micro counts instructions: it needs --timing exact")
    measured = {}
    ctx.steps(len(CPU_COUNTS) * len(MODELS))
    for cpus in CPU_COUNTS:
        for model in MODELS:
            ctx.step(f"{model}, {cpus} CPUs")
            result = ctx.guest(["micro"], smp=cpus, model=model, quantum=QUANTUM, seed=SEED)
            if result.status != 0:
                raise HostError(f"micro (model {model}, {cpus} CPUs): status {result.status}\n"
                                f"{result.output}")
            for figure, instructions in parse(result.output, cpus):
                measured[figure, cpus, model] = instructions
    order = list(dict.fromkeys(figure for figure, _, _ in measured))
    return [_row(*key, measured[key])
            for key in sorted(measured, key=lambda key: (order.index(key[0]), key[1]))]


def target_of(operation, model):
    one_to_one, many_to_many, _ = TARGETS[operation]
    return one_to_one if model == "lwp" else many_to_many


def _row(figure, cpus, model, instructions):
    target = linux = None
    operation = without_prelude(figure)
    if cpus == 1 and operation in TARGETS:
        *_, linux = TARGETS[operation]
        target = target_of(operation, model)
    return dict(zip(COLUMNS, (figure, cpus, model, instructions))) | {
        "target": target, "linux": linux}


# --- the baseline --------------------------------------------------------------------------------

def compiler():
    """Its version: it makes the code that is measured."""
    cc = subprocess.run([TOP / "tools/find-cc"], capture_output=True, text=True, check=True, cwd=TOP)
    version = subprocess.run([cc.stdout.strip(), "-dumpfullversion"], capture_output=True, text=True,
                             check=True)
    return f"gcc {version.stdout.strip()}"


def store_baseline(rows):
    """Its first line is a comment: the compiler."""
    BASELINE.parent.mkdir(exist_ok=True)
    with BASELINE.open("w", newline="") as file:
        file.write(f"# {compiler()}\n")
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return BASELINE


def _by_key(rows):
    return {(row["figure"], int(row["cpus"]), row["model"]): float(row["instructions"])
            for row in rows}


def read_rows(path):
    """(compiler or None, {(figure, cpus, model): instructions}) of a baseline or a result."""
    with path.open(newline="") as file:
        lines = file.read().splitlines()
    made_by = lines.pop(0)[2:] if lines[0].startswith("# ") else None
    return made_by, _by_key(csv.DictReader(lines))


def _tolerance(key):
    _, cpus, _ = key
    return TOLERANCE if cpus == 1 else TOLERANCE_SEVERAL


def complaints(measured, baseline):
    """What keeps the figures from being as good as the baseline's: one line each."""
    lines = []
    for key in sorted(measured.keys() | baseline.keys()):
        name = "{}, {} CPUs, {}".format(*key)
        if key not in measured:
            lines.append(f"{name}: is no longer measured")
        elif key not in baseline:
            lines.append(f"{name}: is not in the baseline")
        elif measured[key] > baseline[key] * (1 + _tolerance(key)):
            growth = (measured[key] / baseline[key] - 1) * 100
            lines.append(f"{name}: {measured[key]:g} instructions, {growth:.1f} % more than "
                         f"{baseline[key]:g}")
    return lines


# --- the table -----------------------------------------------------------------------------------

def _number(value):
    """Small figures with a decimal."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def table(rows):
    """A line for each figure and number of CPUs."""
    lines = grid([("operation", "left"), ("CPUs", "right"), ("lwp", "right"), ("target", "right"),
                  ("mxn", "right"), ("sa", "right"), ("target", "right"), ("Linux", "right")],
                 wrap="operation")
    by_key = {(row["figure"], row["cpus"], row["model"]): row for row in rows}
    for figure, cpus in dict.fromkeys((row["figure"], row["cpus"]) for row in rows):
        lwp, mxn, sa = (by_key[figure, cpus, model] for model in MODELS)
        lines.add_row(figure.replace("_", " "), str(cpus),
                      *(_number(row[key]) for row, key in (
                          (lwp, "instructions"), (lwp, "target"), (mxn, "instructions"), (sa, "instructions"),
                          (mxn, "target"), (lwp, "linux"))))
    note = (f"Exact timing: every instruction costs the same, and CPUs see each other's stores up "
            f"to {QUANTUM} instructions late. Loops and calls are included. mutex contended: as "
            "many threads as CPUs, each with 1,000 instructions under the mutex, which count. malloc "
            "contended: what a block costs each of four threads; mt: malloc=mt. tlb "
            "shootdown: mprotect while the process runs on all CPUs. target: what is aimed at; "
            "the second is that of mxn and sa. timed: each wait has a deadline, which the other thread's "
            "wake-up comes before. "
            "after pair: in a process that has made and joined such a pair of threads before. "
            "Linux: 6.1 with glibc 2.36, in the same mode.")
    return Group("", lines, "", Text(note), "")
