"""The ping-pong table: appendix C of "Multithreading in the Solaris Operating Environment".

Each of the paper's eleven runs is made again in weft: its old libthread is our model mxn, its
new one our model lwp; CPU count and arguments are the paper's.

The paper plays 1,000,000 iterations; we play fewer, and the table states the number.  So that
runs of different length compare, the ratio of a run is the time it would take for the paper's
number of iterations, over the same of the baseline.

In exact timing the number is fixed, and one run says it all.  In fast timing a short probe finds
how many this host plays in a second or two; each run is made three times, and the fastest
counts: whatever else the host does can only add to the time.

Three runs come on top.  Tests 2 and 6 were slow because the old library's adaptive mutexes did not
spin, "for some reason"; ours do in every model, so these two are made once more with spin=never.
Test 4 shows what a mutex costs whose queue is the kernel's (_lwp_mutex_lock), beside one that parks
(_lwp_park, test 3).  weft's bound threads park in every model, so test 4 is made once more with sleep=kernel.
"""

import csv
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..machine import HostError

PAPER = Path(__file__).resolve().parents[1] / "papers" / "ping-pong.csv"
MODELS = {"new": "lwp", "old": "mxn"}
DEFAULT_ITERATIONS = 1_000_000  # of pp, when -i is not given
# Made once more: {test: (letter after its name, what is different)}.
AGAIN = {"test2": ("n", {"options": "spin=never"}), "test6": ("n", {"options": "spin=never"}),
         "test4": ("k", {"model": "lwp", "options": "sleep=kernel"})}

RUN_SECONDS = 2.0  # what one game should take
REPEATS = 3
PROBE_ITERATIONS = 2_000
# Exact timing.  pp counts milliseconds: CPUs of 10 million instructions a second make them fine
# enough.  Handing over by spinning takes as long as CPUs need to see each other's stores: QUANTUM
# instructions, some 0.5 us of a CPU of the paper's time (400 MHz).
EXACT = {"quantum": 200, "mips": 10}
EXACT_ITERATIONS = 20_000
EXACT_DEAR_ITERATIONS = 2_000  # where each costs a sleep and a wake-up on many CPUs
EXACT_FIXED_ITERATIONS = 20
EXACT_FIXED_DEAR_ITERATIONS = 10  # test 10 in the quick set


@dataclass(frozen=True)
class Run:
    """One run of the paper: what was run, and what came out."""

    name: str
    model: str
    cpus: int
    arguments: tuple  # of strings, without -i; a misprint is put right
    iterations: int  # of each game
    misprint: bool
    init_ms: int
    completed_ms: int
    real: float  # seconds, as the next two
    user: float
    sys: float
    options: str | None = None  # of libthread

    @property
    def fixed(self):
        """A short game of many threads, where setting them up counts: played as in the paper."""
        return self.iterations < PROBE_ITERATIONS

    @property
    def shared(self):
        return "shared" in self.arguments


@dataclass(frozen=True)
class Measured:
    """What pp -v and ptime print: milliseconds, and seconds of real, user and system time."""

    threads: int
    init_ms: int
    games: int
    completed_ms: int
    real: float
    user: float
    sys: float


def paper_runs():
    """The eleven runs, in the paper's order."""
    runs = []
    with PAPER.open(newline="") as file:
        for row in csv.DictReader(file):
            words = row["arguments"].split()
            misprint = words[:2] == ["-n", "-n"]
            if misprint:
                words[0] = "-v"
            iterations = DEFAULT_ITERATIONS
            if "-i" in words:
                at = words.index("-i")
                iterations = int(words[at + 1])
                del words[at:at + 2]
            runs.append(Run(name=row["run"], model=MODELS[row["library"]], cpus=int(row["cpus"]),
                            arguments=tuple(words), iterations=iterations, misprint=misprint,
                            init_ms=int(row["init_ms"]), completed_ms=int(row["completed_ms"]),
                            real=float(row["real_s"]), user=float(row["user_s"]),
                            sys=float(row["sys_s"])))
    return runs


def all_runs():
    """The paper's, and after those in question their repetition with an option of the library."""
    runs = []
    for run in paper_runs():
        runs.append(run)
        if run.name in AGAIN:
            letter, options = AGAIN[run.name]
            runs.append(replace(run, name=run.name + letter, **options))
    return runs


