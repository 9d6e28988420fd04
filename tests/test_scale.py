"""N virtual CPUs are N times one: split work, hand-over, idle CPUs.

All figures are virtual time, the same on every host.  The one about the host's own work, that idle
CPUs cost nothing, compares the processor time of two QEMUs (not the time that passes), and takes
the least of three runs: a busy host only adds to it.
"""

import os
import re
import subprocess

import pytest
from conftest import brought
from rich.console import Console
from weft_host.experiments import scale
from weft_host.machine import Machine


class Context:
    """In place of bench's."""

    timing = "exact"

    def __init__(self, guest):
        self._guest = guest

    def guest(self, argv, **options):
        return self._guest(argv, timing="exact", timeout=300, **options)


@pytest.fixture(scope="module")
def ctx(guest):
    return Context(guest)


@pytest.mark.parametrize("cpus", [1, 2, 4, 8, 64])
def test_split_work(ctx, cpus):
    """W instructions on N CPUs take W/N: to 0.2 % on up to 8 CPUs, to 1 % on 64.  Beyond that its
    three barriers take up to five quanta, however much the work is."""
    work = (400_000 if cpus == 64 else 4_000_000) * cpus
    took = scale.measure(ctx, "split", cpus, work)
    assert took >= work // cpus
    assert took <= work / cpus * (1.002 if cpus <= 8 else 1.01)


def test_spinning_takes_a_quantum(ctx):
    """There and back is as far as CPUs see each other's stores.  The end of a slice may send one
    of the two to sleep, which costs 3,300 once: among so many moves that does not show."""
    moves = 4000
    for quantum in (200, 500, 1000):
        took = scale.play(ctx, 2, moves, quantum=quantum) / moves
        assert took == pytest.approx(quantum, rel=0.01)


def test_idle_and_wake_do_not_depend_on_the_quantum(ctx):
    """Two LWPs that sleep in turns: each finds the other's CPU idle, at any quantum that is
    shorter than the time from one turn to the next."""
    rounds, work = 100, 20_000
    took = [scale.measure(ctx, "trip", 2, rounds, work, quantum=quantum) / rounds - 2 * work
            for quantum in (100, 200, 500, 1000, 2000, 5000)]
    assert 0 < min(took) < 10_000
    assert max(took) - min(took) <= 0.002 * (2 * work + min(took))


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
@pytest.mark.parametrize("quantum", [100, 200, 1000])
def test_games_do_not_disturb_each_other(ctx, model, quantum):
    """Four games on eight CPUs take at most 1.03 times as long as one on two; from beginning to
    end, since a game that falls asleep at the beginning may stay so for many turns."""
    def took(cpus, games):
        output = scale.guest(ctx, ["pp", "-vu", "-i", 1_500_000 // quantum, "-n", games,
                                   "-c", 2 * games], cpus,
                             mips=10, quantum=quantum, model=model)
        return int(re.search(r"games completed in (\d+)us", output)[1])

    assert took(8, 4) <= 1.03 * took(2, 1)


def host_seconds(tmp_path, cpus):
    """Processor time that QEMU needs for a program that keeps one CPU busy."""
    machine = Machine(argv=["scale", "trip", "1", "100000000"], smp=cpus, timing="exact",
                      append="selftest=1")
    before = os.times()
    subprocess.run(machine.qemu(tmp_path, False, "file,path=/dev/null"), stdin=subprocess.DEVNULL,
                   timeout=300)
    after = os.times()
    return (after.children_user - before.children_user
            + after.children_system - before.children_system)


def test_idle_cpus_cost_the_host_nothing(tmp_path):
    """One busy CPU of eight costs at most 1.5 times what it costs alone."""
    alone, of_eight = (min(host_seconds(tmp_path, cpus) for _ in range(3)) for cpus in (1, 8))
    assert of_eight <= 1.5 * alone


def loads_of_cr3(tmp_path, lwps):
    """How often the guest's CPU has loaded CR3, which empties its TLB: QEMU's log has a line each."""
    machine = Machine(argv=["lwp_end", str(lwps)], smp=1, timing="exact", files=brought("lwp_end"))
    log = tmp_path / f"mmu.{lwps}"
    subprocess.run([*machine.qemu(tmp_path, False, "file,path=/dev/null"),
                    "-d", "mmu", "-D", str(log)], stdin=subprocess.DEVNULL, timeout=300)
    with log.open() as lines:
        return sum("CR3 update" in line for line in lines)


def test_lwps_that_end_leave_the_tlb_alone(tmp_path):
    """The last LWP of a process takes the address space off the CPUs; the others need not."""
    few, many = (loads_of_cr3(tmp_path, lwps) for lwps in (10, 510))
    assert few > 0
    assert many - few < 50


def test_sleep_is_skipped(guest):
    """Ten virtual seconds of sleep pass within one of the processor's."""
    before = os.times().children_user + os.times().children_system
    result = guest(["sleep", "10"], smp=2, timing="exact")
    after = os.times().children_user + os.times().children_system
    assert result.status == 0
    assert after - before < 1


def test_speedups_refer_to_one_cpu_and_of_games_to_two():
    rows = [{"kind": kind, "cpus": cpus, "operations": operations, "instructions": took}
            for kind, cpus, operations, took in (
                ("split", 1, 800, 1000), ("split", 4, 800, 250),
                ("games", 1, 100, 5000), ("games", 2, 100, 1000), ("games", 8, 400, 1000))]
    scale.add_speedups(rows)
    assert [row["speedup"] for row in rows] == [1, 4, 0.4, 2, 8]


def test_table_fits_into_80_columns():
    rows = [{"kind": name, "cpus": cpus, "operations": kind.operations, "instructions": 20_000_000}
            for name, kind in scale.KINDS.items() for cpus in scale.CPU_COUNTS]
    scale.add_speedups(rows)
    console = Console(width=80, record=True, file=open(os.devnull, "w"))
    console.print(scale.table(rows))
    text = console.export_text()
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
