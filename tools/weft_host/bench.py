"""weft bench: runs experiments, prints their tables, writes build/results/NAME.csv and .json.

An experiment is a file experiments/NAME.toml (experiment.py; docs/experiments.md tells how to write
one).  Where data cannot say what to measure, because one result decides what comes next, it names a
module of the package `experiments`, with

    run(ctx) -> rows        measures; a row is a dict with the same keys in each
    table(rows)             what to print: a rich renderable, or a text
    store_baseline(rows)    if it has one: what tests compare with from now on; returns its path

ctx is a Context: it runs guest commands and shows how far the experiment has come.
"""

import collections
import importlib
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import build, experiment, experiments, results, runner, tables
from .guest import run as run_guest
from .machine import HostError, Machine, UsageError
from .paths import RESULTS


class Display:
    """How far all has come: a bar on a terminal, else a line for each run that begins."""

    def __init__(self, console):
        self.console = console
        self._progress = Progress(
            BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.description}"), console=console, transient=True,
            disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=0)

    def __enter__(self):
        self._progress.start()
        return self

    def __exit__(self, *exc):
        self._progress.stop()

    def more(self, count):
        task = self._progress.tasks[0]
        self._progress.update(self._task, total=task.total + count)

    def begins(self, name, text):
        self._progress.update(self._task, description=f"{name}: {text}")
        if not self.console.is_terminal:
            self.console.print(f"{name}: {text}", highlight=False, soft_wrap=True, markup=False)

    def ended(self):
        self._progress.advance(self._task)


class Context:
    """What a module works with."""

    def __init__(self, name, display, timing, accel, started=None, full=True):
        self._name = name
        self._display = display
        self._begun = False
        self.timing = timing
        self.full = full
        self._accel = accel
        self._started = started

    def steps(self, total):
        """The number of calls of step() to come."""
        self._display.more(total)

    def step(self, text):
        """One more step begins; text says which."""
        if self._begun:
            self._display.ended()
        self._begun = True
        self._display.begins(self._name, text)

    def guest(self, argv, *, smp=1, model=None, options=None, mem="512M", env=None, files=(),
              timeout=experiment.PRESET["timeout"], quantum=None, seed=None, mips=None, append=""):
        """Boots a guest that runs argv, and returns its Result (guest.py).  A guest that
        panics or runs out of time raises HostError."""
        result = run_guest(Machine(argv=[str(a) for a in argv], smp=smp, mem=mem, model=model,
                                   options=options, env=dict(env or {}), files=list(files),
                                   timing=self.timing, quantum=quantum, seed=seed, mips=mips,
                                   accel=self._accel, timeout=timeout, append=append,
                                   background=self.timing == "exact"),
                           started=self._started)
        if result.error:
            raise HostError(f"{' '.join(map(str, argv))}: {result.error}\n{result.panic}"
                            f"{result.output}")
        return result


def add_options(parser):
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT",
                        help="a name of --list, or a file .toml; default: all")
    parser.add_argument("--list", action="store_true", help="lists the experiments")
    parser.add_argument("--full", action="store_true",
                        help="the full sets, not the quick ones")
    parser.add_argument("--timing", choices=("fast", "exact"), default="exact",
                        help="kind of time; exact: the same figures on every host")
    parser.add_argument("--accel", choices=("tcg", "kvm"), default="tcg")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="guests side by side; default: one a core")
    parser.add_argument("--scheduler", metavar="tcp://HOST:PORT",
                        help="runs the guests on the workers of a Dask cluster")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR",
                        help="where to write; default: build/results")
    parser.add_argument("--no-build", action="store_true", help="do not call make first")
    parser.add_argument("--update-baseline", action="store_true",
                        help="stores the figures as those that the tests compare with (micro)")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"),
                        help="measures nothing: tells what differs between two sets of results, "
                             "directories or files; exit status 1 if a figure got worse")
    parser.add_argument("--tolerance", type=float, default=2.0, metavar="PERCENT",
                        help="of --compare: how much worse is as good (2)")


def _chosen(names):
    """The experiments of these names, or all."""
    known = experiment.all_experiments()
    chosen = []
    for name in names:
        if name.endswith(".toml"):
            chosen.append(experiment.load(name))
        elif name in known:
            chosen.append(known[name])
        else:
            raise UsageError(f"no experiment {name!r}; there are: {', '.join(known)}")
    return chosen or list(known.values())


def _module(one):
    return importlib.import_module(f"{experiments.__name__}.{one.module}")


def _compare(args):
    old, new = (results.load_set(path) for path in args.compare)
    changes = results.compare(old, new, args.tolerance)
    Console().print(tables.changes(changes, args.tolerance))
    return 1 if any(change["worse"] for change in changes) else 0


