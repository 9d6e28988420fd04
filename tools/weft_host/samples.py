"""Whole samples beside each other, and what they cost: the methods of D. Cirne's study of three systems.

Two columns of figures are compared by how many of their values fall into each of a few bins that both
share.  The first bin holds what is no more than the least value of all columns, each further one ends
a step higher, and the last at the greatest: the step is the range divided by the number of bins.
The study adds a millisecond, its clock's tick, to the greatest value; here there is no such tick.
The range is that of the columns which stand for the study's systems.  A column that the study has not
may be far from them all, and would leave them one bin.
"""

import bisect
import math
from dataclasses import dataclass

from . import cells
from .runner import OK

BINS = 10
KINDS = ("frequencies", "sets", "chi-square", "ranges")  # of tables that show whole samples
LEAST = 50  # samples of a column that a verdict can rest on
ALPHA = 0.05  # the chance at which the study still believes that two samples are one


def edges(values, bins=BINS):
    """The upper ends of the bins."""
    low, high = min(values), max(values)
    return [low + (high - low) / bins * n for n in range(bins - 1)] + [high]


def frequencies(values, ends):
    """How many fall into each bin."""
    counts = [0] * len(ends)
    for value in values:
        counts[bisect.bisect_left(ends, value)] += 1
    return counts


@dataclass
class Sets:
    """Of each bin, how many samples count as faster, equal and slower for the first column."""

    faster: list
    equal: list
    slower: list

    def totals(self):
        return [sum(self.faster), sum(self.equal), sum(self.slower)]

    def shares(self):
        """Of the union of both samples; 0 to 1."""
        total = sum(self.totals())
        return [one / total if total else 0.0 for one in self.totals()]


def algebra(first, second):
    """The Sets of two columns' frequencies.  What both have in a bin is equal.  What one has beyond
    that was faster if samples of the other still lie in later bins, and slower if none do."""
    sets = Sets([], [], [])
    left_first, left_second = sum(first), sum(second)
    for one, other in zip(first, second, strict=True):
        left_first, left_second = left_first - one, left_second - other
        more = abs(one - other)
        faster = left_second > 0 if one > other else left_first == 0
        sets.equal.append(min(one, other))
        sets.faster.append(more if faster else 0)
        sets.slower.append(0 if faster else more)
    return sets


@dataclass
class ChiSquare:
    """q against limit, the quantile for the study's degrees of freedom; chance: of a q as large if
    the samples are of one kind, with the degrees of a test of homogeneity, one less."""

    q: float
    degrees: int
    limit: float
    chance: float

    @property
    def differ(self):
        return self.q > self.limit


