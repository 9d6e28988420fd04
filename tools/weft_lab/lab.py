"""A lab as labs/NN-NAME/lab.toml describes it: which files are the student's, and the tests with their points."""

import hashlib
import random
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft_host.machine import ENGINES, UsageError
from weft_host.paths import TOP
from weft_host.project import tomllib
from weft_host.reading import NUMBER, Reader, Shape, Table

LABS = TOP / "labs"
VISIBLE = "visible"  # the secret from which the visible set is drawn: everybody knows it

FIGURE: Shape = {"name": str, "full": int, "none": int}
TEST: Shape = {
    "name": str, "title": str, "points": NUMBER, "hidden_points": NUMBER, "program": str, "arguments": str,
    "smp": list, "model": str, "options": str, "quantum": list, "engine": str, "seeds": int, "hidden_seeds": int,
    "draw": dict, "limit_ms": int, "figure": FIGURE, "mem": str,
    "append": str}
MEASURE: Shape = {"test": str, "smp": list, "seeds": int}
SHAPE: Shape = {"title": str, "number": int, "paper": str, "replaces": dict, "measure": MEASURE, "tests": list}


@dataclass(frozen=True)
class Figure:
    """A count of instructions that a test's program tells: full points up to `full`, none from `none` on."""

    name: str
    full: int
    none: int

    def share(self, value: int) -> float:
        return min(1.0, max(0.0, (self.none - value) / (self.none - self.full)))


@dataclass(frozen=True)
class Variant:
    """One run of a test."""

    number: int
    seed: int
    smp: int
    quantum: int
    argv: tuple[str, ...]
    append: str = ""


@dataclass(frozen=True)
class Test:
    """What one test runs, how often, and what it is worth."""

    name: str
    title: str
    program: str
    arguments: str
    points: float
    hidden_points: float = 0.0
    smp: tuple[int, ...] = (1, 2, 4)
    model: str = "lwp"
    options: str | None = None
    engine: str = ENGINES[0]
    quantum: tuple[int, ...] = (100, 200, 300, 1000)
    seeds: int = 16
    hidden_seeds: int = 16
    draw: dict[str, tuple[int, int]] = field(default_factory=dict)
    limit_ms: int = 100
    mem: str = "128M"
    append: str = ""  # words for the kernel's command line
    figure: Figure | None = None

    def variants(self, lab: str, secret: str, count: int) -> list[Variant]:
        """The first `count` runs of the set that this secret gives."""
        return [self._variant(lab, secret, number) for number in range(count)]

    def _variant(self, lab: str, secret: str, number: int) -> Variant:
        text = f"{secret}\0{lab}\0{self.name}\0{number}"
        chance = random.Random(hashlib.sha256(text.encode()).digest())
        # Each CPU count comes in turn, so that also a small set has all of them.
        smp = self.smp[number % len(self.smp)]
        quantum, seed = chance.choice(self.quantum), chance.randrange(1, 2**32)
        values = {name: chance.randint(*ends) for name, ends in self.draw.items()}
        values["smp"] = smp
        arguments = shlex.split(self.arguments.format_map(values))
        return Variant(number, seed, smp, quantum, (self.program, *arguments), self.append.format_map(values))


@dataclass(frozen=True)
class Measure:
    """What `weft lab measure` plays: a test with a figure, on these numbers of CPUs, under so many seeds."""

    test: str
    smp: tuple[int, ...]
    seeds: int


@dataclass(frozen=True)
class Lab:
    """folder: labs/NN-NAME.  replaces: {the student's file: weft's, from the top of the tree}."""

    name: str
    number: int
    title: str
    folder: Path
    replaces: dict[str, str]
    tests: tuple[Test, ...]
    measure: Measure | None = None

    @property
    def skeleton(self) -> Path:
        return self.folder / "skeleton"

    @property
    def given(self) -> Path:
        """A folder of files that also take the place of weft's files of the same names; it may be missing."""
        return self.folder / "given"

    def solution(self, mine: str) -> Path:
        """The right form of a student's file: the lab's own/MINE, or weft's file."""
        own = self.folder / "own" / mine
        return own if own.is_file() else TOP / self.replaces[mine]

    def with_seeds(self, count: int) -> "Lab":
        """With so many runs of each test."""
        return replace(self, tests=tuple(replace(test, seeds=count, hidden_seeds=count) for test in self.tests))

    def test(self, name: str) -> Test:
        for test in self.tests:
            if test.name == name:
                return test
        raise UsageError(f"lab {self.name} has no test {name!r}; its tests: "
                         f"{', '.join(test.name for test in self.tests)}")


