"""The grades that `weft grade --all` has already, a file for each student, so that it resumes.

A grade counts as long as all that it depends on is the same: the student's files, the sources of weft and of the
lab, and the settings.  The file has a digest of these, and stands for nothing if that is another one now.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weft_host.paths import TOP

from . import files
from .grade import Grade, TestResult

FORM = "weft-grade-1"  # of the files; another form is no grade
SKIPPED = ".git"  # a student's history is no part of the work
BLOCK = 1 << 20


def _entries(folder: Path) -> Iterator[Path]:
    """All that is in a folder, in the order of their names.  Raises OSError."""
    for path in sorted(folder.iterdir()):
        if path.name != SKIPPED:
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _entries(path)


def _state(path: Path) -> bytes:
    """What of an entry matters.  A link is not followed, and what is no file is not opened."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return b"link " + os.fsencode(os.readlink(path))
    if not stat.S_ISREG(mode):
        return f"kind {stat.S_IFMT(mode):o}".encode()
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return b"file " + digest.digest()


def digest(top: Path, paths: Iterable[Path]) -> str:
    """Of entries with their names from top.  Raises OSError."""
    whole = hashlib.sha256()
    for path in paths:
        for part in (os.fsencode(path.relative_to(top)), _state(path)):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


class Store:
    """The grades in a folder."""

    def __init__(self, folder: Path, sources: Iterable[Path], settings: str = "") -> None:
        """sources: the files, from the top, that every grade depends on; settings: what else it depends on."""
        self._folder = folder
        self._common = f"{digest(TOP, (TOP / name for name in sources))} {settings}"

    def key(self, submission: Path) -> str:
        """Tells the grades of this submission from others, also of itself with other files.  Raises OSError."""
        text = f"{FORM} {self._common} {digest(submission, _entries(submission))}"
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    def _path(self, student: str) -> Path:
        return self._folder / f"{files.named(student)}.json"

    def get(self, student: str, key: str) -> Grade | None:
        """The grade, if the file is whole and has this key."""
        try:
            facts = json.loads(self._path(student).read_text(encoding="utf-8"))
            if facts["key"] != key:
                return None
            return _grade(facts["grade"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, grade: Grade, key: str) -> None:
        """Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = {"form": FORM, "key": key, "grade": asdict(grade)}
        # In ASCII: a text may have characters that UTF-8 has no form for.
        files.write(self._path(grade.student), json.dumps(facts, indent=1) + "\n")


def _grade(facts: dict[str, Any]) -> Grade:
    tests = tuple(TestResult(**test) for test in facts["tests"])
    return Grade(facts["lab"], facts["student"], tests, facts["log"])
