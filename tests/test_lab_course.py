"""A class is graded: here and on a cluster, again only where something has changed, through interruptions and
failures of the grader; its tables; and which submissions have code in common."""

import argparse
import csv
import fcntl
import functools
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import dask_cluster
import pytest
from rich.console import Console
from webpages import Page
from weft_host import guest, progress
from weft_host.machine import HostError, UsageError
from weft_host.paths import TOP
from weft_lab import classtable, course, packages, similarity, store
from weft_lab.grade import Broken, Grade
from weft_lab.grade import TestResult as Result  # no test of pytest

WORKS = {"ann": 10, "bob": 4, "eve": 0}


def grade_of(student, points, hidden=False):
    reason = "" if points == 10 else "a wake-up is lost"
    return Grade("park", student, (Result("lost", "No wake-up is lost", points, 10, hidden, reason, "seed 17"),
                                   Result("speed", "A round trip is short", 5, 5, False, "", "")), "")


@pytest.fixture
def school(tmp_path, monkeypatch):
    """A class whose submissions say how many points they get.  school.calls: students that the
    grader was called for; school.answer(folder): the grader; school.grade(...) grades the class."""
    for student, points in WORKS.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "park.c").write_text(str(points))
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/kernel.c").write_text("int x;\n")
    monkeypatch.setattr(store, "TOP", tmp_path / "sources")
    monkeypatch.setattr(packages, "sources", lambda folder: ["kernel.c"])

    def grade(folder):
        it.calls.append(folder.name)
        return it.answer(folder)

    def run(jobs=2, stop=lambda: None, **changes):
        it.calls = []
        return course.grade_class(replace(it.course, **changes), course.executor(jobs, None, stop))

    it = SimpleNamespace(
        calls=[], answer=lambda folder: grade_of("?", int((folder / "park.c").read_text())), grade=run,
        folder=tmp_path / "class", output=tmp_path / "out", sources=tmp_path / "sources",
        course=course.Course("park", tmp_path / "labs/02-park", tmp_path / "class", tmp_path / "out", grade))
    return it


def table(school):
    return list(csv.DictReader((school.output / "class.csv").read_text().splitlines()))


# --- the class -----------------------------------------------------------------------------------

def test_a_class(school, capsys):
    assert school.grade() == 0
    assert sorted(school.calls) == ["ann", "bob", "eve"]
    assert [list(row.values()) for row in table(school)] == [
        ["ann", "graded", "15", "15", "10", "5", ""],
        ["bob", "graded", "9", "15", "4", "5", "lost: a wake-up is lost"],
        ["eve", "graded", "5", "15", "0", "5", "lost: a wake-up is lost"]]
    assert capsys.readouterr().out == "    15 / 15     ann\n     9 / 15     bob\n     5 / 15     eve\n"


def test_one_reason_for_many_tests(school):
    """As that a file does not compile."""
    school.answer = lambda folder: Grade("park", "?", tuple(
        Result(f"t{number}", "", 0, 1, False, reason, "") for number, reason in enumerate("aba")), "")
    school.grade()
    assert table(school)[0]["losses"] == "t0, t2: a; t1: b"


def test_its_page(school):
    school.grade()
    page = Page((school.output / "class.html").read_text())
    said = " ".join(" ".join(page.words).split())
    assert "park: the class 3 graded: 9.66 of 15 points in the mean, 9 in the median." in said
    assert "lost No wake-up is lost 1 of 3 4.66 of 10" in said
    assert page.links == [f"students/{student}.html" for student in WORKS]
    assert page.loads == ["data:,"]
    for link in page.links:
        Page((school.output / link).read_text())


@pytest.mark.parametrize("hidden", [False, True])
def test_pages_of_students(school, hidden):
    school.answer = lambda folder: grade_of("?", 0, hidden=True)
    school.grade(hidden=hidden)
    assert ("seed 17" in (school.output / "students/ann.html").read_text()) is hidden


def test_odd_names(school):
    """A name may be any bytes, and neither breaks a page nor becomes a formula of a spreadsheet."""
    names = ["=HYPERLINK(1)", "<b>", "[b]", os.fsdecode(b"\xff"), "a\nb", "x" * 200, "'; rm"]
    for name in names:
        (school.folder / name).mkdir()
        (school.folder / name / "park.c").write_text("10")
    assert school.grade() == 0
    assert len(table(school)) == 10
    assert {row["student"] for row in table(school)} >= {"'=HYPERLINK(1)", "<b>", "\\xff", "a b"}
    page = Page((school.output / "class.html").read_text())
    assert len(set(page.links)) == 10 and "<b>" in "".join(page.words)
    assert len(os.listdir(school.output / "students")) == 10
    school.grade()
    assert school.calls == []


