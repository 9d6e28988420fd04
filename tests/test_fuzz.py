"""The kernel survives random system calls, and gets every page back.

A longer run: tools/weft run --smp 4 [--debug] --timeout 900 -- fuzz -n 1000000 -s SEED
"""

import re

import pytest
from conftest import TOP

# What the kernel keeps for next time differs a little from run to run.
SLACK = 128


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_random_calls(guest, timing):
    calls = 4000
    result = guest(["fuzz", "-n", calls, "-s", 7], smp=4, timing=timing, timeout=240)
    assert result.status == 0, result.output
    told = re.search(r"^fuzz: (\d+) calls by \d+ processes; pages free: (\d+) before, (\d+) after$",
                     result.output, re.MULTILINE)
    assert told, result.output
    assert int(told[1]) >= calls
    assert int(told[2]) - int(told[3]) < SLACK, result.output


def test_every_call_is_in_some_guest_test():
    """A call that no test program names is tested by nobody."""
    calls = re.findall(r"^\s*X\(\d+, (\w+), \d\)",
                       (TOP / "kernel/include/weft/syscall.h").read_text(), re.MULTILINE)
    text = "".join(path.read_text() for path in (TOP / "tests/guest").rglob("*.[ch]")
                   if path.name != "fuzz.c")
    missing = [call for call in calls if not re.search(rf"\b(__sys_|SYS_)?{call}\b *[(,)]", text)]
    assert missing == []
