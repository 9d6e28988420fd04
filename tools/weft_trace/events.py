"""The records of a trace with names in place of addresses, and their text form: one record a line.

    TIME CPU EVENT NAME=VALUE...

TIME is in nanoseconds, as the guest's CLOCK_MONOTONIC.  An LWP is PID/ID, a process its PID.  A line
`# lost N on CPU n` says how many records of a CPU the host has come too late for.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from weft_host.machine import HostError

LOST = re.compile(r"# lost (\d+) on CPU (\d+)$")


class Record:
    """One event.  All values are texts, as the line has them."""

    __slots__ = ("cpu", "name", "time", "values")

    def __init__(self, time: int, cpu: int, name: str, values: dict[str, str]) -> None:
        self.time = time
        self.cpu = cpu
        self.name = name
        self.values = values

    def __str__(self) -> str:
        if self.name == "lost":
            return f"# lost {self.values['count']} on CPU {self.cpu}"
        said = "".join(f" {name}={value}" for name, value in self.values.items())
        return f"{self.time} {self.cpu} {self.name}{said}"

    @classmethod
    def parse(cls, line: str) -> "Record":
        """Raises ValueError."""
        time, cpu, name, *values = line.split(" ")
        return cls(int(time), int(cpu), name, dict([value.split("=", 1) for value in values]))


def lost(time: int, cpu: int, count: int) -> Record:
    """A record that says that records are missing."""
    return Record(time, cpu, "lost", {"count": str(count)})


def read(path: Path | str) -> Iterator[Record]:
    """The records of a file, in its order.  Raises HostError: the file is damaged; OSError."""
    last = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\n")
            try:
                if text.startswith("#"):
                    if (match := LOST.match(text)) is None:
                        raise ValueError
                    yield lost(last, int(match[2]), int(match[1]))
                    continue
                record = Record.parse(text)
            except ValueError:
                raise HostError(f"{path}:{number}: this is no record of a trace: {text[:60]!r}") from None
            if not line.endswith("\n"):
                raise HostError(f"{path}:{number}: the file ends in the middle of a record")
            if record.time < last:
                raise HostError(f"{path}:{number}: the time goes back from {last} to {record.time}")
            last = record.time
            yield record
