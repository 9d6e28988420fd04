"""The tables of `weft bench` on the terminal."""

from itertools import groupby

from rich.console import Group
from rich.table import Table
from rich.text import Text

from . import cells
from .claims import CONSTRUCTED, FAILS, HOLDS, UNDECIDED
from .experiments.pingpong import grid
from .runner import OK

STYLES = {HOLDS: "green", FAILS: "red", UNDECIDED: "yellow", CONSTRUCTED: "dim"}


def plain(experiment, rows):
    """Each of the experiment's tables of cells; without any, one of its figure by the first axis."""
    parts = [""]
    views = [view for view in experiment.tables if cells.is_table(view)]
    for view in views or [{"rows": experiment.axes[-1]}]:
        table = cells.Table(experiment, rows, view)
        if not table.row_labels:
            continue
        lines = grid([(table.corner, "left")] + [(heading, "right") for heading in table.headings],
                     wrap=table.corner)
        for label in table.row_labels:
            lines.add_row(table.row_title(label), *(cells.show(table.cell(label, column), table.spread(
                label, column)) for column in table.column_labels))
        # A table without a title of its own has the experiment's, which stands above.
        title = table.caption.removeprefix(experiment.title).strip()
        parts += [*([Text(title, style="italic")] if title else []), lines, ""]
    wrong = sum(1 for row in rows if row["status"] != OK)
    if wrong:
        parts.append(Text(f"{wrong} of {len(rows)} rows are of runs that failed.", style="red"))
    return Group(*parts)


def verdicts(judged):
    """judged: pairs of a claim and its Verdict; what a paper says, and what the figures say to it."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(no_wrap=True)
    lines.add_column()
    for claim, found in judged:
        figures = "; ".join(found.figures)
        why = claim.get("explanation") if found.verdict in (FAILS, UNDECIDED) else None
        lines.add_row(Text(found.verdict, style=STYLES.get(found.verdict, "")),
                      Text(f"{claim['id']}: {claim['text']} [{figures}]"
                           + (f" Why: {why}" if why else "")))
    return Group(lines, "")


def _change(one):
    if not one["key"]:
        said = "is no longer measured" if one["worse"] else "is new"
    else:
        percent = "" if one["percent"] is None else f"{one['percent']:+.2f} %"
        said = (f"{one['figure']:20} {cells.show(one['old']):>11} {cells.show(one['new']):>11} "
                f"{percent:>12}")
    return Text(f"    {said}{'  WORSE' if one['worse'] else ''}", style="red" * one["worse"])


def changes(found, tolerance):
    """What --compare has found."""
    if not found:
        return Text("No difference.")
    lines = []
    for (experiment, key), figures in groupby(found, lambda one: (one["experiment"], one["key"])):
        lines.append(Text(f"{experiment}: {key}" if key else experiment))
        lines += [_change(one) for one in figures]
    worse = sum(one["worse"] for one in found)
    return Group(*lines, Text(f"{len(found)} differences; {worse} worse by more than {tolerance:g} %"))
