"""A grade as text, HTML, Gradescope's and Classroom 50's results, and JUnit XML: what each has to say, that it is
what its reader publishes, and that no text of a student breaks it."""

import json
import math
import os
import re
import subprocess
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from junitparser import Error, Failure, JUnitXml
from webpages import Page
from weft_host.machine import UsageError
from weft_host.paths import TOP
from weft_lab import clean, files, formats, lab
from weft_lab.formats import classroom50, gradescope, junit, text
from weft_lab.grade import Broken, Grade
from weft_lab.grade import TestResult as Result  # no test of pytest

SCHEMAS = TOP / "tools/weft_lab/schemas"
PERMIT = Result("permit", "An unpark before the park is kept", 10, 10, False, "", "")
LOST = Result("lost", "No wake-up is lost", 0, 10, False, "thread 3 sleeps for ever",
                  "tools/weft run --seed 17\nthread 3 waits for news")
SPEED = Result("speed", "A round trip is short", 2.5, 10, True, "1450 instructions", "instructions: 1450")
GRADE = Grade("park", "ann", (PERMIT, LOST, SPEED), "park.c:3: warning: unused variable 'x'")
BROKEN = Broken("bob", "QEMU is not there")
# What a student's program may print, and what must not come through.
NASTY = ("</pre><script>alert(1)</script>]]>&amp;<!-- \x1b[2J\x1b]0;title\x07\0\r50 / 50 permit\x9b31m"
         "\udcff\ud800\u202egnorw\u2028\ufffe\U0001f600 ${{ github.token }} `rm`")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ufffe\uffff\ud800-\udfff]")
ENVIRONMENT = {"CLASSROOM": "os-2026", "ASSIGNMENT": "park", "OWNER": "ann",
               "SUBMISSION_TAG": "submit/2026-a1b2c3d", "COMMIT_URL": "https://example.org/c", "RELEASE_URL": "https://example.org/r"}
WHEN = datetime(2026, 11, 23, 18, 5, 9, tzinfo=timezone.utc)


def nasty(length=0):
    """A grade with such texts at every place that a student's code can reach."""
    dirt = NASTY + "x" * length
    test = Result("permit", "An unpark", 0, 10, False, dirt, dirt)
    return Grade("park", dirt, (test, replace(test, name="second", hidden=True)), dirt)


def valid(name, document):
    """Checks a document against a schema, which has to be one itself."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def submission():
    return classroom50.Submission.of(ENVIRONMENT, WHEN)


RENDERED = {
    "text": text.render,
    "html": formats.html,
    "gradescope": gradescope.render,
    "classroom50": lambda grade: classroom50.render(grade, submission()),
    "junit": lambda grade: junit.render([grade]),
}


# --- texts ---------------------------------------------------------------------------------------

def test_points():
    assert [clean.points(one) for one in (10, 7.5, 2.25, 0, 100, 9.999, 0.1 + 0.2, 1.1 * 3)] == [
        "10", "7.5", "2.25", "0", "100", "9.99", "0.3", "3.3"]


def test_sums():
    assert (GRADE.points, GRADE.most) == (12.5, 30)
    assert [test.passed for test in GRADE.tests] == [True, False, False]


def test_what_cannot_be_printed_is_written_out():
    assert clean.clean("a\tb\r\nc\rd\x1b[1m") == "a\tb\nc\\x0dd\\x1b[1m"
    assert clean.clean(b"\xff\xc3\xa9".decode(errors="surrogateescape")) == "\\xffé"
    assert clean.clean("\u202e\ud800\U000e0001") == "\\u202e\\ud800\\U000e0001"
    assert clean.line("  a\n\t b  ") == "a b"


def test_a_long_text_keeps_both_its_ends():
    found = clean.clean("replay " + "x" * 100_000_000 + " last line")
    assert len(found) < clean.DETAIL + 100
    assert found.startswith("replay ") and found.endswith(" last line")
    assert f"[... {100_000_017 - clean.DETAIL:,} characters left out ...]" in found
    assert clean.clean("x" * 50, 0) == "\n[... 50 characters left out ...]\n"


@pytest.mark.parametrize("name", RENDERED)
def test_no_text_breaks_a_form(name):
    document = RENDERED[name](nasty())
    assert not FORBIDDEN.search(document)
    document.encode()
    if name in ("html", "junit"):
        assert "<script" not in document
    if name == "text":  # only weft's own lines look like results
        assert [line for line in document.splitlines() if re.match(r"\s*\d+ / ", line) is None
                and "| " not in line and not line.startswith(("park: ", "  Log of"))] == []
        assert document.count("50 / 50") > 3


@pytest.mark.parametrize("name", RENDERED)
def test_no_text_makes_a_form_long(name):
    assert len(RENDERED[name](nasty(1_000_000))) < 200_000


@pytest.mark.parametrize("name", ["html", "gradescope", "classroom50"])
def test_the_detail_of_a_hidden_test_is_not_shown(name):
    assert "thread 3 waits for news" in RENDERED[name](GRADE)
    assert "instructions: 1450" not in RENDERED[name](GRADE)
    assert clean.WITHHELD in RENDERED[name](GRADE)


# --- forms ---------------------------------------------------------------------------------------

def test_text():
    assert text.render(GRADE) == """\
