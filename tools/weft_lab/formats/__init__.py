"""A grade in the forms that students, lecturers and courses' web services read."""

from weft_host import venv

from ..grade import Broken, Grade


def html(grade: Grade | Broken, hidden: bool = False) -> str:
    """The page for the student.  hidden: with the details of hidden tests."""
    venv.add("grade")
    from . import webpage  # not before its packages are there

    return webpage.render(grade, hidden)