def chi_square_beyond(q, degrees):
    """The chance of a value above q in the chi-square distribution, whose degrees of freedom are a whole
    number: a finite sum (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.4.4 and 26.4.5)."""
    half = q / 2
    if degrees % 2 == 0:
        total, term, power = 0.0, math.exp(-half), 0.0
    else:
        total, term, power = math.erfc(math.sqrt(half)), 2 * math.exp(-half) * math.sqrt(half / math.pi), 0.5
    for _ in range(degrees // 2):
        total += term
        power += 1
        term *= half / power
    return min(1.0, total)  # sums are rounded


def chi_square_limit(chance, degrees):
    """The value above which the distribution lies with this chance, to the last bit of a number."""
    low, high = 0.0, 1.0
    while chi_square_beyond(high, degrees) > chance:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if chi_square_beyond(middle, degrees) > chance else (low, middle)
    return high


def chi_square(first, second):
    """Whether two columns' frequencies are of one kind.  The study's degrees of freedom are bins - 1 +
    columns - 1, of the bins that are not empty, where (bins - 1) (columns - 1) is right: its test
    is the more careful one, to say that two samples differ."""
    used = [pair for pair in zip(first, second, strict=True) if any(pair)]
    degrees = len(used) - 1 + 2 - 1
    limit = chi_square_limit(ALPHA, degrees)
    if len(used) < 2:
        return ChiSquare(0.0, degrees, limit, 1.0)
    columns = [sum(column) for column in zip(*used)]
    expected = [[sum(pair) * column / sum(columns) for column in columns] for pair in used]
    q = sum((seen - mean) ** 2 / mean for pair, means in zip(used, expected) for seen, mean in zip(pair, means))
    return ChiSquare(q, degrees, limit, chi_square_beyond(q, len(used) - 1))


def ranges(counts, upto):
    """Shares of the bins up to each of these (the first is 1), and of what is beyond the last."""
    ends = [0, *upto, len(counts)]
    return [sum(counts[low:high]) / sum(counts) for low, high in zip(ends, ends[1:])]


MS_A_YEAR = 365 * 24 * 3600 * 1000


@dataclass
class Cost:
    """Of one column; money for electricity alone."""

    average: float  # of an iteration, ms
    iterations: float  # in a year
    days: float  # for as many as the slowest column makes in a year
    bill: float  # of these days
    each: float  # of an iteration, as the study has it: the bill of these days by a year's iterations
    each_of_year: float  # the bill of a year by its iterations


def costs(averages, kwh_price, watts):
    """{column: Cost} of {column: [average iteration of each experiment, ms]}."""
    means = {name: sum(values) / len(values) for name, values in averages.items()}
    slowest = max(means.values())
    year = kwh_price * watts * 24 * 365 / 1000
    return {name: Cost(mean, MS_A_YEAR / mean, 365 * mean / slowest, year * mean / slowest,
                       year * mean / slowest * mean / MS_A_YEAR, year * mean / MS_A_YEAR)
            for name, mean in means.items()}


@dataclass
class Samples:
    """counts: {column: frequencies}; labels: the ends of the bins, as texts."""

    labels: list
    counts: dict


def of_rows(experiment, rows, view):
    """The Samples of each configuration: a figure (value) of the good rows that `where` finds, in the
    view's unit; None if none of the study's systems was measured."""
    figure = view.get("value", experiment.figure)
    divide = cells.divisor(experiment, view)
    columns = {}
    for row in rows:
        if row.get("status") == OK and cells.matches(row, view.get("where", {})):
            value = row.get(figure)
            if isinstance(value, (int, float)):
                columns.setdefault(row["configuration"], []).append(value / divide)
    span = [value for name in studied(experiment) for value in columns.get(name, [])]
    if not span:
        return None
    ends = edges(span)
    labels = _texts(ends)
    if any(value > ends[-1] for column in columns.values() for value in column):
        ends, labels = [*ends, math.inf], [*labels, "more"]
    return Samples(labels, {name: frequencies(columns[name], ends) for name in experiment.configurations
                            if name in columns})


def studied(experiment):
    """The configurations that stand for the systems of a study: those beside its frequencies in a table
    of the experiment.  All of them, if there are no such tables."""
    names = {name for view in experiment.tables if view.get("kind") in KINDS
             for name in view.get("paper", {}).get("columns", {})}
    return names or set(experiment.configurations)


def _texts(ends):
    """With as many digits as tell each from the next."""
    step = min((high - low for low, high in zip(ends, ends[1:]) if high > low), default=0)
    digits = max(0, 1 - math.floor(math.log10(step))) if step else 3
    return [f"{end:,.{digits}f}" for end in ends]


def _apart(text):
    """A number as the paper writes it, with its thousands apart."""
    digits = len(text.partition(".")[2])
    return f"{float(text):,.{digits}f}"


def of_paper(source):
    """The Samples of a paper's table of frequencies."""
    found = cells.paper_cells(source)
    labels = list(dict.fromkeys(label for label, _ in found))
    return Samples([_apart(str(label)) for label in labels],
                   {name: [int(found.get((label, name), 0)) for label in labels]
                    for name in source["columns"] if any((label, name) in found for label in labels)})
