"""The planted bugs of tests/bugs as a table: docs/races.md, made of the headers of the patches, of the lines
that they take out, and of the tests that find them (`make races`; test_bugs.py).

A header is a sentence that says what the bug does, and then, each a paragraph of its own:

    Race: what two threads, LWPs or CPUs do.
    Without this: what is lost without the lines that the patch takes out.

A patch that only delays (*.wide.patch) has the sentence alone.  Those of exact timing's own arithmetic are no
races, and have `Wrong:` in the place of both.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
BUGS = TOP / "tests/bugs"
TABLE = TOP / "docs/races.md"
FUNCTION = re.compile(r"^(?:[A-Za-z_][\w\s*]*[\s*])?(\w+)(?:\(|:)")


@dataclass
class Bug:
    name: str
    sentence: str
    fields: dict
    places: list  # (file, function or None) of each hunk

    @property
    def wide(self):
        return self.name.endswith(".wide")


def parse_header(text):
    """(the sentence, {field: text}) of what stands before the diff."""
    head, _, _ = text.partition("--- a/")
    sentence, _, rest = head.strip().partition("\n\n")
    fields = {}
    for line in rest.splitlines():
        match = re.match(r"(Race|Without this|Wrong): (\S.*)", line)
        if match:
            fields[match[1]] = match[2]
        elif line.startswith("  ") and fields:
            fields[list(fields)[-1]] += " " + line.strip()
        elif line:
            raise ValueError(f"a line of a header that belongs to no field: {line}")
    return " ".join(sentence.split()), fields


def _function_at(lines, number):
    """The function in which this line of a C or assembly file stands."""
    for line in reversed(lines[:number + 1]):
        match = FUNCTION.match(re.sub(r"__attribute__\(\(.*?\)\) ?", "", line))
        if match:
            return match[1]
    return None


def _places(text):
    """Where the hunks stand in the tree: found by the lines that they expect there."""
    places = []
    for part in re.split(r"^--- a/", text, flags=re.MULTILINE)[1:]:
        file = part.split("\n", 1)[0].strip()
        lines = (TOP / file).read_text().splitlines()
        for hunk in re.split(r"^@@.*\n", part, flags=re.MULTILINE)[1:]:
            old, at = [], None
            for line in hunk.splitlines():
                if line[:1] in ("-", "+") and at is None:
                    at = len(old)
                if line[:1] in (" ", "-", ""):
                    old.append(line[1:])
            start = next(i for i in range(len(lines)) if lines[i:i + len(old)] == old)
            place = file, _function_at(lines, start + at)
            if place not in places:
                places.append(place)
    return places


def bugs():
    found = []
    for path in sorted(BUGS.glob("*.patch")):
        text = path.read_text()
        found.append(Bug(path.name.removesuffix(".patch"), *parse_header(text), _places(text)))
    return found


def applies(patch):
    """What git, or patch where there is no git, says against applying it to the tree; "" : nothing."""
    for command in (["git", "apply", "--check", patch], ["patch", "-p1", "--dry-run", "-fsi", patch]):
        try:
            done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
        except FileNotFoundError:
            continue
        return "" if done.returncode == 0 else done.stdout + done.stderr + f"({patch.name})"
    raise FileNotFoundError("neither git nor patch")


def _cell(text):
    return text.replace("|", "\\|")


def _rows(known, shown):
    for bug in known:
        files = {}
        for file, function in bug.places:
            files.setdefault(file, []).append(f"`{function}`" if function else "")
        where = "; ".join(f"`{file}` {', '.join(dict.fromkeys(names))}".strip()
                          for file, names in files.items())
        yield (f"| [`{bug.name}`](../tests/bugs/{bug.name}.patch) | {_cell(bug.fields['Race'])} | "
               f"{_cell(bug.fields['Without this'])} | {where} | {'; '.join(shown[bug.name])} |")


def table(shown):
    """docs/races.md.  shown: {bug: what finds it, each as text}."""
    races = [bug for bug in bugs() if "Race" in bug.fields]
    kernel = [bug for bug in races if bug.places[0][0].startswith("kernel/")]
    java = [bug for bug in races if bug.places[0][0].startswith("java/")]
    library = [bug for bug in races if bug not in (*kernel, *java)]
    head = ["| bug | race | without this | closed in | found by |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([
        "# Races that are closed, and shown", "",
        "`make races` makes this page of the headers of `tests/bugs/*.patch`. Each patch takes out the lines that",
        "close a race; the program beside it then fails under some seed of exact timing. A name behind the program",
        "is that of a second patch (`*.wide.patch`), which only widens the place, by a delay.", "",
        "## The kernel", "", *head, *_rows(kernel, shown), "",
        "## The threads library", "", *head, *_rows(library, shown), "",
        "## The Java machine", "", *head, *_rows(java, shown), ""])
