"""The monitor in a terminal: the states at one moment of a recording, and the shares of the last three seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from . import changes

SHARES = 3e9  # nanoseconds that shares are of: ThreadMon's three seconds
# page/states.js has the same colours.
COLOURS = {"On LWP": "#009e73", "User": "#009e73", "Dispatchable": "#e69f00", "Run queue": "#d55e00",
           "Wait CPU": "#d55e00", "Blocked": "#0072b2", "Asleep": "#0072b2", "Parked": "#56b4e9", "Wait": "#56b4e9",
           "Stopped": "#cc79a7", "System": "#f0e442", "Idle": "#9aa0a6"}
GONE = 0
BLOCKED = changes.THREAD_STATES.index("Blocked")


@dataclass
class Track:
    """One thread, LWP or CPU now, and its states in the last seconds."""

    label: str
    name: str
    state: int = GONE
    place: int = changes.NONE  # its LWP or CPU; a CPU's LWP
    text: int = changes.NONE
    since: float = 0.0
    past: deque[tuple[float, int]] = field(default_factory=deque)  # changes: time, state

    def change(self, now: float, state: int, place: int, text: int) -> None:
        if state != self.state or not self.past:
            self.since = now
            self.past.append((now, state))
        self.state, self.place, self.text = state, place, text
        while len(self.past) > 1 and self.past[1][0] <= now - SHARES:
            self.past.popleft()

    def shares(self, now: float, states: int) -> list[float]:
        """Of the time that it has lived, at most three seconds of it."""
        spent = [0.0] * states
        begin = max(now - SHARES, self.past[0][0] if self.past else now)
        ends = [*[at for at, _ in self.past][1:], now]
        for (at, state), end in zip(self.past, ends):
            spent[state] += max(0.0, end - max(at, begin))
        whole = sum(spent)
        return [one / whole if whole else 0.0 for one in spent]


class Picture:
    """Takes blocks of a recording, up to a moment, and shows it."""

    def __init__(self) -> None:
        self.threads: dict[int, Track] = {}
        self.lwps: dict[int, Track] = {}
        self.cpus: dict[int, Track] = {}
        self.queues: dict[int, int] = {}
        self.texts: dict[int, str] = {}
        self.facts: dict[str, Any] = {}
        self.title = ""
        self.now = 0.0

    def define(self, what: dict[str, Any]) -> None:
        for kind, known in (("threads", self.threads), ("lwps", self.lwps)):
            for number, pid, own, name in what.get(kind, ()):
                label = str(own) if kind == "threads" else f"{pid}/{own}"
                known.setdefault(number, Track(label, name)).name = name
        self.texts.update((number, text) for number, text in what.get("texts", ()))
        for number in range(what.get("cpus", 0)):
            self.cpus.setdefault(number, Track(f"CPU {number}", ""))
        self.facts.update(what.get("facts", {}))
        self.title = what.get("title", self.title)
        self.now = max(self.now, what.get("now", 0.0))

    def change(self, one: Sequence[Any]) -> None:
        at, kind, state, cpu, a, b, c = one
        self.now = max(self.now, at)
        match kind:
            case changes.THREAD:
                self.threads[a].change(at, state, b, c)
            case changes.LWP:
                self.lwps[a].change(at, state, b, c)
            case changes.CPU:
                self.cpus[cpu].change(at, state, a, changes.NONE)
            case changes.QUEUE:
                self.queues[cpu] = a

    def block(self, letter: str, data: Any) -> None:
        if letter == "J":
            self.define(data)
        else:
            for one in data:
                self.change(one)

    # --- what is shown ------------------------------------------------------------------------------------

    def _table(self, kind: str, title: str, tracks: Iterable[Track], states: Sequence[str], most: int,
               place: str, where: dict[int, Track]) -> Table:
        table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for heading in (kind, "state", place, "for"):
            table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=28)
        for state in states[1:]:
            table.add_column(state, justify="right", style=COLOURS[state])
        alive = [one for one in tracks if one.state != GONE]
        # Those that do something come first, if not all have room.
        shown = alive if len(alive) <= most else sorted(alive, key=lambda one: (-one.state, one.since))[:most]
        for one in shown:
            word = states[one.state]
            at = where.get(one.place)
            shares = one.shares(self.now, len(states))
            table.add_row(f"{one.label} {one.name}".strip(), Text(word, style=COLOURS[word]),
                          at.label if at else "", self.texts.get(one.text, ""),
                          *(f"{100 * share:.0f} %" if share else "" for share in shares[1:]))
        if len(shown) < len(alive):
            table.add_row(f"and {len(alive) - len(shown)} more")
        return table

    def counts(self) -> str:
        counts = [0] * len(changes.THREAD_STATES)
        for thread in self.threads.values():
            counts[thread.state] += 1
        return ", ".join(f"{count} {word}" for word, count in reversed(list(zip(changes.THREAD_STATES, counts)))
                         if count and word != "gone")

    def show(self, height: int) -> RenderableType:
        """In so many lines."""
        room = max(2, (height - len(self.cpus) - 9) // 2)
        lwps = [one for one in self.lwps.values() if one.state != GONE]
        threads = [one for one in self.threads.values() if one.state != GONE]
        for_lwps = min(len(lwps), max(room, 2 * room - len(threads)))
        waiting = sum(self.queues.values())
        return Group(
            Text(f"{self.title}   {self.now / 1e6:,.3f} ms", style="bold", no_wrap=True, overflow="ellipsis"),
            self._table("thread", f"Threads: {self.counts() or 'none yet'}", threads, changes.THREAD_STATES,
                        2 * room - for_lwps, "LWP", self.lwps),
            self._table("LWP", "LWPs", lwps, changes.LWP_STATES, for_lwps, "CPU", self.cpus),
            self._table("CPU", f"CPUs, run queue: {waiting}", self.cpus.values(), changes.CPU_STATES, 64, "LWP",
                        self.lwps),
            Text(str(self.facts.get("cost", "")), style="dim", no_wrap=True, overflow="ellipsis"))


FRAMES = 10  # a second


def follow(blocks: Iterable[tuple[str, Any]], console: Console) -> None:
    """Shows a recording as it grows, to its end."""
    picture = Picture()
    with Live(get_renderable=lambda: picture.show(console.height - 1), console=console, refresh_per_second=FRAMES):
        for letter, data in blocks:
            picture.block(letter, data)


def replay(blocks: Iterable[tuple[str, Any]], console: Console, seconds: float, end: float) -> None:
    """Shows a recording of `end` nanoseconds once more, in so many seconds of the host."""
    picture, step = Picture(), end / (seconds * FRAMES)
    following = step
    with Live(console=console, auto_refresh=False) as live:
        for letter, data in blocks:
            if letter == "J":
                # What is known at the end only, as the time of the end, comes in its turn.
                picture.define({name: value for name, value in data.items() if name != "now"})
                continue
            for one in data:
                while one[0] > following:
                    picture.now = following
                    live.update(picture.show(console.height - 1), refresh=True)
                    time.sleep(1 / FRAMES)
                    following += step
                picture.change(one)
        live.update(picture.show(console.height - 1), refresh=True)
