"""What grading a student's folder gives.  It imports nothing of the rest, so that every part may import it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TestResult:
    """One test of a lab.  reason and detail may quote what the student's program has printed: any text, of any
    length, also with characters that no output format allows."""

    name: str  # "permit", unique in the lab
    title: str  # one line for the student
    points: float  # what the student gets
    most: float  # of how many
    hidden: bool  # of the hidden set: its detail is shown to the student only if the lecturer wants that
    reason: str  # "" if all points; otherwise what went wrong, in the lab's terms
    detail: str  # the line that repeats it, what waits for what, the last lines of output; may be long

    @property
    def passed(self) -> bool:
        """All points."""
        return self.points >= self.most


@dataclass(frozen=True)
class Grade:
    """A student's folder, graded."""

    lab: str  # "park"
    student: str  # the folder's name
    tests: tuple[TestResult, ...]
    log: str  # of the build

    @property
    def points(self) -> float:
        return sum(test.points for test in self.tests)

    @property
    def most(self) -> float:
        return sum(test.most for test in self.tests)


@dataclass(frozen=True)
class Broken:
    """The infrastructure failed, not the student: there is no grade yet."""

    student: str
    why: str
