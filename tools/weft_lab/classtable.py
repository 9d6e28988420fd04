"""The class on one page: a CSV file for a spreadsheet, and a web page."""

import csv
import io
import statistics
from collections.abc import Sequence
from pathlib import PurePosixPath

from weft_host import venv

from .clean import line, points
from .files import named
from .grade import Broken, Grade, TestResult
from .similarity import Similar

STUDENTS = "students"  # the folder of the students' pages, beside the class's page
REASON = 200  # characters of a reason
CELL = 10_000  # of a cell: a spreadsheet takes 32,767
FORMULA = ("=", "+", "-", "@")  # a spreadsheet computes what begins so


def page_of(student: str) -> str:
    """The student's page, from the class's."""
    return str(PurePosixPath(STUDENTS, f"{named(student)}.html"))


def _test_names(grades: Sequence[Grade | Broken]) -> list[str]:
    """Of all grades, in their order."""
    return list(dict.fromkeys(test.name for one in grades if isinstance(one, Grade) for test in one.tests))


def _cell(text: str) -> str:
    """One line, which no spreadsheet takes for a formula."""
    text = line(text, CELL)
    return f"'{text}" if text.startswith(FORMULA) else text


def _losses(grade: Grade) -> str:
    """Each reason with the tests that it holds for."""
    reasons: dict[str, list[str]] = {}
    for test in grade.tests:
        if not test.passed:
            reasons.setdefault(line(test.reason, REASON), []).append(line(test.name))
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def csv_text(grades: Sequence[Grade | Broken]) -> str:
    """student, status (graded or not graded), points, most, the points of each test, and why points are lost."""
    names = _test_names(grades)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "status", "points", "most", *map(_cell, names), "losses"])
    for one in grades:
        if isinstance(one, Broken):
            writer.writerow([_cell(one.student), "not graded", "", "", *("" for _ in names), _cell(one.why)])
            continue
        got = {test.name: points(test.points) for test in one.tests}
        writer.writerow([_cell(one.student), "graded", points(one.points), points(one.most),
                         *(got.get(name, "") for name in names), _cell(_losses(one))])
    return text.getvalue()


def similarity_text(similar: Similar) -> str:
    """As CSV: the pairs of files with code in common, shares in percent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "first", "second", "percent of first", "percent of second"])
    for pair in similar.pairs:
        writer.writerow([_cell(pair.file), _cell(pair.first), _cell(pair.second), round(pair.first_share * 100),
                         round(pair.second_share * 100)])
    return text.getvalue()


def html_text(lab: str, grades: Sequence[Grade | Broken], similar: Similar | None) -> str:
    """The page, for the lecturer.  similar: None if submissions were not compared."""
    venv.add("grade")
    from .formats import webpage  # not before its packages are there

    graded = [one for one in grades if isinstance(one, Grade)]
    names = _test_names(grades)
    rows = [{"one": one, "graded": isinstance(one, Grade), "page": page_of(one.student),
             "tests": {test.name: test for test in one.tests} if isinstance(one, Grade) else {}} for one in grades]
    totals = [one.points for one in graded]
    tests = [_summary(name, [test for one in graded for test in one.tests if test.name == name]) for name in names]
    return webpage.page(
        "class.html", title=f"{line(lab)}: the class", rows=rows, names=names, tests=tests, similar=similar,
        graded=len(graded), broken=len(grades) - len(graded), most=max((one.most for one in graded), default=0.0),
        mean=statistics.fmean(totals) if totals else None, median=statistics.median(totals) if totals else None)


def _summary(name: str, results: Sequence[TestResult]) -> dict[str, object]:
    return {"name": name, "title": results[0].title, "hidden": results[0].hidden,
            "all": sum(test.passed for test in results), "of": len(results),
            "mean": statistics.fmean(test.points for test in results), "most": max(test.most for test in results)}
