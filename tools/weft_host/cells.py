"""Rows of results as the cells of tables: ours, the paper's, and both over a baseline cell.

A selection is a table of axes and values, as {configuration = "bound", threads = 16}; it may also
name another figure (value), a statistic over the rows that remain (mean is the preset), one seed, or
another experiment.
"""

import csv
import math
import statistics

from . import words
from .experiment import PAPERS
from .machine import UsageError
from .runner import OK
from .words import number

STATISTIC_TITLES = {"sd": "standard deviation", "max": "maximum", "min": "minimum",
                    "margin99": "margin of error, 99 %"}
MANY = 8  # runs of which a standard error tells something
Z99 = 2.576  # the normal distribution's quantile, as the papers use it


class NotMeasured(Exception):
    """There are no rows for what was asked, or those of failed runs."""


def statistic(values, name):
    """One of experiment.STATISTICS."""
    match name:
        case "mean":
            # Of equal values exactly that value.
            return values[0] if len(set(values)) == 1 else statistics.fmean(values)
        case "sd":
            return statistics.stdev(values) if len(values) > 1 else 0.0
        case "median":
            return statistics.median(values)
        case "margin99":
            sd = statistics.stdev(values) if len(values) > 1 else 0.0
            return Z99 * sd / math.sqrt(len(values))
    return {"max": max, "min": min}[name](values)


def interval(values, name):
    """Where a mean or a median lies as runs with different seeds tell: of a few runs from the least to the largest,
    of more the mean and two standard errors to both sides, or the values between which the median is in 95 of
    100 cases.  A standard deviation lies where it is without any one of the runs.  None if there is one run, and of
    max and min, which are about the extremes themselves."""
    if name == "sd" and len(values) > 2:
        without = [statistics.stdev(values[:at] + values[at + 1:]) for at in range(len(values))]
        return min(without), max(without)
    if name not in ("mean", "median") or len(values) < 2:
        return None
    if len(values) < MANY:
        return min(values), max(values)
    if name == "mean":
        mean, half = statistics.fmean(values), 2 * statistics.stdev(values) / math.sqrt(len(values))
        return mean - half, mean + half
    below, count = 0, 1  # of the values, and of the 2 ** n ways to lie beside the median, those with no more below
    while count / 2 ** len(values) <= 0.025:
        below += 1
        count += math.comb(len(values), below)
    ordered = sorted(values)
    return ordered[max(below - 1, 0)], ordered[-max(below, 1)]


def matches(row, selection):
    """Whether a selection finds a row; its statistic is over all that it finds."""
    return all(row.get(name) == value for name, value in selection.items() if name != "statistic")


def values(experiment, rows, selection, figure=None):
    """The figures of all good rows that a selection finds.  NotMeasured if there are none; a
    UsageError if they differ in more than their seeds."""
    selection = dict(selection)
    figure = selection.pop("value", None) or figure or experiment.figure
    selection.pop("statistic", None)
    found = [row for row in rows if matches(row, selection)]
    wrong = [row for row in found if row.get("status", OK) != OK]
    if wrong:
        raise NotMeasured(f"a run failed: {wrong[0]['status']}")
    good = [row for row in found if isinstance(row.get(figure), (int, float))
            and not isinstance(row[figure], bool)]
    if not good:
        raise NotMeasured(f"no figures of {describe(experiment, selection)}")
    for axis in experiment.axes:
        met = {row.get(axis) for row in good}
        if len(met) > 1 and axis not in experiment.keys:
            raise UsageError(f"{experiment.name}: {describe(experiment, selection)} has several "
                             f"values of {axis!r}")
    return [row[figure] for row in good]


def value(experiment, rows, selection, figure=None):
    return statistic(values(experiment, rows, selection, figure),
                     selection.get("statistic", "mean"))


def describe(experiment, selection):
    """A selection in words, without the figure that it names."""
    return ", ".join(
        STATISTIC_TITLES.get(one, one) if name == "statistic" else words.point(experiment, name, one)
        for name, one in selection.items() if name not in ("value", "experiment")) or "all"


def show(value, spread=None):
    """A cell's text, with the standard deviation of several seeds."""
    text = number(value)
    return f"{text} ±{number(spread)}" if spread else text


def figure_of(experiment, view):
    """What a table or a plot is about, where it shows one figure."""
    return view.get("value", experiment.figure)


def unit_of(experiment, view, figure=None):
    """The unit in which a view shows a figure: the view's for times, else the figure's own."""
    own = words.unit(experiment, figure or figure_of(experiment, view))
    given = view.get("unit", own)
    return own if figure and not (own in words.TIMES and given in words.TIMES) else given


def divisor(experiment, view, figure=None):
    """What brings a figure into the unit of unit_of: times alone convert."""
    own = words.unit(experiment, figure or figure_of(experiment, view))
    shown = unit_of(experiment, view, figure)
    return (words.TIMES[shown] / words.TIMES[own]
            if shown in words.TIMES and own in words.TIMES else 1)


