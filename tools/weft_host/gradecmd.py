"""weft grade: the points of students' solutions of a lab."""

import os
import sys
from pathlib import Path

from weft_lab import grading, lab, power
from weft_lab.grade import Broken
from weft_lab.solution import take_solution

from . import build
from .cores import usable
from .counts import counted
from .machine import UsageError
from .workdir import WorkDirectory

SECRET = "WEFT_LAB_SECRET"  # a variable of the environment
RUNS = 64


def add_options(parser):
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="*", help="students' folders")
    parser.add_argument("--secret", metavar="FILE", type=Path,
                        help=f"the secret that the hidden set is drawn from, or the variable {SECRET}; without "
                             "one the visible set alone is graded")
    parser.add_argument("--own", action="store_true", help="grades weft's own files, which have to get all points")
    parser.add_argument("--seeds", type=int, metavar="N", help="runs of each test, in place of the lab's numbers")
    parser.add_argument("--power", action="store_true",
                        help="measures over the lab's wrong solutions how probable it is that the tests catch them")
    parser.add_argument("--runs", type=int, metavar="N", default=RUNS,
                        help=f"with --power: runs of each test on each wrong solution, {RUNS} by default")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs side by side; the host's CPUs by default")
    parser.add_argument("--no-build", action="store_true", help="do not call make for weft first")


def secret_of(args):
    """The secret of the hidden set, or None.  Raises UsageError."""
    if args.secret is None:
        return os.environ.get(SECRET) or None
    try:
        text = args.secret.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--secret: {args.secret}: {error}") from error
    if not text:
        raise UsageError(f"--secret: {args.secret} is empty")
    return text


def grade(args):
    """weft grade: the exit status: 0, or 69 if the host could not grade."""
    found = lab.find(args.lab)
    for name in ("jobs", "runs", "seeds"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name}: a number above 0")
    if not (args.folders or args.power or args.own):
        raise UsageError("whose solution? DIR..., or --own for weft's files")
    for folder in args.folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder")
    if not args.no_build:
        build.make()
    jobs = args.jobs or len(usable())
    if args.seeds is not None:
        found = found.with_seeds(args.seeds)
    with WorkDirectory() as work:
        if args.power:
            return 0 if power.table(found, Path(work), args.runs, jobs, _tell) else 1
        folders = list(args.folders)
        if args.own:
            own = Path(work) / "weft"
            own.mkdir()
            take_solution(found, own)
            folders.append(own)
        return _grade_all(found, folders, secret_of(args), jobs, Path(work))


def _tell(line):
    print(line, flush=True)


def _grade_all(found, folders, secret, jobs, work):
    from weft_lab.formats import text

    broken = 0
    for number, folder in enumerate(folders):
        graded = grading.grade(found, folder, work / f"build{number}", secret, jobs)
        print(text.render(graded), end="", flush=True)
        broken += isinstance(graded, Broken)
    if broken:
        print(f"weft: {counted(broken, 'folder')} could not be graded", file=sys.stderr)
    return 69 if broken else 0
