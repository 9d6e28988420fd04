"""The end of a run tells what stands still, or has no time left: the LWPs, the threads of each process,
and why threads that could run have no LWP (kernel/proc/report.c)."""

import re

import pytest
from weft_debug.debugger import Debugger
from weft_host.debugged import STUB, served_of
from weft_host.guest import Guest
from weft_host.machine import Machine

LIMIT = 6  # seconds: a busy host needs one or two for the boot, and the rest is only waited
LOOP = "If a thread on an LWP waits for one of these in a loop, it waits for ever."
SHARED = "Model n1 has one LWP, so all other threads wait with it."


@pytest.mark.parametrize("timing", ["fast", "exact"])
@pytest.mark.parametrize("model", ["mxn", "n1"])  # in sa it goes on: see below
def test_a_thread_that_spins_for_others(guest, model, timing):
    result = guest(["spins_for", "pool"], model=model, smp=2, timing=timing, may_fail=True, timeout=LIMIT,
                   background=False)
    assert (result.status, result.output) == (124, "")
    assert result.timed_out
    assert "weft: time limit at " in result.panic
    assert "(spins_for) lwp 1: on a CPU, thread 1\n" in result.panic
    assert "(spins_for) threads: 1 on an LWP, 2 on the run queue, 0 blocked, 0 stopped\n" in result.panic
    assert "(spins_for): 2 threads on the run queue, and no LWP to run them.\n" in result.panic
    assert LOOP in result.panic
    assert "LIBTHREAD_OPTIONS=concurrency=N" in result.panic
    assert SHARED not in result.panic


def test_with_the_lwps_that_it_names_it_goes_on(guest):
    assert guest(["spins_for", "pool"], model="mxn", smp=2, options="concurrency=3").output == "through\n"
    assert guest(["spins_for", "pool"], model="lwp", smp=2).output == "through\n"


@pytest.mark.parametrize("smp", [1, 2])
def test_in_sa_it_goes_on(guest, smp):
    """On one CPU the slices end."""
    assert guest(["spins_for", "pool"], model="sa", smp=smp, timing="exact").output == "through\n"


@pytest.mark.parametrize("what, sleeps", [("sem", "lwp_sema, thread 1"), ("mutex", "lwp_mutex, thread 2")])
def test_a_shared_object_holds_the_lwp_of_n1(guest, what, sleeps):
    result = guest(["spins_for", what], model="n1", smp=2, timing="exact", may_fail=True)
    assert (result.status, result.output) == (124, "")
    assert "weft: standstill at " in result.panic
    assert f"(spins_for) lwp 1: asleep: {sleeps}\n" in result.panic
    assert "(spins_for): 1 thread on the run queue, and no LWP to run it.\n" in result.panic
    assert SHARED in result.panic
    assert LOOP not in result.panic


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
@pytest.mark.parametrize("what", ["sem", "mutex"])
def test_and_no_lwp_of_the_others(guest, what, model):
    assert guest(["spins_for", what], model=model, smp=2, timing="exact").output == "through\n"


def test_the_time_limit_tells_of_a_program_that_sleeps(guest):
    result = guest(["deadlock"], model="lwp", smp=4, may_fail=True, timeout=LIMIT)
    assert result.timed_out
    assert "(deadlock) lwp 1: asleep: park, thread 1\n" in result.panic
    assert "threads:" not in result.panic  # they have LWPs of their own


def without_interrupts(guest):
    """The guest has no interrupt table any more: the next interrupt ends in a triple fault."""
    debugger = Debugger(served_of(guest.machine, guest.work / STUB))
    try:
        table = debugger.guest.variable("idt", "cpu/cpu.c")
        debugger.guest.kernel.write(table.address, bytes(4096))
    finally:
        debugger.leave()


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_a_triple_fault_leaves_the_memory(weft, tmp_path, timing):
    machine = Machine(argv=["sh", "-c", "echo here; while :; do :; done"], smp=2, timing=timing, debugger="may",
                      mem="128M", timeout=60, keep=tmp_path)
    with Guest(machine) as guest:
        result = guest.relay(lambda text: without_interrupts(guest))
    assert (result.status, result.error) == (70, "the guest has reset itself (a triple fault)")
    assert re.search(r"^2:\tsh$", result.picture, re.MULTILINE), result.picture
    shown = weft("crash", result.kept)
    assert shown.returncode == 0 and result.picture.rstrip() in shown.stdout.decode()


def test_a_reset_that_is_asked_for(guest):
    """No fault is told of."""
    result = guest(["reboot", "-r"], may_fail=True)
    assert (result.status, result.error) == (70, "the guest has reset itself")
