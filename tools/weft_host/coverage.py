"""What the papers have, item by item, and what weft has of it: coverage/PAPER.toml.

An item is a table with the item's number as its name:

    says    what the paper has there, in weft's words
    weft    what weft has
    shown   a list of what shows it: claims by their id, experiments by their name, files of the sources by
            their path; "PATH: TEXT" also says which text of the file

It is done, unless one of these says why not: `not_measured`, `hardware` (exact timing does not model what it
depends on), `left_out` (a mechanism that weft does not have), `to_come` (what it waits for).

docs/coverage.md is made of this, as is a page of the report.  What an item is shown by has to exist, and a test
wants each claim and each experiment of the paper to show an item.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import experiment
from .paths import HERE, TOP
from .project import tomllib
from .reading import Reader, Shape

ITEMS = HERE / "coverage"
# {key: how the mark is called}
REASONS = {"not_measured": "not measured", "hardware": "depends on hardware", "left_out": "left out",
           "to_come": "to come"}
DONE = "done"
MARKS = (DONE, *REASONS.values())
ITEM: Shape = {"says": str, "weft": str, "shown": list, **dict.fromkeys(REASONS, str)}


@dataclass(frozen=True)
class Item:
    """claims: ids; experiments: names; files: paths, or "PATH: TEXT".  reason: empty if it is done."""

    id: str
    says: str
    weft: str
    mark: str
    reason: str
    claims: tuple[str, ...]
    experiments: tuple[str, ...]
    files: tuple[str, ...]


def _is_there(name: str) -> bool:
    path, _, text = name.partition(": ")
    file = TOP / path
    return file.exists() and (not text or text in file.read_text())


def _item(read: Reader, key: str, table: dict, known: dict, where: dict) -> Item:
    """known: all experiments; where: {claim's id: Experiment}."""
    read.shape(key, table, ITEM)
    read.need(key, table, "says", "weft")
    reasons = [one for one in REASONS if one in table]
    if len(reasons) > 1:
        read.fail(key, f"{' and '.join(map(repr, reasons))}: one reason is enough")
    shown: dict[str, list] = {"claims": [], "experiments": [], "files": []}
    for name in table.get("shown", []):
        if name in where:
            shown["claims"].append(name)
        elif name in known:
            shown["experiments"].append(name)
        elif isinstance(name, str) and _is_there(name):
            shown["files"].append(name)
        else:
            read.fail(key, f"shown: there is no claim, experiment or file {name!r}, or the file lacks the text")
    checked = [one for one in shown["claims"] if _is_checked(where[one], one)]
    if not reasons and not (checked or shown["experiments"] or shown["files"]):
        read.fail(key, "'shown' has nothing that was done, and no reason is given")
    return Item(id=key, says=table["says"], weft=table["weft"],
                mark=REASONS[reasons[0]] if reasons else DONE,
                reason=table[reasons[0]] if reasons else "",
                **{kind: tuple(names) for kind, names in shown.items()})


def _is_checked(owner: experiment.Experiment, claim: str) -> bool:
    return any(one["id"] == claim and "kind" in one for one in owner.claims)


def read(path: Path, known: dict | None = None) -> list[Item]:
    """The items of a paper; a UsageError names file and item."""
    known = experiment.all_experiments() if known is None else known
    where = {claim["id"]: one for one in known.values() for claim in one.claims}
    reader = Reader(path)
    try:
        tables = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        reader.fail("", str(error))
    return [_item(reader, key, table, known, where) for key, table in tables.items()]


@functools.cache
def papers() -> dict[str, list[Item]]:
    """{paper's key: its items}, in the papers' order."""
    known = experiment.all_experiments()
    return {paper: read(ITEMS / f"{paper}.toml", known) for paper in experiment.papers()
            if (ITEMS / f"{paper}.toml").is_file()}


def counts() -> str:
    """The table of counts, in Markdown."""
    lines = [f"| paper | {' | '.join(MARKS)} | items |", "| --- |" + " --- |" * (len(MARKS) + 1)]
    facts = experiment.papers()
    rows = [(facts[paper]["title"], items) for paper, items in papers().items()]
    rows.append(("all", [item for _, items in rows for item in items]))
    for title, items in rows:
        numbers = [sum(item.mark == mark for item in items) for mark in MARKS]
        lines.append(f"| {title} | {' | '.join(map(str, numbers))} | {len(items)} |")
    return "\n".join(lines) + "\n"


def table(paper: str, said: Callable[[str], str]) -> str:
    """The items of a paper, in Markdown; said: the verdict on a claim."""
    lines = ["| | the paper | weft | shown by | |", "| --- | --- | --- | --- | --- |"]
    for item in papers()[paper]:
        shown = [f"`{name}`: {said(name)}" for name in item.claims]
        shown += [f"`{name}`" for name in (*item.experiments, *item.files)]
        mark = f"{item.mark}: {item.reason}" if item.reason else item.mark
        lines.append(f"| {item.id} | {item.says} | {item.weft} | {'; '.join(shown)} | {mark} |")
    return "\n".join(lines) + "\n"
