"""The pages: what of the results stands where.  How it looks is in templates/."""

import re

import jinja2
from markupsafe import Markup, escape

from .. import cells, claims, experiment, words
from ..machine import UsageError
from ..runner import OK
from . import panels, plots

CLASS = {claims.HOLDS: "good", claims.FAILS: "bad", claims.HARDWARE: "hardware",
         claims.NOT_MEASURED: "none"}


class _Judged:
    """A claim with its verdict."""

    def __init__(self, one, claim, verdict):
        self.id, self.text = claim["id"], claim["text"]
        # Why weft differs from the paper is worth telling only where it does.
        differs = verdict.verdict == claims.FAILS
        self.explanation = claim.get("explanation", "") if differs else ""
        self.evidence = claim.get("evidence", []) if differs else []
        self.verdict = verdict
        self.kind = CLASS[verdict.verdict]
        self.figures = verdict.figures
        # What the paper's text says, and what its tables do.
        self.paper = [claim["paper"]] if "paper" in claim else []
        if verdict.paper:
            self.paper += verdict.paper.figures
            # Its own figures bear it out, unless this is said.
            if verdict.paper.verdict == claims.FAILS:
                self.paper[-1] += f" ({claims.FAILS})"
        self.expectation = claims.expectation(one, claim)


class _Section:
    """An experiment on its paper's page."""

    def __init__(self, one, facts, stale, judge, results):
        self.one, self.name, self.facts = one, one.name, facts
        self.stale = stale
        self.claims = [_Judged(one, claim, judge.judge(one, claim)) for claim in one.claims]
        self.tables, self.plots, self.commands = [], [], []
        if facts is None:
            return
        rows = facts["rows"]
        self.failed = sum(1 for row in rows if row.get("status", OK) != OK)
        tables = [cells.Table(one, rows, view) if cells.is_table(view) else None
                  for view in one.tables]
        self.tables = [group for view, table in zip(one.tables, tables)
                       for group in panels.groups(one, view, table, results)]
        drawn = (plots.draw(one, rows, view, number, [table for table in tables if table])
                 for number, view in enumerate(one.plots))
        self.plots = [plot for plot in drawn if plot is not None]
        if one.module:
            self.commands = [f"tools/weft bench {one.name}"]
        else:
            full = facts.get("set") == "full"
            self.commands = _commands(one.runs(full))


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


def render(measured):
    """{file name: text} of all pages."""
    known, papers = experiment.all_experiments(), experiment.papers()
    stale = {name: _stale(known[name], facts) for name, facts in measured.items() if name in known}
    usable = {name: facts for name, facts in measured.items() if stale.get(name) == ""}
    at_hand = {name: (known[name], facts["rows"]) for name, facts in usable.items()}
    judge = claims.Judge(at_hand)
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
    shared = {"papers": papers, "sections": sections, "verdicts": claims.VERDICTS, "where": where,
              "revisions": sorted({facts.get("revision", "unknown") for facts in usable.values()}),
              "sets": sorted({facts.get("set", "") for facts in usable.values()})}
    made = {"index.html": environment.get_template("index.html").render(
        shared, current="index", title="weft: the papers' experiments")}
    page = environment.get_template("paper.html")
    for key, paper in papers.items():
        made[f"{key}.html"] = page.render(shared, current=key, title=paper["title"], paper=paper)
    return made
