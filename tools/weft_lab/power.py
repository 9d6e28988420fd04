"""How probable it is that a lab's tests catch a wrong solution: measured over the patches in its folder wrong/.

For each wrong solution and each test the share of runs that fail, of so many, gives by Clopper and Pearson's
interval a lower bound on the probability that a run fails.  From it follow the probability that a set of runs
catches the mistake, and how many runs are wanted for a probability of 0.999.

A run that fails mostly ends at its limit, so it is dear.  The measurement looks at the bound after a quarter and
after half of the runs, and ends when it is good enough.  Each look has a third of the doubt (Bonferroni), so that
the bounds of all looks hold together.
"""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from weft_host.guest import Guests

from . import runs
from .build import BuildFailed, Built, build
from .lab import Lab, Test
from .solution import take_solution

WANTED = 0.999
DOUBT = 0.05  # of the lower bound
LOOKS = (4, 2, 1)  # at the bound, after this part of the runs
SECRET = "power"


@dataclass(frozen=True)
class Wrong:
    """A wrong solution.  kind: of mistake, in a word or two.  sentence: what is wrong.  caught_by: the test that
    catches it in almost each run; "": the patch names none."""

    name: str
    kind: str
    sentence: str
    patch: Path
    caught_by: str = ""


@dataclass(frozen=True)
class Caught:
    """By one test: in `failed` of `played` runs.  reason: of the first that failed."""

    test: Test
    played: int
    failed: int
    reason: str

    @property
    def least(self) -> float:
        """The lower bound on the probability that a run fails."""
        return lower_bound(self.failed, self.played, DOUBT / len(LOOKS))


def lower_bound(failed: int, played: int, doubt: float = DOUBT) -> float:
    """Clopper and Pearson's, of one side: with this p, `failed` or more of `played` are as rare as `doubt`."""
    if failed == 0:
        return 0.0
    low, high = 0.0, failed / played
    for _ in range(60):
        middle = (low + high) / 2
        at_least = 1 - sum(math.comb(played, i) * middle**i * (1 - middle)**(played - i) for i in range(failed))
        low, high = (low, middle) if at_least > doubt else (middle, high)
    return low


def wrong_solutions(lab: Lab) -> list[Wrong]:
    found = []
    for path in sorted((lab.folder / "wrong").glob("*.patch")):
        head = path.read_text().partition("--- a/")[0]
        sentence, _, rest = head.strip().partition("\n\n")
        said = dict(line.split(": ", 1) for line in rest.splitlines() if ": " in line)
        found.append(Wrong(path.stem, said.get("Kind", ""), " ".join(sentence.split()), path,
                           said.get("Caught by", "")))
    return found


def measure(lab: Lab, wrong: Wrong, folder: Path, played: int, jobs: int) -> list[Caught] | str:
    """What the tests say of a wrong solution: first the one that the patch names, then others until they catch it
    well enough together.  A text: it does not compile."""
    take_solution(lab, folder, wrong.patch)
    try:
        built = build(lab, folder, folder / "build")
    except BuildFailed as error:
        return str(error)
    found: list[Caught] = []
    for test in sorted(lab.tests, key=lambda test: test.name != wrong.caught_by):
        for caught in _looks(lab, test, built, played, jobs):
            if probability([*found, caught]) > WANTED:
                return [*found, caught]
        found.append(caught)
    return found


def _looks(lab: Lab, test: Test, built: Built, played: int, jobs: int) -> Iterator[Caught]:
    """What the runs say at each look; the last has all of them."""
    guests = Guests()
    variants = test.variants(lab.name, SECRET, played)
    bad: list[str] = []
    for part in LOOKS:
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(runs.play, guests, test, variant, built, picture=False)
                       for variant in variants[len(bad):max(1, played // part)]]
            bad += [fault(test, one.result()) for one in waiting]
        yield Caught(test, len(bad), sum(map(bool, bad)), next(filter(None, bad), ""))


def fault(test: Test, outcome: runs.Outcome) -> str:
    """Why this run costs points; "": it does not."""
    if not outcome.passed or test.figure is None:
        return outcome.reason
    value = outcome.figures.get(test.figure.name)
    if value is None or test.figure.share(value) < 1:
        return f"{test.figure.name}: {value} instructions"
    return ""


def probability(caught: list[Caught]) -> float:
    """That the visible and the hidden set together take points, at least."""
    missed = 1.0
    for one in caught:
        missed *= (1 - one.least) ** (one.test.seeds + (one.test.hidden_seeds if one.test.hidden_points else 0))
    return 1 - missed


def runs_wanted(least: float, wanted: float = WANTED) -> float:
    """How many runs catch a mistake with this probability, if one run does with probability `least`."""
    if least <= 0:
        return math.inf
    return 1 if least >= wanted else math.ceil(math.log(1 - wanted) / math.log(1 - least))


def table(lab: Lab, folder: Path, played: int, jobs: int, tell: Callable[[str], None]) -> bool:
    """Tells a line for each wrong solution, and whether all are caught with the wanted probability."""
    good = True
    for wrong in wrong_solutions(lab):
        found = measure(lab, wrong, folder / wrong.name, played, jobs)
        if isinstance(found, str):
            tell(f"{wrong.name}: does not compile:\n{found}")
            good = False
            continue
        whole = probability(found)
        best = max(found, key=lambda one: one.least)
        good &= whole > WANTED
        tell(f"{wrong.name:24} {wrong.kind:22} caught with probability {'>' if whole < 1 else ''} "
             f"{math.floor(whole * 1e5) / 1e5:.5f}; {best.test.name}: {best.failed} of {best.played} runs, "
             f"{runs_wanted(best.least):g} wanted: {best.reason}")
    return good
