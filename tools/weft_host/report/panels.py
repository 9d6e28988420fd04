"""The tables of the pages: panels that stand beside each other, ours and the paper's.

A group is {title, note, panels}.  What the kinds of tables show is computed in cells.py and samples.py.
"""

import contextlib

from .. import cells, samples, words
from ..cells import NotMeasured


class Panel:
    """One table as it is drawn: title, headings, and lines of (label, texts)."""

    def __init__(self, title, unit, corner, headings, lines):
        self.title, self.unit, self.corner = title, words.sign(unit), corner
        self.headings, self.lines = headings, lines


def groups(experiment, view, table, results):
    """The groups of one [[tables]] entry; none if there is nothing to show.  table: the cells.Table
    of a view that is one; results: as of claims.Judge."""
    if table is not None:
        panels = _cells(table) if table.row_labels else []
    elif view.get("kind", "cells") == "cells":
        panels = [_paper_alone(experiment, view)]
    else:
        panels = _Samples(experiment, view, results).panels()
    if not panels:
        return []
    return [{"title": view.get("title") or experiment.title, "note": view.get("note", ""),
             "panels": panels}]


def _title(experiment, source, label):
    """Of a row or column in the paper's panel: as the paper calls it."""
    if label in source.get("titles", {}):
        return source["titles"][label]
    configuration = experiment.configurations.get(label)
    return configuration.title if configuration else str(label)


# --- cells ---------------------------------------------------------------------------------------

def _of_table(title, unit, table, cell, row_title=None, rows=None):
    row_title = row_title or table.row_title
    return Panel(title, unit, table.corner, table.headings,
                 [(row_title(row), [cell(row, column) for column in table.column_labels])
                  for row in rows or table.row_labels])


def _paper_rows(table):
    """The rows of the paper's panel: weft's, or the paper's own if weft measured none of these."""
    theirs = list(dict.fromkeys(row for row, _ in table.paper))
    return table.row_labels if set(theirs) & set(table.row_labels) else theirs


def _cells(table):
    """Absolute, and over the baseline cell."""
    unit = table.unit
    source = table.view.get("paper", {})

    def theirs_called(label):
        return source.get("titles", {}).get(label) or table.row_title(label)

    # What it shows, unless its title says it.
    about = "" if "values" in table.view else words.name(
        table.experiment, cells.figure_of(table.experiment, table.view))
    if about.lower() in table.title.lower():
        about = ""
    panels = [_of_table(f"weft: {about}" if about else "weft", unit, table,
                        lambda r, c: cells.show(table.cell(r, c), table.spread(r, c)))]
    if table.paper:
        panels.append(_of_table("the paper", source.get("unit", unit), table,
                                lambda r, c: cells.show(table.paper.get((r, c)),
                                                        table.paper_spread.get((r, c))),
                                theirs_called, _paper_rows(table)))
    base = table.baseline()
    if base and isinstance(table.cell(*base), (int, float)) and table.cell(*base):
        ours = table.cell(*base)
        heading = table.headings[table.column_labels.index(base[1])]

        def named(row_title):
            row = (words.point(table.experiment, table.rows_axis, base[0])
                   if isinstance(base[0], (int, float)) else row_title(base[0]))
            return f"{row}, {heading}"

        panels.append(_of_table(f"weft, {named(table.row_title)} = 1", "", table,
                                lambda r, c: _over(table.cell(r, c), ours)))
        theirs = table.paper.get(base)
        if theirs:
            panels.append(_of_table(f"the paper, {named(theirs_called)} = 1", "", table,
                                    lambda r, c: _over(table.paper.get((r, c)), theirs),
                                    theirs_called))
    return panels


def _over(value, base):
    return cells.show(value / base) if isinstance(value, (int, float)) else cells.show(value)


def _paper_alone(experiment, view):
    """What weft has nothing to set beside."""
    source, found = view["paper"], cells.paper_cells(view["paper"])
    columns = list(source["columns"])
    lines = [(_title(experiment, source, row), [cells.show(found.get((row, column)))
                                                for column in columns])
             for row in dict.fromkeys(row for row, _ in found)]
    return Panel("the paper", source.get("unit", ""),
                 words.name(experiment, view.get("rows") or (
                     source["rows"] if isinstance(source["rows"], str) else " ".join(source["rows"]))),
                 [cells.STATISTIC_TITLES.get(column) or _title(experiment, source, column)
                  for column in columns], lines)


# --- samples -------------------------------------------------------------------------------------

