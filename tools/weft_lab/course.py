"""weft grade --all FOLDER: a class.  Each folder in FOLDER is a student.

Students are graded side by side over the host's cores, or on the workers of a Dask cluster.  A grade is stored as
soon as it is there, so a call that was interrupted goes on where it was, and a second call grades only what has
changed (store.py).  Where the grader failed, there is no grade, and the next call grades that student again.

The output is a folder:

    class.csv, class.html   the class (classtable.py)
    students/NAME.html      for each student
    similarity.csv          with --similarity: files that have code in common
    results/NAME.json       the stored grades
"""

import argparse
import contextlib
import fcntl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from weft_host import cores, progress, runner
from weft_host.cli import STATUS_HOST
from weft_host.counts import counted
from weft_host.machine import HostError, UsageError

from . import classtable, files, formats, packages, similarity
from .clean import line, points
from .grade import Broken, Grade
from .store import Store

Grader = Callable[[Path], Grade | Broken]
ALIKE = 50  # percent, preset of --similarity


@dataclass(frozen=True)
class Course:
    """What is to be graded, and how."""

    lab: str  # as the host command knows it: "park"
    lab_folder: Path  # in labs/
    folder: Path  # of the students' folders
    output: Path
    grade: Grader  # of one student's folder; for a cluster, one that pickle can take
    # What a grade depends on beside the student's files and the sources: seeds, secret, the compiler.
    settings: str = ""
    hidden: bool = False  # students' pages have the details of hidden tests
    again: bool = False  # stored grades do not count
    alike: float | None = None  # percent of code in common from which a pair is listed; None: nothing is compared
    replaces: Mapping[str, Path] = field(default_factory=dict)  # {name of a student's file: weft's file}


def add_options(parser: argparse.ArgumentParser) -> None:
    """For `weft grade`; the output's folder is its option -o."""
    parser.add_argument("--all", type=Path, metavar="FOLDER",
                        help="grades a class: each folder in FOLDER is a student; grades that are there "
                             "already count, as long as nothing has changed")
    parser.add_argument("--again", action="store_true", help="with --all: grades all students again")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="with --all: students side by side; default: one a core")
    parser.add_argument("--scheduler", metavar="tcp://HOST:PORT",
                        help="with --all: grades on the workers of a Dask cluster")
    parser.add_argument("--similarity", type=float, nargs="?", const=ALIKE, metavar="PERCENT",
                        help=f"with --all: lists files of two students with so much code in common ({ALIKE})")


def executor(jobs: int | None, scheduler: str | None,
             stop: Callable[[], object] = lambda: None) -> "Here | runner.Cluster":
    """What --jobs and --scheduler say.  stop: ends what the grader has started on this host, after an interruption.
    Raises UsageError, HostError."""
    if jobs is not None and jobs < 1:
        raise UsageError("--jobs: a number above 0")
    return runner.Cluster(scheduler) if scheduler else Here(jobs, stop)


class Here:
    """This host: a student a core."""

    def __init__(self, jobs: int | None, stop: Callable[[], object]) -> None:
        self.jobs = jobs or len(cores.usable())
        self._stop = stop

    @contextlib.contextmanager
    def calling(self, calls: Sequence[runner.Call],
                begun: Callable[[int], object]) -> Iterator[Iterator[tuple[int, Any]]]:
        """As of runner.Cluster."""
        stopped = threading.Event()

        def one(number: int) -> Any:
            if stopped.is_set():
                return runner.Lost("interrupted")
            begun(number)
            function, arguments = calls[number]
            return function(*arguments)

        pool = ThreadPoolExecutor(self.jobs)
        try:
            futures = {pool.submit(one, number): number for number in range(len(calls))}
            yield ((futures[future], future.result()) for future in as_completed(futures))
        except BaseException:
            stopped.set()
            self._stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def graded(grade: Grader, folder: Path) -> Grade | Broken:
    """The grade.  What the grader raises is told as Broken, so that the other students get their grades."""
    try:
        return replace(grade(folder), student=folder.name)
    except (HostError, OSError) as error:
        return Broken(folder.name, str(error))
    except Exception as error:  # a mistake in the grader
        return Broken(folder.name, f"the grader failed: {type(error).__name__}: {error}")


def _students(course: Course, say: Callable[[str], None]) -> list[Path]:
    """The folders, in their order.  Raises UsageError, OSError."""
    found = sorted(path for path in course.folder.iterdir() if not path.name.startswith("."))
    output = course.output.resolve()
    folders = [path for path in found if path.is_dir() and path.resolve() != output]
    if not folders:
        raise UsageError(f"{course.folder}: no folder of a student in it")
    for path in found:
        if not path.is_dir():
            say(f"weft: {line(str(path))}: not a folder, not graded")
    return folders


