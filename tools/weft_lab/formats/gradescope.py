"""A grade as Gradescope's results.json.

"Autograder Specifications", section "Output format", of Gradescope's documentation for autograders;
schemas/gradescope-results.schema.json says the same.  The score of a submission is the sum of its tests'.

While a test is hidden from students, Gradescope hides their total as well.  So a hidden test of weft is visible by
default, without its detail.
"""

import json
from typing import Any

from ..clean import REASON, clean, detail, line
from ..grade import Grade, TestResult

VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")


def render(grade: Grade, hidden: bool = False, visibility: str = VISIBILITIES[0]) -> str:
    """JSON.  hidden: students see the details of hidden tests.  visibility: when students see that there are
    hidden tests, one of VISIBILITIES."""
    results: dict[str, Any] = {
        "score": grade.points, "output_format": "text", "test_output_format": "text", "test_name_format": "text",
        "tests": [_test(test, hidden, visibility) for test in grade.tests]}
    if grade.log.strip():
        results["output"] = "Log of the build:\n" + clean(grade.log)
    return json.dumps(results, indent=2, allow_nan=False) + "\n"


def _test(test: TestResult, hidden: bool, visibility: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": f"{line(test.name)}: {line(test.title)}", "score": test.points, "max_score": test.most,
        "status": "passed" if test.passed else "failed",
        "visibility": visibility if test.hidden else VISIBILITIES[0]}
    if not test.passed:
        found["output"] = "\n\n".join(text for text in (clean(test.reason, REASON), detail(test, hidden)) if text)
    return found