class _Samples:
    """The kinds of tables that are about whole samples."""

    def __init__(self, experiment, view, results):
        self._experiment, self._view, self._results = experiment, view, results
        self._measured = view.get("measured", True)
        self._source = view.get("paper", {})

    def panels(self):
        """weft's, if measured, and the paper's."""
        if self._view["kind"] == "cost":
            return self._cost()
        ours = self._ours() if self._measured else None
        theirs = samples.of_paper(self._source) if self._source else None
        sides = [("weft", ours, cells.unit_of(self._experiment, self._view), self._called)
                 ] if ours else []
        if theirs:
            sides.append(("the paper", theirs, self._source.get("unit", ""), self._theirs_called))
        make = {"frequencies": self._frequencies, "sets": self._sets,
                "chi-square": self._chi_square, "ranges": self._ranges}[self._view["kind"]]
        return [panel for side in sides for panel in make(*side)]

    def _ours(self):
        rows = self._results.get(self._experiment.name, (None, []))[1]
        return samples.of_rows(self._experiment, rows, self._view)

    def _called(self, name):
        return self._experiment.configurations[name].title

    def _theirs_called(self, name):
        return _title(self._experiment, self._source, name)

    def _pairs(self, found):
        return [pair for pair in self._view["pairs"] if set(pair) <= set(found.counts)]

    def _frequencies(self, title, found, unit, called):
        return [Panel(title, unit, "up to", [called(name) for name in found.counts],
                      [(end, [str(count[n]) for count in found.counts.values()])
                       for n, end in enumerate(found.labels)])]

    def _sets(self, title, found, unit, called):
        panels = []
        for first, second in self._pairs(found):
            sets = samples.algebra(found.counts[first], found.counts[second])
            columns = (sets.faster, sets.equal, sets.slower)
            lines = [(end, [str(column[n]) for column in columns])
                     for n, end in enumerate(found.labels)]
            lines.append(("total", [str(total) for total in sets.totals()]))
            lines.append(("share", [f"{share * 100:.2f} %" for share in sets.shares()]))
            panels.append(Panel(f"{title}: {called(first)} against {called(second)}", unit, "up to",
                                ["faster", "equal", "slower"], lines))
        return panels

    def _chi_square(self, title, found, unit, called):
        lines = []
        for first, second in self._pairs(found):
            test = samples.chi_square(found.counts[first], found.counts[second])
            lines.append((f"{called(first)}, {called(second)}",
                          [f"{test.q:.3f}", str(test.degrees), f"{test.limit:.3f}",
                           f"{test.chance:.2g}", "differ" if test.differ else "may be the same"]))
        return [Panel(title, "", "pair", ["Q", "degrees of freedom", "χ² (0.05)", "p", "they"],
                      lines)]

    def _ranges(self, title, found, unit, called):
        given = self._view if title == "weft" else self._source
        upto = given.get("ranges", list(range(1, len(found.labels))))
        ends = [found.labels[n - 1] for n in upto]
        labels = ([f"≤ {ends[0]}"] + [f"> {low}, ≤ {high}" for low, high in zip(ends, ends[1:])]
                  + [f"> {ends[-1]}"])
        shares = [samples.ranges(count, upto) for count in found.counts.values()]
        return [Panel(title, unit, "range", [called(name) for name in found.counts],
                      [(label, [f"{share[n] * 100:.0f} %" for share in shares])
                       for n, label in enumerate(labels)])]

    # --- cost ---

    def _cost(self):
        panels = []
        if self._measured:
            with contextlib.suppress(NotMeasured):
                panels.append(self._cost_panel("weft", self._averages(), self._called))
        if self._source:
            found = {}
            for (row, name), value in cells.paper_cells(self._source).items():
                found.setdefault(row, {})[name] = value
            panels.append(self._cost_panel("the paper", found, self._theirs_called))
        return panels

    def _averages(self):
        """{experiment's title: {configuration: ms of full work}}"""
        return {title: {name: one["factor"] / words.TIMES["ms"] * self._average(one, name)
                        for name in self._experiment.configurations}
                for title, one in self._view["of"].items()}

    def _average(self, one, name):
        if one["experiment"] not in self._results:
            raise NotMeasured(one["experiment"])
        experiment, rows = self._results[one["experiment"]]
        return cells.value(experiment, rows, {"configuration": name})

    def _cost_panel(self, title, averages, called):
        names = list(next(iter(averages.values())))
        found = samples.costs({name: [row[name] for row in averages.values()] for name in names},
                              self._view["kwh_price"], self._view["watts"])
        lines = [(f"{row}, ms", [f"{values[name]:,.2f}" for name in names])
                 for row, values in averages.items()]
        for label, text in (("average, ms", "{0.average:,.2f}"),
                            ("iterations a year", "{0.iterations:,.0f}"),
                            ("days for as many as the slowest", "{0.days:.1f}"),
                            ("electricity for them", "${0.bill:.2f}"),
                            ("an iteration, as the paper divides", "${0.each:.10f}"),
                            ("an iteration, year by year", "${0.each_of_year:.10f}")):
            lines.append((label, [text.format(found[name]) for name in names]))
        return Panel(title, "", "", [called(name) for name in names], lines)
