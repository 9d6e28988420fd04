"""weft torture: a short run of it, and what it says of a run that fails."""

import os
import re
import signal
import subprocess
import threading
import time

import pytest
from conftest import MODELS, TOP
from weft_host import torture
from weft_host.machine import ENGINES

SEEDS = 2  # of each model, in exact timing; the README says how to run an hour


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_torture(weft, model, cpus):
    """Settings that differ from case to case."""
    first = 1 + SEEDS * (4 * MODELS.index(model) + cpus.bit_length() - 1)
    done = weft("torture", "--no-build", "--runs", SEEDS, "--seed", first, "--jobs", 1,
                "--timing", "exact", "--model", model, "--smp", cpus)
    assert done.returncode == 0, done.stdout.decode()
    assert done.stdout.decode().endswith(f"{SEEDS} runs, all well\n")


def test_the_guest_program_finds_a_standstill(guest):
    """One whose patience is shorter than the first move of the others lasts."""
    result = guest(["torture", "-m", "stand still", "-t", 2, "-n", 1, "-w", 1], timing="exact")
    assert result.status == 1
    assert re.search(r"player 0\.0, thread \d+: what never comes at 0x[0-9a-f]+ for \d+ us",
                     result.output), result.output


def test_settings_are_the_seeds():
    assert torture.setting(7) == torture.setting(7)
    some = [torture.setting(seed) for seed in range(400)]
    assert {one.model for one in some} == set(torture.MODELS)
    assert {one.smp for one in some} == set(torture.CPU_COUNTS)
    assert {one.timing for one in some} == set(torture.TIMINGS)
    named = {option for one in some for option in one.options.split(",")}
    for options in (*torture.OPTIONS.values(), *torture.LATER.values()):
        for name, values in options.items():
            assert {f"{name}={value}" for value in values if value} <= named
    fixed = torture.setting(7, model="mxn", options="queue=fifo", smp=3, timing="exact")
    assert (fixed.model, fixed.options, fixed.smp, fixed.timing) == \
        ("mxn", "queue=fifo", 3, "exact")


def test_the_engine_changes_nothing_else():
    """Both occur, of exact timing; and what a seed gave before there were two, it gives still."""
    some = [torture.setting(seed) for seed in range(100)]
    assert {one.engine for one in some if one.timing == "exact"} == set(ENGINES)
    assert {one.engine for one in some if one.timing == "fast"} == {ENGINES[0]}
    for engine in ENGINES:
        one = torture.setting(5, timing="exact", engine=engine)
        assert one.engine == one.machine().engine == engine
        assert ("--engine" in one.words()) == (engine != ENGINES[0])
    assert (one.model, one.options, one.smp, one.quantum, one.workers) == \
        ("n1", "malloc=mt", 4, 100, 3)


def test_a_failure_can_be_repeated(monkeypatch, capsys):
    """The lines, and the exit status; what a run gave is made up."""
    from weft_host.cli import main
    from weft_host.guest import HostError, Result

    def run(guests, machine, *traced):
        if traced:
            raise HostError("no guest")
        return Result(1 if machine.seed == 12 else 0, "torture: ..., all well\n", seconds=1.0)

    monkeypatch.setattr(torture.Guests, "run", run)
    assert main(["torture", "--no-build", "--runs", "3", "--seed", "11", "--jobs", "2",
                 "--timing", "exact", "--model", "lwp", "--smp", "4", "--options", ""]) == 1
    told = capsys.readouterr().out
    one = torture.setting(12, model="lwp", options="", smp=4, timing="exact")
    words = f"--smp 4 --model lwp --timing exact --seed 12 --quantum {one.quantum}"
    argv = f"-- torture -s 12 -t {one.workers} "
    assert f"tools/weft run {words} {argv}" in told
    assert f"tools/weft gdb --reverse {words} --ex 'break torture_failed' --ex reverse-continue {argv}" in told
    assert "its last records cannot be had: no guest\n" in told
    assert told.endswith("1 of 3 runs failed: seeds 12\n")
    assert main(["torture", "--no-build", "--runs", "1", "--timing", "exact"]) == 0

    # One that cannot be recorded is repeated forward; one that stands still needs no place to go back to.
    fast = torture.setting(12, timing="fast").repeat(Result(1, ""))
    assert " --ex 'break torture_failed' --ex 'break panic' " in fast and " --ex continue -- " in fast
    assert one.repeat(Result(124, "", error="nothing could happen any more")).splitlines()[1].startswith(
        f"tools/weft gdb --reverse {words} {argv}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_when_it_is_told_to(monkeypatch, number):
    """It makes no more runs, though an hour was asked for."""
    from weft_host.cli import main
    from weft_host.guest import Result

    runs = []

    def run(guests, machine):
        runs.append(machine)
        if len(runs) == 10:
            os.kill(os.getpid(), number)
        time.sleep(0.01)
        assert len(runs) < 1000
        return Result(0, "torture: ..., all well\n", seconds=1.0)

    before = signal.getsignal(number)
    monkeypatch.setattr(torture.Guests, "run", run)
    try:
        status = main(["torture", "--no-build", "--minutes", "60", "--jobs", "2"])
    except SystemExit as left:
        status = left.code
    finally:
        signal.signal(number, before)
    assert status == 128 + number and len(runs) < 1000


def test_an_interruption_ends_the_guests_under_way(monkeypatch, capsys):
    """A guest that computes for ever; the run that had ended before is told."""
    from weft_host.cli import main
    from weft_host.guest import Result

    calls, run_really = [], torture.Guests.run

    def interrupt(guests):
        while not guests._running:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def run(guests, machine):
        calls.append(machine)
        if len(calls) == 1:
            return Result(0, "torture: ..., all well\n", seconds=1.0)
        machine.argv = ["sh", "-c", "while :; do :; done"]
        threading.Thread(target=interrupt, args=[guests]).start()
        return run_really(guests, machine)

    monkeypatch.setattr(torture.Guests, "run", run)
    began = time.monotonic()
    status = main(["torture", "--no-build", "--timing", "exact", "--jobs", "1", "--smp", "1"])
    assert time.monotonic() - began < torture.TIMEOUT["exact"] / 2
    told = capsys.readouterr().out.splitlines()
    assert status == 128 + signal.SIGINT and len(calls) == 2
    assert len(told) == 2 and told[1] == "interrupted: 1 run, all well"


@pytest.mark.parametrize("wrong", [["--runs", "0"], ["--jobs", "0"], ["--minutes", "-1"],
                                   ["--minutes", "nan"],
                                   ["--seed", "-1"], ["--smp", "65"], ["--model", "nm"],
                                   ["--runs", "3", "--minutes", "2"]])
def test_wrong_usage(wrong):
    done = subprocess.run([TOP / "tools/weft", "torture", "--no-build", *wrong],
                          capture_output=True)
    assert done.returncode == 2 and done.stdout == b""


@pytest.mark.parametrize("wrong", [["-t", "0"], ["-n", "x"], ["-m", "nothing"], ["-k", "door"], ["-x"]])
def test_wrong_usage_in_the_guest(guest, wrong):
    assert guest(["torture", *wrong]).status == 2
