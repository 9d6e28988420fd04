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

from . import cells, samples, words
from .cells import NotMeasured
from .claimfile import SHARES
from .formula import Formula
from .runner import OK

HOLDS, FAILS = "holds", "does not hold"
NOT_MEASURED, HARDWARE = "not measured", "depends on hardware"
VERDICTS = (HOLDS, FAILS, HARDWARE, NOT_MEASURED)
SHOWN = 6  # of the figures of a claim about many points, those around the worst


@dataclass
class Verdict:
    """figures: texts that show why; paper: what the paper's own figures say, or None: its tables have
    none, or weft's claim does not rest on them."""

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
        """The verdict of the paper's own figures, if there are all that it needs: in its tables, or
        beside weft's in the rows."""
        for view in experiment.tables if "value" not in claim else []:
            if ("paper" not in view or not cells.is_table(view)
                    or view.get("columns", "configuration") != "configuration"):
                continue
            rows = [view.get("where", {}) | {view["rows"]: label, "configuration": name,
                                             experiment.figure: number}
                    for (label, name), number in cells.paper_cells(view["paper"]).items()]
            found = self._paper_verdict(experiment, rows, claim, _PaperCells)
            if found:
                return found
        rows = self._results.get(experiment.name, (experiment, []))[1]
        beside = [{**row, experiment.figure: row[f"paper_{experiment.figure}"]}
                  for row in rows if f"paper_{experiment.figure}" in row]
        return (self._paper_verdict(experiment, beside, claim, _Values)
                or self._paper_verdict(experiment, [], claim, _PaperValues))

    def _paper_verdict(self, experiment, rows, claim, source):
        try:
            good, figures = self._check(experiment, rows, claim, source)
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
            at = f"{cells.describe(experiment, point)}: " if point else ""
            found.append((good, at + text))
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
        return _within(over / under, claim), (
            f"{words.number(over / under)} ({get.show(over, claim['over'])} / "
            f"{get.show(under, claim['under'])})")

    @staticmethod
    def _range(get, claim):
        value = get(claim["of"])
        return _within(value, claim), get.show(value, claim["of"])

    @staticmethod
    def _spread(get, claim):
        values = get.all(claim["of"])
        if len(values) < 2:
            raise NotMeasured("one run has no spread")
        mean = cells.statistic(values, "mean")
        spread = (max(values) - min(values)) / mean if mean else 0.0
        return _within(spread, claim), (
            f"{spread * 100:.2f} %, from {get.show(min(values), claim['of'])} to "
            f"{get.show(max(values), claim['of'])}")

    @staticmethod
    def _order(get, claim):
        values = [get(one) for one in claim["order"]]
        factor = claim.get("factor", 1)
        good = all(right >= left * factor for left, right in zip(values, values[1:]))
        return good, ", ".join(f"{get.describe(one)}: {get.show(value, one)}"
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
            f"{get.show(start, {})} + {get.show(slope, {})} · {get.name(claim['x'])}, to "
            f"{share * 100:.2f} %")

    @staticmethod
    def _staircase(get, claim):
        step, points = claim["step"], dict(get.curve(claim["x"]))
        if step not in points or max(points) <= step:
            raise NotMeasured(f"needs {get.describe({claim['x']: step})} and more")
        one = points[step]
        off, at = max((abs(y / one / math.ceil(x / step) - 1), x) for x, y in points.items())
        return off <= claim["tolerance"], (
            f"{get.show(one, {})} a step, to {off * 100:.2f} % (at "
            f"{get.describe({claim['x']: at})})")

    @staticmethod
    def _expression(get, claim):
        values = {name: get(selection) for name, selection in claim["let"].items()}
        text = ", ".join(f"{_spaced(name)} = {get.show(value, claim['let'][name])}"
                         for name, value in values.items())
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


class _PaperCells(_Values):
    """The same of the paper's cells, in their unit."""

    def _unit(self, experiment, figure):
        return next((view["paper"].get("unit", "") for view in experiment.tables
                     if "paper" in view and view.get("value", experiment.figure) == figure), "")


