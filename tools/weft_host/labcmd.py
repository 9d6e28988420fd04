"""weft lab: a student's folder of a lab, and its tests."""

import shutil
import sys
from pathlib import Path

from weft_lab import grading, lab, measure, runs
from weft_lab.build import BuildFailed, build
from weft_lab.grade import Broken
from weft_lab.lab import VISIBLE, Lab

from . import build as weft_build
from .cores import usable
from .guest import Guests
from .machine import HostError, UsageError

MAKEFILE = """\
# The lab's tests, and its hand-in file.  WEFT: the folder of weft.
WEFT ?= {weft}

test:
	@$(WEFT)/tools/weft lab test {lab} .

{more}clean:
	rm -rf build

.PHONY: test measure clean
"""
MEASURE = """\
measure:
	@$(WEFT)/tools/weft lab measure {lab} .

"""


def add_options(parser):
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="tells the labs")
    start = verbs.add_parser("start", help="makes a folder of your own: skeleton, handout, Makefile, tests")
    start.add_argument("lab", metavar="LAB")
    start.add_argument("folder", metavar="DIR", type=Path)
    test = verbs.add_parser("test", help="builds weft with the files in DIR, and plays the lab's tests")
    test.add_argument("lab", metavar="LAB")
    test.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path("."))
    test.add_argument("--only", metavar="TEST[:N]", help="this test alone, or its run N, with all that it prints")
    test.add_argument("--jobs", type=int, metavar="N", help="runs side by side; the host's CPUs by default")
    test.add_argument("--no-build", action="store_true", help="do not call make for weft first")
    gain = verbs.add_parser("measure", help="measures what DIR's files gain over the skeleton")
    gain.add_argument("lab", metavar="LAB")
    gain.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path("."))
    gain.add_argument("--no-build", action="store_true", help="do not call make for weft first")


def lab_command(args):
    """weft lab: the exit status."""
    return {"list": _list, "start": _start, "test": _test, "measure": _measure}[args.verb](args)


def _list(args):
    for name in lab.names():
        found = lab.find(name)
        print(f"{found.number}. {name:12} {found.title}")
    return 0


def _start(args):
    found, folder = lab.find(args.lab), args.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already, and not empty")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in found.replaces:
            shutil.copy(found.skeleton / name, folder / name)
        shutil.copy(found.folder / "handout.md", folder / "handout.md")
        shutil.copytree(found.folder / "tests", folder / "tests")
        for header in sorted((lab.LABS / "common").glob("*.h")):
            shutil.copy(header, folder / "tests")
        more = MEASURE.format(lab=found.name) if found.measure else ""
        (folder / "Makefile").write_text(MAKEFILE.format(weft=lab.TOP, lab=found.name, more=more))
    except OSError as error:
        raise HostError(f"{error.filename}: {error.strerror}") from error
    print(f"Lab {found.number}, {found.title}: {folder}\n"
          f"  read      {folder / 'handout.md'}\n"
          f"  write     {', '.join(str(folder / name) for name in found.replaces)}\n"
          f"  then      make -C {folder} test\n"
          f"  hand in   {', '.join(found.replaces)}")
    return 0


def _progress(name, well, of):
    if sys.stderr.isatty():
        print(f"\r\033[K{name}: {well} of {of} runs well", end="", file=sys.stderr, flush=True)


def _clear():
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def _test(args):
    found = lab.find(args.lab)
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs: a number above 0")
    if not args.folder.is_dir():
        raise UsageError(f"{args.folder}: no such folder; weft lab start {found.name} {args.folder} makes one")
    if not args.no_build:
        weft_build.make()
    out = args.folder / grading.BUILD
    name, colon, number = (args.only or "").partition(":")
    if colon:
        return _one_run(found, args.folder, out, name, number)
    if name:
        found.test(name)
    graded = grading.grade(found, args.folder, out, jobs=args.jobs or len(usable()), only=name or None,
                           progress=_progress, traces=out / "traces")
    _clear()
    if isinstance(graded, Broken):
        raise HostError(graded.why)
    from weft_lab.formats import text

    print(text.render(graded), end="")
    return 0 if graded.points == graded.most else 1


def _measure(args):
    found = lab.find(args.lab)
    if not args.folder.is_dir():
        raise UsageError(f"{args.folder}: no such folder; weft lab start {found.name} {args.folder} makes one")
    if not args.no_build:
        weft_build.make()
    try:
        rows = measure.measure(found, args.folder, args.folder / grading.BUILD)
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    try:
        file = measure.write(rows, args.folder)
    except OSError as error:
        raise HostError(f"{error.filename}: {error.strerror}") from error
    print(measure.text(rows), end="")
    print(f"weft: {file}", file=sys.stderr)
    return 0


def _one_run(found: Lab, folder: Path, out: Path, name: str, number: str):
    """Plays one run, and shows all that it prints."""
    test = found.test(name)
    if not number.isdigit() or not 1 <= int(number) <= test.seeds:
        raise UsageError(f"--only {name}:{number}: test {name} has the runs 1 to {test.seeds}")
    variant = test.variants(found.name, VISIBLE, int(number))[-1]
    try:
        built = build(found, folder, out)
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    result = Guests().run(runs.machine(test, variant, built, built.program(test.program)))
    sys.stdout.write(result.output)
    sys.stdout.flush()
    sys.stderr.write(result.report)
    print(f"weft: {result.error or f'status {result.status}'}; it is repeated by\n"
          f"{runs.repeat(test, variant, built.folder)}", file=sys.stderr)
    return result.status
