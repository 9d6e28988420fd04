"""An experiment as data: what a TOML file says, checked, and the runs that follow from it.

docs/experiments.md describes the file for its author.  Whatever is wrong with it is said
when it is read, with the file and the key, so that nothing is measured for nothing.

The words: a parameter varies over a grid; a configuration is a named choice of model, options,
scheduling class and so on, as a column of a table is; a run is one boot of a guest, for one
configuration, one point of the grid and one seed; it gives one row for each line of results.
"""

import itertools
import re
import shlex
import string
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft_trace.workers import COUNTS

from . import claimfile, words
from .formula import Formula
from .machine import Machine, UsageError
from .paths import BUILD, HERE
from .project import tomllib
from .reading import NUMBER, Reader, Shape, Table, check_pair, check_selection, grids

EXPERIMENTS = HERE / "experiments"
PAPERS = HERE / "papers"

# What a machine or the start of a program can be given.  A grid may vary any of them.
SETTINGS: Shape = {
    "smp": int, "model": str, "options": str, "class": str, "quantum": int, "engine": str,
    "mips": int, "mem": str, "free": str, "append": str, "timing": str, "timeout": NUMBER, "traced": bool,
}
NOT_MACHINE = ("class", "traced")  # those that are no arguments of a Machine
SHOWN = ("model", "options", "class", "smp", "quantum", "mips", "timing")  # columns of the results
# The engine is no column: it changes no figure.
# The timeout is of the host's clock: the longest run of the full set takes six minutes of a core of its
# own, and others may want the core too.  A guest where nothing can happen any more ends by itself.
PRESET: Table = {"smp": 1, "mem": "512M", "timing": "exact", "timeout": 1800}

AXIS: Shape = {"rows": str, "columns": str}
PAPER_TABLE: Shape = {
    "file": str, "rows": (str, list), "columns": dict, "where": dict, "pivot": str,
    "value": str, "unit": str, "rename": dict, "titles": dict, "ranges": list,
}
TABLE: Shape = {
    "title": str, **AXIS, "value": str, "values": dict, "unit": str, "where": dict,
    "paper": PAPER_TABLE, "normalise": dict, "statistic": str, "note": str, "kind": str,
    "measured": bool, "pairs": list, "ranges": list, "of": dict, "kwh_price": NUMBER,
    "watts": NUMBER,
}
# What each kind of table needs; without a kind it shows cells.  The others need the whole samples of
# the configurations (samples.py), and stand in the report alone.
TABLE_KINDS: dict[str, tuple[str, ...]] = {
    "cells": ("rows",), "frequencies": (), "sets": ("pairs",), "chi-square": ("pairs",),
    "ranges": ("ranges",), "cost": ("of", "kwh_price", "watts"),
}
PLOT: Shape = {
    "title": str, "form": str, "x": str, "series": str, "value": str, "unit": str,
    "where": dict, "log": str, "relative": dict, "paper": bool, "x_title": str, "y_title": str,
    "values": dict, "statistic": str, "note": str, "summary": list, "over": str,
}
FORMS = ("line", "bar", "histogram")
STATISTICS = ("mean", "sd", "max", "min", "median", "margin99")
QUICK: Shape = {
    "parameters": (dict, list), "configurations": list, "seeds": (int, list), "run": dict,
    "skip": bool,
}
TOP: Shape = {
    "title": str, "paper": str, "section": str, "shows": str, "order": int, "text": str,
    "scale": {"factor": NUMBER, "text": str}, "program": str, "arguments": str, "files": list,
    "build": list, "programs": dict,
    "patterns": list, "module": str, "figure": str, "better": str, "unit": str, "keys": list,
    "host": bool, "names": dict, "units": dict, "derive": dict, "states": dict,
    "run": SETTINGS | {"seeds": (int, list)},
    "parameters": (dict, list), "when": str, "repeated": str, "configurations": dict, "quick": QUICK,
    "tables": list, "plots": list, "claims": list,
}


@dataclass(frozen=True)
class Configuration:
    """A named choice; settings: of SETTINGS; parameters: further values for the arguments."""

    name: str
    title: str
    settings: Table
    parameters: Table


