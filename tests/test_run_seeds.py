"""weft run --seeds A..B: one command under many seeds, and the lowest that fails."""

import io
import os
import re
import shlex
import signal
import sys
import threading
import time

import pytest
from conftest import TOP
from weft_host import seeds
from weft_host.cli import main
from weft_host.guest import Guests, Result
from weft_host.machine import Machine

MACHINE = Machine(argv=["true"], timing="exact")


def test_a_race_is_found_and_its_line_repeats_it(weft, tmp_path):
    """The same seed, output and status, however many runs are side by side."""
    program, source = tmp_path / "late store", TOP / "tests/cc/late_store.c"
    assert weft("cc", "-O1", source, "-o", program).returncode == 0
    words = ["--smp", 2, "--quantum", 200, "--env", "A=b c", "--file", f"{program}:/host/late"]
    found = [weft("run", "--seeds", "1..200", "--jobs", jobs, *words, "--", "late", "x y", stdin=b"in")
             for jobs in (1, 3)]
    assert found[0].stderr == found[1].stderr
    assert {(one.returncode, one.stdout) for one in found} == {(1, b"counter = 1\n")}
    said, line, gdb, trace = found[0].stderr.decode().splitlines()
    seed = re.fullmatch(r"weft: seed (\d+) failed: status 1; the lines that repeat it, with the same "
                        r"input:", said)[1]
    assert line.startswith("tools/weft run ") and f"--seed {seed} " in line
    assert gdb.startswith("tools/weft gdb ") and line.split(" run ")[1].split(" -- ")[0] in gdb
    again = weft(*shlex.split(line)[1:], stdin=b"in")
    assert (again.returncode, again.stdout) == (1, b"counter = 1\n")
    path = re.fullmatch(r"weft: its last records, of another run: tools/weft stats (.*)", trace)[1]
    assert path == str(TOP / f"build/crashes/late-seed{seed}.trace")
    found = weft("stats", "--json", path)
    assert found.returncode == 0 and b'"2": "late"' in found.stdout


def test_all_well(weft):
    done = weft("run", "--seeds", "7..9", "--jobs", 2, "--", "cat", stdin=b"text")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"weft: 3 seeds, all well\n")


def until(condition):
    while not condition():
        time.sleep(0.001)


def test_the_lowest_seed_that_fails_is_told(monkeypatch):
    """3 fails first: 4, which runs, is ended, and 5 does not begin; 2 goes on, and fails too."""
    begun = []

    def run(guests, machine, stdin):
        begun.append(machine.seed)
        if machine.seed == 1:
            return Result(0)
        until(lambda: len(begun) == 4)
        if machine.seed == 4:
            until(lambda: guests.stopped)
            return Result(69, error="QEMU ended with status -9")
        if machine.seed == 2:
            until(lambda: whole.failure)
        return Result(machine.seed)

    monkeypatch.setattr(Guests, "run", run)
    whole = seeds.Seeds(MACHINE, range(1, 100), 3)
    whole.run()
    assert whole.failure == (2, Result(2)) and whole.well == 1 and sorted(begun) == [1, 2, 3, 4]


def test_a_host_that_runs_no_guest_ends_all(monkeypatch):
    def run(guests, machine, stdin):
        if machine.seed == 2:
            raise seeds.UsageError("no")
        until(lambda: guests.stopped)
        return Result(69)

    monkeypatch.setattr(Guests, "run", run)
    with pytest.raises(seeds.UsageError):
        seeds.Seeds(MACHINE, range(1, 100), 3).run()


def test_an_interruption_ends_the_guests_under_way(monkeypatch, capsys):
    run_really = Guests.run

    def interrupt(guests):
        until(lambda: guests._running)
        os.kill(os.getpid(), signal.SIGINT)

    def run(guests, machine, stdin):
        if machine.seed == 1:
            return Result(0)
        threading.Thread(target=interrupt, args=[guests]).start()
        return run_really(guests, machine, stdin)

    monkeypatch.setattr(Guests, "run", run)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    status = main(["run", "--no-build", "--seeds", "1..9", "--jobs", "1", "--timeout", "100", "--",
                   "sh", "-c", "while :; do :; done"])
    assert status == 128 + signal.SIGINT
    assert capsys.readouterr().err == "weft: interrupted after 1 seed, all well\n"


@pytest.mark.parametrize("words", [
    ["--seeds", "1"], ["--seeds", "1..x"], ["--seeds", "5..4"], ["--seeds", "0..4294967296"],
    ["--seeds", "1..2", "--seed", "1"], ["--seeds", "1..2", "--timing", "fast"],
    ["--seeds", "1..2", "--jobs", "0"], ["--jobs", "2"], ["--seeds", "1..2", "--file", "/no/such"]])
def test_wrong_usage(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(["run", "--no-build", *words, "--", "true"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and (words[0] in said.err or words[-2] in said.err)


def test_a_shell_has_no_seeds(weft):
    assert weft("run", "--seeds", "1..2").returncode == 2
