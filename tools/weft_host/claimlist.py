"""weft bench --list-claims: what each claim says, what is checked of it, and how firm the verdict is.

The figures are those of the results at hand, or else of the quick set that the repository holds.
"""

from rich.text import Text

from . import baseline, claims, claimwords, experiment, power, results
from .machine import UsageError
from .tables import STYLES
from .words import number


def figures(chosen, directory):
    """({name: (Experiment, rows)}, {name: where they are from}) of these experiments, and of all that
    claims of theirs need."""
    found, sources = {}, {}
    needed = {one.name: one for one in chosen}
    known = experiment.all_experiments()
    for one in chosen:
        for claim in one.claims:
            needed |= {name: known[name] for name in claims.others(claim) & known.keys()}
    for name, one in needed.items():
        if (directory / f"{name}.json").is_file():
            facts = results.load(directory / f"{name}.json")
            found[name], sources[name] = (one, facts["rows"]), facts.get("set", "")
        else:
            found[name], sources[name] = (one, baseline.read_rows(name)), "quick"
    return found, sources


def full_verdicts(directory):
    """{claim's id: verdict} that results of the full set in a directory give by themselves; without those claims
    that need another experiment, which is not there."""
    known = experiment.all_experiments()
    at_hand = {name: (known[name], facts["rows"]) for name, facts in results.load_set(directory).items()
               if name in known and facts.get("set") == "full" and facts.get("timing") == "exact"}
    if not at_hand:
        raise UsageError(f"{directory}: no results of the full set in exact timing")
    judge = claims.Judge(at_hand)
    return {claim["id"]: judge.verdict(one, rows, claim).verdict
            for one, rows in at_hand.values() for claim in one.claims if claims.others(claim) <= at_hand.keys()}


def _bounds(claim):
    """The tolerance of a check."""
    match claim.get("kind"):
        case "ratio" | "range" | "spread" | "sets":
            return claimwords.bounds(claim)
        case "linear" | "staircase":
            return f"{claim['tolerance'] * 100:g} %"
        case "order":
            return f"each at least {claim.get('factor', 1):g} times the one before"
        case "expression":
            return "in the check"
        case "chi-square":
            return "a chance of 5 %"
    return ""


def _said(found):
    """A Verdict, its figures, and how firm it is."""
    text = f"{found.verdict}: {'; '.join(found.figures)}"
    if found.verdict in (claims.HOLDS, claims.FAILS, claims.CONSTRUCTED):
        text += f"; {power.percent(found.change)}"
    return text


def lines(one, claim, found):
    """Of one claim: pairs of what a line is about, and a text."""
    yield "claim", claim["text"]
    if "quote" in claim:
        yield "quote", f"“{claim['quote']}” ({claim['section']})"
    else:
        yield "quote", "none: the claim is weft's own"
    checked = claimwords.expectation(one, claim)
    if checked:
        yield "check", checked
        yield "tolerance", _bounds(claim)
    if claim.get("by_construction"):
        yield "power", "by construction: no system can fail it"
    if "paper" in claim and "paper_figure" not in claim:
        yield "paper", claim["paper"]
    if found.paper:
        yield "paper", _said(found.paper)
    elif "kind" in claim and "paper" not in claim:
        yield "paper", "gives no figures for it"
    yield "weft", _said(found)
    if len(found.sets) > 1:
        yield "sets", "; ".join(f"{which}: {said}" for which, said in found.sets.items())


def show(console, chosen, directory):
    """Prints all claims of these experiments."""
    at_hand, sources = figures(chosen, directory)
    judge = claims.Judge(at_hand, claims.Sets(sources))
    count = 0
    for one in chosen:
        for claim in one.claims:
            found = judge.judge(one, claim)
            count += 1
            console.print(Text.assemble((claim["id"], "bold"), f"  {one.name}, {sources[one.name]} set"))
            for title, text in lines(one, claim, found):
                style = STYLES.get(found.verdict, "") if title == "weft" else ""
                console.print(Text(f"    {title:10}{text}", style=style), soft_wrap=True)
    console.print(f"{number(count)} claims")
