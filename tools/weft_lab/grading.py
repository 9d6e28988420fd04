"""The grade of a solution: every test, in the visible set and in the hidden one."""

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from weft_host.counts import counted
from weft_host.guest import Guests
from weft_host.machine import HostError

from . import runs
from .build import BuildFailed, Built, build
from .grade import Broken, Grade, TestResult
from .lab import VISIBLE, Lab, Test, Variant

BUILD = "build"  # in a student's folder
Progress = Callable[[str, int, int], None]  # told a test's name, how many of its runs are well, and of how many


@dataclass(frozen=True)
class Set:
    """The runs of a test, drawn from one secret."""

    test: Test
    hidden: bool
    points: float
    variants: tuple[Variant, ...]

    @property
    def name(self) -> str:
        return f"{self.test.name}-hidden" if self.hidden else self.test.name


def sets(lab: Lab, secret: str | None) -> list[Set]:
    """Of all tests; without a secret there is no hidden one."""
    found = [Set(test, False, test.points, tuple(test.variants(lab.name, VISIBLE, test.seeds)))
             for test in lab.tests]
    if secret is not None:
        found += [Set(test, True, test.hidden_points, tuple(test.variants(lab.name, secret, test.hidden_seeds)))
                  for test in lab.tests if test.hidden_points]
    return found


@dataclass
class Played:
    """What the runs of a set gave: those up to the first that failed.  failed: (its Variant, its Outcome)."""

    figure: int | None = None
    failed: tuple[Variant, runs.Outcome] | None = None


def play_set(built: Built, of: Set, jobs: int, progress: Progress, within: Guests | None = None) -> Played:
    """Plays the runs side by side, up to the first in their order that fails.  So what is told is the same on each
    host.  Raises HostError."""
    played, test = Played(), of.test
    guests, outcomes = Guests(within), []
    with ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [pool.submit(runs.play, guests, test, variant, built) for variant in of.variants]
            for variant, one in zip(of.variants, waiting):
                outcome = one.result()
                if not outcome.passed:
                    played.failed = variant, outcome
                    break
                outcomes.append(outcome)
                progress(of.name, len(outcomes), len(of.variants))
        finally:
            for one in waiting:
                one.cancel()
            guests.stop()
    if within is not None and within.stopped:  # a run that was ended is none that failed
        raise HostError("interrupted")
    if test.figure is not None:
        told = [outcome.figures.get(test.figure.name) for outcome in outcomes]
        played.figure = max((value for value in told if value is not None), default=None)
    return played


@dataclass(frozen=True)
class Trace:
    """Of a run that failed.  line: where its last records are.  records: the very last ones, as text."""

    line: str = ""
    records: str = ""


def kept_trace(built: Built, of: Set, played: Played, folder: Path, told: int) -> Trace:
    """Plays the run that failed once more, traced, and keeps its last records in `folder`; told: how many of them
    are text, too."""
    from weft_host import lasttrace  # most solutions pass, and need not wait for this module

    if played.failed is None:
        return Trace()
    variant, outcome = played.failed
    machine = runs.machine(of.test, variant, built, built.program(of.test.program))
    assert outcome.result is not None
    line = lasttrace.keep(Guests(), machine, b"", folder.absolute(), outcome.result)
    return Trace(f"weft: {line}", lasttrace.told(machine, folder, told))


def result_of(of: Set, played: Played, again: str, folder: Path, trace: Trace = Trace()) -> TestResult:
    """again: the command that makes the build `folder`, if it is not there; "": it is there."""
    test, figure = of.test, of.test.figure

    def said(points: float, reason: str, detail: str = "") -> TestResult:
        return TestResult(of.name, test.title, points, of.points, of.hidden, reason, detail)

    if played.failed is not None:
        variant, outcome = played.failed
        where = (f"run {variant.number + 1} of {len(of.variants)}, {counted(variant.smp, 'CPU')}, "
                 f"seed {variant.seed}")
        lines = "\n".join(part for part in (again, runs.repeat(test, variant, folder), trace.line) if part)
        return said(0.0, f"{outcome.reason} ({where})", "\n\n".join(
            part for part in (lines, outcome.detail, trace.records) if part))
    if figure is None:
        return said(of.points, "")
    if played.figure is None:
        return said(0.0, f"the test's program told no figure {figure.name!r}")
    points = round(of.points * figure.share(played.figure), 2)
    if points == of.points:
        return said(points, "")
    return said(points, f"{figure.name}: {played.figure} instructions; all points up to {figure.full}, "
                        f"none from {figure.none} on")


def grade(lab: Lab, student: Path, out: Path, secret: str | None = None, jobs: int = 1,
          only: str | None = None, progress: Progress = lambda *_: None, within: Guests | None = None,
          traces: Path | None = None, told: int = 0) -> Grade | Broken:
    """The grade of the files in the folder `student`; `out`: where the build goes; `within`: what ends the guests;
    `traces`: the folder for the last records of the first run that fails; `told`: so many of them are in the
    test's detail.  Broken: the host failed, or the guests were ended."""
    wanted = [of for of in sets(lab, secret) if only in (None, of.test.name)]
    student = student.resolve()
    own = student / BUILD  # where `weft lab test` makes it
    again = "" if out.resolve() == own else shlex.join(["tools/weft", "lab", "test", lab.name, str(student)])
    try:
        try:
            built = build(lab, student, out)
        except BuildFailed as error:
            none = tuple(TestResult(of.name, of.test.title, 0.0, of.points, of.hidden, "it does not compile", "")
                         for of in wanted)
            return Grade(lab.name, student.name, none, str(error))
        tests = []
        for of in wanted:
            played = play_set(built, of, jobs, progress, within)
            trace = kept_trace(built, of, played, traces, told) if traces is not None else Trace()
            traces = None if trace.line else traces
            tests.append(result_of(of, played, again, own, trace))
        return Grade(lab.name, student.name, tuple(tests), built.log)
    except (HostError, OSError) as error:
        return Broken(student.name, str(error))