def names(folder: Path = LABS) -> list[str]:
    """Of all labs, in their order."""
    return [path.parent.name.partition("-")[2] for path in sorted(folder.glob("[0-9][0-9]-*/lab.toml"))]


def find(name: str, folder: Path = LABS) -> Lab:
    """The lab of this name.  Raises UsageError."""
    for path in folder.glob("[0-9][0-9]-*/lab.toml"):
        if path.parent.name.partition("-")[2] == name:
            return load(path)
    raise UsageError(f"there is no lab {name!r}; the labs: {', '.join(names(folder))}")


def load(path: Path) -> Lab:
    """Reads a lab.toml.  A UsageError says what is wrong with it."""
    read = Reader(path)
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        read.fail("", error.strerror or str(error))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        read.fail("", str(error))
    read.shape("", data, SHAPE)
    read.need("", data, "title", "number", "replaces", "tests")
    replaces = data["replaces"]
    for mine, theirs in replaces.items():
        if "/" in mine or not isinstance(theirs, str) or not (TOP / theirs).is_file():
            read.fail(f"replaces.{mine}", f"a file of weft is needed, not {theirs!r}")
        if not (path.parent / "skeleton" / mine).is_file():
            read.fail(f"replaces.{mine}", "the skeleton has no such file")
    tests = tuple(_test(read, path.parent, number, test) for number, test in enumerate(data["tests"], 1))
    if len({test.name for test in tests}) != len(tests):
        read.fail("tests", "two have the same name")
    return Lab(path.parent.name.partition("-")[2], data["number"], data["title"], path.parent, replaces, tests,
               _measure(read, data["measure"], tests) if "measure" in data else None)


def _measure(read: Reader, data: Table, tests: tuple[Test, ...]) -> Measure:
    read.need("measure", data, "test", "smp", "seeds")
    if not any(test.name == data["test"] and test.figure is not None for test in tests):
        read.fail("measure.test", f"a test with a figure is needed, not {data['test']!r}")
    return Measure(data["test"], tuple(data["smp"]), data["seeds"])


def _test(read: Reader, folder: Path, number: int, data: Table) -> Test:
    where = f"test {number}"
    read.shape(where, data, TEST)
    read.need(where, data, "name", "title", "program", "points")
    where = f"test {data['name']}"
    if not (folder / "tests" / f"{data['program']}.c").is_file():
        read.fail(where, f"there is no tests/{data['program']}.c")
    draw = data.get("draw", {})
    for name, ends in draw.items():
        if not (isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, int) for end in ends)
                and ends[0] <= ends[1]):
            read.fail(f"{where}: draw.{name}", f"[the least, the most] is needed, not {ends!r}")
    figure = data.get("figure")
    if figure is not None:
        read.need(f"{where}: figure", figure, "name", "full", "none")
        if figure["full"] >= figure["none"]:
            read.fail(f"{where}: figure", "full points come with fewer instructions than none")
    for name in ("smp", "quantum"):
        if not all(isinstance(one, int) and one > 0 for one in data.get(name, [1])) or data.get(name) == []:
            read.fail(f"{where}: {name}", "a list of numbers is needed")
    more: Table = {name: data[name] for name in ("model", "options", "engine", "seeds", "hidden_seeds",
                                                 "hidden_points", "limit_ms", "mem", "append") if name in data}
    more |= {name: tuple(data[name]) for name in ("smp", "quantum") if name in data}
    test = Test(data["name"], data["title"], data["program"], data.get("arguments", ""), data["points"],
                draw={name: (ends[0], ends[1]) for name, ends in draw.items()},
                figure=None if figure is None else Figure(**figure), **more)
    try:
        test.variants("", VISIBLE, 1)
    except (KeyError, IndexError, ValueError) as error:
        read.fail(f"{where}: arguments", f"{error}")
    return test
