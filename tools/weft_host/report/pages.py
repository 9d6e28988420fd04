"""The pages: what of the results stands where.  How it looks is in templates/."""

import re

import jinja2
from markupsafe import Markup, escape

from .. import cells, claims, claimwords, coverage, experiment, power, words
from ..machine import UsageError
from ..runner import OK
from . import answers, panels, pictures, plots

CLASS = {claims.HOLDS: "good", claims.FAILS: "bad", claims.UNDECIDED: "undecided",
         claims.CONSTRUCTED: "constructed", claims.HARDWARE: "hardware", claims.NOT_MEASURED: "none"}
LISTED = 3  # failed runs that a page shows, of the first kinds of failure
UNKNOWN = {"set": "", "timing": "", "revision": "unknown", "failures": [], "rows": []}


class _Judged:
    """A claim with its verdict."""

    def __init__(self, one, claim, verdict):
        self.id, self.text = claim["id"], claim["text"]
        self.quote, self.section = claim.get("quote", ""), claim.get("section", "")
        self.own = not self.quote and one.paper != "weft"
        # Why weft differs from the paper is worth telling only where it does, or may.
        differs = verdict.verdict in (claims.FAILS, claims.UNDECIDED)
        self.explanation = claim.get("explanation", "") if differs else ""
        self.evidence = claim.get("evidence", []) if differs else []
        self.verdict = verdict
        self.kind = CLASS[verdict.verdict]
        # What each set says by itself.
        self.sets = verdict.sets if len(verdict.sets) > 1 else {}
        self.figures = verdict.figures
        # What the paper's text says, and what its tables do.
        self.paper = [claim["paper"]] if "paper" in claim and "paper_figure" not in claim else []
        if verdict.paper:
            self.paper += verdict.paper.figures
            # Its own figures bear it out, unless this is said.
            if verdict.paper.verdict == claims.FAILS:
                self.paper[-1] += f" ({claims.FAILS})"
        self.expectation = claimwords.expectation(one, claim)
        firm = verdict.verdict in (claims.HOLDS, claims.FAILS)
        self.power = power.percent(verdict.change) if firm else ""


class _Section:
    """An experiment on its paper's page."""

    def __init__(self, one, facts, stale, judge, results):
        self.one, self.name, self.facts = one, one.name, facts
        self.stale = stale
        self.claims = [_Judged(one, claim, judge.judge(one, claim)) for claim in one.claims]
        self.tables, self.plots, self.commands = [], [], []
        self.failures, self.failed, self.reduced = [], 0, []
        self.scale = _scale(one, False)
        self.pictures = [{"title": view.get("title") or one.title, "svg": "", "summary": [],
                          "note": "", "wide": False} for view in one.plots if "summary" in view]
        if facts is None:
            return
        rows = facts["rows"]
        wrong = [row for row in rows if row.get("status", OK) != OK]
        self.failures = _first_of_each(facts["failures"] or [
            {"status": row["status"], "command": f"tools/weft bench {one.name}"} for row in wrong])
        self.failed = max(len(wrong), len(facts["failures"]))
        self.reduced = _reduced(one) if facts["set"] == "quick" else []
        self.scale = _scale(one, bool(self.reduced))
        tables = [cells.Table(one, rows, view) if cells.is_table(view) else None
                  for view in one.tables]
        self.tables = [group for view, table in zip(one.tables, tables)
                       for group in panels.groups(one, view, table, results)]
        drawn = (plots.draw(one, rows, view, number, [table for table in tables if table])
                 for number, view in enumerate(one.plots))
        self.plots = [plot for plot in drawn if plot is not None]
        self.pictures = [plot for plot in self.plots if plot["summary"]] or self.pictures
        if one.module:
            self.commands = [f"tools/weft bench {one.name}"]
        else:
            self.commands = _commands(one.runs(facts["set"] == "full"))


def _first_of_each(failures):
    """Failures of different kinds, the first of each: {status, said, command}."""
    firsts = {}
    for one in failures:
        firsts.setdefault(re.sub(r"[\d.]+", "#", one["status"]), one)
    return [{"status": one["status"], "said": _last_line(one), "command": one["command"]}
            for one in [*firsts.values()][:LISTED]]


def _last_line(failure):
    """What a program said last, if it ended by itself: then its status alone tells little."""
    lines = failure.get("output", "").strip().splitlines()
    return lines[-1] if lines and failure["status"].startswith("exit status") else ""


def _scale(one, reduced):
    """How large the work is beside the paper's: of the full set, if the quick one has less."""
    if not one.scale:
        return ""
    factor, text = one.scale.get("factor"), one.scale.get("text")
    said = "as large as in the paper" if factor == 1 else "scaled down"
    said = f"The full set is {said}" if reduced else _sentence(said)
    said += f" by a factor of {words.number(factor)}" if factor not in (None, 1) else ""
    return (f"{said}: {text}" if text else said) + "."