@dataclass(frozen=True)
class Run:
    """One boot."""

    experiment: str
    configuration: str
    parameters: Table
    seed: int | None
    settings: Table
    argv: tuple[str, ...]
    files: tuple[Path, ...] = ()

    def machine(self) -> Machine:
        """The Machine that it needs."""
        known = {name: value for name, value in self.settings.items() if name not in NOT_MACHINE}
        exact = known["timing"] == "exact"
        machine = Machine(argv=list(self.argv), files=list(self.files), background=exact,
                          seed=self.seed if exact else None, **known)
        machine.check()
        return machine

    @property
    def traced(self) -> bool:
        return bool(self.settings.get("traced", False))

    def command(self) -> str:
        """What to type to repeat it."""
        words = ["tools/weft", "stats" if self.traced else "run", "--timing", self.settings["timing"]]
        for name in ("smp", "mem", "free", "model", "options", "quantum", "engine", "mips", "append"):
            value = self.settings.get(name)
            if value not in (None, "", PRESET.get(name)):
                words += [f"--{name}", str(value)]
        if self.seed is not None and self.settings["timing"] == "exact":
            words += ["--seed", str(self.seed)]
        for file in self.files:
            words += ["--file", str(file)]
        return shlex.join([*words, "--", *self.argv])

    def row(self) -> Table:
        """What its rows of results begin with."""
        return ({"configuration": self.configuration} | self.parameters | {"seed": self.seed}
                | {name: self.settings.get(name) for name in SHOWN})


@dataclass
class Experiment:
    """What a file says."""

    name: str
    path: Path
    title: str
    figure: str
    paper: str = "weft"
    section: str = ""
    shows: str = ""  # which table or figure
    order: int = 1000  # on the paper's page
    text: str = ""
    scale: Table | None = None
    program: str = ""
    arguments: str = ""
    files: list[Path] = field(default_factory=list)
    build: list[str] = field(default_factory=list)  # what `program` is compiled of, and options of GCC
    programs: dict[str, list[str]] = field(default_factory=dict)  # the same of others, which `arguments` call
    patterns: list[str] = field(default_factory=list)
    module: str | None = None
    better: str = "less"
    host: bool = False  # the figures are the host's, whatever the timing
    unit: str | None = None  # of the figure; None: that of its name
    keys: list[str] = field(default_factory=list)  # of a line of results: what tells it from others
    names: dict[str, str] = field(default_factory=dict)  # of parameters and figures, for readers
    units: dict[str, str] = field(default_factory=dict)
    derive: dict[str, Formula] = field(default_factory=dict)
    states: dict[str, Formula] = field(default_factory=dict)  # conditions on how many threads are in which state
    run: Table = field(default_factory=dict)
    parameters: list[Table] = field(default_factory=lambda: [{}])
    when: Formula | None = None
    repeated: Formula | None = None  # which points run with each seed; the others run with the first one
    configurations: dict[str, Configuration] = field(default_factory=dict)
    quick: Table = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    plots: list[Table] = field(default_factory=list)
    claims: list[Table] = field(default_factory=list)

    @property
    def built(self) -> dict[Path, list[str]]:
        """Where the programs are put that are compiled, and what each is compiled of."""
        made = ({self.program: self.build} if self.build else {}) | self.programs
        return {BUILD / "bench" / self.name / name: sources for name, sources in made.items()}

    @property
    def axes(self) -> list[str]:
        """Names that tell rows apart, in the order of the columns; seeds do not count."""
        return list(dict.fromkeys(
            [*([] if self.module else ["configuration"]),
             *(name for grid in self.parameters for name in grid), *self.keys]))

    def skipped(self, full: bool) -> bool:
        return not full and bool(self.quick.get("skip", False))

    def runs(self, full: bool) -> list[Run]:
        """All runs of the full set, or of the quick one."""
        quick = {} if full else self.quick
        chosen = self.parameters
        if "parameters" in quick:
            given = grids(quick["parameters"])
            chosen = ([chosen[0] | given[0]] if len(chosen) == len(given) == 1 else given)
        seeds = quick.get("seeds", self.run.get("seeds"))
        seeds = list(range(1, seeds + 1)) if isinstance(seeds, int) else seeds or [None]
        names = quick.get("configurations", list(self.configurations))
        return [self._run(self.configurations[name], point, seed, quick.get("run", {}))
                for grid in chosen for point in _points(grid)
                if self.when is None or self.when(point)
                for name in names
                for seed in (seeds if self.repeated is None or self.repeated(point) else seeds[:1])]

    def _run(self, configuration: Configuration, point: Table, seed: int | None, more: Table) -> Run:
        settings = PRESET | {k: v for k, v in (self.run | more).items() if k != "seeds"}
        settings |= configuration.settings
        settings |= {name: value for name, value in point.items() if name in SETTINGS}
        values = settings | {"seed": seed} | configuration.parameters | point
        try:
            argv = [self.program, *_split(self.arguments.format_map(values))]
        except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
            raise UsageError(f"arguments: for {configuration.name}: {error}") from error
        if settings.get("class"):
            argv = ["priocntl", "-e", "-c", settings["class"], *argv]
        files = (*self.files, *self.built)
        return Run(self.name, configuration.name, dict(point), seed, settings, tuple(argv), files)