park: ann: 12.5 of 30 points
      10 / 10     permit  An unpark before the park is kept
       0 / 10     lost    No wake-up is lost
                         | thread 3 sleeps for ever
                         | tools/weft run --seed 17
                         | thread 3 waits for news
     2.5 / 10     speed   A round trip is short (hidden)
                         | 1450 instructions
                         | instructions: 1450
  Log of the build:
    | park.c:3: warning: unused variable 'x'
"""
    assert text.render(BROKEN) == "bob: not graded\n    | QEMU is not there\n"


def test_html():
    page = Page(formats.html(GRADE))
    said = " ".join(" ".join(page.words).split())
    for part in ("park: ann", "12.5 of 30 points", "thread 3 sleeps for ever", "(hidden)", "2.5 of 10",
                 "unused variable"):
        assert part in said
    assert page.loads == ["data:,"]
    assert page.links == [f"#{one}" for one in page.ids] and len(page.ids) == 2
    assert "instructions: 1450" in formats.html(GRADE, hidden=True)
    assert "QEMU is not there" in " ".join(Page(formats.html(BROKEN)).words)


def test_html_has_the_look_of_the_report():
    style = (TOP / "tools/weft_host/report/templates/style.css").read_text().strip()
    assert style in formats.html(GRADE)


def test_html_quotes():
    page = Page(formats.html(nasty()))
    assert "</pre><script>alert(1)</script>]]>&amp;<!-- \\x1b[2J" in "".join(page.words)


@pytest.mark.parametrize("grade", [GRADE, nasty(), Grade("park", "eve", (), "")])
def test_gradescope(grade):
    found = json.loads(gradescope.render(grade))
    valid("gradescope-results", found)
    assert found["score"] == sum(one["score"] for one in found["tests"]) == grade.points


def test_gradescope_says_all():
    found = json.loads(gradescope.render(GRADE))
    assert [(one["name"], one["score"], one["max_score"], one["status"]) for one in found["tests"]] == [
        ("permit: An unpark before the park is kept", 10, 10, "passed"),
        ("lost: No wake-up is lost", 0, 10, "failed"), ("speed: A round trip is short", 2.5, 10, "failed")]
    assert found["tests"][1]["output"] == f"{LOST.reason}\n\n{LOST.detail}"
    assert "output" not in found["tests"][0]
    assert "unused variable" in found["output"]
    later = json.loads(gradescope.render(GRADE, hidden=True, visibility="after_published"))
    valid("gradescope-results", later)
    assert [one["visibility"] for one in later["tests"]] == ["visible", "visible", "after_published"]
    assert "instructions: 1450" in later["tests"][2]["output"]


@pytest.mark.parametrize("spoilt", [
    {"tests": [{"name": "x"}]}, {"tests": []}, {"score": "10"}, {"score": 1, "more": 1},
    {"score": 1, "tests": [{"score": 1, "status": "ok"}]}, {"score": 1, "tests": [{"visibility": "never"}]}])
def test_the_schema_of_gradescope_refuses(spoilt):
    with pytest.raises(jsonschema.ValidationError):
        valid("gradescope-results", spoilt)


@pytest.mark.parametrize("grade", [GRADE, nasty(), Grade("park", "eve", (), "")])
def test_classroom50(grade):
    found = json.loads(classroom50.render(grade, submission()))
    valid("classroom50-result-v1", found)
    assert found["score"] == sum(one["score"] for one in found["tests"])
    assert all(one["score"] <= one["max-score"] for one in found["tests"])
    assert (found["owner"], found["review"], found["datetime"]) == (
        "ann", "https://example.org/c", "2026-11-23T18:05:09Z")


@pytest.mark.parametrize("points, whole", [(10, 10), (9.9, 9), (9.4, 9), (0.5, 0), (0.6, 1), (0, 0)])
def test_classroom50_counts_whole_points(points, whole):
    test = replace(SPEED, points=points)
    one, = json.loads(classroom50.render(replace(GRADE, tests=(test,)), submission()))["tests"]
    assert (one["score"], one["passed"], one["points"]) == (whole, points == 10, points)


def test_classroom50_has_no_parts_of_points():
    with pytest.raises(UsageError, match=r"speed has 2.5 points"):
        classroom50.render(replace(GRADE, tests=(replace(SPEED, most=2.5),)), submission())
    park = lab.find("park")
    classroom50.check(park)
    half = replace(park, tests=(*park.tests[1:], replace(park.tests[0], hidden_points=0.5)))
    with pytest.raises(UsageError, match=r"permit has 0.5 points"):
        classroom50.check(half)


def test_classroom50_s_variables_are_wanted_before_the_grading(tmp_path):
    done = subprocess.run([TOP / "tools/weft", "grade", "park", "--own", "--no-build",
                           "--classroom50", tmp_path / "result.json"], capture_output=True, text=True,
                          env={name: value for name, value in os.environ.items() if name not in ENVIRONMENT})
    assert "CLASSROOM" in done.stderr and not done.stdout and done.returncode == 2


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_classroom50_elsewhere(name):
    with pytest.raises(UsageError, match=name):
        classroom50.Submission.of({**ENVIRONMENT, name: ""}, WHEN)


@pytest.mark.parametrize("key, value", [
    ("score", 1.5), ("schema", "classroom50/result/v2"), ("submission", "main"), ("datetime", "2026-11-23"),
    ("owner", ""), ("usernames", ["ann"]), ("tests", [{"test-name": "a", "passed": True, "score": 1}])])
def test_the_schema_of_classroom50_refuses(key, value):
    with pytest.raises(jsonschema.ValidationError):
        valid("classroom50-result-v1", json.loads(classroom50.render(GRADE, submission())) | {key: value})


def test_junit():
    document = junit.render([GRADE, BROKEN]).encode()
    read = JUnitXml.fromstring(document)
    assert (read.tests, read.failures, read.errors) == (4, 2, 1)
    ann, bob = read
    assert [(case.name, [type(one) for one in case.result]) for case in ann] == [
        ("permit", []), ("lost", [Failure]), ("speed", [Failure])]
    lost = list(ann)[1].result[0]
    assert (lost.message, lost.text) == (LOST.reason, f"{LOST.reason}\n{LOST.detail}")
    assert {one.name: one.value for one in ann.properties()} == {"points": "12.5", "most": "30"}
    assert "unused variable" in ElementTree.fromstring(document).findtext("testsuite/system-out")
    error = list(bob)[0].result[0]
    assert isinstance(error, Error) and error.message == BROKEN.why


def test_junit_quotes():
    suite, = JUnitXml.fromstring(junit.render([nasty()]).encode())
    assert "</pre><script>alert(1)</script>]]>&amp;<!-- \\x1b[2J" in list(suite)[0].result[0].text


def test_a_number_that_is_none_is_refused():
    """A mistake of the grader; no reader of JSON takes it."""
    for name in ("gradescope", "classroom50"):
        with pytest.raises(ValueError):
            RENDERED[name](replace(GRADE, tests=(replace(SPEED, points=math.nan),)))


# --- files ---------------------------------------------------------------------------------------

def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "\ud800")
    assert path.read_text() == "old"
    reader = path.open()
    (tmp_path / "link").symlink_to(path)
    files.write(tmp_path / "link", "new")
    assert (path.read_text(), reader.read()) == ("new", "old")  # another file, of which no reader sees a part
    assert sorted(os.listdir(tmp_path)) == ["link", "results.json"]


def test_a_pipe_is_not_replaced(tmp_path):
    reader, writer = os.pipe()
    files.write(Path(f"/dev/fd/{writer}"), "said")
    os.close(writer)
    assert os.read(reader, 10) == b"said"
    os.close(reader)


@pytest.mark.parametrize("student", ["ann", "..", ".hidden", "a/b", "ann lee", "\udcff", "é" * 100, "x" * 255,
                                     "CON?*"])
def test_names_of_files(student):
    name = files.named(student)
    assert re.fullmatch(r"(?!\.)[A-Za-z0-9._~% -]{1,120}", name)
    assert name != files.named(student + "x")
