"""What a student's file gains: a lab's figure on several numbers of CPUs, with the skeleton and with the student's
file.  The skeleton of such a lab is right, and slow."""

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from weft_host.guest import Guests
from weft_host.machine import HostError, UsageError

from . import files, runs
from .build import Built, build
from .lab import VISIBLE, Lab

FILE = "measure.csv"
GIVEN = "given"  # in the build folder: the build of the skeleton


@dataclass(frozen=True)
class Row:
    """The median of the figure under several seeds, in instructions."""

    cpus: int
    given: int
    yours: int

    @property
    def gain(self) -> float:
        return self.given / self.yours


def measure(lab: Lab, student: Path, out: Path) -> list[Row]:
    """Raises UsageError, BuildFailed; HostError: a program told no figure."""
    if lab.measure is None:
        raise UsageError(f"lab {lab.name} has no measurement")
    given, yours = build(lab, lab.skeleton, out / GIVEN), build(lab, student, out)
    return [Row(cpus, _figure(lab, given, cpus), _figure(lab, yours, cpus)) for cpus in lab.measure.smp]


def _figure(lab: Lab, built: Built, cpus: int) -> int:
    assert lab.measure is not None
    test = replace(lab.test(lab.measure.test), smp=(cpus,))
    told = []
    for variant in test.variants(lab.name, VISIBLE, lab.measure.seeds):
        outcome = runs.play(Guests(), test, variant, built)
        figure = outcome.figures.get(test.figure.name) if test.figure else None
        if figure is None:
            raise HostError(f"no figure on {cpus} CPUs: {outcome.reason}\n"
                            f"{runs.repeat(test, variant, built.folder)}")
        told.append(figure)
    return int(statistics.median(told))


def text(rows: list[Row]) -> str:
    lines = ["CPUs   given   yours    gain"]
    lines += [f"{row.cpus:4} {row.given:7} {row.yours:7} {row.gain:7.2f}" for row in rows]
    return "\n".join(lines) + "\n"


def write(rows: list[Row], folder: Path) -> Path:
    """Writes the table to a file in the folder.  Raises OSError."""
    lines = ["cpus,given,yours,gain", *(f"{row.cpus},{row.given},{row.yours},{row.gain:.3f}" for row in rows)]
    files.write(folder / FILE, "\n".join(lines) + "\n")
    return folder / FILE