def _split(text: str) -> list[str]:
    """The words, as the shell's; shlex takes a hundred times as long, and there are thousands of runs."""
    return shlex.split(text) if set(text) & set("'\"\\") else re.findall(r"[^ \t\r\n]+", text)


def _points(grid: Table) -> list[Table]:
    lists = [value if isinstance(value, list) else [value] for value in grid.values()]
    return [dict(zip(grid, choice)) for choice in itertools.product(*lists)]


# --- reading -------------------------------------------------------------------------------------

def load(path: str | Path) -> Experiment:
    """Reads an experiment; a UsageError says what is wrong with it."""
    from . import claims, power  # they rest on this file

    path = Path(path)
    read = Reader(path)
    try:
        read.text = path.read_text()
        data = tomllib.loads(read.text)
    except OSError as error:
        read.fail("", error.strerror or str(error))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        read.fail("", str(error))
    read.shape("", data, TOP)
    read.need("", data, "title", "figure")
    if ("module" in data) == ("program" in data):
        read.fail("", "either 'program' or 'module' is needed")
    if data.get("better", "less") not in ("less", "more"):
        read.fail("better", "less or more is needed")
    _read_grid(read, data)
    _read_configurations(read, data)
    data["parameters"] = grids(data.get("parameters", {}))
    for key in ("when", "repeated"):
        if key in data:
            data[key] = read.formula(key, data[key])
    data["derive"] = {name: read.formula(f"derive.{name}", text)
                      for name, text in data.get("derive", {}).items()}
    data["states"] = {name: read.formula(f"states.{name}", text)
                      for name, text in data.get("states", {}).items()}
    for key in ("names", "units"):
        read.shape(key, data.get(key, {}), dict.fromkeys(data.get(key, {}), str))
    _read_files(read, data, path.parent)
    groups = _read_patterns(read, data.get("patterns", []))
    experiment = Experiment(name=path.stem, path=path, **data)
    _check_names(read, experiment)
    _check_traced(read, experiment)
    _check_figure(read, experiment, groups)
    _read_views(read, experiment)
    for number, claim in enumerate(experiment.claims):
        claimfile.check(read, experiment, f"claims[{number}]", claim)
        if "explanation" in claim:
            claim["explanation"] = claimfile.MARK.sub("", claim["explanation"])
    power.check_claims(read, experiment, claims.Judge({}))
    ids = [claim["id"] for claim in experiment.claims]
    for number, view in enumerate(experiment.plots):
        for one in view.get("summary", []):
            if one not in ids:
                read.fail(f"plots[{number}].summary", f"there is no claim {one!r}")
    for one in ids:
        if ids.count(one) > 1:
            read.fail("claims", f"there are two with the id {one!r}")
    if experiment.module:
        if not (EXPERIMENTS / f"{experiment.module}.py").is_file():
            read.fail("module", f"there is no {experiment.module!r} in {EXPERIMENTS}")
    else:
        for full in (True, False):
            _check_runs(read, experiment, full)
    return experiment


def _check_runs(read: Reader, experiment: Experiment, full: bool) -> None:
    try:
        runs = experiment.runs(full)
    except UsageError as error:
        read.fail("", str(error))
    if not runs:
        read.fail("when" if experiment.when else "quick", "no run is left")
    for run in runs:
        try:
            run.machine()
        except UsageError as error:
            read.fail(f"configuration {run.configuration}", str(error))


