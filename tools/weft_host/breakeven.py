"""Where two ways of doing the same cost the same: the pictures of docs/what-it-comes-to.md.

break-even.toml has a picture as a table, with a title, titles of the axes, and curves.  A curve is the quotient of
two figures of an experiment, `over` and `under`, at each point of the axis `x` that was measured; `where` selects
for both.  Where it passes 1, both ways cost the same: that is computed here, from the two points beside it.  Points
that lie within EQUAL of 1 are equal, and do not make a passage.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .cells import NotMeasured
from .experiment import Experiment
from .figures import Values
from .machine import UsageError
from .paths import HERE
from .project import tomllib
from .reading import Reader, Shape, check_selection

FILE = HERE / "break-even.toml"
EQUAL = 0.02
CURVE: Shape = {"title": str, "experiment": str, "x": str, "over": dict, "under": dict, "where": dict}
PICTURE: Shape = {"title": str, "x_title": str, "y_title": str, "log": str, "curves": dict}
Results = Mapping[str, tuple[Experiment, list[dict[str, Any]]]]


@dataclass(frozen=True)
class Curve:
    """points: (x, quotient), by x."""

    title: str
    points: list[tuple[float, float]]

    def crossings(self) -> list[float]:
        """Where it passes 1 from one side to the other, on the straight lines between its points."""
        found: list[float] = []
        apart = [n for n, (_, y) in enumerate(self.points) if abs(y - 1) > EQUAL]
        for first, last in zip(apart, apart[1:]):
            above = self.points[first][1] > 1
            if above != (self.points[last][1] > 1):
                # The line on which it comes to the other side.
                end = next(n for n in range(first + 1, last + 1) if (self.points[n][1] > 1) != above)
                (x, y), (next_x, next_y) = self.points[end - 1], self.points[end]
                found.append(x + (next_x - x) * (1 - y) / (next_y - y))
        return found


@dataclass(frozen=True)
class Picture:
    """curves: by their names; those that were measured."""

    name: str
    title: str
    x_title: str
    y_title: str
    log: str
    curves: dict[str, Curve]

    def _curve(self, name: str) -> Curve:
        if name not in self.curves:
            raise UsageError(f"break-even {self.name}: no curve {name!r} was measured, only "
                             f"{', '.join(self.curves) or 'none'}")
        return self.curves[name]

    def crossing(self, curve: str) -> float:
        """The first of a curve; a UsageError if there is none."""
        found = self._curve(curve).crossings()
        if not found:
            raise UsageError(f"break-even {self.name}: {curve} does not pass 1")
        return found[0]

    def quotient(self, curve: str, x: float) -> float:
        """Of a curve at a point that was measured; a UsageError if there is none."""
        points = dict(self._curve(curve).points)
        if x not in points:
            raise UsageError(f"break-even {self.name}: {curve} has no figure at {x:g}")
        return points[x]


def _check(read: Reader, known: Mapping[str, Experiment], tables: dict[str, Any]) -> None:
    for name, table in tables.items():
        read.shape(name, table, PICTURE)
        read.need(name, table, *PICTURE)
        for key, curve in table["curves"].items():
            where = f"{name}.curves.{key}"
            read.shape(where, curve, CURVE)
            read.need(where, curve, *(one for one in CURVE if one != "where"))
            if curve["experiment"] not in known:
                read.fail(where, f"no experiment {curve['experiment']!r}")
            owner = known[curve["experiment"]]
            for part in ("over", "under", "where"):
                check_selection(read, owner, f"{where}: {part}", curve.get(part, {}))
            if curve["x"] not in owner.axes:
                read.fail(where, f"x: there is no {curve['x']!r}")


def _curve(table: dict[str, Any], results: Results) -> Curve:
    owner, rows = results[table["experiment"]]
    get = Values(results, owner, rows, table.get("where", {}), None)
    points = []
    for x in get.xs(table["x"]):
        try:
            over, under = (get(table[part] | {table["x"]: x}) for part in ("over", "under"))
        except NotMeasured:
            continue
        if under:
            points.append((x, over / under))
    return Curve(table["title"], points)


def pictures(results: Results) -> dict[str, Picture]:
    """All, by name; results: of all experiments, and without rows of those that were not measured.  A UsageError
    names file and curve."""
    read = Reader(FILE)
    tables = tomllib.loads(FILE.read_text())
    _check(read, {name: one for name, (one, _) in results.items()}, tables)
    found = {}
    for name, table in tables.items():
        curves = {key: _curve(curve, results) for key, curve in table["curves"].items()}
        found[name] = Picture(name, **{key: table[key] for key in PICTURE if key != "curves"},
                              curves={key: curve for key, curve in curves.items() if curve.points})
    return found