def seconds(text):
    """Reads ptime's 12.345, 1:02.345 or 1:00:02.345."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + float(part)
    return total


def parse(output):
    """Reads the output of `ptime pp -v`; a ValueError says what is missing, and quotes all of it."""

    def find(pattern):
        match = re.search(pattern, output, re.MULTILINE)
        if match is None:
            raise ValueError(f"no line like {pattern!r} in the output of ptime pp -v:\n{output}")
        return match

    def clock(name):
        return seconds(find(rf"^{name}\s+((?:\d+:)*\d+\.\d+)\s*$")[1])

    setup = find(r"^(\d+) threads initialised in (\d+)ms\s*$")
    games = find(r"^(\d+) games completed in (\d+)ms\s*$")
    return Measured(threads=int(setup[1]), init_ms=int(setup[2]), games=int(games[1]),
                    completed_ms=int(games[2]), real=clock("real"), user=clock("user"),
                    sys=clock("sys"))


def round_down(number):
    """To 1, 2 or 5 times a power of ten: a table of such iteration counts is easy to read."""
    power = 10 ** (len(str(int(number))) - 1)
    return max(step * power for step in (1, 2, 5) if step * power <= number)


def scaled_iterations(run, probe_ms):
    """As many as fit into RUN_SECONDS, but not fewer than the probe's, nor more than the paper's."""
    fit = RUN_SECONDS * 1000 * PROBE_ITERATIONS / max(probe_ms, 1)
    return min(run.iterations, max(PROBE_ITERATIONS, round_down(fit)))


def play(ctx, arguments, iterations, *, cpus, model, options=None, mem="512M"):
    """One boot of `ptime pp`.  In exact timing both engines have to print the same bytes; the quick set
    asks this of the games on two CPUs alone: one CPU is the same for both engines, and a processor for each
    of eight takes the host minutes."""
    command = ["ptime", "pp", *arguments, "-i", str(iterations)]
    exact = EXACT if ctx.timing == "exact" else {}
    result = ctx.guest(command, smp=cpus, model=model, options=options, mem=mem, compare=ctx.full or cpus == 2,
                       **exact)
    if result.status != 0:
        raise HostError(f"{' '.join(command)} (model {model}, {cpus} CPUs): status "
                        f"{result.status}\n{result.output}")
    return parse(result.output)


def measure(ctx, run):
    """(iterations, Measured)"""
    where = {"cpus": run.cpus, "model": run.model, "options": run.options}
    if run.fixed:
        iterations, where["mem"] = run.iterations, "1G"
    if ctx.timing == "exact":
        iterations = (EXACT_FIXED_DEAR_ITERATIONS if run.fixed and run.shared and not ctx.full else
                      EXACT_FIXED_ITERATIONS if run.fixed else
                      EXACT_DEAR_ITERATIONS if run.options == "spin=never" or run.shared else
                      EXACT_ITERATIONS)
        return iterations, play(ctx, run.arguments, iterations, **where)
    if not run.fixed:
        probe = play(ctx, run.arguments, PROBE_ITERATIONS, **where)
        iterations = scaled_iterations(run, probe.completed_ms)
    repeats = [play(ctx, run.arguments, iterations, **where) for _ in range(REPEATS)]
    return iterations, min(repeats, key=lambda measured: measured.completed_ms)


def row_of(run, iterations, measured):
    """One row of the results; the ratios come in when all are there."""
    per_iteration = measured.completed_ms * 1000 / (iterations * measured.games)
    return {"run": run.name, "model": run.model, "cpus": run.cpus,
            "options": run.options or "", "arguments": " ".join(run.arguments),
            "iterations": iterations,
            "threads": measured.threads, "init_ms": measured.init_ms,
            "ms": measured.completed_ms, "us_per_iteration": round(per_iteration, 3),
            "ratio": None,
            "real_s": measured.real, "user_s": measured.user, "sys_s": measured.sys,
            "paper_iterations": run.iterations, "paper_init_ms": run.init_ms,
            "paper_ms": run.completed_ms, "paper_ratio": None,
            "paper_real_s": run.real, "paper_user_s": run.user, "paper_sys_s": run.sys,
            "misprint": run.misprint}


def paper_rows():
    """The paper's figures alone, as run() has them beside weft's."""
    rows = [row_of(one, one.iterations, Measured(0, 0, 1, 0, 0, 0, 0)) for one in all_runs()]
    add_ratios(rows)
    return rows


def add_ratios(rows):
    """The time for the paper's iterations, over that of the first row, the baseline."""

    def full_ms(row):
        return row["ms"] * row["paper_iterations"] / row["iterations"]

    for row in rows:
        row["paper_ratio"] = round(row["paper_ms"] / rows[0]["paper_ms"], 3)
        if rows[0]["ms"]:
            row["ratio"] = round(full_ms(row) / full_ms(rows[0]), 3)