def _reduced(one):
    """What the quick set has less of than the full one: texts."""
    if one.module:
        return []
    quick, full = one.runs(False), one.runs(True)

    def values(runs, axis):
        return list(dict.fromkeys(run.parameters[axis] for run in runs if axis in run.parameters))

    found = []
    for axis in dict.fromkeys(name for grid in one.parameters for name in grid):
        here, there = values(quick, axis), values(full, axis)
        if here != there and not any(isinstance(value, str) and " " in value for value in there):
            def texts(given, axis=axis):
                return ", ".join(words.label(axis, value) for value in given)

            found.append(f"{words.axis(one, axis)}: {texts(here)} (full: {texts(there)})")
    seeds = [len({run.seed for run in runs}) for runs in (quick, full)]
    if seeds[0] != seeds[1]:
        found.append(f"seeds: {seeds[0]} (full: {seeds[1]})")
    names = [list(dict.fromkeys(one.configurations[run.configuration].title for run in runs))
             for runs in (quick, full)]
    if len(names[0]) != len(names[1]):
        found.append(f"columns: {'; '.join(names[0])} (full: {len(names[1])})")
    return found


def _commands(runs):
    """One run of each configuration."""
    return [run.command() for run in {run.configuration: run for run in reversed(runs)}.values()
            ][::-1]


def _stale(one, facts):
    """Why these results are not of the experiment as it stands, or an empty text."""
    known = set(one.configurations)
    if not one.module and any(row.get("configuration") not in known for row in facts["rows"]):
        return "measured with other configurations"
    if set(facts["keys"]) - {"seed"} != set(one.axes):
        return "measured with other parameters"
    return ""


def _marked(text):
    """`words` are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _brief(figures):
    """Figures for a narrow column: quotients without what they are made of."""
    return "; ".join(re.sub(r" \([^()]* / [^()]*\)", "", one) for one in figures)


def _sentence(text):
    return text[:1].upper() + text[1:]


def _overview(usable, dates, known):
    """What the results are, as the summary says it first."""
    by_revision = {}
    for name, facts in usable.items():
        by_revision.setdefault(facts["revision"], []).append(name)
    days = sorted({dates[name] for name in usable if name in dates})
    full = any(facts["set"] == "full" for facts in usable.values())
    return {"revisions": dict(sorted(by_revision.items())),
            "sets": sorted({facts["set"] for facts in usable.values() if facts["set"]}),
            "timings": sorted({facts["timing"] for facts in usable.values() if facts["timing"]}),
            "days": [days[0], days[-1]] if len(days) > 1 else days,
            "measured": len(usable), "experiments": len(known),
            "missing": [one for one in known.values()
                        if one.name not in usable and not one.skipped(full)]}


def _sets(judged):
    """Of the claims on which the quick and the full set have a verdict each: how many there are, how many agree,
    and the others."""
    both = [claim for claim in judged if claim.sets and claims.NOT_MEASURED not in claim.sets.values()]
    differ = [claim for claim in both if len(set(claim.sets.values())) > 1]
    return {"both": len(both), "agree": len(both) - len(differ), "differ": differ}


def render(measured, dates):
    """{file name: text} of all pages.  dates: {experiment: day on which it was measured}."""
    known, papers = experiment.all_experiments(), experiment.papers()
    measured = {name: UNKNOWN | facts for name, facts in measured.items()}
    stale = {name: _stale(known[name], facts) for name, facts in measured.items() if name in known}
    usable = {name: facts for name, facts in measured.items() if stale.get(name) == ""}
    at_hand = {name: (known[name], facts["rows"]) for name, facts in usable.items()}
    sets = {name: facts["set"] for name, facts in usable.items() if facts["timing"] == "exact"}
    judge = claims.Judge(at_hand, claims.Sets(sets))
    sections = {paper: [] for paper in papers}
    for one in sorted(known.values(), key=lambda one: (one.order, one.name)):
        if one.paper not in papers:
            raise UsageError(f"{one.path}: no paper {one.paper!r} in papers.toml")
        sections[one.paper].append(
            _Section(one, usable.get(one.name), stale.get(one.name, ""), judge, at_hand))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__name__.rpartition(".")[0]), autoescape=True,
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"kind": CLASS.get, "marked": _marked, "sentence": _sentence,
                            "brief": _brief}
    where = {one.name: one.paper for one in known.values()}
    judged = {claim.id: claim for paper in sections.values() for section in paper for claim in section.claims}
    shared = {"papers": papers, "sections": sections, "verdicts": claims.VERDICTS, "where": where,
              "overview": _overview(usable, dates, known), "sets": _sets(judged.values())}
    made = {"index.html": environment.get_template("index.html").render(
        shared, current="index", title="weft: the papers' experiments")}
    page = environment.get_template("paper.html")
    for key, paper in papers.items():
        made[f"{key}.html"] = page.render(shared, current=key, title=paper["title"], paper=paper,
                                         pictures=pictures.of(paper))
    places = {one.name: f"{one.paper}.html#{one.name}" for one in known.values()}
    places |= {claim["id"]: f"{one.paper}.html#{claim['id']}" for one in known.values() for claim in one.claims}
    made["coverage.html"] = environment.get_template("coverage.html").render(
        shared, current="coverage", title="What the papers have", items=coverage.papers(), judged=judged,
        places=places, marks=coverage.MARKS)
    made["what-it-comes-to.html"] = environment.get_template("answers.html").render(
        shared, current="what-it-comes-to", title="What it comes to", page=answers.page(
            known, at_hand, sets, places))
    return made
