"""Figures in the documents: where they come from, and how they are made again.

A document that states a figure of exact timing says so in a comment of Markdown, which a reader
of the page does not see:

    <!-- bench pingpong: games, times -->
    ```                                     the parts of that module's tables, as bench prints them:
    ...                                     everything between the fences is theirs
    ```

    19<!-- bench micro: instructions of figure=mutex cpus=1 model=lwp -->

The second follows a number: an expression over the columns of the row that has these values.  As many
decimals as stand there are kept.  With `statistic=median`, say, it is that of all rows that have the other values.

    2.6<!-- claim pp-user-switch -->        what a claim is about: the quotient of a ratio, the value of a
                                            range. `at KEY=VALUE` chooses one of its points; after a colon
                                            stands an expression over `over`, `under` and `value`, or over
                                            what the claim's `let` names
    526<!-- break-even latency: spin -->    where a curve of a picture passes 1 (breakeven.py); `at 250`: the
                                            quotient there
    <!-- verdicts -->                       once: each verdict of the form `pp-user-switch`: holds is made again
    ![...](pictures/break-even-latency.svg) the picture
    <!-- coverage PAPER -->                 a table of what the paper has and weft has (coverage.py);
    | ...                                   without PAPER: how many items of each paper are done

The explanations of claims, in experiments/*.toml, mark their numbers by the same comments.

The rows are those of the baseline in the repository (baseline.py): the quick set's.  `weft bench
--update-baseline` makes all figures and pictures again, --update-docs does so alone; tests/test_documents.py
holds that this changes nothing.
"""

import functools
import importlib
import re

from rich.console import Console, Group

from . import baseline, breakeven, cells, claims, coverage, experiment, experiments, quotes, venv
from .cells import NotMeasured
from .figures import Values
from .formula import Formula
from .machine import UsageError
from .paths import TOP

FOLDERS = (".", "docs", "libthread", "kernel", "user", "tools", "tests")
EXPERIMENTS = "tools/weft_host/experiments"
WIDTH = 80  # of tables, as on a terminal

STARTS = tuple(f"<!-- {kind} " for kind in ("bench", "claim", "break-even"))
TABLE = re.compile(r"<!-- bench (?P<name>[\w-]+): (?P<parts>[\w, ]+) -->\n```\n(?P<text>.*?)```\n",
                   re.DOTALL)
COVERAGE = re.compile(r"<!-- coverage(?: (?P<paper>[\w-]+))? -->\n(?:\|.*\n)*")
NUMBER = r"(?P<text>[\d,]*\d(\.\d+)?)"
FIGURE = re.compile(NUMBER + r"<!-- bench (?P<name>[\w-]+): (?P<formula>[^<>]+?) of (?P<row>[^<>]+?) -->")
CLAIM = re.compile(NUMBER + r"<!-- claim (?P<name>[\w-]+)(?: at (?P<row>[^<>:]+?))?(?:: (?P<formula>[^<>]+?))? -->")
CROSSING = re.compile(NUMBER + r"<!-- break-even (?P<name>[\w-]+): (?P<curve>[\w-]+)(?: at (?P<x>[\d.]+))? -->")
VERDICTS = "<!-- verdicts -->"
VERDICT = re.compile(rf"`(?P<name>[\w-]+)`:\s(?:{'|'.join(claims.VERDICTS)})\b(?: \((?:full|quick) set\))?")
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<file>pictures/break-even-(?P<name>[\w-]+)\.svg)\)")


def documents():
    """All that may state figures."""
    return [path for folder in FOLDERS for path in sorted((TOP / folder).glob("*.md"))]


def marked():
    """All that may have such comments: the documents, and the experiments' files for their explanations."""
    return [*documents(), *sorted((TOP / EXPERIMENTS).glob("*.toml"))]


def read_rows(name):
    """The rows of an experiment's baseline."""
    rows = baseline.read_rows(name)
    if not rows:
        raise UsageError(f"there is no baseline {baseline.QUICK / name}.csv")
    return rows


class Source:
    """Where figures come from: rows_of(experiment), and what claims and pictures are of them.  sets: as of
    claims.Sets, {experiment: which set its rows are}; None: all are the quick set's.  known: all experiments."""

    def __init__(self, rows_of=read_rows, sets=None, known=None):
        self.rows_of = rows_of
        self._sets, self._known = sets, known

    @functools.cached_property
    def _results(self):
        found = {}
        for name, one in (self._known or experiment.all_experiments()).items():
            try:
                found[name] = one, self.rows_of(name) or []
            except UsageError:  # it has no quick set
                found[name] = one, []
        return found

    @functools.cached_property
    def _judge(self):
        return claims.Judge(self._results, claims.Sets(
            dict.fromkeys(self._results, "quick") if self._sets is None else self._sets))

    @functools.cached_property
    def pictures(self):
        return breakeven.pictures(self._results)

    def _claim(self, name):
        """(Experiment, rows, claim)"""
        for one, rows in self._results.values():
            for claim in one.claims:
                if claim["id"] == name:
                    return one, rows, claim
        raise UsageError(f"there is no claim {name!r}")

    def said(self, name):
        """The verdict on a claim."""
        one, _, claim = self._claim(name)
        return self._judge.judge(one, claim).said

    def value(self, name, point, formula):
        """Of a claim; point: {axis: value}."""
        one, rows, claim = self._claim(name)
        get = Values(self._results, one, rows, claim.get("where", {}) | point, claim.get("value"))
        parts = claim.get("let") or {key: claim[key] for key in ("over", "under", "of") if key in claim}
        try:
            values = {key: get(selection) for key, selection in parts.items()}
        except NotMeasured as error:
            raise UsageError(f"claim {name}: {error}") from error
        if claim.get("kind") == "ratio":
            if values["under"] == 0:
                raise UsageError(f"claim {name}: the divisor is 0")
            values["value"] = values["over"] / values["under"]
        elif "of" in values:
            values["value"] = values.pop("of")
        return Formula(formula or "value")(values)