class _Bench:
    """All experiments of one call."""

    def __init__(self, args, chosen, display, executor):
        self.args = args
        self.display = display
        self.executor = executor
        self.left = {}  # {experiment's name: runs that have not ended}
        self.outcomes = {}  # {experiment's name: [Outcome or rows] in the order of the runs}
        self.seconds = collections.Counter()  # of all guests, {experiment's name: seconds}
        self.chosen = {one.name: one for one in chosen}
        self.work, self.modules, self.runs = [], [], {}
        for one in chosen:
            if one.module:
                self.modules.append(((one.name, 0), lambda one=one: self._measure(one)))
                self.runs[one.name] = [None]
            else:
                self.runs[one.name] = self._runs(one)
                self.work += [((one.name, number), run, one.patterns)
                              for number, run in enumerate(self.runs[one.name])]
            self.left[one.name] = len(self.runs[one.name])
            self.outcomes[one.name] = [None] * self.left[one.name]
        display.more(len(self.work))

    def _runs(self, one):
        runs = one.runs(self.args.full)
        if self.args.timing == "fast":
            for run in runs:
                run.settings["timing"] = "fast"
                for name in ("quantum", "mips"):
                    run.settings.pop(name, None)
        return runs

    def _measure(self, one):
        """Of a module: its rows, or the Outcome that says why there are none."""
        context = Context(one.name, self.display, self.args.timing, self.args.accel,
                          getattr(self.executor, "started", None), self.args.full)
        began = time.monotonic()
        try:
            return _module(one).run(context)
        except HostError as error:
            return runner.Outcome(str(error).splitlines()[0], output=str(error))
        finally:
            self.seconds[one.name] = time.monotonic() - began

    def _begun(self, run):
        self.display.begins(run.experiment, f"{run.configuration} " + " ".join(
            f"{name}={value}" for name, value in run.parameters.items())
            + (f" seed={run.seed}" if run.seed is not None else ""))

    def run(self):
        """Yields (experiment, rows, failures) as experiments are complete."""
        for (name, number), outcome in self.executor(self.work, self.modules, self._begun):
            self.outcomes[name][number] = outcome
            self.seconds[name] += getattr(outcome, "seconds", 0)
            self.left[name] -= 1
            if not self.chosen[name].module:
                self.display.ended()
            if self.left[name] == 0:
                yield self._complete(self.chosen[name])

    def _complete(self, one):
        rows, failures = [], []
        for run, outcome in zip(self.runs[one.name], self.outcomes[one.name]):
            if isinstance(outcome, list):
                rows += outcome
                continue
            if run is not None:
                rows += runner.rows_of(one, run, outcome)
                status = rows[-1]["status"]
            else:
                status = outcome.status
            if status != runner.OK:
                failures.append({"command": run.command() if run else f"weft bench {one.name}",
                                 "status": status, "output": outcome.output})
        return one, rows, failures


def main(args):
    """Runs the experiments that args names; the exit status: 1 if any run failed."""
    if args.compare:
        return _compare(args)
    chosen = _chosen(args.names)
    if args.list:
        for one in chosen:
            print(f"{one.name:20} {one.title}")
        return 0
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs: a number above 0")
    baselines = [one.name for one in chosen
                 if one.module and hasattr(_module(one), "store_baseline")]
    if args.update_baseline and not (args.names and len(baselines) == len(chosen)):
        raise UsageError(f"--update-baseline: name an experiment that has one: "
                         f"{', '.join(baselines)}")
    if not args.names:
        chosen = [one for one in chosen if not one.skipped(args.full)]
    executor = runner.Cluster(args.scheduler) if args.scheduler else runner.Local(args.jobs)
    if not args.no_build:
        build.make()
    out, err = Console(), Console(stderr=True)
    failed = False
    with Display(err) as display:
        made_from = results.revision()
        whole = _Bench(args, chosen, display, executor)
        for one, rows, failures in whole.run():
            fast = args.timing == "fast" or any(row.get("timing") == "fast" for row in rows)
            results.save(one, rows, full=args.full, timing="fast" if fast else "exact",
                         failures=failures, directory=args.results, made_from=made_from)
            out.print(one.title, style="bold", highlight=False)
            if rows:
                out.print(_module(one).table(rows) if one.module else tables.plain(one, rows))
            for failure in failures:
                failed = True
                err.print(f"FAILED: {failure['command']}\n  {failure['status']}\n"
                          f"{failure['output']}", style="red", highlight=False, markup=False)
            err.print(f"weft: {args.results / one.name}.csv and .json, after "
                      f"{whole.seconds[one.name]:.0f} s of guests", highlight=False, soft_wrap=True)
            if args.update_baseline and not failures:
                print(f"weft: {_module(one).store_baseline(rows)}", file=sys.stderr)
    return 1 if failed else 0