def test_what_is_no_student(school, capsys):
    (school.folder / "notes.txt").touch()
    (school.folder / ".git").mkdir()
    assert school.grade(output=school.folder / "grades") == 0
    assert school.grade(output=school.folder / "grades") == 0  # and the output is none
    assert len(school.calls) == 0
    assert "notes.txt: not a folder, not graded" in capsys.readouterr().err.replace("\n", "")


def test_no_students(school, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no folder of a student"):
        school.grade(folder=tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        school.grade(folder=tmp_path / "none")


def test_two_at_once(school):
    school.output.mkdir()
    with open(school.output / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another weft grade"):
            school.grade()
    assert school.grade() == 0


def test_the_options():
    parser = argparse.ArgumentParser()
    course.add_options(parser)
    packages.add_options(parser)
    assert parser.parse_args(["--all", "x", "--similarity"]).similarity == course.ALIKE
    assert parser.parse_args(["--all", "x"]).similarity is None
    assert parser.parse_args(["--package", "gradescope"]).package == "gradescope"
    with pytest.raises(UsageError, match="above 0"):
        course.executor(0, None)


def test_progress_takes_names_as_they_are():
    """No name of a student is markup of rich."""
    shown = io.StringIO()
    with progress.Display(Console(force_terminal=True, file=shown, width=200)) as display:
        display.more(1)
        display.begins("park", "[bold]")
        display.ended()
    assert "park: [bold]" in shown.getvalue()


# --- again ---------------------------------------------------------------------------------------

def test_only_what_has_changed(school):
    school.grade()
    first = (school.output / "class.csv").read_bytes()
    school.grade()
    assert school.calls == [] and (school.output / "class.csv").read_bytes() == first
    (school.folder / "bob/park.c").write_text("10")
    school.grade()
    assert school.calls == ["bob"]
    assert [row["points"] for row in table(school)] == ["15", "15", "5"]


@pytest.mark.parametrize("change", ["source", "settings", "again", "new file", "name", "link"])
def test_what_a_grade_depends_on(school, change):
    school.grade()
    settings = {"settings": {"settings": "seed 2"}, "again": {"again": True}}.get(change, {})
    if change == "source":
        (school.sources / "kernel.c").write_text("int y;\n")
    for student in WORKS:
        folder = school.folder / student
        if change == "new file":
            (folder / "more").mkdir()
            (folder / "more/x.c").touch()
        if change == "name":
            (folder / "park.c").rename(folder / "Park.c")
            (folder / "park.c").symlink_to("Park.c")
        if change == "link":
            (folder / "l").symlink_to("/nowhere")
    school.grade(**settings)
    assert sorted(school.calls) == ["ann", "bob", "eve"]


def test_what_a_grade_does_not_depend_on(school, tmp_path):
    """A student's history, times of files, and what a link points to."""
    (tmp_path / "elsewhere").mkdir()
    (school.folder / "ann/link").symlink_to(tmp_path / "elsewhere")
    school.grade()
    (tmp_path / "elsewhere/x.c").touch()
    (school.folder / "ann/.git").mkdir()
    (school.folder / "ann/.git/index").touch()
    os.utime(school.folder / "ann/park.c", (1, 1))
    school.grade(hidden=True, alike=None)
    assert school.calls == []


def test_a_submission_that_cannot_be_read_hurts_no_other(school, monkeypatch):
    """Pipes and links are not opened; a folder that cannot be listed has no grade."""
    os.mkfifo(school.folder / "ann/pipe")
    (school.folder / "ann/self").symlink_to(school.folder / "ann")
    entries = store._entries

    def refuse(folder):
        if folder.name == "bob":
            raise PermissionError(13, "Permission denied", str(folder))
        return entries(folder)

    monkeypatch.setattr(store, "_entries", refuse)
    assert school.grade() == 69
    assert table(school)[1]["status"] == "not graded"
    assert "bob: Permission denied" in table(school)[1]["losses"]
    assert sorted(school.calls) == ["ann", "eve"]


@pytest.mark.parametrize("spoilt", ["", "{", "[]", "null", '{"key": 1}', "cut", "more"])
def test_a_spoilt_result_is_none(school, spoilt):
    school.grade()
    path = school.output / "results/bob.json"
    whole = path.read_text()
    facts = json.loads(whole)
    facts["grade"]["more"] = facts["grade"]["tests"][0]["more"] = 1
    path.write_text({"cut": whole[:-20], "more": json.dumps(facts)}.get(spoilt, spoilt))
    school.grade()
    assert school.calls == ["bob"]


def test_any_text_is_stored(school):
    dirt = "\udcff\ud800\0\x1b</script>\u2028"
    school.answer = lambda folder: Grade("park", dirt, (Result(dirt, dirt, 0, 1, True, dirt, dirt),), dirt)
    school.grade()
    kept = store.Store(school.output / "results", ["kernel.c"])
    found = kept.get("ann", kept.key(school.folder / "ann"))
    assert found == replace(school.answer(None), student="ann")


# --- failures ------------------------------------------------------------------------------------

@pytest.mark.parametrize("error, said", [
    (HostError("no QEMU"), "no QEMU"), (OSError(28, "No space left"), "No space left"),
    (KeyError("x"), "the grader failed: KeyError: 'x'"), (None, "QEMU died")])
def test_a_failure_of_the_grader_is_no_grade(school, capsys, error, said):
    good = school.answer

    def answer(folder):
        if folder.name != "bob":
            return good(folder)
        if error:
            raise error
        return Broken("bob", "QEMU died")

    school.answer = answer
    assert school.grade() == 69
    assert sorted(os.listdir(school.output / "results")) == ["ann.json", "eve.json"]
    assert [row["status"] for row in table(school)] == ["graded", "not graded", "graded"]
    assert said in table(school)[1]["losses"]
    assert said in " ".join(Page((school.output / "class.html").read_text()).words)
    assert "2 graded" in " ".join(Page((school.output / "class.html").read_text()).words)
    assert "the grader failed for 1 student;" in capsys.readouterr().err
    school.answer = good
    assert school.grade() == 0
    assert school.calls == ["bob"]


def await_file(path):
    """The main thread writes it, and this is another one."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} does not come"
        time.sleep(0.01)


def test_an_interruption(school, capsys):
    """Ctrl-C while bob is graded.  What bob's tests give after it is not kept; ann's grade is."""
    good, stopped = school.answer, threading.Event()

    def answer(folder):
        if folder.name == "bob":
            await_file(school.output / "results/ann.json")
            os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(60)
            return grade_of("bob", 0)
        return good(folder)

    school.answer = answer
    with pytest.raises(KeyboardInterrupt):
        school.grade(jobs=1, stop=stopped.set)
    assert school.calls == ["ann", "bob"] and stopped.is_set()
    assert os.listdir(school.output / "results") == ["ann.json"]
    assert "interrupted. 1 of 3 students graded" in capsys.readouterr().err
    school.answer = good
    assert school.grade() == 0
    assert sorted(school.calls) == ["bob", "eve"]
    assert [row["points"] for row in table(school)] == ["15", "9", "5"]


class Standin:
    """A guest, and its QEMU."""

    def __init__(self, killed, name):
        self.qemu, self._killed, self._name = self, killed, name

    def kill(self):
        self._killed.append(self._name)


def test_a_larger_task_ends_the_guests_of_its_parts(monkeypatch):
    """Those that run, and each that still begins; a part that ends takes none of another with it."""
    killed, whole = [], guest.Guests()

    def run(name, stdin, started, work):
        started(Standin(killed, name))
        if name == "long":
            part = guest.Guests(whole)
            part.run("short")
            part.stop()
            assert killed == []
            whole.stop()
            assert killed == ["long"]
            guest.Guests(whole).run("late")

    monkeypatch.setattr(guest, "run", run)
    guest.Guests(whole).run("long")
    assert killed == ["long", "late"]


# --- a cluster -----------------------------------------------------------------------------------

# A module of the workers: the grader.  It kills its worker for bob if a file is there.
GRADER = """
import os
from weft_lab.grade import Grade, TestResult

def grade(order, folder):
    if folder.name == "bob" and os.path.exists(order):
        os.unlink(order)
        os.kill(os.getpid(), 9)
    if folder.name == "eve":
        raise KeyError("x")
    points = int((folder / "park.c").read_text())
    return Grade("park", "?", (TestResult("lost", "", points, 10, False, "", ""),), "")
"""


@pytest.fixture
def cluster(tmp_path):
    """A Dask cluster of processes that know nothing of weft, except for the module of the grader: its address."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/grader_of_a_test.py").write_text(GRADER)
    with dask_cluster.started(tmp_path, PYTHONPATH=str(tmp_path / "modules")) as address:
        yield address


def test_on_a_cluster(school, tmp_path, cluster, monkeypatch):
    """As here.  Where a worker dies, there is no grade, though Dask grades again; the next call does it."""
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    import grader_of_a_test  # of the fixture

    grade = functools.partial(grader_of_a_test.grade, str(tmp_path / "order"))
    given = replace(school.course, grade=grade)
    (tmp_path / "order").touch()
    assert course.grade_class(given, course.executor(None, cluster)) == 69
    assert [row["losses"] for row in table(school)] == ["", "its worker died", "the grader failed: KeyError: 'x'"]
    assert course.grade_class(given, course.executor(None, cluster)) == 69
    assert [row["points"] for row in table(school)] == ["10", "4", ""]


# --- code in common ------------------------------------------------------------------------------

OWN, OURS = TOP / "libthread/sync/cond.c", similarity.OWN


@pytest.fixture
def works(tmp_path):
    """Submissions of cond.c: a copy with other names and comments, half a copy, work of one's own, nothing."""
    own, other = OWN.read_text(), (TOP / "kernel/sched/switch.c").read_text()
    texts = {"ann": other, "bob": "/* mine */\n" + other.replace("sched_", "my_").replace("\n\t", "\n  "),
             "eve": own[len(own) // 2:], "fay": (TOP / "libthread/sync/rwlock.c").read_text(), "gus": ""}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "cond.c").write_text(text)
    (tmp_path / "skeleton").mkdir()
    return {name: tmp_path / name for name in texts}


def test_similarity(works, tmp_path):
    found = similarity.find(works, {"cond.c": OWN}, tmp_path / "skeleton", 0.4)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ann", "bob"), ("eve", OURS)]
    assert found.pairs[0].share > 0.95
    assert found.pairs[1].first_share > 0.95 and 0.2 < found.pairs[1].second_share < 0.8
    assert found.skipped == []


def test_the_skeleton_does_not_count(works, tmp_path):
    (tmp_path / "skeleton/cond.c").write_text(OWN.read_text())
    found = similarity.find(works, {"cond.c": OWN}, tmp_path / "skeleton", 0.4)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ann", "bob")]


def test_what_cannot_be_compared(works, tmp_path):
    (works["ann"] / "cond.c").unlink()
    (works["bob"] / "cond.c").write_text("x" * (similarity.LARGEST + 1))
    (works["eve"] / "cond.c").unlink()
    (works["eve"] / "cond.c").symlink_to(OWN)
    (works["fay"] / "cond.c").write_bytes(bytes(range(256)) * 100)
    found = similarity.find(works, {"cond.c": OWN}, tmp_path / "skeleton", 0.4)
    assert found.pairs == []
    assert [text.partition(":")[0] for text in found.skipped] == ["ann/cond.c", "bob/cond.c", "eve/cond.c"]


def test_shares_are_the_same_in_every_process(works, tmp_path):
    script = ("import sys; from pathlib import Path; from weft_lab import similarity; top = Path(sys.argv[1]);"
              "works = {name: top / name for name in ('ann', 'eve', 'fay')};"
              "print(similarity.find(works, {'cond.c': Path(sys.argv[2])}, top / 'skeleton', 0).pairs)")
    said = {subprocess.run([sys.executable, "-c", script, tmp_path, OWN], stdout=subprocess.PIPE, check=True,
                           env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TOP / "tools")}).stdout
            for seed in ("1", "2")}
    assert len(said) == 1 and b"first_share=" in said.pop()


def test_similarity_in_the_table(school, capsys):
    code = OWN.read_text()
    for student, text in (("ann", code), ("bob", code), ("eve", "int x;\n")):
        (school.folder / student / "cond.c").write_text(text)
    school.grade(alike=50, replaces={"cond.c": OWN})
    rows = list(csv.DictReader((school.output / "similarity.csv").read_text().splitlines()))
    assert [(row["first"], row["second"], row["percent of first"]) for row in rows] == [
        ("ann", "(weft)", "100"), ("ann", "bob", "100"), ("bob", "(weft)", "100")]
    said = " ".join(" ".join(Page((school.output / "class.html").read_text()).words).split())
    assert "cond.c ann bob 100 100" in said
    school.grade()
    assert "Code in common" not in (school.output / "class.html").read_text()


def test_no_pair(school):
    made = classtable.html_text("park", [Broken("ann", "x")], similarity.Similar([], ["ann/park.c: not a file"]))
    said = " ".join(" ".join(Page(made).words).split())
    assert "No pair has that much in common." in said and "ann/park.c: not a file" in said
