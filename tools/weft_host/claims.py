"""What a paper concludes, checked over rows of results.

A claim's kind says what is checked:

    ratio       over / under lies within at_least and at_most
    range       the value of `of` does
    spread      (largest - least) / mean over the seeds of `of` does
    order       the values of the selections in `order` rise, each by `factor` (1) or more
    linear      value against x lies on a straight line, to `tolerance` of the largest value
    staircase   value against x is ceil(x / step) times the value at step, to `tolerance` of it
    expression  `check`, over the values that `let` names
    sets        the `share` (faster, equal, slower) of the first of `pair` against the second, of
                their samples in bins, lies within at_least and at_most
    chi-square  the samples of `pair` differ, or do not (`differ`)

With `each = "threads"` (all that were measured) or `each = {threads = [16, 32]}` it must hold for
each of these.  The same check goes over the paper's own figures where its table has them.
"""

import itertools
import math
from dataclasses import dataclass

from . import cells, samples
from .cells import NotMeasured
from .experiment import SHARES
from .formula import Formula
from .runner import OK

HOLDS, FAILS = "holds", "does not hold"
NOT_MEASURED, HARDWARE = "not measured", "depends on hardware"
VERDICTS = (HOLDS, FAILS, HARDWARE, NOT_MEASURED)
SHOWN = 6  # of the figures of a claim about many points, those around the worst


@dataclass
class Verdict:
    """figures: texts that show why; paper: what the paper's own figures say, or None."""

    verdict: str
    figures: list
    paper: "Verdict | None" = None


class Judge:
    """Evaluates claims; results: {name of experiment: (Experiment, rows)}."""

    def __init__(self, results):
        self._results = results

    def judge(self, experiment, claim):
        rows = self._results.get(experiment.name, (experiment, []))[1]
        found = self._verdict(experiment, rows, claim)
        if "kind" in claim:
            found.paper = self._paper(experiment, claim)
        return found

    def _verdict(self, experiment, rows, claim):
        if "not_measured" in claim:
            return Verdict(NOT_MEASURED, [claim["not_measured"]])
        if "kind" not in claim:
            return Verdict(HARDWARE, [claim["hardware"]])
        try:
            good, figures = self._check(experiment, rows, claim)
        except NotMeasured as error:
            return Verdict(NOT_MEASURED, [str(error)])
        if "hardware" in claim:
            return Verdict(HARDWARE, [claim["hardware"], *figures])
        return Verdict(HOLDS if good else FAILS, figures)

    def _paper(self, experiment, claim):
        """The verdict of the paper's own figures, if its tables have all that it needs."""
        for view in experiment.tables if "value" not in claim else []:
            if ("paper" not in view or not cells.is_table(view)
                    or view.get("columns", "configuration") != "configuration"):
                continue
            rows = [view.get("where", {}) | {view["rows"]: label, "configuration": name,
                                             experiment.figure: number}
                    for (label, name), number in cells.paper_cells(view["paper"]).items()]
            try:
                good, figures = self._check(experiment, rows, claim)
            except NotMeasured:
                continue
            return Verdict(HOLDS if good else FAILS, figures)
        try:
            good, figures = self._check(experiment, [], claim, _PaperValues)
        except NotMeasured:
            return None
        return Verdict(HOLDS if good else FAILS, figures)

    def _check(self, experiment, rows, claim, source=None):
        """(whether it holds, the figures); NotMeasured."""
        points = self._points(experiment, rows, claim)
        if not points:
            raise NotMeasured("none of the points was measured")
        found = []
        for point in points:
            where = claim.get("where", {}) | point
            check = getattr(self, "_" + claim["kind"].replace("-", "_"))
            good, text = check((source or _Values)(
                self._results, experiment, rows, where, claim.get("value")), claim)
            found.append((good, (f"{cells.describe(point)}: " if point else "") + text))
        wrong = [text for good, text in found if not good]
        texts = wrong or [text for _, text in found]
        if len(texts) > SHOWN:
            texts = [*texts[:SHOWN - 1], f"and {len(texts) - SHOWN + 1} more"]
        return not wrong, texts

    @staticmethod
    def _points(experiment, rows, claim):
        each = claim.get("each", {})
        if isinstance(each, str):
            each = {each: list(dict.fromkeys(
                row[each] for row in rows if each in row
                and cells.matches(row, claim.get("where", {}))))}
        lists = [one if isinstance(one, list) else [one] for one in each.values()]
        return [dict(zip(each, choice)) for choice in itertools.product(*lists)]

    # --- kinds: each returns whether it holds, and the figures as a text ---

    @staticmethod
    def _ratio(get, claim):
        over, under = get(claim["over"]), get(claim["under"])
        if under == 0:
            raise NotMeasured("the divisor is 0")
        return _within(over / under, claim), f"{over / under:.3g}"

    @staticmethod
    def _range(get, claim):
        value = get(claim["of"])
        return _within(value, claim), cells.number(value)

    @staticmethod
    def _spread(get, claim):
        values = get.all(claim["of"])
        if len(values) < 2:
            raise NotMeasured("one run has no spread")
        mean = cells.statistic(values, "mean")
        spread = (max(values) - min(values)) / mean if mean else 0.0
        return _within(spread, claim), f"{spread * 100:.2f} %"

    @staticmethod
    def _order(get, claim):
        values = [get(one) for one in claim["order"]]
        factor = claim.get("factor", 1)
        good = all(right >= left * factor for left, right in zip(values, values[1:]))
        return good, ", ".join(f"{cells.describe(one)}: {cells.number(value)}"
                               for one, value in zip(claim["order"], values))

    @staticmethod
    def _linear(get, claim):
        points = get.curve(claim["x"])
        if len(points) < 3:
            raise NotMeasured("a line needs three points")
        slope, start = _fit(points)
        off = max(abs(y - start - slope * x) for x, y in points)
        share = off / max(abs(y) for _, y in points)
        return share <= claim["tolerance"], (
            f"{cells.number(start)} + {cells.number(slope)} · {claim['x']}, to {share * 100:.2f} %")

    @staticmethod
    def _staircase(get, claim):
        step, points = claim["step"], dict(get.curve(claim["x"]))
        if step not in points or max(points) <= step:
            raise NotMeasured(f"needs {claim['x']}={step} and more")
        one = points[step]
        off, at = max((abs(y / one / math.ceil(x / step) - 1), x) for x, y in points.items())
        return off <= claim["tolerance"], (
            f"{cells.number(one)} a step, to {off * 100:.2f} % (at {claim['x']}={at})")

    @staticmethod
    def _expression(get, claim):
        values = {name: get(selection) for name, selection in claim["let"].items()}
        text = ", ".join(f"{name} = {cells.number(value)}" for name, value in values.items())
        return bool(Formula(claim["check"])(values)), text

    @staticmethod
    def _sets(get, claim):
        shares = dict(zip(SHARES, samples.algebra(*get.pair(claim["pair"])).shares(), strict=True))
        return _within(shares[claim["share"]], claim), ", ".join(
            f"{name} {share * 100:.2f} %" for name, share in shares.items())

    @staticmethod
    def _chi_square(get, claim):
        test = samples.chi_square(*get.pair(claim["pair"]))
        return test.differ == claim["differ"], (
            f"Q = {test.q:.3f}, χ² = {test.limit:.3f} for {test.degrees} degrees of freedom")


