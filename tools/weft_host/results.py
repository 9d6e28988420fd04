"""Results of experiments as files, and what has changed from one set of them to another.

NAME.json has all: title, kind of set, source revision, date, what the runs took on this host, which
columns tell rows apart, which figures are better when less or more, what failed (the command, the
reason, the output), and the rows; NAME.csv has the rows.  Exact timing gives the same bytes of
NAME.csv on every host and day; NAME.json says which host only where the figures depend on it.
"""

import csv
import json
import math
import os
import platform
import subprocess
from collections.abc import Collection, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .experiment import Experiment
from .machine import QEMU, UsageError
from .paths import RESULTS, TOP

INTERRUPTED = "interrupted"  # the folder beside the results for what Ctrl-C has left of experiments


Row = dict[str, Any]  # one line of results: columns and their values
Facts = dict[str, Any]  # what NAME.json holds
Key = tuple[str, ...]  # the parts NAME=VALUE that tell a row from the others of its experiment


def revision() -> str:
    """Of the source, with -dirty after it if files have changed since."""
    try:
        done = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                              cwd=TOP, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def host() -> dict[str, str | int | None]:
    """What figures in fast timing depend on."""
    version = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
    return {"machine": platform.machine(), "system": platform.platform(),
            "cpus": os.cpu_count(), "qemu": version.stdout.splitlines()[0]}


def save(experiment: Experiment, rows: list[Row], *, full: bool, timing: str, made_from: str,
         failures: Iterable[dict[str, Any]] = (), directory: Path | None = None,
         seconds: float | None = None, runs: int | None = None) -> None:
    """Both files appear whole, or the old ones stay.  made_from: the source's revision as the runs
    began.  seconds: what the runs took on this host, one after the other."""
    directory = directory or RESULTS
    directory.mkdir(parents=True, exist_ok=True)
    rows = [row | {"revision": made_from} for row in rows]
    facts: Facts = {"experiment": experiment.name, "title": experiment.title,
             "set": "full" if full else "quick", "timing": timing, "revision": made_from,
             "keys": experiment.axes + ([] if experiment.module else ["seed"]),
             "figures": {experiment.figure: experiment.better}}
    facts["when"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
    if seconds is not None:
        facts |= {"seconds": round(seconds, 1), "runs": runs}
    if timing != "exact" or experiment.host:
        facts["host"] = host()
    facts |= {"failures": list(failures), "rows": rows}
    columns = list(dict.fromkeys(name for row in rows for name in row if name != "revision"))
    for suffix in ("csv", "json"):
        fresh = directory / f".{experiment.name}.{suffix}"
        with open(fresh, "w", newline="") as file:
            if suffix == "json":
                json.dump(facts, file, indent=2)
                file.write("\n")
            else:
                writer = csv.DictWriter(file, [*columns, "revision"], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        fresh.replace(directory / f"{experiment.name}.{suffix}")
        (directory / INTERRUPTED / f"{experiment.name}.{suffix}").unlink(missing_ok=True)


def load(path: Path) -> Facts:
    """The facts of one result, from its .json or the .csv beside it."""
    path = path.with_suffix(".json")
    try:
        facts: Facts = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: not a result of weft bench: {error}") from error
    missing = {"experiment", "rows", "keys", "figures"} - (
        facts.keys() if isinstance(facts, dict) else set())
    if missing:
        raise UsageError(f"{path}: not a result of weft bench: it has no {min(missing)!r}")
    return facts


def load_set(path: Path) -> dict[str, Facts]:
    """{experiment: facts} of a directory, or of one file."""
    if path.is_dir():
        found = {file.stem: load(file) for file in sorted(path.glob("*.json"))}
        if not found:
            raise UsageError(f"{path}: no results in it")
        return found
    return {path.stem: load(path)}


def _figures(facts: Facts) -> dict[tuple[Key, str], Any]:
    """{(row's key, figure): value}; rows of one key count through."""
    found: dict[tuple[Key, str], Any] = {}
    met: dict[Key, int] = {}
    for row in facts["rows"]:
        key = tuple(f"{name}={row[name]}" for name in facts["keys"] if row.get(name) is not None)
        met[key] = met.get(key, 0) + 1
        if met[key] > 1:
            key += (f"line {met[key]}",)
        for figure in facts["figures"]:
            found[key, figure] = row.get(figure)
    return found


def _labels(keys: Collection[Key]) -> dict[Key, str]:
    """{row's key: text}: of its parts as few, the last first to go, as tell all rows apart."""
    def pick(key: Key, names: Collection[str]) -> Key:
        return tuple(part for part in key if part.partition("=")[0] in names)

    kept = list(dict.fromkeys(part.partition("=")[0] for key in keys for part in key))
    for name in kept[::-1]:
        fewer = [one for one in kept if one != name]
        if fewer and len({pick(key, fewer) for key in keys}) == len(keys):
            kept = fewer
    return {key: ", ".join(pick(key, kept)) for key in keys}


def _change(was: Any, now: Any) -> float | None:
    """In percent; None where one of the two is no number."""
    if not isinstance(was, (int, float)) or not isinstance(now, (int, float)):
        return None
    if was:
        return (now - was) / abs(was) * 100
    return math.inf if now > 0 else -math.inf


def compare(old: dict[str, Facts], new: dict[str, Facts], tolerance: float) -> list[dict[str, Any]]:
    """What differs between two sets: dicts with experiment, key, figure, old, new, percent (of
    change) and worse: whether the figure got worse by more than tolerance percent, is not
    measured any more, or fails."""
    changes: list[dict[str, Any]] = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new or name not in old:
            changes.append({"experiment": name, "key": "", "figure": "", "old": name in old,
                            "new": name in new, "percent": None, "worse": name not in new})
            continue
        before, after = _figures(old[name]), _figures(new[name])
        labels = _labels({row for row, _ in [*before, *after]})
        for key in dict.fromkeys([*before, *after]):
            was, now = before.get(key), after.get(key)
            if was == now:
                continue
            percent = _change(was, now)
            less = new[name]["figures"].get(key[1], "less") == "less"
            worse = (was is not None if percent is None else
                     (percent if less else -percent) > tolerance)
            changes.append({"experiment": name, "key": labels[key[0]], "figure": key[1],
                            "old": was, "new": now, "percent": percent, "worse": worse})
    return changes
