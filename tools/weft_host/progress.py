"""How far `weft bench` has come, and how long it still takes."""

import contextlib
import csv
import json
import threading
import time

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from .paths import HERE

SECONDS = HERE / "experiments" / "seconds.csv"  # what a run of each experiment took on one host
COLUMNS = ("experiment", "set", "seconds")
CLOSE = 1.5  # a factor between two times that are as good as one


def costs(directory, kind):
    """{experiment: seconds of this host that a run of it takes}, of the set that kind names.  Results
    in the directory are of this host, and count before the table that comes with weft."""
    return stored_costs(kind) | measured_costs(directory, kind)


def stored_costs(kind):
    """The same, of the table that comes with weft."""
    with contextlib.suppress(OSError), SECONDS.open(newline="") as file:
        return {row["experiment"]: float(row["seconds"]) for row in csv.DictReader(file)
                if row["set"] == kind}
    return {}


def measured_costs(directory, kind):
    """The same, of the results in the directory alone."""
    found = {}
    for path in sorted(directory.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
            facts = json.loads(path.read_text())
            if facts["set"] == kind:
                found[path.stem] = facts["seconds"] / facts["runs"]
    return found


def store_costs(directory):
    """Makes the table that comes with weft again, out of the results in the directory.  Rows stay if
    they are no worse than an estimate is, or nothing is known of them now.  Returns its path."""
    rows = {}
    for kind in ("quick", "full"):
        stored, measured = stored_costs(kind), measured_costs(directory, kind)
        for name in stored.keys() | measured.keys():
            old, new = stored.get(name), measured.get(name)
            keep = new is None or (old is not None and old / CLOSE <= new <= old * CLOSE)
            rows[kind, name] = old if keep else new
    with SECONDS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((name, kind, f"{float(f'{seconds:.2g}'):g}")
                         for (kind, name), seconds in sorted(rows.items()))
    return SECONDS


class TimeLeft:
    """An estimate.  runs: {experiment: how many}; costs: {experiment: seconds of a run}, of some host;
    the runs that have ended tell how much slower or faster this host is now.  An experiment
    without a cost has that of its own runs that have ended, else the mean of all runs.
    jobs: how many go side by side."""

    def __init__(self, runs, costs, jobs, clock=time.monotonic):
        self._left = dict(runs)  # {experiment: runs that have not ended}
        self._costs = {name: max(costs[name], 1e-3) for name in runs if name in costs}
        known = sum(runs[name] for name in self._costs)
        self._mean = (sum(cost * runs[name] for name, cost in self._costs.items()) / known
                      if known else None)
        self._guessed = known * 2 < sum(runs.values())  # the costs are of the smaller part
        self._jobs = jobs
        self._clock = clock
        self._running = {}  # {key: (experiment, when it began)}
        self._ended = {}  # {experiment: [seconds of its runs that have ended]}

    def begins(self, key, name):
        self._running[key] = name, self._clock()

    def ended(self, key, name):
        self._left[name] -= 1
        _, began = self._running.pop(key, (name, self._clock()))
        self._ended.setdefault(name, []).append(self._clock() - began)

    def _factor(self):
        """How much longer runs take here than their costs say."""
        pairs = [(sum(took), len(took) * self._costs[name])
                 for name, took in self._ended.items() if name in self._costs]
        return sum(took for took, _ in pairs) / sum(cost for _, cost in pairs) if pairs else 1.0

    def _all_costs(self):
        """{experiment: seconds of a run, here and now}"""
        factor, took = self._factor(), [one for some in self._ended.values() for one in some]
        mean = sum(took) / len(took) if took else self._mean
        found = {}
        for name in self._left:
            own = self._ended.get(name)
            found[name] = (factor * self._costs[name] if name in self._costs else
                           sum(own) / len(own) if own else mean)
        return found

    def seconds(self):
        """None: too little is known yet."""
        if self._guessed and not self._ended:
            return None
        costs, now, longest = self._all_costs(), self._clock(), 0.0
        total = sum(costs[name] * left for name, left in self._left.items())
        for name, began in self._running.values():
            cost, spent = costs[name], now - began
            # One that has outlasted its cost is new: of how long it takes, two thirds are over.
            rest = cost - spent if spent < cost else spent / 2
            total += rest - cost
            longest = max(longest, rest)
        return max(total / self._jobs, longest)


def lasted(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def about(seconds):
    """A duration in words, no more exact than it is known."""
    if seconds is None:
        return "time not known yet"
    if seconds < 95:
        return f"about {max(round(seconds / 10), 1) * 10} s"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 90 else f"about {minutes / 60:.1f} h"


class _LeftColumn(ProgressColumn):
    """Looks again each time that the bar is drawn."""

    def __init__(self, text):
        super().__init__()
        self._text = text

    def render(self, task):
        return Text(self._text())


class Display:
    """How far all has come: a bar on a terminal, else a line for each run that begins."""

    def __init__(self, console):
        self.console = console
        self._left = None  # TimeLeft
        # Runs begin in threads of their own.  It may be taken while rich's lock is held, which draws
        # the bar, so nothing of rich is called under it.
        self._lock = threading.Lock()
        self._progress = Progress(
            BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), _LeftColumn(self._time),
            TextColumn("{task.description}", markup=False), console=console, transient=True,
            disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=0)

    def __enter__(self):
        if self.console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, *exc):
        if self.console.is_terminal:
            self._progress.stop()

    def expects(self, left):
        """left: a TimeLeft."""
        self._left = left

    def more(self, count):
        task = self._progress.tasks[0]
        self._progress.update(self._task, total=task.total + count)

    def _time(self):
        with self._lock:
            seconds = self._left.seconds() if self._left else None
        return "" if seconds is None else f"{about(seconds)} left"

    def begins(self, name, text, key=None):
        """text: says which, or None.  key: of a run; None: a step of a module."""
        if key is not None and self._left:
            with self._lock:
                self._left.begins(key, name)
        if text is None:
            return
        self._progress.update(self._task, description=f"{name}: {text}")
        if not self.console.is_terminal:
            left = self._time()
            left = f" ({left})" if left else ""
            self.console.print(f"{name}: {text}{left}", highlight=False, soft_wrap=True,
                               markup=False)

    def ended(self):
        """A run, or a step of a module."""
        self._progress.advance(self._task)

    def left(self, key, name):
        """One less to wait for."""
        if self._left:
            with self._lock:
                self._left.ended(key, name)
