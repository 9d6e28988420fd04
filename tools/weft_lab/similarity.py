"""Which submissions have code in common, by copydetect: fingerprints of the code, in which names, layout and
comments do not count (Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting",
2003).

What the skeleton has already does not count, and weft's own files are compared as well, since all students can
read them.  A pair that is listed is no proof: two people must read it.

Every fingerprint is kept (a window of one).  copydetect chooses among them by Python's hash of texts, which
differs from process to process, and so would the shares.
"""

import io
import itertools
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft_host import venv

LENGTH = 25  # characters, after names are single letters, of the shortest piece in common: copydetect's preset
LARGEST = 256 << 10  # bytes of a file that is compared
OWN = "(weft)"


@dataclass(frozen=True)
class Pair:
    """Two files that have code in common."""

    file: str
    first: str  # student
    second: str
    first_share: float  # of the first student's code that is in the second's, 0 to 1
    second_share: float

    @property
    def share(self) -> float:
        """The larger one: a short file may be part of a longer."""
        return max(self.first_share, self.second_share)


@dataclass(frozen=True)
class Similar:
    """What the comparison has found."""

    pairs: list[Pair]  # the most alike first
    skipped: list[str]  # files that were not compared, and why


def _text(path: Path) -> str:
    """Raises OSError, with the reason."""
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode):
        raise OSError(0, "not a file")
    if state.st_size > LARGEST:
        raise OSError(0, f"{state.st_size:,} bytes; files up to {LARGEST:,} are compared")
    return path.read_text(encoding="utf-8", errors="replace").replace("\0", " ")


def find(submissions: Mapping[str, Path], replaces: Mapping[str, Path], skeleton: Path, least: float) -> Similar:
    """Compares the files of the same name.  submissions: {student: folder}; replaces: {name of a student's file:
    weft's file in its place}; skeleton: the folder with what every student got; least: the share of a pair that is
    worth to be listed."""
    venv.add("similarity")
    found: list[Pair] = []
    skipped: list[str] = []
    for name, own in sorted(replaces.items()):
        given = _fingerprint(skeleton / name, []) if (skeleton / name).is_file() else None
        known = sorted(given.hashes) if given else []
        prints: dict[str, Any] = {}
        for student, path in [*((student, folder / name) for student, folder in sorted(submissions.items())),
                              (OWN, own)]:
            try:
                prints[student] = _fingerprint(path, known)
            except OSError as error:
                skipped.append(f"{student}/{name}: {error.strerror}")
        found += _pairs(name, prints, least)
    return Similar(sorted(found, key=lambda pair: (-pair.share, pair.file, pair.first, pair.second)), skipped)


def _fingerprint(path: Path, known: list[int]) -> Any:
    """known: fingerprints that do not count, each once.  Raises OSError."""
    from copydetect import CodeFingerprint

    return CodeFingerprint("file.c", LENGTH, 1, boilerplate=known, fp=io.StringIO(_text(path)))


def _pairs(name: str, prints: Mapping[str, Any], least: float) -> Iterator[Pair]:
    from copydetect import compare_files

    for first, second in itertools.combinations(prints, 2):
        if not prints[first].hashes or not prints[second].hashes:
            continue  # nothing beside the skeleton
        _, (share, other), _ = compare_files(prints[first], prints[second])
        if max(share, other) >= least:
            yield Pair(name, first, second, min(float(share), 1.0), min(float(other), 1.0))
