"""How many seeds each planted bug takes, kept in tests/baseline/races.csv: a bug that has become hard to find
is seen before it is not found.

The first seed that finds a bug is exact for one build.  But any change of code shuffles which seeds find it, as
if they were drawn again: where every second seed finds it, one build in 16 needs five or more.  So the kept figure
is a mark and no value to be met, and one draw proves nothing unless it is far out.  A test fails that needs more
than three quarters of its allowed seeds, and more than four times the kept figure.  Where every second seed
finds the bug, and 16 are allowed, that happens once in 4,000 builds by chance; the loss of the last quarter, which
leaves the bug unfound, is the next thing to happen.
"""

import csv
import fcntl
import os
from pathlib import Path

KEPT = Path(__file__).parent / "baseline/races.csv"
HEAD = ["bug", "program", "seed"]


def read(path=KEPT):
    """{(bug, program): seed}."""
    if not path.exists():
        return {}
    with open(path, newline="") as file:
        return {(row["bug"], row["program"]): int(row["seed"]) for row in csv.DictReader(file)}


def keep(bug, program, seed, path=KEPT):
    """Several processes of pytest do this at a time: one after the other, and each file whole."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        rows = read(path) | {(bug, program): seed}
        fresh = path.with_suffix(".new")
        with open(fresh, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEAD)
            writer.writerows([*key, rows[key]] for key in sorted(rows))
        fresh.replace(path)
    finally:
        os.close(folder)


def too_late(seed, enough, kept):
    """Why this seed is late for one that found the bug, or ""."""
    limit = max(enough * 3 // 4, 4 * (kept or 0))
    if seed <= limit or enough < 4:
        return ""
    return (f"found by seed {seed} of {enough} only, and by {kept or 'none kept'} before: it has become hard to "
            "find.  Bring the program nearer to the place, or widen it; --update-seeds keeps what is right now")


def check(config, bug, program, seed, enough):
    """Of a bug that `seed` has found: keeps that with --update-seeds, else compares.  What is wrong, or ""."""
    if config.getoption("--update-seeds"):
        keep(bug, program, seed)
        return ""
    return too_late(seed, enough, read().get((bug, program)))
