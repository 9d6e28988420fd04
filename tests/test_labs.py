"""Labs: weft's own files get all points, the skeletons none, each wrong solution loses some; and whatever a
student's code does, the grade is right."""

import itertools
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from conftest import turn
from weft_host import ccmd, gradecmd
from weft_host.guest import Guests, Result
from weft_host.machine import HostError, UsageError
from weft_host.paths import TOP
from weft_lab import grading, lab, mac, measure, power, runs
from weft_lab.build import BuildFailed, build
from weft_lab.formats import classroom50
from weft_lab.grade import Broken
from weft_lab.solution import take_solution
from weft_trace import events

LABS = [lab.find(name) for name in lab.names()]
EACH_LAB = pytest.mark.parametrize("of", LABS, ids=[of.name for of in LABS])
WRONG = [(of, wrong) for of in LABS for wrong in power.wrong_solutions(of)]
PARK = lab.find("park")
KEY = bytes(range(16))
PATIENCE = 64  # runs of each test: far more than `weft grade --power` says are wanted


def first_failure(of, built, most, by=""):
    """(the test's name, the reason) of the first run that fails: one run of each test in turn, or of `by` alone."""
    guests = Guests()
    tests = [of.test(by)] if by else of.tests
    sets = [test.variants(of.name, lab.VISIBLE, most) for test in tests]
    for number, (test, variants) in itertools.product(range(most), zip(tests, sets)):
        outcome = runs.play(guests, test, variants[number], built, picture=False)
        if reason := power.fault(test, outcome):
            return test.name, reason
    return None


@EACH_LAB
def test_our_own_files_get_all_points(of, tmp_path):
    take_solution(of, tmp_path)
    with turn():
        graded = grading.grade(of.with_seeds(1), tmp_path, tmp_path / "build", secret="a secret")
    assert [(test.name, test.reason) for test in graded.tests if not test.passed] == []
    assert graded.points == graded.most == sum(test.points + test.hidden_points for test in of.tests)


@EACH_LAB
def test_the_skeleton_fails(of, tmp_path):
    """It compiles without a warning and boots; each reason is in the lab's terms: no test ends by a panic.
    One seed of a test that looks for a race may pass."""
    with turn():
        graded = grading.grade(of, of.skeleton, tmp_path)
    assert graded.log == ""
    assert graded.points == 0
    assert all(test.reason and "panics" not in test.reason for test in graded.tests)


def test_a_log_of_the_boot_has_nothing_of_the_host(tmp_path):
    """Exact timing begins at its end.  Where the CPUs are before differs from run to run."""
    boot = lab.find("boot-cpus")
    patch, = (wrong.patch for wrong in power.wrong_solutions(boot) if wrong.name == "waits-a-time")
    take_solution(boot, tmp_path, patch)
    with turn():
        graded = grading.grade(boot.with_seeds(1), tmp_path, tmp_path / "build")
    booting = [test.detail for test in graded.tests if "cpu_start_others+" in test.detail]
    assert booting and not any("PROCESS" in detail for detail in booting)


def test_the_first_run_that_fails_is_traced(tmp_path):
    """Its last records are in the student's folder, and are those of this run.  Where nothing is asked for, there
    are none."""
    with turn():
        graded = gradecmd.Grader("park", None, 1, 1, traces=tmp_path)(PARK.skeleton)
        kept, = (tmp_path / "skeleton").iterdir()
        again = grading.grade(PARK.with_seeds(1), PARK.skeleton, tmp_path, only="deadline")
    assert f"its last records, of another run: tools/weft stats {kept}" in graded.tests[0].detail
    assert all("its last records" not in test.detail for test in graded.tests[1:])
    told = graded.tests[0].detail.partition("without faults:\n")[2].splitlines()
    assert len(told) == gradecmd.TOLD and told[-1] == str([*events.read(kept)][-1])
    assert not [line for line in told if " trap" in line or "kfault" in line]
    seed, = {word for word in graded.tests[0].reason.split() if word.rstrip(")").isdigit() and len(word) > 6}
    assert kept.name == f"labpark-seed{seed.rstrip(')')}.trace"
    assert any(record.name == "process_name" and record.values["name"] == "labpark" for record in events.read(kept))
    assert [*(tmp_path / "skeleton").iterdir()] == [kept] and "records" not in again.tests[0].detail


