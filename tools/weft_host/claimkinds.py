"""What each kind of claim checks: functions of a source of figures (figures.py) and the claim, which return
whether it holds, and the figures as a text.  They raise NotMeasured."""

import math

from . import cells, samples, words
from .cells import NotMeasured
from .claimfile import SHARES
from .claimwords import spaced
from .formula import Formula


def within(value, claim):
    return claim.get("at_least", -math.inf) <= value <= claim.get("at_most", math.inf)


def _fit(points):
    """Least squares: (slope, value at 0)."""
    count = len(points)
    x_mean = math.fsum(x for x, _ in points) / count
    y_mean = math.fsum(y for _, y in points) / count
    slope = (math.fsum((x - x_mean) * (y - y_mean) for x, y in points)
             / math.fsum((x - x_mean) ** 2 for x, _ in points))
    return slope, y_mean - slope * x_mean


def curve(get, axis):
    """Pairs of x and value, by x."""
    return [(x, get({axis: x})) for x in get.xs(axis)]


def _ratio(get, claim):
    over, under = get(claim["over"]), get(claim["under"])
    if under == 0:
        raise NotMeasured("the divisor is 0")
    return within(over / under, claim), (
        f"{words.number(over / under)} ({get.show(over, claim['over'])} / "
        f"{get.show(under, claim['under'])})")


def _range(get, claim):
    value = get(claim["of"])
    return within(value, claim), get.show(value, claim["of"])


def _spread(get, claim):
    values = get.all(claim["of"])
    if len(values) < 2:
        raise NotMeasured("one run has no spread")
    mean = cells.statistic(values, "mean")
    spread = (max(values) - min(values)) / mean if mean else 0.0
    return within(spread, claim), (
        f"{spread * 100:.2f} %, from {get.show(min(values), claim['of'])} to "
        f"{get.show(max(values), claim['of'])}")


def _order(get, claim):
    values = [get(one) for one in claim["order"]]
    factor = claim.get("factor", 1)
    good = all(right >= left * factor for left, right in zip(values, values[1:]))
    return good, ", ".join(f"{get.describe(one)}: {get.show(value, one)}"
                           for one, value in zip(claim["order"], values))


def _linear(get, claim):
    points = curve(get, claim["x"])
    if len(points) < 3:
        raise NotMeasured("a line needs three points")
    slope, start = _fit(points)
    off = max(abs(y - start - slope * x) for x, y in points)
    largest = max(abs(y) for _, y in points)
    if largest == 0:
        raise NotMeasured("all figures are 0")
    share = off / largest
    return share <= claim["tolerance"], (
        f"{get.show(start, {})} + {get.show(slope, {})} · {get.name(claim['x'])}, to "
        f"{share * 100:.2f} %")


def _staircase(get, claim):
    step, points = claim["step"], dict(curve(get, claim["x"]))
    if step not in points or max(points) <= step:
        raise NotMeasured(f"needs {get.describe({claim['x']: step})} and more")
    one = points[step]
    off, at = max((abs(y / one / math.ceil(x / step) - 1), x) for x, y in points.items())
    return off <= claim["tolerance"], (
        f"{get.show(one, {})} a step, to {off * 100:.2f} % (at "
        f"{get.describe({claim['x']: at})})")


def _expression(get, claim):
    values = {name: get(selection) for name, selection in claim["let"].items()}
    text = ", ".join(f"{spaced(name)} = {get.show(value, claim['let'][name])}"
                     for name, value in values.items())
    return bool(Formula(claim["check"])(values)), text


def _shares(get, claim):
    return dict(zip(SHARES, samples.algebra(*get.pair(claim["pair"])).shares(), strict=True))


def share(get, claim):
    """Of a claim about sets: the share that it is about."""
    return _shares(get, claim)[claim["share"]]


def _sets(get, claim):
    shares = _shares(get, claim)
    return within(shares[claim["share"]], claim), ", ".join(
        f"{name} {share * 100:.2f} %" for name, share in shares.items())


def chi_square(get, claim):
    """The test of a claim about one."""
    return samples.chi_square(*get.pair(claim["pair"]))


def _chi_square(get, claim):
    test = chi_square(get, claim)
    return test.differ == claim["differ"], (
        f"Q = {test.q:.3f}, χ² = {test.limit:.3f} for {test.degrees} degrees of freedom")


def check(get, claim):
    """By the claim's kind."""
    return KINDS[claim["kind"]](get, claim)


KINDS = {"ratio": _ratio, "range": _range, "spread": _spread, "order": _order, "linear": _linear,
         "staircase": _staircase, "expression": _expression, "sets": _sets, "chi-square": _chi_square}