def _read_files(read: Reader, data: Table, folder: Path) -> None:
    """Files and sources stand beside the experiment, and are there."""
    read.texts("files", data.get("files", []))
    read.texts("build", data.get("build", []))
    for file in data.get("files", []):
        host, colon, guest = file.partition(":")
        if not (folder / host).is_file():
            read.fail("files", f"there is no file {host!r} beside the experiment")
        if colon and not guest.startswith("/"):
            read.fail("files", f"{guest!r} is not an absolute path of the guest")
    data["files"] = [folder / file for file in data.get("files", [])]
    if "build" in data:
        _read_build(read, "build", data.get("program", "/"), data["build"], folder)
    read.shape("programs", data.get("programs", {}), dict.fromkeys(data.get("programs", {}), list))
    for name, sources in data.get("programs", {}).items():
        read.texts(f"programs.{name}", sources)
        _read_build(read, f"programs.{name}", name, sources, folder)
        if name == data.get("program"):
            read.fail(f"programs.{name}", "is 'program': 'build' says what it is compiled of")


def _read_build(read: Reader, where: str, program: str, options: list[str], folder: Path) -> None:
    if "/" in program or program in ("", ".", ".."):
        read.fail(where, "makes 'program', which has to be a name" if where == "build" else "a name is needed")
    for word in options:
        if word in ("-c", "-S", "-E"):
            read.fail(where, f"with {word} GCC makes no program")
    sources = [word for word in options if not word.startswith("-")]
    if not sources:
        read.fail(where, "names no source")
    for source in sources:
        if not (folder / source).is_file():
            read.fail(where, f"there is no source {source!r} beside the experiment")


def _read_patterns(read: Reader, patterns: list[Any]) -> set[str]:
    """The names of their groups."""
    read.texts("patterns", patterns)
    groups: set[str] = set()
    for pattern in patterns:
        try:
            groups |= set(re.compile(pattern).groupindex)
        except re.error as error:
            read.fail("patterns", f"{pattern!r}: {error}")
    return groups


def _check_figure(read: Reader, experiment: Experiment, groups: set[str]) -> None:
    """With patterns it is known which figures a row has."""
    if not experiment.patterns:
        return
    known = groups | set(experiment.derive)
    if experiment.figure not in known:
        read.fail("figure", f"neither 'patterns' nor 'derive' give {experiment.figure!r}, but "
                  f"{', '.join(sorted(known)) or 'nothing'}")


def _check_traced(read: Reader, experiment: Experiment) -> None:
    """Only a program is traced, and conditions are about the states of its threads."""
    settings = [experiment.run, experiment.quick.get("run", {}), *experiment.parameters,
                *(one.settings for one in experiment.configurations.values())]
    traced = any(one.get("traced") for one in settings)
    if traced and experiment.module:
        read.fail("traced", "a module makes runs of its own")
    if experiment.states and not traced:
        read.fail("states", "no run is traced")
    for name, formula in experiment.states.items():
        if unknown := formula.names - set(COUNTS):
            read.fail(f"states.{name}", f"there is no {sorted(unknown)[0]!r}; there are {', '.join(COUNTS)}")


def _read_grid(read: Reader, data: Table) -> None:
    for where, value in (("parameters", data.get("parameters", {})),
                         ("quick.parameters", data.get("quick", {}).get("parameters", {}))):
        for grid in grids(value):
            read.grid(where, grid, SETTINGS)
    for where, part in (("run", data.get("run", {})), ("quick", data.get("quick", {}))):
        if "seeds" in part:
            read.seeds(f"{where}.seeds", part["seeds"], none=where == "quick")
    read.shape("quick.run", data.get("quick", {}).get("run", {}), SETTINGS)


def _read_configurations(read: Reader, data: Table) -> None:
    given = data.get("configurations", {"default": {}})
    if not given:
        read.fail("configurations", "has none")
    known = SETTINGS | {"title": str, "parameters": dict}
    data["configurations"] = {}
    for name, one in given.items():
        read.shape(f"configurations.{name}", one, known)
        data["configurations"][name] = Configuration(
            name, one.get("title", name),
            {key: value for key, value in one.items() if key in SETTINGS},
            one.get("parameters", {}))
    for name in data.get("quick", {}).get("configurations", []):
        if name not in given:
            read.fail("quick.configurations", f"there is no {name!r}")