def run(ctx):
    """Measures all runs; for each one row."""
    runs = all_runs()
    rows = []
    ctx.steps(len(runs))
    for one in runs:
        ctx.step(f"{one.name}: {one.model} {one.options or ''}, {one.cpus} CPUs, "
                 f"pp {' '.join(one.arguments)}")
        rows.append(row_of(one, *measure(ctx, one)) | {"timing": ctx.timing})
    add_ratios(rows)
    return rows


def grid(columns, wrap="arguments"):
    """An empty table that is sparing of width; columns: pairs of heading and justification."""
    empty = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for heading, justify in columns:
        empty.add_column(heading, justify=justify, no_wrap=heading != wrap)
    return empty


def _number(value):
    """Three digits or more, and - for what was not measured."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    return format(value, ".2f" if value < 100 else ".1f" if value < 1000 else ".0f")


def _name(row):
    """baseline and test1 become base and 1, with the marks of the footnotes."""
    name = row["run"].removeprefix("test").removesuffix("line")
    return name + ("†" if row["misprint"] else "")


def parts(rows):
    """Two tables that fit into 80 columns: the games, and where the time went; and what the marks at
    their tests mean."""
    games = grid([
        ("test", "left"), ("model", "left"), ("CPUs", "right"), ("arguments", "left"),
        ("iter.", "right"), ("ms", "right"), ("µs/iter.", "right"), ("ratio", "right"),
        ("paper ms", "right"), ("ratio", "right")])
    times = grid([
        ("test", "left"), ("set-up ms", "right"), ("real s", "right"), ("user", "right"),
        ("sys", "right"), ("paper: set-up ms", "right"), ("real s", "right"), ("user", "right"),
        ("sys", "right")])
    for row in rows:
        games.add_row(_name(row), row["model"], str(row["cpus"]),
                      row["arguments"].removeprefix("-v").strip(),
                      _number(row["iterations"]), _number(row["ms"]),
                      _number(row["us_per_iteration"]), _number(row["ratio"]),
                      _number(row["paper_ms"]), _number(row["paper_ratio"]))
        times.add_row(_name(row), *(_number(row[key]) for key in (
            "init_ms", "real_s", "user_s", "sys_s",
            "paper_init_ms", "paper_real_s", "paper_user_s", "paper_sys_s")))
    marks = []
    if any(row["options"] == "spin=never" for row in rows):
        marks.append(Text("n: with --options spin=never. In the paper's old library, adaptive mutexes "
                          "did not spin."))
    if any(row["options"] == "sleep=kernel" for row in rows):
        marks.append(Text("k: with --options sleep=kernel. In the paper's old library, bound threads slept in "
                          "queues of the kernel."))
    if any(row["misprint"] for row in rows):
        marks.append(Text("† -n -n in the paper, whose output shows that -v -n was meant."))
    return {"games": games, "times": times, "marks": Group(*marks)}


def table(rows):
    """All of it."""
    found = parts(rows)
    return Group("", found["games"], "", found["times"], "",
                 *(Text(note) for note in _notes(rows)), found["marks"], "")


def _notes(rows):
    return [
        "arguments: those of pp, after -v. iter.: iterations of each game (-i); the paper's are "
        "1,000,000, and 100 in tests 8 to 10. µs/iter.: elapsed time, divided by the iterations "
        "of all games. ratio: time for the paper's number of iterations, over the baseline's.",
        f"Exact timing: {EXACT['mips']} million instructions a second on each CPU, which see each "
        f"other's stores up to {EXACT['quantum']} instructions late; every instruction costs the "
        "same. The figures are the same on every host."
        if rows[0].get("timing") == "exact" else
        f"Each is the fastest of {REPEATS} runs. "
        "Fast timing: guest time is host time, so the figures depend on the host and its load. "
        f"This host has {os.cpu_count()} CPUs: where more threads want to run at once, the "
        "virtual CPUs wait for each other.",
    ]
