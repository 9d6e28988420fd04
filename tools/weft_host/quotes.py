"""Code in the documents: quoted from the sources, and held true by a test.

A document quotes a function, or a table, in a block after a comment of Markdown, which a reader of the
page does not see:

    <!-- code libthread/sync/mutex.c: pthread_mutex_lock -->
    ```c
    ...                                     the function, as it stands in the file
    ```

`from "TEXT"` and `to "TEXT"` after the name choose some of its lines: from the first that has the first text
on, up to the next that has the second text.  In assembly the name is a label, and `to` is needed.
`weft site --update` makes all quotations again; tests/test_documents.py holds that this changes nothing.
"""

import re
from pathlib import Path

from .machine import UsageError
from .paths import TOP

START = "<!-- code "
QUOTE = re.compile(r'<!-- code (?P<path>[\w./-]+): (?P<name>\w+)(?: from "(?P<first>[^"]+)")?'
                   r'(?: to "(?P<last>[^"]+)")? -->\n```(?P<kind>\w*)\n(?P<text>.*?)```\n', re.DOTALL)


def lines_of(path: str, name: str, top: Path = TOP) -> list[str]:
    """A function's lines; of a label in assembly, all that follow."""
    try:
        lines = (top / path).read_text().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    if path.endswith(".S"):
        for at, line in enumerate(lines):
            if line.startswith(f"{name}:"):
                return lines[at:]
        raise UsageError(f"{path} has no label {name}")
    table = re.compile(rf".*\b{name} = {{$")
    head = re.compile(rf"(?![ \t*]).*\b{name}\([^;]*$")
    for at, line in enumerate(lines):
        if table.match(line):
            return lines[at:lines.index("};", at) + 1]
        if not head.match(line):
            continue
        body = next((n for n in range(at, len(lines)) if lines[n] == "{" or lines[n].endswith(";")), at)
        if lines[body] != "{":
            continue  # a declaration
        # Its type may stand on a line of its own.
        begin = at - 1 if line.startswith((name, "*")) else at
        return lines[begin:lines.index("}", body) + 1]
    raise UsageError(f"{path} has no function {name}")


def _chosen(lines: list[str], where: str, first: str | None, last: str | None) -> list[str]:
    """The lines from one that has `first` to one that has `last`."""
    begin, end = 0, len(lines) - 1
    if first is not None:
        begin = next((n for n, line in enumerate(lines) if first in line), -1)
    if last is not None and begin >= 0:
        end = next((n for n, line in enumerate(lines) if n >= begin and last in line), -1)
    if begin < 0 or end < 0:
        raise UsageError(f"{where} has no line with {(first if begin < 0 else last)!r}")
    return lines[begin:end + 1]


def renew(text: str, top: Path = TOP) -> str:
    """A document with the code of today.  A UsageError says what a marker names and is not there."""
    def quote(match: re.Match[str]) -> str:
        path, name = match["path"], match["name"]
        if path.endswith(".S") and match["last"] is None:
            raise UsageError(f'{path}: {name}: assembly needs `to "TEXT"`')
        lines = _chosen(lines_of(path, name, top), f"{path}: {name}", match["first"], match["last"])
        head = match[0].partition("\n")[0]
        return "\n".join([head, f"```{match['kind']}", *lines, "```", ""])

    found, count = QUOTE.subn(quote, text)
    if count != text.count(START):
        raise UsageError("a block in ``` has to follow each <!-- code FILE: NAME -->")
    return found
