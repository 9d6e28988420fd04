"""The experiment speed, on made-up times; and that a guest's time of the host's cores is what it took."""

import subprocess
import sys

import pytest
from rich.console import Console
from weft_host.experiments import speed
from weft_host.guest import Result, _cpu_seconds
from weft_host.machine import ENGINES, HostError, UsageError


class Host:
    """In place of bench's context: a window costs `us`, a boot a second."""

    timing = "exact"
    engines = ENGINES

    def __init__(self, us):
        self._us = us

    def steps(self, total):
        self.total = total

    def step(self, text):
        self.total -= 1

    def guest(self, argv, *, smp, quantum, engine):
        assert argv[2] % smp == 0  # scale shares it evenly, or refuses
        windows = argv[2] / quantum
        return Result(0, cpu_seconds=1 + windows * self._us(engine, smp) / 1e6)


def test_what_a_boot_costs_drops_out():
    host = Host(lambda engine, smp: 8 if engine == "one" else 8 * smp)
    rows = speed.run(host)
    assert host.total == 0 and len(rows) == 2 * len(speed.CPU_COUNTS) * len(speed.QUANTA)
    for row in rows:
        assert row["us_a_window"] == pytest.approx(8 if row["engine"] == "one" else 8 * row["cpus"], abs=0.02)
        assert row["speed"] == pytest.approx(row["quantum"] / row["us_a_window"], rel=0.02, abs=0.06)
    console = Console(width=80, record=True, file=open("/dev/null", "w"))
    console.print(speed.table(rows))
    text = console.export_text()
    assert text.count("processors") == len(speed.QUANTA) and "…" not in text


def test_it_says_why_it_cannot():
    host = Host(lambda engine, smp: 1)
    host.guest = lambda argv, **machine: Result(3, "no memory\n")
    with pytest.raises(HostError, match="status 3"):
        speed.run(host)
    host.guest = lambda argv, **machine: Result(0)
    with pytest.raises(UsageError, match="needs Linux"):
        speed.run(host)
    host.timing = "fast"
    with pytest.raises(UsageError, match="--timing exact"):
        speed.run(host)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone tells it")
def test_time_of_the_cores(guest):
    """More work takes more of it, and no run takes more than passes on as many cores as QEMU has threads
    that work: one, and a little for its main thread."""
    little, much = (guest(["scale", "split", work], timing="exact", smp=2) for work in (1000, 30_000_000))
    assert 0 < little.cpu_seconds < much.cpu_seconds
    assert much.cpu_seconds < 2 * much.seconds


def test_a_child_that_another_thread_has_waited_for():
    """As Popen.kill() does: it is no error that its time is not known any more."""
    child = subprocess.Popen(["true"])
    child.wait()
    assert _cpu_seconds(child.pid) is None
