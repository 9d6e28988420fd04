"""Figures in the documents: where they come from, and how they are made again.

A document that states a figure of exact timing says so in a comment of Markdown, which a reader
of the page does not see:

    <!-- bench pingpong: games, times -->
    ```                                     the parts of that module's tables, as bench prints them:
    ...                                     everything between the fences is theirs
    ```

    19<!-- bench micro: instructions of figure=mutex cpus=1 model=lwp -->

The second follows a number: an expression over the columns of the row that has these values.  As many
decimals as stand there are kept.

    <!-- coverage PAPER -->                 a table of what the paper has and weft has (coverage.py);
    | ...                                   without PAPER: how many items of each paper are done

The rows are those of the baseline in the repository (baseline.py): the quick set's.  `weft bench
--update-baseline` makes all figures again, --update-docs does so alone; tests/test_documents.py holds
that this changes nothing.
"""

import importlib
import re

from rich.console import Console, Group

from . import baseline, coverage, experiments, quotes
from .formula import Formula
from .machine import UsageError
from .paths import TOP

FOLDERS = (".", "docs", "libthread", "kernel", "user", "tools", "tests")
WIDTH = 80  # of tables, as on a terminal

START = "<!-- bench "
TABLE = re.compile(r"<!-- bench (?P<name>[\w-]+): (?P<parts>[\w, ]+) -->\n```\n(?P<text>.*?)```\n",
                   re.DOTALL)
COVERAGE = re.compile(r"<!-- coverage(?: (?P<paper>[\w-]+))? -->\n(?:\|.*\n)*")
FIGURE = re.compile(r"(?P<text>[\d,]*\d(\.\d+)?)<!-- bench (?P<name>[\w-]+): (?P<formula>[^<>]+?) of "
                    r"(?P<row>[^<>]+?) -->")


def documents():
    """All that may state figures."""
    return [path for folder in FOLDERS for path in sorted((TOP / folder).glob("*.md"))]


def read_rows(name):
    """The rows of an experiment's baseline."""
    rows = baseline.read_rows(name)
    if not rows:
        raise UsageError(f"there is no baseline {baseline.QUICK / name}.csv")
    return rows


def renew(text, rows_of=read_rows):
    """A document with the figures of rows_of(experiment).  A UsageError quotes a comment that is
    none of these, or whose figure is not there."""
    text = COVERAGE.sub(_coverage, quotes.renew(text))
    text, tables = TABLE.subn(lambda match: _table(match, rows_of), text)
    text, figures = FIGURE.subn(lambda match: _figure(match, rows_of), text)
    if tables + figures != text.count(START):
        known = {match.start(): match.end() for one in (TABLE, FIGURE)
                 for match in one.finditer(text)}
        for match in re.finditer(re.escape(START), text):
            if not any(start <= match.start() < end for start, end in known.items()):
                raise UsageError("no table in ``` follows, and it follows no number: "
                                 f"{text[match.start():].partition('-->')[0]}-->")
    return text


def _coverage(match):
    if match["paper"] not in {None, *coverage.papers()}:
        raise UsageError(f"coverage has no paper {match['paper']!r}, but {', '.join(coverage.papers())}")
    head = match[0].partition("\n")[0]
    return f"{head}\n{coverage.table(match['paper']) if match['paper'] else coverage.counts()}"


def _table(match, rows_of):
    name = match["name"]
    known = importlib.import_module(f"{experiments.__name__}.{name}").parts(rows_of(name))
    wanted = [one.strip() for one in match["parts"].split(",")]
    for one in wanted:
        if one not in known:
            raise UsageError(f"{name} has no part {one!r}, but {', '.join(known)}")
    console = Console(width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as printed:
        console.print(Group(*(piece for one in wanted for piece in ("", known[one]))))
    lines = [line.rstrip() for line in printed.get().splitlines()]
    body = "\n".join(lines).strip("\n")
    return f"{START}{name}: {match['parts']} -->\n```\n{body}\n```\n"


def _figure(match, rows_of):
    name, wanted = match["name"], {}
    for word in match["row"].split():
        key, _, value = word.partition("=")
        wanted[key] = baseline.value(value)
    found = [row for row in rows_of(name)
             if all(row.get(key) == value for key, value in wanted.items())]
    if len(found) != 1:
        raise UsageError(f"{name} has {len(found)} rows with {match['row']}, not one")
    value = Formula(match["formula"])(found[0])
    decimals = len(match["text"].partition(".")[2])
    return f"{value:,.{decimals}f}" + match[0][len(match["text"]):]


def update():
    """Makes the figures of all documents again; yields the paths of those that have changed."""
    for path in documents():
        before = path.read_text()
        try:
            after = renew(before)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
        if after != before:
            path.write_text(after)
            yield path