def is_table(view):
    """Whether a [[tables]] entry shows cells that weft measured."""
    return view.get("kind", "cells") == "cells" and view.get("measured", True)


class Table:
    """One table of an experiment: labels of rows and columns, and the cells between."""

    def __init__(self, experiment, rows, view):
        self.experiment, self.view = experiment, view
        self._where = view.get("where", {})
        self._statistic = view.get("statistic", "mean")
        self.rows_axis = view["rows"]
        self.columns_axis = "value" if "values" in view else view.get(
            "columns", "configuration" if "configuration" in experiment.axes else "value")
        self._figure = view.get("value", experiment.figure)
        self._rows = [row for row in rows if matches(row, self._where)]
        # Several figures have their units in the headings.
        self.unit = "" if "values" in view else unit_of(experiment, view)
        self.row_labels = self._labels(self.rows_axis)
        self.column_labels = self._labels(self.columns_axis)
        self.headings = [self._heading(label) for label in self.column_labels]
        self.corner = words.axis(experiment, self.rows_axis)
        self.title = view.get("title") or experiment.title
        self.caption = f"{self.title} ({words.sign(self.unit)})" if self.unit else self.title
        self.paper = paper_cells(view["paper"]) if "paper" in view else {}
        self.paper_spread = paper_cells(view["paper"], "_sd") if "paper" in view else {}

    def _labels(self, axis):
        if axis == "value":
            return list(self.view.get("values", {self._figure: ""}))
        if axis == "statistic":
            return ["mean", "sd", "max", "min", "margin99"]
        return list(dict.fromkeys(row[axis] for row in self._rows if axis in row))

    def _heading(self, label):
        if self.columns_axis == "configuration":
            return self.experiment.configurations[label].title
        if self.columns_axis == "value":
            given = self.view.get("values", {}).get(label) or words.name(self.experiment, label)
            return (words.titled(given, unit_of(self.experiment, self.view, label))
                    if "values" in self.view else given)
        if self.columns_axis == "statistic":
            return STATISTIC_TITLES.get(label, label)
        return words.point(self.experiment, self.columns_axis, label)

    def row_title(self, label):
        if self.rows_axis == "configuration":
            return self.experiment.configurations[label].title
        return words.label(self.rows_axis, label)

    def _values(self, row, column):
        selection, figure, name = {}, self._figure, self._statistic
        for axis, label in ((self.rows_axis, row), (self.columns_axis, column)):
            if axis == "value":
                figure = label
            elif axis == "statistic":
                name = label
            else:
                selection[axis] = label
        found = [r for r in self._rows if matches(r, selection)]
        wrong = [r for r in found if r.get("status", OK) != OK]
        if wrong:
            return "failed", name
        divide = divisor(self.experiment, self.view, figure if "values" in self.view else None)
        return [r[figure] / divide if divide != 1 and isinstance(r[figure], (int, float))
                else r[figure] for r in found if r.get(figure) not in (None, "")], name

    def cell(self, row, column):
        """A number in the table's unit, a word, or None: not measured."""
        found, name = self._values(row, column)
        if isinstance(found, str) or not found:
            return found or None
        if not all(isinstance(one, (int, float)) for one in found):
            return found[0]
        return statistic(found, name)

    def spread(self, row, column):
        """The standard deviation over seeds, or None."""
        found, name = self._values(row, column)
        if self.columns_axis == "statistic":  # it has a column of its own
            return None
        if isinstance(found, str) or len(found) < 2 or name != "mean" or not all(
                isinstance(one, (int, float)) for one in found):
            return None
        return statistic(found, "sd")

    def baseline(self):
        """(row, column) of the cell that the others are compared with, or None."""
        given = self.view.get("normalise")
        if not given:
            return None
        return (given.get(self.rows_axis, self.row_labels[0] if self.row_labels else None),
                given.get(self.columns_axis, self.column_labels[0] if self.column_labels else None))


def paper_cells(source, suffix=""):
    """{(row label, configuration): number} of a paper's table."""
    with (PAPERS / source["file"]).open(newline="") as file:
        lines = [row for row in csv.DictReader(file)
                 if all(row.get(name) == str(value)
                        for name, value in source.get("where", {}).items())]
    rename = source.get("rename", {})
    found = {}
    for line in lines:
        names = source["rows"] if isinstance(source["rows"], list) else [source["rows"]]
        for name in names:
            if name not in line:
                raise UsageError(f"{source['file']}: no column {name!r}")
        label = _label(" ".join(line[name] for name in names))
        label = rename.get(label, label) if isinstance(label, str) else label
        for name, column in source["columns"].items():
            if "pivot" in source:
                text = line[source["value"]] if line[source["pivot"]] == column else ""
                text = "" if suffix else text
            else:
                if not suffix and column not in line:
                    raise UsageError(f"{source['file']}: no column {column!r}")
                text = line.get(column + suffix, "")
            if text:
                found[label, name] = float(text)
    return found


def _label(text):
    try:
        return int(text)
    except ValueError:
        return text
