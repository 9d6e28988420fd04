"""A grade for a terminal.

    park: ann: 12.5 of 20 points
        10 / 10   permit    An unpark before the park is kept
       2.5 / 10   speed     A round trip takes few instructions
                            | 1450 instructions; full points up to 1100, none from 1600

What student's code may have written stands behind a bar, so none of its lines looks like a result.
"""

from collections.abc import Iterator

from ..clean import DETAIL, REASON, clean, detail, line, points
from ..grade import Broken, Grade, TestResult

BAR = "| "


def render(grade: Grade | Broken, hidden: bool = True) -> str:
    """Lines.  hidden: with the details of hidden tests."""
    if isinstance(grade, Broken):
        return f"{line(grade.student)}: not graded\n" + _quoted(grade.why, 4)
    widest = max((len(line(test.name)) for test in grade.tests), default=0)
    parts = [f"{line(grade.lab)}: {line(grade.student)}: {points(grade.points)} of "
             f"{points(grade.most)} points\n"]
    for test in grade.tests:
        parts += _test(test, widest, hidden)
    if grade.log.strip():
        parts += ["  Log of the build:\n", _quoted(grade.log, 4)]
    return "".join(parts)


def _test(test: TestResult, widest: int, hidden: bool) -> Iterator[str]:
    score = f"{points(test.points):>6} / {points(test.most):<5}"
    mark = " (hidden)" if test.hidden else ""
    yield f"  {score}  {line(test.name):{widest}}  {line(test.title)}{mark}\n"
    if not test.passed:
        yield _quoted(test.reason, 19 + widest, REASON)
        yield _quoted(detail(test, hidden), 19 + widest)


def _quoted(text: str, indent: int, most: int = DETAIL) -> str:
    """Each line behind the bar; nothing of a blank text."""
    lines = clean(text, most).strip("\n").split("\n") if text.strip() else []
    return "".join(f"{'':{indent}}{BAR}{one}".rstrip() + "\n" for one in lines)
