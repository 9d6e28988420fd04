"""Plain English: what gives a style away that a reader with English as a second language stumbles over.

CONTRIBUTING.md has the rules.  A rule that a pattern can find is here, with the better way.  The check
is a net, no judge.  tests/english.toml lists the places that are right as they stand, and the files that
are still to be rewritten.
"""

import bisect
import fnmatch
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .paths import TOP
from .project import tomllib

LISTS = TOP / "tests/english.toml"

# A sentence or a part of one begins after it.
STOP = r"(?:^|(?<=[.;:!?] )|(?<=[.;:!?]  ))"

# (what to find, what to write)
PATTERNS = [
    (r"\bwho(?:m|ever|mever)?\b", "name the subject by its noun: the waiter, the owner, the caller"),
    (STOP + r"whose\b", "begin with the noun: the owner of ..."),
    (r"\b(?:he|his|him|himself|she|her|hers|herself)\b",
     "the noun, or: its, they, their"),
    (r"\bbut (?:for|the latter|the former|that)\b", "except, or: because, although"),
    (r"\b(?:all|any|anything|everything|every|no|none|nobody|nothing|nowhere) but\b", "except, or: only"),
    (r"\b(?:this|that|a later|an earlier|a new|an old|the other|which) one\b", "repeat the noun"),
    (r"\bthe (?:latter|former)\b", "repeat the noun"),
    (r"\bthe books\b", "name them: the mask, the count, the list"),
    (r"\b(?:anew|afresh|lest|whence|thence|hence|thereby|therein|thereof|thereupon|wherein|whereupon|"
     r"hitherto|naught|aught|albeit|whilst|upon|likewise|henceforth)\b", "a word of today: again, so, on"),
    (r", for (?:it|they|there|this|that|these|those) (?:is|are|was|were|has|have|had|can|may|must|do|does)\b",
     "because"),
    (r"\bfor want of\b", "without, or: because there is no"),
    (STOP + r"(?:asleep|awake|locked|free|done|found|taken|such) (?:it|they|this) "
     r"(?:is|are|was|were|has|have)\b", "the subject comes first"),
    (STOP + r"of (?:an?|the|this|that|these|those|what|each|such|some|its|all)\b[^.;:]*?"
     r"\b(?:nothing|nobody|only|none|all) (?:is|are|was|has|have)\b", "the subject comes first"),
    (r"\bnor (?:do|does|did|is|are|was|were|has|have|can|may|must|will)\b",
     "a sentence with not, and its subject first"),
    (r"\band so (?:do|does|did|is|are|was|were|has|have|can) \w+", "say it of both: A and B do"),
    (r"\b(?:returns|tells|says) whom\b", "name the noun"),
]
FINDER = re.compile("|".join(f"(?P<p{number}>{pattern})" for number, (pattern, _) in enumerate(PATTERNS)),
                    re.IGNORECASE)

# What begins a line of a comment, and belongs to no sentence.
LEADER = re.compile(r"[ \t]*\n[ \t]*(?:\*(?!/)|#+|//|;|>)?[ \t]*")
# Of C.  A character is matched too, so that a quotation mark in it begins no string.
C_PROSE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'", re.DOTALL)
C_CODE = re.compile(r"[^\n]")
SUFFIXES = {".c", ".h", ".S", ".py", ".md", ".toml", ".sh", ".mk", ".ld", ".yml", ".patch", ""}
NO_PROSE = {"LICENSE"}


@dataclass(frozen=True)
class Hit:
    """A place that a pattern has found."""

    path: str  # of the repository
    line: int
    text: str  # what was found
    around: str  # with the words beside it
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.around!r}: {self.text!r} ({self.advice})"


def sources() -> list[str]:
    """The texts of the repository, as paths in it."""
    done = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"],
                          capture_output=True, check=True)
    paths = (Path(name) for name in done.stdout.decode().split("\0") if name)
    return sorted(str(path) for path in paths
                  if path.suffix in SUFFIXES and path.name not in NO_PROSE and (TOP / path).is_file())


def find(path: str, text: str) -> list[Hit]:
    """All places in a text, also those that go over the end of a line."""
    if path.endswith((".c", ".h")):
        text = _prose_of_c(text)
    elif path.endswith(".patch"):  # below its head it quotes other files
        text = text.partition("\n--- ")[0]
    flat, starts = _flatten(text)
    hits = []
    for match in FINDER.finditer(flat):
        number = next(int(name[1:]) for name, found in match.groupdict().items() if found is not None)
        line = text.count("\n", 0, _origin(starts, match.start())) + 1
        around = flat[max(match.start() - 30, 0):match.end() + 30]
        hits.append(Hit(path, line, match[0], around, PATTERNS[number][1]))
    return hits


def _prose_of_c(text: str) -> str:
    """The comments and strings, at their places; of the code only the ends of lines."""
    parts, at = [], 0
    for match in C_PROSE.finditer(text):
        parts += [C_CODE.sub(" ", text[at:match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, C_CODE.sub(" ", text[at:])])


def _flatten(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with each paragraph on one line, and pairs of a place in it and the same place before."""
    parts: list[str] = []
    starts = [(0, 0)]
    length = at = 0
    for match in LEADER.finditer(text):
        end = "\n" if text[match.end():match.end() + 1] in ("", "\n") else " "
        parts += [text[at:match.start()], end]
        length += match.start() - at + 1
        at = match.end()
        starts.append((length, at))
    return "".join([*parts, text[at:]]), starts


def _origin(starts: list[tuple[int, int]], place: int) -> int:
    """Where a place of the flat text is in the text itself."""
    flat, before = starts[bisect.bisect(starts, place, key=lambda pair: pair[0]) - 1]
    return before + place - flat


@dataclass
class Report:
    """What the check has found."""

    hits: list[Hit]  # in files that are done, and not listed as right
    todo: dict[str, int]  # {pattern of paths: hits in the files still to be rewritten}
    stale: list[str]  # what tests/english.toml lists and is not there any more


def check() -> Report:
    """Looks at every text of the repository."""
    lists = tomllib.loads(LISTS.read_text())
    right = {(path, text): False for path, texts in lists["right"].items() for text in texts}
    report = Report([], dict.fromkeys(lists["todo"], 0), [])
    for path in sources():
        if path in lists["quote"]:
            continue
        hits = find(path, (TOP / path).read_text(errors="replace"))
        patterns = [pattern for pattern in lists["todo"] if fnmatch.fnmatch(path, pattern)]
        for pattern in patterns:
            report.todo[pattern] += len(hits)
        for hit in hits:
            allowed = [key for key in right if key[0] == path and key[1] in hit.around]
            right |= dict.fromkeys(allowed, True)
            if not allowed and not patterns:
                report.hits.append(hit)
    report.stale = [f"todo: {pattern}" for pattern, count in report.todo.items() if not count]
    report.stale += [f"right: {path}: {text!r}" for (path, text), met in right.items() if not met]
    return report