@contextlib.contextmanager
def _alone(output: Path) -> Iterator[None]:
    """Holds the output's folder.  Raises UsageError: another weft has it."""
    output.mkdir(parents=True, exist_ok=True)
    with open(output / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{output}: another weft grade writes to it") from None
        yield


def grade_class(course: Course, execute: Here | runner.Cluster) -> int:
    """Grades the class, writes the output, and prints the table's lines; the exit status, not 0 only if the grader
    failed for a student.  Raises UsageError, HostError, OSError."""
    console = Console(stderr=True)

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    folders = _students(course, say)
    with _alone(course.output):
        whole = _Class(course, folders)
        left = whole.left()
        if len(left) < len(folders):
            say(f"weft: {counted(len(folders) - len(left), 'grade')} of {len(folders)} from {course.output}")
        try:
            whole.run(left, execute, console)
        except BaseException:  # Ctrl-C, SIGTERM
            say(f"weft: interrupted. {len(whole.found)} of {counted(len(folders), 'student')} graded; the same "
                "command goes on from here")
            raise
        grades = [whole.found[path.name] for path in folders]
        similar = _compare(course, folders)
        _write(course, grades, similar)
    return _told(course, grades)


class _Class:
    """Grades as they come."""

    def __init__(self, course: Course, folders: Sequence[Path]) -> None:
        self._course = course
        self._folders = folders
        self._store = Store(course.output / "results", packages.sources(course.lab_folder), course.settings)
        self._keys: dict[str, str] = {}
        self.found: dict[str, Grade | Broken] = {}  # {student: grade}

    def left(self) -> list[Path]:
        """The folders that have to be graded."""
        for path in self._folders:
            try:
                self._keys[path.name] = self._store.key(path)
            except OSError as error:
                self.found[path.name] = Broken(path.name, f"{error.filename}: {error.strerror}")
                continue
            if not self._course.again:
                stored = self._store.get(path.name, self._keys[path.name])
                if stored:
                    self.found[path.name] = stored
        return [path for path in self._folders if path.name not in self.found]

    def run(self, left: Sequence[Path], execute: Here | runner.Cluster, console: Console) -> None:
        """Grades these.

        *Race:* Ctrl-C reaches the guests of a grader, and the main thread.  *Without this:* the tests of a guest
        that ends too early have failed, and the grade of such tests is stored.  *Closed by:* the main thread alone
        stores grades, and has the interruption before it takes another grade."""
        if not left:
            return
        calls: list[runner.Call] = [(graded, (self._course.grade, path)) for path in left]
        with progress.Display(console) as display:
            display.expects(progress.TimeLeft({self._course.lab: len(left)}, {}, execute.jobs))
            display.more(len(left))

            def begun(number: int) -> None:
                display.begins(self._course.lab, line(left[number].name), number)

            with execute.calling(calls, begun) as ended:
                for number, one in ended:
                    self._take(left[number].name, one)
                    display.left(number, self._course.lab)
                    display.ended()

    def _take(self, student: str, one: Any) -> None:
        if isinstance(one, runner.Lost):
            one = Broken(student, one.why)
        if isinstance(one, Grade):
            self._store.put(one, self._keys[student])
        self.found[student] = one


def _compare(course: Course, folders: Sequence[Path]) -> similarity.Similar | None:
    if course.alike is None:
        return None
    return similarity.find({path.name: path for path in folders}, course.replaces, course.lab_folder / "skeleton",
                           course.alike / 100)


def _write(course: Course, grades: Sequence[Grade | Broken], similar: similarity.Similar | None) -> None:
    (course.output / classtable.STUDENTS).mkdir(exist_ok=True)
    for one in grades:
        files.write(course.output / classtable.page_of(one.student), formats.html(one, course.hidden))
    files.write(course.output / "class.csv", classtable.csv_text(grades))
    files.write(course.output / "class.html", classtable.html_text(course.lab, grades, similar))
    if similar is not None:
        files.write(course.output / "similarity.csv", classtable.similarity_text(similar))


def _told(course: Course, grades: Sequence[Grade | Broken]) -> int:
    """Prints a line for each student; the exit status."""
    for one in grades:
        if isinstance(one, Grade):
            print(f"{points(one.points):>6} / {points(one.most):<5}  {line(one.student)}")
        else:
            print(f"{'not graded':>14}  {line(one.student)}: {line(one.why)}")
    broken = sum(isinstance(one, Broken) for one in grades)
    print(f"weft: {course.output / 'class.html'}", file=sys.stderr)
    if broken:
        print(f"weft: the grader failed for {counted(broken, 'student')}; the same command tries again",
              file=sys.stderr)
    return STATUS_HOST if broken else 0
