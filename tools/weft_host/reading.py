"""What is wrong with an experiment's file is said with the file and the key: the checks that its parts share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .formula import Formula
from .machine import UsageError

if TYPE_CHECKING:
    from .experiment import Experiment

Table = dict[str, Any]  # a table of TOML
# What a key's value may be: a type, one of several, or a table with such keys.
Shape = dict[str, "type | tuple[type, ...] | Shape"]

NUMBER = (int, float)


def grids(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name_of(kind: type | tuple[type, ...]) -> str:
    names = {str: "a text", int: "a whole number", bool: "true or false", dict: "a table",
             list: "a list", float: "a number"}
    if kind == NUMBER:
        return "a number"
    return " or ".join(names[one] for one in (kind if isinstance(kind, tuple) else (kind,)))


class Reader:
    """Checks one file; its errors begin with the file's name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = ""  # of the file, for its lines

    def line(self, text: str) -> int:
        """Where a line of the file begins with this; 0: nowhere."""
        return next((number for number, line in enumerate(self.text.splitlines(), 1)
                     if line.startswith(text)), 0)

    def fail(self, where: str, text: str) -> NoReturn:
        raise UsageError(f"{self.path}: {where}: {text}" if where else f"{self.path}: {text}")

    def claim(self, claim: Table) -> str:
        """Where a claim stands."""
        number = self.line(f'id = "{claim["id"]}"')
        return f"line {number}: claim {claim['id']}"

    def shape(self, where: str, value: Any, known: Shape) -> None:
        """value is a table of known keys, each of its type."""
        if not isinstance(value, dict):
            self.fail(where, "not a table")
        for key, one in value.items():
            if key not in known:
                self.fail(where, f"unknown key {key!r}; known: {', '.join(known)}")
            kind, at = known[key], f"{where}.{key}" if where else key
            if isinstance(kind, dict):
                self.shape(at, one, kind)
            elif not isinstance(one, kind) or (isinstance(one, bool) and kind is not bool):
                self.fail(at, f"{_name_of(kind)} is needed, not {one!r}")

    def need(self, where: str, value: Table, *keys: str) -> None:
        for key in keys:
            if key not in value:
                self.fail(where, f"{key!r} is missing")

    def grid(self, where: str, grid: Any, known: Shape) -> None:
        """A table of lists; known: of what type a value is to be, of some names."""
        if not isinstance(grid, dict):
            self.fail(where, "not a table of lists")
        for name, values in grid.items():
            values = values if isinstance(values, list) else [values]
            if not name.isidentifier() or name in ("configuration", "seed", "status"):
                self.fail(f"{where}.{name}", "not a name for a parameter")
            if not values:
                self.fail(f"{where}.{name}", "has no values")
            if len(set(map(repr, values))) != len(values):
                self.fail(f"{where}.{name}", "has a value twice")
            for value in values:
                if not isinstance(value, (int, float, str)) or isinstance(value, bool):
                    self.fail(f"{where}.{name}", f"{value!r} is neither number nor text")
                kind = known.get(name)
                if kind and not isinstance(kind, dict) and not isinstance(value, kind):
                    self.fail(f"{where}.{name}", f"{_name_of(kind)} is needed, not {value!r}")

    def seeds(self, where: str, seeds: int | list[Any], none: bool = False) -> None:
        """none: whether an empty list may say that there are no seeds, in place of those of [run]."""
        good = seeds > 0 if isinstance(seeds, int) else (none or bool(seeds)) and all(
            isinstance(one, int) and one >= 0 for one in seeds) and len(set(seeds)) == len(seeds)
        if not good:
            self.fail(where, "how many, or a list of different ones, is needed")

    def texts(self, where: str, values: Iterable[Any]) -> None:
        for value in values:
            if not isinstance(value, str) or not value:
                self.fail(where, f"a list of texts is needed, not {value!r}")

    def formula(self, where: str, text: str) -> Formula:
        try:
            return Formula(text)
        except UsageError as error:
            self.fail(where, str(error))


def check_pair(read: Reader, experiment: Experiment, where: str, pair: Any) -> None:
    if not isinstance(pair, list) or len(pair) != 2 or pair[0] == pair[1]:
        read.fail(where, f"two configurations are a pair, not {pair!r}")
    for name in pair:
        if not isinstance(name, str) or name not in experiment.configurations:
            read.fail(where, f"there is no configuration {name!r}")


def check_selection(read: Reader, experiment: Experiment, where: str, selection: Any) -> None:
    """Each key is an axis and has one value, which the axis has."""
    if not isinstance(selection, dict):
        read.fail(where, "not a table")
    if "experiment" in selection:  # another's: looked at when its results are
        return
    for key, value in selection.items():
        if isinstance(value, (list, dict)):
            read.fail(where, f"{key}: one value is needed, not {value!r}")
        if key in ("value", "statistic", "seed"):
            continue
        if key not in experiment.axes:
            read.fail(where, f"there is no {key!r}; there are: {', '.join(experiment.axes)}")
        if key == "configuration" and value not in experiment.configurations:
            read.fail(where, f"there is no configuration {value!r}")
        points = {repr(one) for grid in experiment.parameters if key in grid
                  for one in grids(grid[key])}
        if points and repr(value) not in points:
            read.fail(where, f"{key} is never {value!r}")
