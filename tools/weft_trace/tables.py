"""A trace as CSV files: one for each kind of event, with a column for each value."""

import csv
from pathlib import Path
from typing import IO, Any

from weft_host.machine import HostError

from .events import Record


class Tables:
    """Writes DIRECTORY/EVENT.csv: time, CPU, and the values of the event."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise HostError(f"{directory}: is not empty; the tables of two traces would mix")
        self._directory = directory
        self._files: dict[str, IO[str]] = {}
        self._writers: dict[str, Any] = {}
        self._columns: dict[str, list[str]] = {}

    def feed(self, record: Record) -> None:
        writer = self._writers.get(record.name)
        if writer is None:
            file = self._files[record.name] = open(self._directory / f"{record.name}.csv", "w", newline="")
            writer = self._writers[record.name] = csv.writer(file)
            self._columns[record.name] = list(record.values)
            writer.writerow(["time", "cpu", *record.values])
        writer.writerow([record.time, record.cpu, *(record.values.get(name, "") for name in
                                                    self._columns[record.name])])

    def close(self) -> None:
        for file in self._files.values():
            file.close()
