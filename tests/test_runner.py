"""The runs of an experiment: here side by side, or over a Dask cluster; what fails, and in which order."""

import csv
import re
import shutil
import sys
import time
from types import SimpleNamespace

import dask_cluster
import pytest
from sample_experiment import GOOD, MINE
from weft_host import bench, runner
from weft_host.guest import Result
from weft_host.machine import QEMU, HostError, UsageError

# --- running -------------------------------------------------------------------------------------

def test_lines_of_results():
    output = "hello\nresult threads=4 real_ns=12 share=0.5 kind=a\nresult threads=8 real_ns=3\n"
    assert runner.parse(output) == [{"threads": 4, "real_ns": 12, "share": 0.5, "kind": "a"},
                                    {"threads": 8, "real_ns": 3}]
    for wrong in ("nothing\n", "result\n", "result x\n", "result =1\n"):
        with pytest.raises(HostError):
            runner.parse(wrong)


def test_results_by_patterns():
    patterns = [r"^(?P<games>\d+) games", r"^real\s+(?P<real_s>\S+)"]
    assert runner.parse("4 games\nreal 1:02:03.5\n", patterns) == [{"games": 4, "real_s": 3723.5}]
    with pytest.raises(HostError, match="no line like"):
        runner.parse("4 games\n", patterns)


@pytest.fixture
def guests(monkeypatch):
    """guests.answer(machine) -> Result stands in for guests."""
    fake = SimpleNamespace(answer=None)
    monkeypatch.setattr(runner, "run_guest", lambda machine, started=None: fake.answer(machine))
    return fake


def measure(one, jobs=2, full=True):
    """(rows, failures) as weft bench gets them."""
    display = SimpleNamespace(more=lambda count: None, begins=lambda name, text, key: None,
                              ended=lambda: None, left=lambda key, name: None)
    args = SimpleNamespace(full=full, timing="exact", accel="tcg", engine=None)
    done, = bench._Bench(args, [one], display, runner.Local(jobs)).run()
    assert done.measured == done.runs - len(done.failures)
    return done.rows, done.failures


def answer(machine):
    threads = int(machine.argv[machine.argv.index("-n") + 1])
    return Result(0, f"result threads={threads} real_ns={threads * 1000000 + machine.seed}\n")


def test_rows_are_in_the_order_of_the_runs(load, guests):
    guests.answer = answer
    one = load(GOOD)
    rows, failures = measure(one)
    assert failures == []
    assert rows == measure(one, jobs=5)[0]
    assert [(row["threads"], row["configuration"], row["seed"]) for row in rows] == [
        (run.parameters["threads"], run.configuration, run.seed) for run in one.runs(True)]
    assert rows[0]["real_ns"] == 1000001 and rows[0]["status"] == "ok"


@pytest.mark.parametrize("result, status", [
    (Result(1, "result threads=4 real_ns=1\n"), "exit status 1"),
    (Result(124, error="time-out after 300 s"), "time-out after 300 s"),
    (Result(70, error="the kernel panicked", panic="PANIC: x"), "the kernel panicked"),
    (Result(0, "hello\n"), "no line of results"),
    (Result(0, "result threads=5 real_ns=1\n"), "the program says threads=5, .*"),
    (Result(0, "result user_ns=1\n"), "the program printed no real_ns"),
])
def test_a_failure_is_told_and_the_others_go_on(load, guests, result, status):
    calls = []

    def some(machine):
        calls.append(machine)
        return result if "-n 4 -b" in " ".join(machine.argv) else answer(machine)

    guests.answer = some
    one = load(GOOD)
    rows, failures = measure(one)
    assert len(calls) == len(rows) == 12  # nothing was repeated
    bad = [row for row in rows if row["status"] != "ok"]
    assert len(bad) == len(failures) == 2
    for row, failure in zip(bad, failures):
        assert re.fullmatch(status, row["status"], re.DOTALL)
        assert "real_ns" not in row
        assert failure["command"].endswith("-- prog -n 4 -b")


def test_fast_timing_runs_alone(load, guests):
    """When all others have ended, one at a time; and the results say whose time it is."""
    calls, running = [], []

    def alone(machine):
        running.append(machine)
        time.sleep(0.01)  # for another to begin, if any may
        calls.append((machine.timing, len(running)))
        threads = machine.argv[machine.argv.index("-n") + 1]
        running.remove(machine)
        return Result(0, f"result threads={threads} real_ns=1\n")

    guests.answer = alone
    one = load(GOOD.replace('class = "NT"', 'class = "NT"\ntiming = "fast"'))
    rows, failures = measure(one)
    assert failures == []
    assert [timing for timing, _ in calls] == ["exact"] * 6 + ["fast"] * 6
    assert {count for timing, count in calls if timing == "fast"} == {1}
    assert {row["timing"] for row in rows if row["configuration"] == "nt"} == {"fast"}


def test_derived_figures(load, guests):
    guests.answer = answer
    rows, _ = measure(load(GOOD.replace("figure =", 'derive = { each_ns = "real_ns / threads" }\n'
                                        "figure =")))
    assert rows[4]["each_ns"] == 1000000.25


# --- a cluster -----------------------------------------------------------------------------------

def test_without_the_package_for_clusters(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="weft setup cluster"):
        runner.Cluster("tcp://127.0.0.1:1")


# Stands in for QEMU: kills the worker that calls it, once, if it is told to.
FATAL = """#!/bin/sh
if rm {order} 2>/dev/null; then kill -9 $PPID; fi
exec {qemu} "$@"
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask cluster of processes that know nothing of weft: its address, and the file whose making
    kills a worker."""
    place = tmp_path_factory.mktemp("cluster")
    order, fatal = place / "order", place / "qemu"
    fatal.write_text(FATAL.format(order=order, qemu=shutil.which(QEMU)))
    fatal.chmod(0o755)
    with dask_cluster.started(place, WEFT_QEMU=str(fatal)) as address:
        yield address, order


def test_cluster(weft, tmp_path, cluster):
    """The same bytes as here.  A run whose worker died is a failure, though Dask makes it again."""
    address, order = cluster
    (tmp_path / "mine.toml").write_text(MINE[:MINE.index("[[claims]]")].replace("[50, 100]", "[50]"))
    for name, argv in (("here", ["--jobs", "1"]), ("there", ["--scheduler", address])):
        done = weft("bench", "--no-build", *argv, "--results", tmp_path / name,
                    tmp_path / "mine.toml")
        assert done.returncode == 1, done.stderr
    here, there = ((tmp_path / name / "mine.csv").read_bytes() for name in ("here", "there"))
    assert here == there and b"exit status 2" in here
    order.touch()
    weft("bench", "--no-build", "--scheduler", address, "--results", tmp_path / "there",
         tmp_path / "mine.toml")
    found = list(csv.DictReader((tmp_path / "there/mine.csv").read_text().splitlines()))
    assert "its worker died" in [row["status"] for row in found]


def test_cluster_with_another_build(weft, load, monkeypatch, cluster):
    monkeypatch.setattr(runner, "build_digest", lambda: "another")
    one, = load(GOOD).runs(False)[:1]
    (key, outcome), = runner.Cluster(cluster[0])([("key", one, ())], [], lambda run: None)
    assert key == "key" and outcome.status.startswith("this worker has another build in ")