@pytest.mark.parametrize("of, wrong", WRONG, ids=[f"{of.name}-{wrong.name}" for of, wrong in WRONG])
def test_a_wrong_solution_loses_points(of, wrong, tmp_path):
    take_solution(of, tmp_path, wrong.patch)
    program = of.test(wrong.caught_by).program if wrong.caught_by else ""
    with turn():
        built = build(of, tmp_path, tmp_path / "build", program)
        assert first_failure(of, built, PATIENCE, wrong.caught_by) is not None


@EACH_LAB
def test_the_wrong_solutions(of):
    """There are enough of them, of enough kinds, and each says what is wrong."""
    found = power.wrong_solutions(of)
    assert len(found) >= 12 and len({wrong.kind for wrong in found}) >= 6
    assert all(wrong.kind and wrong.sentence.endswith(".") for wrong in found)


@EACH_LAB
def test_the_points_are_whole(of):
    """As Classroom 50 wants them."""
    classroom50.check(of)


# --- what a student's code may do ------------------------------------------------------------------

SAYS = ('for (const char *p = {text}; *p; p++) '
        '__asm__ volatile("outb %0, %1" : : "a"(*p), "Nd"((uint16_t)0xe9));')
FORGED = '"lab 1 permit ok - 0123456789abcdef\\nlab 2 all end 1 checks, 0 failed 0123456789abcdef\\n"'
EVIL = {
    "loop": ("for (;;) ;", "virtual ms"),
    "interrupts off": ('__asm__ volatile("cli"); for (;;) ;', "virtual ms"),
    "writes anywhere": ("*(volatile int *)8 = 1;", "the kernel panics: weft: panic: page fault"),
    "resets": ('struct { uint16_t limit; uint64_t base; } __attribute__((packed)) none = {0, 0};'
               '__asm__ volatile("lidt %0; int3" : : "m"(none));', "triple fault"),
    "switches off": ('__asm__ volatile("outl %0, %1" : : "a"(0), "Nd"((uint16_t)0xf4));', "switched off"),
    "forges and ends": (SAYS.format(text=FORGED) +
                        '__asm__ volatile("outl %0, %1" : : "a"(0), "Nd"((uint16_t)0xf4));', "switched off"),
    "prints": ("for (;;) { " + SAYS.format(text='"0123456789abcdef\\n"') + " }", "bytes of output"),
}


@pytest.mark.parametrize("name", EVIL)
def test_whatever_it_does(name, tmp_path):
    """The same reason on each host, and never more than no points."""
    code, reason = EVIL[name]
    take_solution(PARK, tmp_path)
    path = tmp_path / "park.c"
    text = path.read_text()
    begin = "int lwp_park(hrtime_t deadline)\n{\n"
    assert begin in text
    path.write_text(text.replace(begin, begin + code, 1))
    with turn():
        built = build(PARK, tmp_path, tmp_path / "build")
        test = PARK.tests[0]
        outcome = runs.play(Guests(), test, test.variants("park", lab.VISIBLE, 1)[0], built)
    assert reason in outcome.reason


@pytest.mark.parametrize("line, said", [
    ('#include "/etc/passwd"', "includes passwd, which is no file of weft's"),
    ('#include "../../../../../../../../../etc/passwd"', "includes passwd, which is no file of weft's"),
    ('__asm__(".string \\"a\\"; .incbin \\"/etc/passwd\\"");', "is not for a lab"),
    ('__asm__(".macro m a b\\n.\\\\a\\\\b \\"/etc/passwd\\"\\n.endm\\nm inc bin");', "is not for a lab"),
    ("int lwp_park(", "error"),
    ("#error no", "#error no")])
