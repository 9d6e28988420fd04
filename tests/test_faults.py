"""What the console says of a fault in user mode: which process, which LWP, what, where."""

import re

import pytest
from conftest import MODELS

LINE = re.compile(r"weft: pid (\d+) \((?P<name>\w+)\) lwp (?P<lwp>\d+): (?P<signal>SIG\w+) at "
                  r"(?:address 0x(?P<address>[0-9a-f]+), )?instruction 0x(?P<rip>[0-9a-f]+) "
                  r"\((?P<why>[^)]*)\)")


@pytest.mark.parametrize("fault,signal,lwp,address,why", [
    ("null-write", "SIGSEGV", 1, 0x10, "write, not mapped"),
    ("null-call", "SIGSEGV", 1, 0, "execute, not mapped"),
    ("text-write", "SIGSEGV", 1, None, "write, protected"),
    ("kernel-read", "SIGSEGV", 1, 0xffffffff80000000, None),
    ("ud2", "SIGILL", 1, None, "trap 6, error 0x0"),
    ("divide", "SIGFPE", 1, None, "trap 0, error 0x0"),
    ("lwp", "SIGSEGV", 2, 0x28, "write, not mapped"),
    ("abort", "SIGABRT", 1, None, "abort"),
    ("abort-in-handler", "SIGABRT", 1, None, "abort"),
    ("abort-pending", "SIGABRT", 1, None, "abort"),
    ("raise", "SIGABRT", 1, None, "raise"),
    ("assert", "SIGABRT", 1, None, "abort"),
])
def test_report_of_a_fault(guest, fault, signal, lwp, address, why):
    result = guest(["faults", fault])
    found = LINE.search(result.output)
    assert found, result.output
    assert found["name"] == "faults"
    assert found["signal"] == signal
    assert int(found["lwp"]) == lwp
    assert int(found["rip"], 16) < 0x500000
    if address is not None:
        assert int(found["address"], 16) == address
    if why is not None:
        assert found["why"] == why
    assert result.status == 128 + {"SIGSEGV": 11, "SIGILL": 4, "SIGFPE": 8, "SIGABRT": 6}[signal]


@pytest.mark.parametrize("model", MODELS)
def test_abort_tells_on_standard_error(guest, model):
    """Once, with the address of the caller; of SIGABRT from another process the console tells."""
    script = "faults abort 2>/tmp/said; echo $?; cat /tmp/said; sleep 9 & kill -ABRT $!; wait $!"
    result = guest(["sh", "-c", script], timing="exact", model=model)
    aborted, said, killed = result.output.split("weft: pid")
    assert aborted == "Aborted\n134\n"
    assert re.fullmatch(r" \d+ \(faults\) lwp \d+: SIGABRT at instruction 0x4[0-9a-f]{5} "
                        r"\(abort\)\n", said)
    assert re.fullmatch(r" (\d+) \(sleep\) lwp 1: SIGABRT from pid 2\nAborted\n", killed)


def test_what_sends_itself_sigabrt_is_told(guest):
    result = guest(["faults", "kill"], timing="exact")
    assert re.fullmatch(r"weft: pid (\d+) \(faults\) lwp 1: SIGABRT from pid \1\n", result.output)
