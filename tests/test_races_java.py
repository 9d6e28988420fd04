"""The races that comments of the Java machine claim to close, shown as those of the library are (test_races.py): a
planted bug, and a seed that sees what it does, in a Java program.

docs/races.md is the table of them.
"""

import pytest
from conftest import TOP
from test_races import Race, show


def wrong(result):
    """Each program checks itself, and exits with 0 if all is well."""
    return [] if result.status == 0 else [f"status {result.status}", *result.output.splitlines()[-3:]]


def race(bug, program, *argv, enough=16, machine=None, wide=""):
    classes = sorted((TOP / "java/tests").glob(f"{program}*.class"))
    return Race(bug, ["java", "-Xmx1m", "-cp", "/host", program, *argv], enough,
                {"files": list(map(str, classes)), **(machine or {})}, wide, wrong)


RACES = [
    race("runs-unseen", "Stopped", 200, wide="slow-runner", machine={"smp": 2}),
    race("stop-unheard", "Left", 200, machine={"smp": 2}),
    race("priority-at-birth", "Born", 30, wide="slow-newcomer", machine={"smp": 2}),
    race("site-twice", "Same", machine={"smp": 2}),
    race("half-of-a-reference", "Tear", 300, machine={"smp": 2}),
]


@pytest.mark.parametrize("race", RACES, ids=[race.bug for race in RACES])
def test_race(guest, workshop, race, request):
    show(guest, workshop, race, request.config)
