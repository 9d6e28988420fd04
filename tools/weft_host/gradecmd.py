"""weft grade: the points of students' solutions of a lab, as text or in the forms of courses' web services."""

import os
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from weft_lab import course, files, formats, grading, lab, packages, power
from weft_lab.formats import classroom50, gradescope, junit, text
from weft_lab.grade import Broken, Grade
from weft_lab.solution import take_solution

from . import build
from .cores import usable
from .counts import counted
from .guest import Guests
from .machine import HostError, UsageError
from .workdir import WorkDirectory

SECRET = "WEFT_LAB_SECRET"  # a variable of the environment
RUNS = 64
TOLD = 40  # records of a trace in the detail of a test that failed
STATUS_HOST = 69


def add_options(parser):
    parser.usage = ("weft grade LAB DIR... [OPTION]...\n       weft grade LAB --all FOLDER -o DIR [OPTION]...\n"
                    "       weft grade LAB --power\n       weft grade LAB --package KIND -o FILE")
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="*", help="students' folders")
    parser.add_argument("--secret", metavar="FILE", type=Path,
                        help=f"the secret that the hidden set is drawn from, or the variable {SECRET}; without "
                             "one the visible set alone is graded")
    parser.add_argument("--own", action="store_true", help="grades weft's own files, which have to get all points")
    parser.add_argument("--seeds", type=int, metavar="N", help="runs of each test, in place of the lab's numbers")
    parser.add_argument("--show-hidden", action="store_true",
                        help="students' pages and results have the details of hidden tests too")
    for name, what in (("html", "a page for the student"), ("gradescope", "Gradescope's results.json"),
                       ("classroom50", "Classroom 50's result.json"), ("junit", "JUnit XML")):
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, help=f"writes {what}")
    parser.add_argument("-o", "--output", metavar="PATH", type=Path,
                        help="of --all: the folder; of --package: the file")
    parser.add_argument("--traces", metavar="FOLDER", type=Path,
                        help="keeps the last records of each student's first run that fails, for `weft stats`; "
                             f"the last {TOLD} are in the test's detail")
    course.add_options(parser)
    packages.add_options(parser)
    parser.add_argument("--power", action="store_true",
                        help="measures over the lab's wrong solutions how probable it is that the tests catch them")
    parser.add_argument("--runs", type=int, metavar="N", default=RUNS,
                        help=f"with --power: runs of each test on each wrong solution, {RUNS} by default")
    parser.add_argument("--no-build", action="store_true", help="do not call make for weft first")


@dataclass(frozen=True)
class Grader:
    """Grades one student's folder; pickle can take it, without within."""

    lab: str
    secret: str | None
    seeds: int | None
    jobs: int
    within: Guests | None = None  # ends the guests
    traces: Path | None = None  # a folder of each student's traces

    def __call__(self, folder: Path) -> Grade | Broken:
        found = lab.find(self.lab)
        if self.seeds is not None:
            found = found.with_seeds(self.seeds)
        # Not in the student's folder, which may be read-only.
        with tempfile.TemporaryDirectory(prefix="weft-lab-") as work:
            return grading.grade(found, folder, Path(work), self.secret, self.jobs, within=self.within,
                                 traces=self.traces and self.traces / folder.resolve().name, told=TOLD)


def secret_of(args):
    """The secret of the hidden set, or None.  Raises UsageError."""
    if args.secret is None:
        return os.environ.get(SECRET) or None
    try:
        found = args.secret.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--secret: {args.secret}: {error}") from error
    if not found:
        raise UsageError(f"--secret: {args.secret} is empty")
    return found


FORMS = ("html", "gradescope", "classroom50", "junit")
WANTS_OUTPUT = "{0}: -o says where"


def _check(args):
    """Raises UsageError."""
    for name in ("jobs", "runs", "seeds"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name}: a number above 0")
    kinds = [name for name in ("all", "package", "power") if getattr(args, name)]
    if len(kinds) > 1 or (kinds and (args.folders or args.own)):
        raise UsageError(f"--{kinds[0]} is for itself: no folders, and nothing like it")
    if not (kinds or args.folders or args.own):
        raise UsageError("whose solution? DIR..., --all FOLDER, or --own for weft's files")
    for name in ("all", "package"):
        if getattr(args, name) and args.output is None:
            raise UsageError(WANTS_OUTPUT.format(f"--{name}"))
    if args.output is not None and not (args.all or args.package):
        raise UsageError("-o has no meaning without --all or --package")
    for folder in (*args.folders, *([args.all] if args.all else [])):
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder")
    wanted = [name for name in FORMS if getattr(args, name)]
    if wanted and len(args.folders) + args.own != 1:
        raise UsageError(f"--{wanted[0]} is for one student's folder")


def grade(args):
    """weft grade: the exit status: 0, or 69 if the host could not grade; of --power 1, if a mistake may pass."""
    found = lab.find(args.lab)
    _check(args)
    secret = secret_of(args)
    submission = None
    if args.classroom50 or args.package == "classroom50":
        classroom50.check(found)
    if args.classroom50:
        submission = classroom50.Submission.of(os.environ, datetime.now(timezone.utc))
    if args.package:
        autograder = packages.Autograder(found.name, found.folder, secret=secret)
        print(packages.write(args.package, autograder, args.output))
        return 0
    if not args.no_build:
        build.make()
    grader = Grader(found.name, secret, args.seeds, 1 if args.all else args.jobs or len(usable()),
                    traces=args.traces and args.traces.resolve())
    if args.all:
        return _class(args, found, grader)
    with WorkDirectory() as work:
        if args.power:
            return 0 if power.table(found, Path(work), args.runs, args.jobs or len(usable()), _tell) else 1
        folders = list(args.folders)
        if args.own:
            own = Path(work) / "weft"
            own.mkdir()
            take_solution(found, own)
            folders.append(own)
        return _each(args, folders, grader, submission)


def _tell(line):
    print(line, flush=True)


def _class(args, found, grader):
    guests = Guests()
    if args.scheduler is None:
        grader = replace(grader, within=guests)
    settings = f"seeds={args.seeds} secret={grader.secret!r}"
    replaces = {mine: found.solution(mine) for mine in found.replaces}
    whole = course.Course(found.name, found.folder, args.all, args.output, grader, settings, args.show_hidden,
                          args.again, args.similarity, replaces)
    return course.grade_class(whole, course.executor(args.jobs, args.scheduler, guests.stop))


def _each(args, folders, grader, submission):
    broken = 0
    for folder in folders:
        graded = grader(folder)
        print(text.render(graded), end="", flush=True)
        broken += isinstance(graded, Broken)
        if not isinstance(graded, Broken):
            _write(args, graded, submission)
    if broken:
        print(f"weft: {counted(broken, 'folder')} could not be graded", file=sys.stderr)
    return STATUS_HOST if broken else 0


def _write(args, graded, submission):
    """The forms that are wanted of the one grade.  submission: for Classroom 50.  Raises HostError."""
    makes = {
        "html": lambda: formats.html(graded, args.show_hidden),
        "gradescope": lambda: gradescope.render(graded, args.show_hidden),
        "classroom50": lambda: classroom50.render(graded, submission),
        "junit": lambda: junit.render([graded], args.show_hidden),
    }
    for name, make in makes.items():
        path = getattr(args, name)
        if path is not None:
            try:
                files.write(path, make())
            except OSError as error:
                raise HostError(f"{path}: {error.strerror}") from error
