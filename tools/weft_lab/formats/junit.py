"""Grades as JUnit XML, for continuous integration and whatever else reads it: a test suite for each student.

There is no standard; Jenkins' xunit plugin has the description that most readers follow (`testsuites`,
`testsuite`, `testcase`, `failure`, `error`, `system-out`, `properties`).  A test with a part of its points has
failed.  Points are properties of the test case, as pytest writes its own.
"""

from collections.abc import Iterable
from xml.etree import ElementTree

from ..clean import REASON, clean, detail, line, points
from ..grade import Broken, Grade, TestResult


def render(grades: Iterable[Grade | Broken], hidden: bool = True) -> str:
    """XML.  hidden: with the details of hidden tests."""
    root = ElementTree.Element("testsuites", name="weft grade")
    total = dict.fromkeys(("tests", "failures", "errors"), 0)
    for grade in grades:
        suite = _broken(grade) if isinstance(grade, Broken) else _suite(grade, hidden)
        root.append(suite)
        for name in total:
            total[name] += int(suite.attrib[name])
    root.attrib |= {name: str(count) for name, count in total.items()}
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(grade: Grade, hidden: bool) -> ElementTree.Element:
    failures = sum(not test.passed for test in grade.tests)
    suite = ElementTree.Element("testsuite", name=f"{line(grade.lab)}: {line(grade.student)}",
                                tests=str(len(grade.tests)), failures=str(failures), errors="0")
    _properties(suite, grade.points, grade.most)
    suite.extend(_case(grade, test, hidden) for test in grade.tests)
    if grade.log.strip():
        ElementTree.SubElement(suite, "system-out").text = clean(grade.log)
    return suite


def _case(grade: Grade, test: TestResult, hidden: bool) -> ElementTree.Element:
    name = f"{line(grade.lab)}.{line(grade.student)}"
    case = ElementTree.Element("testcase", classname=name, name=line(test.name))
    _properties(case, test.points, test.most)
    if not test.passed:
        failure = ElementTree.SubElement(case, "failure", type="points", message=line(test.reason))
        failure.text = "\n".join([clean(test.reason, REASON), detail(test, hidden)]).strip()
    return case


def _properties(element: ElementTree.Element, got: float, most: float) -> None:
    properties = ElementTree.SubElement(element, "properties")
    ElementTree.SubElement(properties, "property", name="points", value=points(got))
    ElementTree.SubElement(properties, "property", name="most", value=points(most))


def _broken(grade: Broken) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=line(grade.student), tests="1", failures="0", errors="1")
    case = ElementTree.SubElement(suite, "testcase", classname=line(grade.student), name="grading")
    error = ElementTree.SubElement(case, "error", type="infrastructure", message=line(grade.why))
    error.text = clean(grade.why)
    return suite
