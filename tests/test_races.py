"""The races that comments of the library, and of the kernel below it, claim to close: each of
these planted bugs (tests/bugs) takes out what closes one, and then some seeds of exact timing see
it happen, in a program that brings its threads to that place (tests/guest/races*.c).

libthread/README.md has the table of claims.
"""

from dataclasses import dataclass, field

import broken
import pytest
from tap import failures
from test_seeds import quantum


@dataclass
class Race:
    bug: str
    argv: list
    enough: int = 4  # seeds; every second one finds most of them
    machine: dict = field(default_factory=dict)

    def run(self, guest, seed, **where):
        options = {"smp": 4, "model": "lwp", **self.machine, **where}
        return guest(self.argv, timing="exact", seed=seed, quantum=quantum(seed), may_fail=True,
                     **options)


RACES = [
    Race("moved-meanwhile", ["races", "deadline", 100], 8),
    Race("priority-moved", ["races", "deadline", 100], 8),
    Race("signal-between", ["races", "signal", 100], 10),
    Race("gone-sem", ["races", "gone-sem", 50]),
    Race("gone-cond", ["races", "gone-cond", 30]),
    Race("blind-wait", ["races", "units", 20]),
    Race("believed-park", ["races", "units", 100], 8),
    Race("cancel-told-first", ["races", "cancel", 50], 8),
    Race("cancel-unseen-by-kernel", ["races", "cancel", 50]),
    Race("cancelled-with-unit", ["races", "unit-or-end", 30]),
    Race("chosen-too-late", ["races", "shared-unit-in-time", 30]),
    Race("stopped-in-critical", ["races", "stop", 100], 12),
    Race("stopped-owing", ["races", "stop", 100], 12),
]


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    return broken.Workshop(tmp_path_factory.mktemp("tree"))


@pytest.mark.parametrize("race", RACES, ids=[race.bug for race in RACES])
def test_race(guest, workshop, tmp_path, race):
    workshop.make(race.bug, race.argv[0], tmp_path)
    where = {"build": tmp_path, "files": [tmp_path / race.argv[0]]}
    for seed in range(1, race.enough + 1):
        found = race.run(guest, seed, **where)
        if failures(found):
            break
    else:
        pytest.fail(f"{race.enough} seeds do not find it")
    print(f"{race.bug}: found by seed {seed}")

    again = race.run(guest, seed, **where)
    assert (found.status, found.output, found.error) == (again.status, again.output, again.error)

    assert failures(race.run(guest, seed)) == []