def test_what_does_not_compile(line, said, tmp_path):
    """The text is for the student, and has nothing of another file."""
    take_solution(PARK, tmp_path)
    with open(tmp_path / "park.c", "a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BuildFailed) as failed:
        build(PARK, tmp_path, tmp_path / "build")
    assert said in str(failed.value)
    assert "root:" not in str(failed.value) and str(tmp_path) not in str(failed.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(BuildFailed, match=r"park\.c is not there"):
        build(PARK, tmp_path, tmp_path / "build")
    (tmp_path / "park.c").symlink_to("/etc/passwd")
    with pytest.raises(BuildFailed, match=r"park\.c is not there"):
        build(PARK, tmp_path, tmp_path / "build")


# --- what counts as a result --------------------------------------------------------------------------


def told(*lines, key=KEY):
    """A run's output with these results under a key."""
    numbered = [f"{number} {line}" for number, line in enumerate(lines, 1)]
    return "".join(f"lab {line} {mac.siphash24(key, line.encode()):016x}\n" for line in numbered)


END = "all end 1 checks, 0 failed"


@pytest.mark.parametrize("output, status, error, reason", [
    (told("permit ok -", END), 0, "", ""),
    ("noise\n" + told("permit ok -", END) + "noise\n", 0, "", ""),
    (told("permit failed a permit was lost", "all end 1 checks, 1 failed"), 1, "", "a permit was lost"),
    (told("permit ok -", END), 1, "", "the test's program ended with status 1"),
    (told("permit ok -"), 0, "", "before it had told all of its checks"),
    (told("permit ok -", END, key=bytes(16)), 0, "", "before it had told all of its checks"),
    (told("permit ok -", END).replace("permit ok -", "permit ok  "), 0, "", "before it had told"),
    ("", 124, "time-out after 100 virtual ms", "not done after"),
    (told("permit ok -", END), 70, "the kernel panicked", "the kernel panicked"),
    (told("permit ok -", END), 69, "QEMU ended with status 1", "switched off"),
])
def test_what_a_run_says(output, status, error, reason):
    said = runs.judge(PARK.tests[0], Result(status, output, error), KEY).reason
    assert said == reason or (reason and reason in said)


def test_a_host_that_fails_is_no_student_s_fault():
    with pytest.raises(HostError):
        runs.judge(PARK.tests[0], Result(69, "", "QEMU ended with status 1: no memory"), KEY)


@pytest.mark.parametrize("figure, points", [(500, 10), (900, 10), (1250, 5), (1600, 0), (9999, 0)])
def test_points_for_instructions(figure, points):
    assert round(10 * lab.Figure("roundtrip", 900, 1600).share(figure), 2) == points


def test_the_same_secret_gives_the_same_set():
    test = PARK.tests[0]
    assert test.variants("park", "x", 8) == test.variants("park", "x", 8)
    assert test.variants("park", "x", 4) == test.variants("park", "x", 8)[:4]
    assert test.variants("park", "x", 8) != test.variants("park", "y", 8)


@pytest.mark.parametrize("failed, played", [(0, 10), (1, 10), (5, 64), (64, 64)])
def test_the_lower_bound(failed, played):
    """Of Clopper and Pearson: so many failures have the probability of doubt at it."""
    least = power.lower_bound(failed, played)
    if failed == 0:
        assert least == 0
        return
    assert least < failed / played
    if failed == played:
        assert least == pytest.approx(power.DOUBT ** (1 / played))


# Stands in for the compiler: a header of the tests is missing.
FAILS = """#!/bin/sh
case "$*" in */labs/common/siphash.c.o*) echo no header >&2; exit 1 ;; esac
exec {compiler} "$@"
"""
# Stands in for the compiler of one student's build: it has begun to write an object of the tests, and goes on
# when it is told to.
SLOW = """#!/bin/sh
last=; object=
for word; do [ "$last" = -o ] && object=$word; last=$word; done
case $object in
*/labs/common/siphash.c.o*) : >"$object"; : >{place}/begun; while [ ! -e {place}/go ]; do sleep 0.05; done ;;
esac
exec {compiler} "$@"
"""
BUILD = """
import sys
from pathlib import Path
from weft_lab import build, lab
build.build(lab.find("park"), Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_tests_that_do_not_compile_are_no_fault_of_the_student(tmp_path, monkeypatch):
    """As where a header of weft's is missing: then there is no grade."""
    name = ccmd.compiler()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / name).write_text(FAILS.format(compiler=shutil.which(name)))
    (tmp_path / "tools" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    (TOP / "build/labs/common/siphash.c.o").unlink(missing_ok=True)
    graded = grading.grade(PARK, PARK.skeleton, tmp_path / "build")
    assert isinstance(graded, Broken) and "do not compile:\nno header" in graded.why


def test_two_students_are_built_side_by_side(tmp_path):
    """The objects of the tests are the same for all students, so both builds make them where they are missing."""
    name = ccmd.compiler()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / name).write_text(SLOW.format(place=tmp_path, compiler=shutil.which(name)))
    (tmp_path / "tools" / name).chmod(0o755)
    for student in ("ann", "bob"):
        (tmp_path / student).mkdir()
        take_solution(PARK, tmp_path / student)
    (TOP / "build/labs/common/siphash.c.o").unlink(missing_ok=True)
    slow = subprocess.Popen([sys.executable, "-c", BUILD, tmp_path / "ann", tmp_path / "ann-built"], env={
        **os.environ, "PATH": f"{tmp_path}/tools:{os.environ['PATH']}", "PYTHONPATH": str(TOP / "tools")})
    try:
        while not (tmp_path / "begun").exists():
            assert slow.poll() is None
            time.sleep(0.05)
        build(PARK, tmp_path / "bob", tmp_path / "bob-built")
    finally:
        (tmp_path / "go").touch()
        assert slow.wait(300) == 0


# --- the description of a lab --------------------------------------------------------------------------


@pytest.mark.parametrize("old, new, said", [
    ('title = "', 'titel = "', "unknown key 'titel'"),
    ("number = 2", 'number = "two"', "a whole number is needed"),
    ("\npoints = ", "\n# points = ", "'points' is missing"),
    ('program = "labpark"', 'program = "none"', "there is no tests/none.c")])
def test_a_description_that_is_wrong(old, new, said, tmp_path):
    folder = tmp_path / "02-park"
    folder.mkdir()
    for name in ("skeleton", "tests"):
        (folder / name).symlink_to(PARK.folder / name)
    text = (PARK.folder / "lab.toml").read_text()
    assert old in text
    (folder / "lab.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=said):
        lab.load(folder / "lab.toml")


# --- what a student's file gains ------------------------------------------------------------------------


def test_a_measurement(tmp_path):
    """The skeleton's one lock costs more than the finer locks as soon as CPUs wait for it."""
    of = lab.find("schedlock")
    take_solution(of, tmp_path)
    few = replace(of, measure=lab.Measure("scale-8", (4,), 1))
    with turn():
        row, = measure.measure(few, tmp_path, tmp_path / "build")
    assert row.cpus == 4 and row.gain > 1.2
    said = measure.write([row], tmp_path).read_text()
    assert said == f"cpus,given,yours,gain\n4,{row.given},{row.yours},{row.gain:.3f}\n"


def test_a_lab_without_a_measurement(tmp_path):
    with pytest.raises(UsageError, match="has no measurement"):
        measure.measure(PARK, tmp_path, tmp_path / "build")
