"""Texts that student's code may have written, made fit to be shown.

A student names files, and the student's program prints what it likes: escape sequences, bytes that are no UTF-8,
marks that turn the direction of writing, a hundred megabytes.  Every text goes through clean() before it becomes
part of a page, a table or a file; each form then quotes it as its language wants.
"""

import math
import re

from .grade import TestResult

LINE = 1_000  # characters of what is one line: a name, a title
REASON = 2_000  # of a reason
DETAIL = 20_000  # of a detail, of the build's log
WITHHELD = "(A hidden test: its detail is not shown.)"
BLANKS = re.compile(r"\s+")


def clean(text: str, most: int = DETAIL) -> str:
    """The text with at most that many characters of it, from its beginning and its end; between them stands how
    many are left out.  Line feeds and tabs stay.  What cannot be printed, as escape sequences, bytes that are no
    UTF-8 and marks that turn the direction of writing, becomes an escape in Python's notation.  Thus no text
    moves a terminal's cursor, and each may stand in JSON, XML and HTML."""
    if len(text) > most:
        end = most // 2
        left_out = f"\n[... {len(text) - most:,} characters left out ...]\n"
        text = text[:most - end] + left_out + (text[-end:] if end else "")
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else _escape(one) for one in text)


def _escape(one: str) -> str:
    code = ord(one)
    if 0xdc80 <= code <= 0xdcff:  # a byte that Python could not decode (surrogateescape)
        code -= 0xdc00
    return one.encode("unicode_escape").decode() if code > 0xff else f"\\x{code:02x}"


def line(text: str, most: int = LINE) -> str:
    """As of clean(), on one line, with single blanks."""
    return BLANKS.sub(" ", clean(text, most)).strip()


def detail(test: TestResult, hidden: bool) -> str:
    """The detail for a reader.  hidden: the reader may see those of hidden tests."""
    if test.hidden and not hidden:
        return WITHHELD if test.detail else ""
    return clean(test.detail)


def points(number: float) -> str:
    """With at most two decimals, rounded down: a part of the points is never shown as all of them."""
    down = math.floor(round(number * 100, 6)) / 100
    return f"{down:.2f}".rstrip("0").rstrip(".")
