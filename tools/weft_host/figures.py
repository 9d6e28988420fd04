"""Where a claim's check gets its figures: weft's rows, or the paper's tables.

A source answers get(selection), get.all(selection), get.xs(axis) and get.pair(names), and says how a figure is
shown.  Changed stands before one, and answers with other figures than it has.
"""

from . import cells, samples, words
from .cells import NotMeasured
from .runner import OK


class Values:
    """Figures of one point of a claim."""

    def __init__(self, results, experiment, rows, where, figure):
        self._results = results
        self._experiment, self._rows = experiment, rows
        self._where, self._figure = where, figure

    def _source(self, selection):
        """(experiment, rows, the whole selection)"""
        selection = dict(selection)
        name = selection.pop("experiment", None)
        if name is None or name == self._experiment.name:
            return self._experiment, self._rows, self._where | selection
        if name not in self._results:
            raise NotMeasured(f"{name} was not measured")
        return *self._results[name], selection

    def __call__(self, selection):
        return cells.value(*self._source(selection), self._figure)

    def _unit(self, experiment, figure):
        return words.unit(experiment, figure)

    def show(self, value, selection):
        """A value of this selection, with its unit."""
        experiment, _, whole = self._source(selection)
        return words.quantity(value, self._unit(
            experiment, whole.get("value") or self._figure or experiment.figure))

    def describe(self, selection):
        return cells.describe(self._experiment, selection)

    def name(self, axis):
        return words.name(self._experiment, axis)

    def all(self, selection):
        return cells.values(*self._source(selection), self._figure)

    def interval(self, selection):
        """Where the figure lies as its seeds tell, or None."""
        found = self._source(selection)
        return cells.interval(cells.values(*found, self._figure), found[2].get("statistic", "mean"))

    def xs(self, axis):
        """The points of an axis that were measured, in their order."""
        return sorted({row[axis] for row in self._rows
                       if isinstance(row.get(axis), (int, float)) and cells.matches(row, self._where)})

    def pair(self, names):
        """The frequencies of two configurations."""
        if any(row.get("status", OK) != OK for row in self._rows
               if cells.matches(row, self._where)):
            raise NotMeasured("a run failed")
        return self._both(samples.of_rows(self._experiment, self._rows, {
            "where": self._where, "value": self._figure or self._experiment.figure}), names)

    @staticmethod
    def _both(found, names):
        if found is None or not set(names) <= set(found.counts):
            raise NotMeasured(f"no samples of {' and '.join(names)}")
        least = min(sum(found.counts[name]) for name in names)
        if least < samples.LEAST:
            raise NotMeasured(f"{least} samples are too few: {samples.LEAST} are needed (--full)")
        return [found.counts[name] for name in names]


def paper_scale(experiment, view):
    """What brings a figure of a view's paper into the unit of weft's."""
    own, theirs = words.unit(experiment, view.get("value", experiment.figure)), view["paper"].get("unit", "")
    return words.TIMES[theirs] / words.TIMES[own] if theirs in words.TIMES and own in words.TIMES else 1


def paper_tables(experiment, figure):
    """The paper's cells of a figure that stand beside weft's, as rows of results: a list for each table."""
    found = []
    for view in experiment.tables:
        if ("paper" in view and cells.is_table(view) and view.get("value", experiment.figure) == figure
                and view.get("columns", "configuration") == "configuration" and "values" not in view):
            scale = paper_scale(experiment, view)
            at = view.get("where", {})
            found.append([at | {view["rows"]: label, "configuration": name, figure: number * scale}
                          for (label, name), number in cells.paper_cells(view["paper"]).items()])
    return found


class PaperCells(Values):
    """The same of the paper's cells; what a claim takes of another experiment is of the paper, too."""

    def _source(self, selection):
        experiment, rows, whole = super()._source(selection)
        if experiment is not self._experiment:
            at = {name: value for name, value in whole.items() if name != "value"}
            tables = paper_tables(experiment, whole.get("value") or self._figure or experiment.figure)
            rows = next((rows for rows in tables if any(cells.matches(row, at) for row in rows)), [])
        return experiment, rows, whole

    def interval(self, selection):
        """Its seeds are not known."""
        return None


class PaperValues(PaperCells):
    """The same of the paper's tables of statistics and of frequencies."""

    def _tables(self, experiment, figure, where):
        """The views that stand beside such a table of the paper's."""
        return [view for view in experiment.tables
                if "paper" in view and view.get("measured", True)
                and view.get("value", experiment.figure) == figure
                and cells.matches(view.get("where", {}), where)]

    def __call__(self, selection):
        experiment, _, where = self._source(selection)
        where = dict(where)
        figure = where.pop("value", None) or self._figure or experiment.figure
        key = where.pop("configuration", None), where.pop("statistic", "mean")
        for view in self._tables(experiment, figure, where):
            if cells.is_table(view) and view.get("columns") == "statistic":
                found = cells.paper_cells(view["paper"]).get(key)
                if found is not None:
                    return found * paper_scale(experiment, view)
        raise NotMeasured(f"the paper has no figures of {self.describe(selection)}")

    def all(self, selection):
        raise NotMeasured("the paper has no figures of single runs")

    def pair(self, names):
        figure = self._figure or self._experiment.figure
        for view in self._tables(self._experiment, figure, self._where):
            if view.get("kind") in samples.KINDS:
                return self._both(samples.of_paper(view["paper"]), names)
        raise NotMeasured("the paper has no frequencies")


class Changed:
    """Another source's figures, each read once.  seen: those that a check has read; a check that is made again
    finds what `changed` has in their place."""

    def __init__(self, get):
        self._get = get
        self.seen = {}  # {key: figure}
        self.selections = {}  # {key: the selection of a single figure}
        self.changed = {}
        self.show, self.describe, self.name, self.xs, self.pair = (
            get.show, get.describe, get.name, get.xs, get.pair)

    def _read(self, key, read):
        if key not in self.seen:
            self.seen[key] = read()
        return self.changed.get(key, self.seen[key])

    def __call__(self, selection):
        key = repr(sorted(selection.items()))
        self.selections[key] = selection
        return self._read(key, lambda: self._get(selection))

    def all(self, selection):
        at = "all " + repr(sorted(selection.items()))
        values = self._get.all(selection)
        return [self._read(f"{at} {number}", lambda value=value: value)
                for number, value in enumerate(values)]

    def interval(self, key):
        """Of a figure that was read: where it lies, or None."""
        return self._get.interval(self.selections[key]) if key in self.selections else None
