"""How firm a verdict is: what its seeds leave open, and by how much a figure has to change for another one.

Both ask the same: what would the check say of other figures?  So does the search for a check that no figures
fail, which says nothing of a system, and is refused.
"""

import itertools
import random

from . import claimkinds
from .cells import NotMeasured
from .figures import Changed
from .machine import UsageError

LEAST = 0.0005  # a change by less is any
MOST = 10.0  # a change by more is no measure any more
STEP = 1.15  # from one change that is tried to the next
CORNERS = 6  # figures of which all ends are tried together; of more, one after the other
DRAWS = 400  # of figures, until a check is said to be one that none fails


class Tried:
    """A check of a claim at one point; raises NotMeasured.  good: whether it holds; text: the figures; open: in
    words, what the seeds leave open so that the verdict may turn, or an empty text."""

    def __init__(self, get, claim):
        self._claim = claim
        self._get = Changed(get)
        self.good, self.text = claimkinds.check(self._get, claim)
        self.open = self._open()

    def _otherwise(self, changed):
        """Whether the verdict turns with these figures."""
        self._get.changed = changed
        try:
            return claimkinds.check(self._get, self._claim)[0] != self.good
        except (NotMeasured, UsageError):  # as a division by nothing
            return False
        finally:
            self._get.changed = {}

    def _open(self):
        intervals = {key: found for key in self._get.selections
                     if (found := self._get.interval(key)) is not None and found[0] < found[1]}
        if len(intervals) <= CORNERS:
            tried = (dict(zip(intervals, ends)) for ends in itertools.product(*intervals.values()))
        else:
            tried = ({key: end} for key, ends in intervals.items() for end in ends)
        for changed in tried:
            if self._otherwise(changed):
                return "over the runs: " + ", ".join(
                    f"{self._get.show(low, self._get.selections[key])} to "
                    f"{self._get.show(high, self._get.selections[key])}"
                    for key, (low, high) in intervals.items())
        return ""

    def change(self):
        """By how much one figure has to grow, or to shrink, for the opposite verdict: 0.1 for a tenth, or None if
        MOST times is not enough."""
        match self._claim["kind"]:
            case "sets":
                return self._change_of_share()
            case "chi-square":
                return self._change_of_q()
        numbers = {key: value for key, value in self._get.seen.items()
                   if isinstance(value, (int, float)) and not isinstance(value, bool)}
        low, high = 0.0, LEAST
        while high <= MOST:
            if self._flips(numbers, high):
                break
            low, high = high, high * STEP
        else:
            return None
        for _ in range(8):
            middle = (low + high) / 2
            low, high = (low, middle) if self._flips(numbers, middle) else (middle, high)
        return high

    def _flips(self, numbers, share):
        return any(self._otherwise({key: value * factor}) for key, value in numbers.items()
                   for factor in (1 + share, 1 / (1 + share)))

    def _change_of_share(self):
        share = claimkinds.share(self._get, self._claim)
        bounds = [self._claim[key] for key in ("at_least", "at_most") if key in self._claim]
        return min(abs(share - bound) for bound in bounds)

    def _change_of_q(self):
        test = claimkinds.chi_square(self._get, self._claim)
        return abs(test.limit / test.q - 1) if test.q else None


def to_bound(value, claim):
    """By how much one figure has to change for the opposite verdict."""
    bounds = [claim[key] for key in ("at_least", "at_most") if key in claim]
    if value <= 0:
        return None
    away = [max(bound / value, value / bound) - 1 for bound in bounds if bound > 0]
    return min(away, default=None)


class _Drawn:
    """A source of figures that are drawn: any are possible."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._known = {}

    def __call__(self, selection):
        key = repr(sorted(selection.items()))
        return self._known.setdefault(key, 10 ** self._random.uniform(-3, 3))

    def all(self, selection):
        least = self(selection)
        return [least, least * (1 + 10 ** self._random.uniform(-4, 1))]

    def show(self, value, selection):
        return ""

    def describe(self, selection):
        return ""

    def name(self, axis):
        return ""


def cannot_fail(claim):
    """Whether no figures fail the check."""
    match claim["kind"]:
        case "linear" | "staircase":
            return claim["tolerance"] >= 1
        case "sets":
            return claim.get("at_least", 0) <= 0 and claim.get("at_most", 1) >= 1
        case "chi-square":
            return False
    return all(_drawn(claim, seed) for seed in range(DRAWS))


def _drawn(claim, seed):
    try:
        return claimkinds.check(_Drawn(seed), claim)[0]
    except (NotMeasured, UsageError):
        return True


def percent(change):
    """A change in words."""
    if change is None:
        return f"no change of one figure up to {MOST:g} times flips it"
    if change <= LEAST:
        return "any change of one figure flips it"
    return f"a change of one figure by {change * 100:.{0 if change >= 0.1 else 1}f} % flips it"


def check_claims(read, experiment, judge):
    """For the reader of an experiment's file: a UsageError on a check that says nothing, or that the paper's own
    figures fail."""
    for claim in experiment.claims:
        if "kind" not in claim:
            continue
        where = read.claim(claim)
        if cannot_fail(claim) and not claim.get("by_construction"):
            read.fail(where, "no figures fail this check; if no system can fail it, by_construction = true says so")
        paper = None if claim.get("own") else judge.paper(experiment, claim)
        if paper is not None and paper.verdict == "does not hold":
            read.fail(where, f"the paper's own figures fail this check: {'; '.join(paper.figures)}")