class _Values:
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

    def all(self, selection):
        return cells.values(*self._source(selection), self._figure)

    def curve(self, axis):
        """Pairs of x and value, by x."""
        xs = {row[axis] for row in self._rows
              if isinstance(row.get(axis), (int, float)) and cells.matches(row, self._where)}
        return [(x, self({axis: x})) for x in sorted(xs)]

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


class _PaperValues(_Values):
    """The same of the paper's tables of statistics and of frequencies, in their units."""

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
                    return found
        raise NotMeasured(f"the paper has no figures of {cells.describe(selection)}")

    def all(self, selection):
        raise NotMeasured("the paper has no figures of single runs")

    def pair(self, names):
        figure = self._figure or self._experiment.figure
        for view in self._tables(self._experiment, figure, self._where):
            if view.get("kind") in ("frequencies", "sets", "chi-square"):
                return self._both(samples.of_paper(view["paper"]), names)
        raise NotMeasured("the paper has no frequencies")


def _within(value, claim):
    return claim.get("at_least", -math.inf) <= value <= claim.get("at_most", math.inf)


def _fit(points):
    """Least squares: (slope, value at 0)."""
    count = len(points)
    x_mean = math.fsum(x for x, _ in points) / count
    y_mean = math.fsum(y for _, y in points) / count
    slope = (math.fsum((x - x_mean) * (y - y_mean) for x, y in points)
             / math.fsum((x - x_mean) ** 2 for x, _ in points))
    return slope, y_mean - slope * x_mean


def expectation(claim):
    """What is checked, in a line."""
    bounds = " and ".join(f"{words} {claim[key]:g}" for key, words in
                          (("at_least", "at least"), ("at_most", "at most")) if key in claim)

    def at(key):
        return cells.describe(claim[key])

    match claim.get("kind"):
        case "ratio":
            return f"({at('over')}) / ({at('under')}) is {bounds}"
        case "range":
            return f"{at('of')} is {bounds}"
        case "spread":
            return f"the spread over the seeds of {at('of')}, of the mean, is {bounds}"
        case "order":
            factor = claim.get("factor", 1)
            return (" ≤ ".join(cells.describe(one) for one in claim["order"])
                    + (f", each {factor:g} times as much" if factor != 1 else ""))
        case "linear":
            return f"a straight line over {claim['x']}, to {claim['tolerance'] * 100:g} %"
        case "staircase":
            return (f"a staircase over {claim['x']} with steps of {claim['step']}, to "
                    f"{claim['tolerance'] * 100:g} %")
        case "expression":
            return claim["check"]
        case "sets":
            return (f"{claim['pair'][0]} is {claim['share']} against {claim['pair'][1]} in a share of "
                    f"the samples of {bounds}")
        case "chi-square":
            return (f"the chi-square test tells {' from '.join(claim['pair'])}" if claim["differ"]
                    else f"the chi-square test does not tell {' from '.join(claim['pair'])}")
    return ""
