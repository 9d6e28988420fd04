"""Exact timing: the same bytes from the same command line, whatever the host does."""

import subprocess
import sys

import pytest
from conftest import turn

PINGPONG = ["ptime", "pp", "-v", "-i", "2000"]


@pytest.fixture
def busy_host():
    """Both of the host's cores, or more, are taken while the test runs."""
    with turn():
        load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
        yield
        for process in load:
            process.kill()
            process.wait()


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
def test_same_bytes_on_a_busy_host(guest, busy_host, cpus, model):
    first, second = (guest(PINGPONG, smp=cpus, model=model, timing="exact", background=False)
                     for _ in range(2))
    assert first.status == 0, first.output
    assert first.output == second.output


def test_a_seed_is_an_interleaving(guest):
    def run(seed):
        return guest(["disp_stress", "20"], smp=4, timing="exact", seed=seed, timeout=120)

    assert run(5).output == run(5).output
    times = {guest(["scale", "wakeups", "400"], smp=4, timing="exact", seed=seed).output
             for seed in range(1, 5)}
    assert len(times) > 1


def test_standstill(guest):
    """A program that waits for ever is found out, at a time that is always the same."""
    results = [guest(["deadlock"], smp=2, timing="exact", may_fail=True) for _ in range(2)]
    assert [r.status for r in results] == [124, 124]
    assert "every LWP sleeps, and no timer is set" in results[0].panic
    assert "(deadlock) lwp 1: asleep: park" in results[0].panic
    assert results[0].panic == results[1].panic


def test_standstill_of_a_stopped_process(guest):
    """Also in sa, although its time slices have a timer."""
    result = guest(["sh", "-c", "kill -STOP $$"], smp=2, timing="exact", model="sa", until=3000, may_fail=True)
    assert "every LWP sleeps, and no timer is set" in result.panic


def test_a_limit_of_virtual_time(guest):
    """It comes at the same instruction on each host, with the picture of what runs."""
    results = [guest(["sh", "-c", "while :; do :; done"], smp=2, timing="exact", until=9, may_fail=True)
               for _ in range(2)]
    assert [r.error for r in results] == ["time-out after 9 virtual ms"] * 2
    assert "weft: time limit at 1009" in results[0].panic and "(sh)" in results[0].panic
    assert results[0].report == results[1].report


def test_input_comes_from_the_ram_disk(guest):
    result = guest(["cat"], stdin=b"one\ntwo", timing="exact")
    assert (result.status, result.output) == (0, "one\ntwo")
    assert guest(["cat"], timing="exact").output == ""


def test_idle_time_is_skipped(guest):
    """An hour of sleep ends within the time limit of any test."""
    result = guest(["ptime", "sleep", "3600"], smp=2, timing="exact", timeout=30)
    assert result.status == 0
    assert "1:00:00" in result.output or "60:00" in result.output, result.output


def test_mips_scale_the_clock(guest):
    """A CPU of 100 million instructions a second takes ten times as long."""
    def took(mips):
        out = guest(["spin_for", "1000000"], timing="exact", mips=mips).output
        return int(out)

    assert took(100) == pytest.approx(10 * took(1000), rel=0.01)
