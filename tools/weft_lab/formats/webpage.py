"""A grade as a web page for the student: one file that loads nothing and runs nothing, and looks as the pages of
`weft report` do (their style.css).  Needs the group "grade" of Python packages: call formats.html().
"""

from functools import cache
from typing import Any

import jinja2

from ..clean import REASON, clean, detail, line, points
from ..grade import Broken, Grade


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader("weft_lab"), jinja2.PackageLoader("weft_host.report")]),
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"line": line, "points": points, "clean": clean, "kind": kind}
    return environment


def kind(got: float, most: float) -> str:
    """The class of style.css for so many points."""
    return "good" if got >= most else "bad" if got <= 0 else "undecided"


def page(template: str, **facts: Any) -> str:
    """A page of templates/."""
    text: str = _environment().get_template(template).render(facts)
    return text


def render(grade: Grade | Broken, hidden: bool = False) -> str:
    """HTML.  hidden: with the details of hidden tests."""
    if isinstance(grade, Broken):
        return page("broken.html", title=f"{line(grade.student)}: not graded", grade=grade)
    tests = [{"number": number, "test": test, "kind": kind(test.points, test.most),
              "reason": clean(test.reason, REASON), "detail": detail(test, hidden)}
             for number, test in enumerate(grade.tests)]
    return page("student.html", title=f"{line(grade.lab)}: {line(grade.student)}", grade=grade, tests=tests)
