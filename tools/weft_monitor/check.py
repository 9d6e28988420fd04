"""Whether a file is a whole recording.  It may come from anywhere: what is read after this check relies on it.

Objects have the numbers 0, 1, 2, ... in the order of their definitions, and a change names only defined ones.
Times never go back.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft_host.machine import HostError

from . import changes
from .changes import NONE

MOST_CPUS = 1024  # of a damaged file's, for each of which a page has a row
ROWS = {"threads": (int, int, str, str), "lwps": (int, int, int, str), "texts": (int, str),
        "costs": (float, float)}
SINGLE = {"cpus": int, "title": str, "now": float, "over": bool, "facts": dict}


def _is(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


class Damage(ValueError):
    """What is wrong, in words."""


class Checked:
    """Takes the blocks of a recording in their order, and raises Damage."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.end = 0.0
        self._known = {"threads": 0, "lwps": 0, "texts": 0}
        self._cpus = 0
        self._last = 0.0

    def define(self, what: Any) -> None:
        if not isinstance(what, dict):
            raise Damage("definitions that are none")
        for name, kind in SINGLE.items():
            if name in what and not _is(what[name], kind):
                raise Damage(f"{name} is no {kind.__name__}")
        for name, kinds in ROWS.items():
            rows = what.get(name, [])
            if not isinstance(rows, list):
                raise Damage(f"{name} is no list")
            for row in rows:
                self._row(name, kinds, row)
        self._cpus = what.get("cpus", self._cpus)
        if not 0 <= self._cpus <= MOST_CPUS:
            raise Damage(f"{self._cpus} CPUs")
        self.title = what.get("title", self.title)
        self.end = max(self.end, what.get("now", 0.0))

    def _row(self, name: str, kinds: Sequence[type], row: Any) -> None:
        if not (isinstance(row, list) and len(row) == len(kinds) and all(map(_is, row, kinds))):
            raise Damage(f"{name} has a row of another form")
        if name in self._known:
            if not 0 <= row[0] <= self._known[name]:
                raise Damage(f"{name} has the number {row[0]} out of turn")
            self._known[name] = max(self._known[name], row[0] + 1)

    def take(self, found: Sequence[tuple[Any, ...]]) -> None:
        threads, lwps, texts = self._known["threads"], self._known["lwps"], self._known["texts"]
        last = self._last
        for at, kind, state, cpu, a, b, c in found:
            # NaN fails the first comparison.
            if not last <= at < math.inf:
                raise Damage(f"time goes from {last} to {at}")
            last = at
            if kind == changes.THREAD:
                right = (0 <= a < threads and state < len(changes.THREAD_STATES) and NONE <= b < lwps
                         and NONE <= c < texts)
            elif kind == changes.LWP:
                right = (0 <= a < lwps and state < len(changes.LWP_STATES) and NONE <= b < self._cpus
                         and NONE <= c < texts)
            elif kind == changes.CPU:
                right = cpu < self._cpus and state < len(changes.CPU_STATES) and NONE <= a < lwps
            elif kind == changes.QUEUE:
                right = cpu < self._cpus and a >= 0
            elif kind == changes.WOKEN:
                most = threads if state else lwps
                right = 0 <= a < most and NONE <= b < most and NONE <= c < texts
            elif kind == changes.NOTE:
                right = NONE <= a < lwps and NONE <= b < threads and 0 <= c < texts
            elif kind == changes.OWNER:
                right = 0 <= a < texts and NONE <= b < threads
            elif kind == changes.STACK:
                right = 0 <= a < (threads if state else lwps) and 0 <= c < texts
            else:
                right = False
            if not right:
                raise Damage(f"a change of kind {kind} at {at} names what is not there")
        self._last = last
        self.end = max(self.end, last)


def check(path: Path) -> tuple[str, float]:
    """Reads the whole recording: its title, and the time of its end.  Raises HostError, OSError."""
    checked = Checked()
    with open(path, "rb") as file:
        try:
            for letter, data in changes.blocks(file, str(path)):
                if letter == "C":
                    checked.take(data)
                else:
                    checked.define(data)
        except Damage as error:
            raise HostError(f"{path}: damaged: {error}") from None
    return checked.title if checked.title is not None else path.name, checked.end
