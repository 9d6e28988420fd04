"""The self-test of exact timing accepts each machine that the host command can make, and finds each
fault that it is there for.

It costs a hundredth of a second, so it is part of each boot: `true` is enough to run it.
"""

import pytest
from weft_host.guest import STATUS_PANIC

QUANTA = (50, 200, 1000, 1_000_000)  # from the least to the largest
SEEDS = (None, 1, 2**32 - 1)
GRID = [(cpus, quantum, seed) for cpus in (1, 2, 4, 8) for quantum in QUANTA for seed in SEEDS]

# Those of four CPUs and rounds of 200 that a comparison of the CPUs' shares of time once refused.
GRID += [(4, 200, seed) for seed in range(2, 8)]
GRID += [(64, 200, 1), (33, 50, 2)]


def boot(guest, cpus, quantum, seed, **options):
    return guest(["true"], smp=cpus, timing="exact", quantum=quantum, seed=seed, **options)


@pytest.mark.parametrize("cpus", sorted({cpus for cpus, _, _ in GRID}))
def test_the_grid(guest, cpus):
    for case in GRID:
        if case[0] == cpus:
            assert boot(guest, *case).status == 0, case


# What the self-test says of each.
BUGS = [("window-uncounted", "CPU 0 executed "),
        ("window-begun-late", "windows too short, "),
        ("clock-too-fast", "CPU 1 executed "),
        ("cpu-passed-over", "more than a round")]


@pytest.mark.parametrize("bug, says", BUGS)
def test_a_fault_is_found(guest, workshop, bug, says):
    build, = workshop.make([bug], "true")
    for case in ((2, 200, None), (4, 200, 1), (8, 1000, 2), (3, 1_000_000, 1)):
        result = boot(guest, *case, build=build, may_fail=True, picture=False)
        assert result.status == STATUS_PANIC, case
        assert "exact timing does not hold: " in result.panic and says in result.panic, case
