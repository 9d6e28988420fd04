"""weft bench: runs experiments, prints their tables, writes build/results/NAME.csv and .json.

An experiment is a module of the package `experiments`, named like the experiment, with

    TITLE                   one line
    run(ctx) -> rows        measures; a row is a dict with the same keys in each
    table(rows)             what to print: a rich renderable, or a text
    store_baseline(rows)    if it has one: what tests compare with from now on; returns its path

ctx is a Context: it runs guest commands and shows how far the experiment has come.
"""

import csv
import importlib
import json
import os
import pkgutil
import platform
import subprocess
import sys
from datetime import datetime, timezone

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from . import build, experiments
from .guest import run as run_guest
from .machine import QEMU, HostError, Machine, UsageError
from .paths import RESULTS


class Context:
    """What an experiment works with."""

    def __init__(self, progress, task, timing, accel):
        self._progress = progress
        self._task = task
        self.timing = timing
        self._accel = accel

    def steps(self, total):
        """The number of calls of step() to come."""
        self._progress.update(self._task, total=total, completed=0)

    def step(self, text):
        """One more step begins; text says which."""
        task = next(t for t in self._progress.tasks if t.id == self._task)
        done = task.fields["begun"]
        self._progress.update(self._task, completed=done, begun=done + 1, doing=text)
        if not self._progress.console.is_terminal:
            self._progress.console.print(f"{task.description}: {text}")

    def guest(self, argv, *, smp=1, model=None, options=None, mem="512M", env=None, files=(),
              timeout=600, quantum=None, seed=None, mips=None, append=""):
        """Boots a guest that runs argv, and returns its Result (guest.py).  A guest that
        panics or runs out of time raises HostError."""
        result = run_guest(Machine(argv=[str(a) for a in argv], smp=smp, mem=mem, model=model,
                                   options=options, env=dict(env or {}), files=list(files),
                                   timing=self.timing, quantum=quantum, seed=seed, mips=mips,
                                   accel=self._accel, timeout=timeout, append=append))
        if result.error:
            raise HostError(f"{' '.join(map(str, argv))}: {result.error}\n{result.panic}"
                            f"{result.output}")
        return result


def _names():
    return sorted(module.name for module in pkgutil.iter_modules(experiments.__path__))


def add_options(parser):
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help="default: all")
    parser.add_argument("--list", action="store_true", help="lists the experiments")
    parser.add_argument("--timing", choices=("fast", "exact"), default="exact",
                        help="kind of time; exact: the same figures on every host")
    parser.add_argument("--accel", choices=("tcg", "kvm"), default="tcg")
    parser.add_argument("--update-baseline", action="store_true",
                        help="stores the figures as those that the tests compare with (micro)")


def _host():
    version = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
    return {"machine": platform.machine(), "system": platform.platform(),
            "cpus": os.cpu_count(), "qemu": version.stdout.splitlines()[0]}


def _save(name, title, timing, rows):
    """Both files appear whole, or the old ones stay.  Exact timing gives the same bytes on every
    host and day; so they stand only where they matter."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    facts = {"experiment": name, "title": title, "timing": timing}
    if timing != "exact":
        facts |= {"host": _host(),
                  "when": datetime.now(timezone.utc).isoformat(timespec="seconds")}
    facts["rows"] = rows
    for suffix in ("csv", "json"):
        fresh = RESULTS / f".{name}.{suffix}"
        with open(fresh, "w", newline="") as file:
            if suffix == "json":
                json.dump(facts, file, indent=2)
                file.write("\n")
            elif rows:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        fresh.replace(RESULTS / f"{name}.{suffix}")


def main(args):
    """Runs the experiments that args names; the exit status."""
    modules = {name: importlib.import_module(f"{experiments.__name__}.{name}")
               for name in _names()}
    if args.list:
        for name, module in modules.items():
            print(f"{name:16}{module.TITLE}")
        return 0
    unknown = [name for name in args.names if name not in modules]
    if unknown:
        raise UsageError(f"no experiment {unknown[0]!r}; there are: {', '.join(modules)}")
    if args.update_baseline and not (args.names and all(
            hasattr(modules[name], "store_baseline") for name in args.names)):
        raise UsageError("--update-baseline: name an experiment that has one: "
                         + ", ".join(name for name in modules
                                     if hasattr(modules[name], "store_baseline")))
    build.make()
    out, err = Console(), Console(stderr=True)
    for name in args.names or modules:
        module = modules[name]
        with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
                      TextColumn("{task.fields[doing]}"), console=err, transient=True,
                      disable=not err.is_terminal) as progress:
            task = progress.add_task(name, total=None, doing="", begun=0)
            rows = module.run(Context(progress, task, args.timing, args.accel))
        _save(name, module.TITLE, args.timing, rows)
        out.print(module.TITLE, style="bold", highlight=False)
        out.print(module.table(rows))
        print(f"weft: {RESULTS / name}.csv and .json", file=sys.stderr)
        if args.update_baseline:
            print(f"weft: {module.store_baseline(rows)}", file=sys.stderr)
    return 0