def _check_names(read: Reader, experiment: Experiment) -> None:
    """The arguments and the condition use what there is."""
    if experiment.module:
        return
    for name in experiment.configurations:
        given = experiment.configurations[name].parameters
        for grid in experiment.parameters:
            values = PRESET | experiment.run | grid | given | {"seed": 0}
            values |= experiment.configurations[name].settings
            try:
                fields = [part[1] for part in string.Formatter().parse(experiment.arguments)]
            except ValueError as error:
                read.fail("arguments", str(error))
            for one in fields:
                if one is not None and one not in values:
                    read.fail("arguments", f"no parameter {one!r} for configuration {name!r}")
            for key, formula in (("when", experiment.when), ("repeated", experiment.repeated)):
                if formula and not formula.names <= set(grid):
                    read.fail(key, "is about parameters of the grid alone")


def _read_views(read: Reader, experiment: Experiment) -> None:
    axes = [*experiment.axes, "statistic", "seed"]
    for kind, known, views in (("tables", TABLE, experiment.tables),
                               ("plots", PLOT, experiment.plots)):
        for number, view in enumerate(views):
            where = f"{kind}[{number}]"
            read.shape(where, view, known)
            for key in ("rows", "columns", "x", "series"):
                if key in view and view[key] not in axes:
                    read.fail(f"{where}.{key}", f"there is no {view[key]!r}; there are: "
                              f"{', '.join(axes)}")
            if view.get("statistic", "mean") not in STATISTICS:
                read.fail(f"{where}.statistic", f"one of {', '.join(STATISTICS)} is needed")
            _check_unit(read, experiment, where, view)
            for key in ("where", "normalise", "relative"):
                check_selection(read, experiment, f"{where}.{key}", view.get(key, {}))
            if "over" in view:
                check_selection(read, experiment, f"{where}.over", {"configuration": view["over"]})
            if kind == "tables":
                one = view.get("kind", "cells")
                if one not in TABLE_KINDS:
                    read.fail(f"{where}.kind", f"one of {', '.join(TABLE_KINDS)} is needed")
                read.need(where, view, *TABLE_KINDS[one] if view.get("measured", True)
                          else {"paper"} | set(TABLE_KINDS[one]) - {"rows", "ranges", "of"})
                for pair in view.get("pairs", []):
                    check_pair(read, experiment, f"{where}.pairs", pair)
                if "paper" in view:
                    read.need(f"{where}.paper", view["paper"], "file", "rows", "columns")
                    if not (PAPERS / view["paper"]["file"]).is_file():
                        read.fail(f"{where}.paper", f"no file {view['paper']['file']!r}")
            else:
                if view.get("form", "line") not in FORMS:
                    read.fail(f"{where}.form", f"one of {', '.join(FORMS)} is needed")
                if view.get("form") != "histogram" and "values" not in view:
                    read.need(where, view, "x")


def _check_unit(read: Reader, experiment: Experiment, where: str, view: Table) -> None:
    """A view converts times into times; every other unit is the figure's own."""
    if "unit" not in view or not view.get("measured", True):
        return
    if "values" in view:
        if view["unit"] not in words.TIMES:
            read.fail(f"{where}.unit", f"one of {', '.join(words.TIMES)} is needed")
        return
    figure = view.get("value", experiment.figure)
    own = words.unit(experiment, figure)
    if view["unit"] != own and not (view["unit"] in words.TIMES and own in words.TIMES):
        read.fail(f"{where}.unit", f"{figure} is in {own or 'no unit'}, not in {view['unit']}; "
                  f"[units] {figure} = \"...\" says in which unit it is")


def known() -> dict[str, Path]:
    """The files of those that come with weft, by name."""
    return {path.stem: path for path in sorted(EXPERIMENTS.glob("*.toml"))}


def all_experiments() -> dict[str, Experiment]:
    """Those that come with weft, by name."""
    return {name: load(path) for name, path in known().items()}


def papers() -> dict[str, Table]:
    """{key: facts} of papers/papers.toml, in its order."""
    facts: dict[str, Table] = tomllib.loads((PAPERS / "papers.toml").read_text())
    return facts
