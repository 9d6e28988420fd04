"""A grade as the result.json of Classroom 50, classroom50/result/v1.

"Advanced Autograding", section "The result.json contract", of Classroom 50's documentation, and its published
schema; schemas/classroom50-result-v1.schema.json says the same.  Classroom 50's runner starts an autograder with
the names of the classroom and of the submission in its environment, and checks that the result repeats them.

Scores are whole numbers there.  A test with all points keeps them; of others, points are rounded, to one less than
all at most.  The key "points" has the points as they are.  The result is published with the student's submission,
so details of hidden tests are not in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from weft_host.machine import UsageError

from ..clean import REASON, clean, detail, line
from ..grade import Grade, TestResult
from ..lab import Lab

SCHEMA = "classroom50/result/v1"
TYPES = ("individual", "group", "team")
# What the runner puts into the environment, and the key of the result.
VARIABLES = {"CLASSROOM": "classroom", "ASSIGNMENT": "assignment", "OWNER": "owner", "SUBMISSION_TAG": "submission",
             "COMMIT_URL": "commit", "RELEASE_URL": "release"}


@dataclass(frozen=True)
class Submission:
    """What Classroom 50 calls this submission."""

    names: dict[str, str]  # keys of the result
    when: datetime

    @classmethod
    def of(cls, environment: Mapping[str, str], when: datetime) -> "Submission":
        """Raises UsageError: the environment is not that of Classroom 50's runner."""
        names = {key: environment.get(name, "") for name, key in VARIABLES.items()}
        names["owner"] = names["owner"] or environment.get("USERNAME", "")
        missing = [name for name, key in VARIABLES.items() if not names[key]]
        if missing:
            raise UsageError(f"a result for Classroom 50 repeats {', '.join(missing)}, and the environment has "
                             "no such variable; Classroom 50's runner sets it for its autograder.py")
        names["review"] = environment.get("REVIEW_URL") or names["commit"]
        names["assignment_type"] = environment.get("ASSIGNMENT_TYPE") or TYPES[0]
        return cls(names, when)


def check(lab: Lab) -> None:
    """Raises UsageError: a test of the lab has a part of a point."""
    for test in lab.tests:
        for points in (test.points, test.hidden_points):
            _whole(test.name, points)


def _whole(name: str, points: float) -> int:
    if points != round(points):
        raise UsageError(f"the test {name} has {points} points, and Classroom 50 counts whole points alone")
    return round(points)


def render(grade: Grade, submission: Submission) -> str:
    """JSON.  Raises UsageError: a test of the lab has a part of a point."""
    tests = [_test(test) for test in grade.tests]
    when = submission.when.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    result = {"schema": SCHEMA, **submission.names, "datetime": when, "graded_at": when,
              "score": sum(test["score"] for test in tests), "max-score": sum(test["max-score"] for test in tests),
              "tests": tests}
    return json.dumps(result, indent=2, allow_nan=False) + "\n"


def _test(test: TestResult) -> dict[str, Any]:
    most = _whole(test.name, test.most)
    score = most if test.passed else max(min(round(test.points), most - 1), 0)
    found: dict[str, Any] = {"test-name": f"{line(test.name)}: {line(test.title)}", "passed": test.passed,
                             "score": score, "max-score": most, "points": test.points}
    if not test.passed:
        found |= {"message": clean(test.reason, REASON), "output": detail(test, hidden=False)}
    return found