class _PaperValues(_PaperCells):
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
        raise NotMeasured(f"the paper has no figures of {self.describe(selection)}")

    def all(self, selection):
        raise NotMeasured("the paper has no figures of single runs")

    def pair(self, names):
        figure = self._figure or self._experiment.figure
        for view in self._tables(self._experiment, figure, self._where):
            if view.get("kind") in ("frequencies", "sets", "chi-square"):
                return self._both(samples.of_paper(view["paper"]), names)
        raise NotMeasured("the paper has no frequencies")


def others(claim):
    """The names of the other experiments whose rows a claim needs."""
    selections = [claim.get(key, {}) for key in ("where", "over", "under", "of")]
    selections += [*claim.get("let", {}).values(), *claim.get("order", [])]
    return {one["experiment"] for one in selections if "experiment" in one}


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


def _spaced(text):
    return text.replace("_", " ")


def _formula(text):
    """An expression as a reader writes it."""
    for sign, written in (("<=", "≤"), (">=", "≥"), ("==", "="), ("*", "·")):
        text = text.replace("2**20", "2²⁰").replace(sign, written)
    return _spaced(text)


def expectation(experiment, claim):
    """What is checked, in a line."""
    said = _expected(experiment, claim)
    if not said:
        return ""
    where, each = claim.get("where", {}), claim.get("each", {})
    if where:
        said += f"; {cells.describe(experiment, where)}"
    for name in [each] if isinstance(each, str) else each:
        if isinstance(each, str):
            said += f"; for each {words.each(experiment, name)}"
        else:
            values = each[name] if isinstance(each[name], list) else [each[name]]
            said += "; for " + ", ".join(words.point(experiment, name, one) for one in values)
    return said


def _bounds(claim, unit=""):
    return " and ".join(f"{said} {claim[key]:g} {words.sign(unit)}".rstrip() for key, said in
                        (("at_least", "at least"), ("at_most", "at most")) if key in claim)


def _expected(experiment, claim):
    def figure(selection):
        return selection.get("value") or claim.get("value") or experiment.figure

    def divided(over, under):
        return " / ".join(f"({one})" if "," in one else one for one in (over, under))

    def called(selection):
        """Its figure, and what it selects."""
        title, at = words.name(experiment, figure(selection)), cells.describe(experiment, selection)
        return title if at == "all" else f"{title}, {at}"

    def title():
        return words.name(experiment, claim.get("value") or experiment.figure)

    match claim.get("kind"):
        case "ratio":
            over, under = claim["over"], claim["under"]
            if figure(over) != figure(under):
                return f"{divided(called(over), called(under))} is {_bounds(claim)}"
            sides = divided(cells.describe(experiment, over), cells.describe(experiment, under))
            return f"{words.name(experiment, figure(over))}: {sides} is {_bounds(claim)}"
        case "range":
            unit = words.unit(experiment, figure(claim["of"]))
            return f"{called(claim['of'])}: {_bounds(claim, unit)}"
        case "spread":
            return (f"{called(claim['of'])}: the spread over the seeds, of the mean, is "
                    f"{_bounds(claim)}")
        case "order":
            factor = claim.get("factor", 1)
            return (f"{title()}: "
                    + " ≤ ".join(cells.describe(experiment, one) for one in claim["order"])
                    + (f", each {factor:g} times as much" if factor != 1 else ""))
        case "linear":
            return (f"{title()} is a straight line over {words.name(experiment, claim['x'])}, to "
                    f"{claim['tolerance'] * 100:g} %")
        case "staircase":
            return (f"{title()} is a staircase over {words.name(experiment, claim['x'])} with steps of "
                    f"{claim['step']}, to {claim['tolerance'] * 100:g} %")
        case "expression":
            return _formula(claim["check"])
        case "sets":
            first, second = (experiment.configurations[name].title for name in claim["pair"])
            return (f"{title()}: {first} is {claim['share']} against {second} in a share of "
                    f"the samples of {_bounds(claim)}")
        case "chi-square":
            names = " from ".join(experiment.configurations[name].title for name in claim["pair"])
            return (f"{title()}: the chi-square test "
                    f"{'tells' if claim['differ'] else 'does not tell'} {names}")
    return ""