def renew(text, source=None):
    """A document with the figures of a Source, or of the baseline.  A UsageError quotes a comment that is none of
    these, or whose figure is not there."""
    source = source or Source()
    text = COVERAGE.sub(functools.partial(_coverage, source), quotes.renew(text))
    made = {TABLE: _table, FIGURE: _figure, CLAIM: _claim, CROSSING: _crossing}
    for kind, make in [*made.items(), *([(VERDICT, _verdict)] if VERDICTS in text else [])]:
        text = kind.sub(functools.partial(make, source), text)
    known = [match.span() for one in made for match in one.finditer(text)]
    for match in re.finditer("|".join(map(re.escape, STARTS)), text):
        if not any(start <= match.start() < end for start, end in known):
            raise UsageError("no table in ``` follows, and it follows no number: "
                             f"{text[match.start():].partition('-->')[0]}-->")
    return text


def _selection(text):
    """KEY=VALUE ..., as a table."""
    return {key: baseline.value(value) for key, _, value in (word.partition("=") for word in (text or "").split())}


def _number(match, value):
    """A match of a number and its comment, with another number: as many decimals stay."""
    decimals = len(match["text"].partition(".")[2])
    return f"{value:,.{decimals}f}" + match[0][len(match["text"]):]


def _claim(source, match):
    return _number(match, source.value(match["name"], _selection(match["row"]), match["formula"]))


def _verdict(source, match):
    head, colon, rest = match[0].partition("`:")
    return f"{head}{colon}{rest[0]}{source.said(match['name'])}"


def _crossing(source, match):
    if match["name"] not in source.pictures:
        raise UsageError(f"there is no picture {match['name']!r}, but {', '.join(source.pictures)}")
    picture = source.pictures[match["name"]]
    return _number(match, picture.quotient(match["curve"], float(match["x"])) if match["x"]
                   else picture.crossing(match["curve"]))


def _coverage(source, match):
    if match["paper"] not in {None, *coverage.papers()}:
        raise UsageError(f"coverage has no paper {match['paper']!r}, but {', '.join(coverage.papers())}")
    made = coverage.table(match["paper"], source.said) if match["paper"] else coverage.counts()
    head = match[0].partition("\n")[0]
    return f"{head}\n{made}"


def _table(source, match):
    name = match["name"]
    known = importlib.import_module(f"{experiments.__name__}.{name}").parts(source.rows_of(name))
    wanted = [one.strip() for one in match["parts"].split(",")]
    for one in wanted:
        if one not in known:
            raise UsageError(f"{name} has no part {one!r}, but {', '.join(known)}")
    console = Console(width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as printed:
        console.print(Group(*(piece for one in wanted for piece in ("", known[one]))))
    lines = [line.rstrip() for line in printed.get().splitlines()]
    body = "\n".join(lines).strip("\n")
    return f"<!-- bench {name}: {match['parts']} -->\n```\n{body}\n```\n"


def _figure(source, match):
    name, wanted = match["name"], _selection(match["row"])
    statistic = wanted.pop("statistic", None)
    found = [row for row in source.rows_of(name)
             if all(row.get(key) == value for key, value in wanted.items())]
    if not found or (len(found) > 1 and statistic is None):
        raise UsageError(f"{name} has {len(found)} rows with {match['row']}, not one")
    values = [Formula(match["formula"])(row) for row in found]
    return _number(match, values[0] if statistic is None else cells.statistic(values, statistic))


def drawings(path, text):
    """{file: SVG} of the pictures that a document shows, of the baseline."""
    shown = {match["file"]: match["name"] for match in PICTURE.finditer(text)}
    if not shown:
        return {}
    venv.add("report")
    from .report import plots

    known = Source().pictures
    for name in shown.values():
        if name not in known:
            raise UsageError(f"there is no picture {name!r}, but {', '.join(known)}")
    return {path.parent / file: plots.for_file(plots.draw_break_even(known[name])["svg"])
            for file, name in shown.items()}


def update():
    """Makes the figures and the pictures of all documents again; yields the paths of those that have changed."""
    source = Source()
    for path in marked():
        try:
            text = renew(path.read_text(), source)
            made = {path: text} | drawings(path, text)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
        for file, after in made.items():
            if not file.exists() or file.read_text() != after:
                file.write_text(after)
                yield file
