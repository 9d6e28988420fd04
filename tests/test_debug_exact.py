"""Exact timing under GDB: a program prints the same bytes as without, whatever stops there are on the way."""

import pytest
from conftest import MODELS
from test_debug_gdb import gdb  # noqa: F401  (a fixture)

KINDS = {"one": (), "processors": ("--engine", "processors"), "seed": ("--seed", "5", "--quantum", "200")}
# In the first process; the points of one process are passed over in the other.
STOPS = """\
break hot
ignore 1 15
continue
next
step
stepi 40
delete
watch latest
continue
ignore 2 5
continue
delete
break clock_gettime
continue
stepi 12
finish
delete
"""
KERNEL_STOPS = """\
break hot
continue
stepi 400
delete
inferior 1
thread 1
stepi 200
next
break sched_switch
ignore 2 2
continue
stepi 60
delete
watch cpus[0]->lwp
continue
delete
"""


@pytest.fixture(scope="module")
def untouched(weft):
    """untouched(*options): what `stops` prints without GDB."""
    known = {}

    def run(*options):
        if options not in known:
            known[options] = weft("run", *options, "--", "stops").stdout.decode().replace("\r\n", "\n")
        return known[options]

    return run


# These are dear: sa is stopped under a seed only.
@pytest.mark.parametrize("model, kind", [
    (model, kind) for model in MODELS for kind in KINDS if model != "sa" or kind == "seed"])
@pytest.mark.parametrize("commands", [STOPS, KERNEL_STOPS], ids=["program", "kernel"])
def test_a_stop_takes_no_time(gdb, untouched, commands, model, kind):  # noqa: F811
    """Breakpoints that stop and that are passed over, steps, and watchpoints; the clock is read on the way."""
    options = "--timing", "exact", "--smp", "2", "--model", model, *KINDS[kind]
    wanted = untouched(*options)
    assert wanted.count("parent: ") == wanted.count("child: ") == 1, wanted
    output = gdb(commands + "continue\n", *options, argv=["stops"]).replace("\r\n", "\n")
    for line in wanted.splitlines():
        assert line in output, output
