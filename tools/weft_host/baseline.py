"""The quick set's figures as the repository holds them: tests/baseline/quick/NAME.csv.

`make test` runs the quick set and compares; the documents' tables are made of these files.  A change
that moves figures stores them again (`weft bench --update-baseline`), and its commit says why.
"""

import csv
import math

from . import experiment
from .paths import TOP
from .runner import value_of

QUICK = TOP / "tests/baseline/quick"
FULL = TOP / "tests/baseline/full-verdicts.csv"  # what the full set says of each claim
TOLERANCE = 0.01  # a file in the RAM disk moves figures of commands that do not read it


def _read(path):
    """The rows of a CSV file of results, without the revision that made them."""
    with open(path, newline="") as file:
        return [{name: text for name, text in row.items() if name != "revision"}
                for row in csv.DictReader(file)]


def read_rows(name):
    """The rows of an experiment's quick set; none if it has none."""
    path = QUICK / f"{name}.csv"
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def value(text):
    """What a cell of a CSV file holds."""
    return {"": None, "True": True, "False": False}.get(text, value_of(text))


def quick_results():
    """{name: (Experiment, rows)} of all that is stored of the quick set."""
    return {name: (one, read_rows(name)) for name, one in experiment.all_experiments().items()}


def full_verdicts():
    """{claim's id: verdict} of the full set."""
    if not FULL.is_file():
        return {}
    with FULL.open(newline="") as file:
        return {row["claim"]: row["verdict"] for row in csv.DictReader(file)}


def store_full(verdicts, whole):
    """Stores verdicts of the full set, {claim's id: verdict}; whole: others are forgotten.  Returns the file."""
    kept = {} if whole else full_verdicts()
    with FULL.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["claim", "verdict"])
        writer.writerows(sorted((kept | verdicts).items()))
    return FULL


def store(directory, names=None, whole=True):
    """Takes results of a directory over: of these experiments, or all.  whole: others are forgotten.
    Returns the files."""
    QUICK.mkdir(parents=True, exist_ok=True)
    paths = [path for path in sorted(directory.glob("*.csv")) if names is None or path.stem in names]
    if whole:
        for path in QUICK.glob("*.csv"):
            path.unlink()
    stored = []
    for path in paths:
        rows = _read(path)
        if not rows:
            continue
        stored.append(QUICK / path.name)
        with open(stored[-1], "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return stored


def _alike(old, new):
    try:
        return math.isclose(float(old), float(new), rel_tol=TOLERANCE)
    except (TypeError, ValueError):
        return old == new


def _differences(name, old, new):
    if len(old) != len(new):
        yield f"{name}: {len(new)} rows in place of {len(old)}"
        return
    for number, (was, now) in enumerate(zip(old, new), 2):  # as an editor counts lines
        if list(was) != list(now):
            yield f"{name}: columns {', '.join(now)} in place of {', '.join(was)}"
            return
        for column in was:
            if not _alike(was[column], now[column]):
                yield f"{name}, line {number}: {column} is {now[column]}, was {was[column]}"


def differences(directory):
    """What the results of a directory differ in from the stored ones: a line each."""
    stored = {path.name: path for path in QUICK.glob("*.csv")}
    fresh = {path.name: path for path in directory.glob("*.csv")}
    found = [f"{name}: no such experiment in tests/baseline" for name in sorted(fresh.keys() - stored)]
    found += [f"{name}: not measured any more" for name in sorted(stored.keys() - fresh)]
    for name in sorted(stored.keys() & fresh):
        found += _differences(name, _read(stored[name]), _read(fresh[name]))
    return found
