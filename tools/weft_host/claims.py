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

A verdict is "not decided" where it would be another one within what the seeds leave open of the figures
(power.py), where the quick set and the full one disagree, or where the full one leaves it open.  One that no system
can fail, as the claim's author says, is "by construction".
"""

import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from . import baseline, cells, claimkinds, experiments, power, words
from .cells import NotMeasured
from .figures import PaperCells, PaperValues, Values, paper_tables

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "not decided"
CONSTRUCTED = "by construction"
NOT_MEASURED, HARDWARE = "not measured", "depends on hardware"
VERDICTS = (HOLDS, FAILS, UNDECIDED, CONSTRUCTED, HARDWARE, NOT_MEASURED)
SHOWN = 6  # of the figures of a claim about many points, those around the worst


@dataclass
class Verdict:
    """figures: texts that show why; weigh: a function for `change`, which takes its time; paper: what the paper's
    own figures say, or None: its tables have none, or weft's claim does not rest on them; sets: what each set
    says by itself, as far as it is known, {"quick" or "full": verdict}."""

    verdict: str
    figures: list
    weigh: "Callable | None" = None
    paper: "Verdict | None" = None
    sets: dict = field(default_factory=dict)

    @property
    def change(self):
        """By how much one of the figures has to change for another verdict, 0.1 for a tenth, or None."""
        return self.weigh() if self.weigh else None

    @property
    def said(self):
        """The verdict; of a claim that the other set alone can measure, what that set says."""
        if self.verdict == NOT_MEASURED:
            for which, verdict in self.sets.items():
                if verdict != NOT_MEASURED:
                    return f"{verdict} ({which} set)"
        return self.verdict


@dataclass
class Sets:
    """What quick and full sets say of a claim: which of the two the results are, {experiment: "quick" or
    "full"}, and what is known of the other set."""

    measured: dict = field(default_factory=dict)
    quick: "dict | None" = None  # results of the quick set, as of Judge; None: not read yet
    full: "dict | None" = None  # {claim's id: verdict of the full set}

    def of(self, experiment, claim, own):
        """{"quick" or "full": verdict}; own: the verdict of the results."""
        match self.measured.get(experiment.name):
            case "quick":
                if self.full is None:
                    self.full = baseline.full_verdicts()
                said = self.full.get(claim["id"])
                return {"quick": own} | ({"full": said} if said else {})
            case "full":
                if self.quick is None:
                    self.quick = baseline.quick_results()
                rows = self.quick.get(experiment.name, (None, []))[1]
                return {"quick": Judge(self.quick).verdict(experiment, rows, claim).verdict, "full": own}
        return {}


class Judge:
    """Evaluates claims; results: {name of experiment: (Experiment, rows)}; sets: a Sets, if the verdicts of
    both sets are to agree."""

    def __init__(self, results, sets=None):
        self._results = results
        self._sets = sets or Sets()

    def judge(self, experiment, claim):
        rows = self._results.get(experiment.name, (experiment, []))[1]
        found = self.verdict(experiment, rows, claim)
        found.sets = self._sets.of(experiment, claim, found.verdict)
        full, both = found.sets.get("full"), set(found.sets.values())
        if found.verdict in (HOLDS, FAILS) and (both == {HOLDS, FAILS} or full == UNDECIDED):
            found.figures.append("; ".join(f"the {which} set: {said}" for which, said in found.sets.items()))
            found.verdict = UNDECIDED
        if found.verdict == HOLDS and claim.get("by_construction"):
            found.verdict = CONSTRUCTED
        if "kind" in claim:
            found.paper = self.paper(experiment, claim)
        return found

    def verdict(self, experiment, rows, claim):
        """Of these rows alone."""
        if "not_measured" in claim:
            return Verdict(NOT_MEASURED, [claim["not_measured"]])
        if "kind" not in claim:
            return Verdict(HARDWARE, [claim["hardware"]])
        try:
            found = self._check(experiment, rows, claim)
        except NotMeasured as error:
            return Verdict(NOT_MEASURED, [str(error)])
        if "hardware" in claim:
            return Verdict(HARDWARE, [claim["hardware"], *found.figures])
        return found

    def paper(self, experiment, claim):
        """The verdict of the paper's own figures, if there are all that it needs: in its tables, beside weft's in
        the rows, or in its text."""
        figure = claim.get("value", experiment.figure)
        for rows in paper_tables(experiment, figure):
            found = self._paper(experiment, rows, claim, PaperCells)
            if found:
                return found
        return (self._paper(experiment, self._beside(experiment, figure), claim, PaperCells)
                or self._paper(experiment, [], claim, PaperValues) or self._in_text(claim))

    def _beside(self, experiment, figure):
        """Rows of the paper's figures that stand beside weft's, or that the experiment's module knows."""
        rows = self._results.get(experiment.name, (experiment, []))[1]
        if not rows and experiment.module:
            module = importlib.import_module(f"{experiments.__name__}.{experiment.module}")
            rows = module.paper_rows() if hasattr(module, "paper_rows") else []
        return [row | {name.removeprefix("paper_"): value for name, value in row.items()
                       if name.startswith("paper_")} for row in rows if f"paper_{figure}" in row]

    @staticmethod
    def _in_text(claim):
        """Of the one figure that the paper's text gives."""
        if "paper_figure" not in claim:
            return None
        value = claim["paper_figure"]
        good = claimkinds.within(value, claim)
        return Verdict(HOLDS if good else FAILS, [claim.get("paper") or words.number(value)],
                       lambda: power.to_bound(value, claim))

    def _paper(self, experiment, rows, claim, source):
        try:
            return self._check(experiment, rows, claim, source)
        except NotMeasured:
            return None

    def _check(self, experiment, rows, claim, source=Values):
        """The Verdict, about each of its points; NotMeasured."""
        points = self._points(experiment, rows, claim)
        if not points:
            raise NotMeasured("none of the points was measured")
        found = {HOLDS: [], UNDECIDED: [], FAILS: []}
        for point in points:
            where = claim.get("where", {}) | point
            tried = power.Tried(source(self._results, experiment, rows, where, claim.get("value")), claim)
            at = f"{cells.describe(experiment, point)}: " if point else ""
            said = UNDECIDED if tried.open else HOLDS if tried.good else FAILS
            found[said].append((at + tried.text + (f" ({tried.open})" if said is UNDECIDED else ""), tried))
        verdict = FAILS if found[FAILS] else UNDECIDED if found[UNDECIDED] else HOLDS
        texts = [text for text, _ in found[verdict]]
        if len(texts) > SHOWN:
            texts = [*texts[:SHOWN - 1], f"and {len(texts) - SHOWN + 1} more"]
        return Verdict(verdict, texts, lambda: _least(verdict, [tried for _, tried in found[verdict]]))

    @staticmethod
    def _points(experiment, rows, claim):
        each = claim.get("each", {})
        if isinstance(each, str):
            each = {each: list(dict.fromkeys(
                row[each] for row in rows if each in row
                and cells.matches(row, claim.get("where", {}))))}
        lists = [one if isinstance(one, list) else [one] for one in each.values()]
        return [dict(zip(each, choice)) for choice in itertools.product(*lists)]


def _least(verdict, points):
    """For another verdict one point of a claim that holds has to change, or each that fails."""
    if verdict == UNDECIDED:
        return 0.0
    changes = [tried.change() for tried in points]
    if verdict == HOLDS:
        return min((change for change in changes if change is not None), default=None)
    return None if None in changes else max(changes)


def others(claim):
    """The names of the other experiments whose rows a claim needs."""
    selections = [claim.get(key, {}) for key in ("where", "over", "under", "of")]
    selections += [*claim.get("let", {}).values(), *claim.get("order", [])]
    return {one["experiment"] for one in selections if "experiment" in one}
