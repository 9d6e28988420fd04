"""The two engines of exact timing print the same bytes: output, status, reports, and the virtual time at
the end, to the nanosecond.

--engines-all compares all of engines.py; without it one in twelve, chosen by a hash of each name.
"""

import re
from dataclasses import replace

import engines
import pytest
from conftest import GUEST_PROGRAMS, brought
from weft_host import beforehand, experiment
from weft_host.guest import STATUS_PANIC, STATUS_TIMEOUT, run
from weft_host.machine import ENGINES, Machine

CASES = engines.cases()
SAMPLE = 12  # one of so many is in the suite, and
ALWAYS = ("thr_fpu-lwp", "err_proc", "shell pipes 4cpu", "fault null-write", "moments 8cpu")
TIMEOUT = 600


def on_both(machine):
    """A Result an engine, without what the start of CPUs took, which comes before exact timing."""
    results = [run(replace(machine, engine=engine, timeout=machine.timeout or TIMEOUT, background=True),
                   machine.stdin) for engine in ENGINES]
    for result in results:
        result.output = re.sub(r"^(weft: .* online after )\d+ ms$", r"\1N ms", result.output, flags=re.MULTILINE)
    return results


def first_difference(one, other):
    """The first lines that are not the same, or "" if all is the same."""
    for what in ("status", "error", "output", "panic"):
        texts = [str(getattr(result, what)).splitlines() for result in (one, other)]
        for number in range(max(map(len, texts))):
            lines = [text[number] if number < len(text) else "(nothing)" for text in texts]
            if lines[0] != lines[1]:
                return "\n".join([f"{what}, line {number + 1}:", *(
                    f"  {engine:10}  {line}" for engine, line in zip(ENGINES, lines))])
    return ""


def pytest_generate_tests(metafunc):
    if "label" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--engines-all")
        metafunc.parametrize("label", [label for label in CASES
                                       if whole or label in ALWAYS or engines.hash_of(label) % SAMPLE == 0])


def compiled(machine, folder):
    """With programs of experiments that the test compiles itself: perhaps no experiment has run yet."""
    files = []
    for file in machine.files:
        for one in experiment.all_experiments().values():
            if file in one.built:
                beforehand.compile_program(one, folder / file.name, one.built[file])
                file = folder / file.name
                break
        files.append(file)
    return replace(machine, files=files)


def test_the_same_bytes(label, tmp_path):
    one, other = on_both(compiled(CASES[label], tmp_path))
    assert "time-out" not in one.error + other.error, "too long to be compared"
    assert re.search(r"^weft: (ends at|standstill at) \d+ ns", one.output + one.panic, re.MULTILINE), one.output
    difference = first_difference(one, other)
    if difference:
        pytest.fail(f"{engines.command(CASES[label])}\n{difference}", pytrace=False)


def test_each_program_of_tests_guest_is_there():
    named = set(re.findall(r"\w+", " ".join(word for machine in CASES.values() for word in machine.argv)))
    # Those that only say when, or for which all others wait.
    assert GUEST_PROGRAMS - named == {
        "at_rest", "cpu_places", "deadlock", "held_locks", "landing", "repeat", "since_boot", "spins_for",
        "step_end", "stops", "trace_times", "transfers"}


def test_a_difference_is_found():
    """Two lengths of a round are two machines."""
    one, _ = on_both(CASES["shell exec 4cpu"])
    other, _ = on_both(replace(CASES["shell exec 4cpu"], quantum=777))
    assert first_difference(one, one) == ""
    assert first_difference(one, other).startswith("output, line ")


@pytest.mark.parametrize("argv", [["deadlock"], ["spins_for", "mutex"]])
def test_a_standstill(argv):
    one, other = on_both(Machine(argv=argv, smp=4, model="n1", timing="exact", files=brought(*argv)))
    assert one.status == STATUS_TIMEOUT and "standstill at " in one.panic
    assert first_difference(one, other) == ""


def test_the_time_limit():
    """It comes when the host's time is up, so the instant differs; what all LWPs do is the same."""
    argv = ["spins_for", "pool"]
    said = [re.sub(r"time limit at \d+", "time limit at N", result.panic) for result in on_both(
        Machine(argv=argv, smp=3, model="mxn", timing="exact", timeout=4, files=brought(*argv)))]
    assert "time limit at N ns" in said[0] and "lwp 1: on a CPU, thread 1" in said[0]
    assert said[0] == said[1]


def panic_report(text):
    """(the lines before the first frame's, {CPU: what it does}, the CPUs with a backtrace).

    Frames differ from engine to engine: with several processors a CPU that waits for the token stands in
    the wait for it, and with one it stands where its window ended."""
    cpus, head, traced, cpu = {}, [], set(), None
    for line in text.splitlines():
        if match := re.match(r"CPU (\d+), (.*):$", line):
            cpu = match[1]
            cpus[cpu] = match[2]
        elif cpu is None:
            head.append(line)
        elif re.match(r"    0x[0-9a-f]+ (\S+\+0x[0-9a-f]+|in user mode)$", line):
            traced.add(cpu)
    return head, cpus, traced


@pytest.mark.parametrize("cpus", [1, 4, 16])
def test_a_panic_of_a_machine_at_rest(cpus):
    results = on_both(Machine(argv=["true"], smp=cpus, timing="exact", append="init=/nothing"))
    assert [result.status for result in results] == [STATUS_PANIC] * 2
    one, other = (panic_report(result.panic) for result in results)
    assert one == other
    assert "cannot start /nothing" in "".join(one[0])
    assert set(one[1]) == one[2] == {str(i) for i in range(cpus)}


def test_a_panic_of_a_busy_machine(workshop):
    """Every CPU executes the self-test when CPU 0 finds that it does not hold."""
    build, = workshop.make(["window-uncounted"], "true")
    one, other = (panic_report(result.panic) for result in on_both(
        Machine(argv=["true"], smp=4, timing="exact", quantum=200, build=build)))
    assert one == other
    assert "exact timing does not hold" in "".join(one[0])
    assert set(one[1]) == one[2] == set("0123")
