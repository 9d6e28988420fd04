"""Both ways to boot, at every CPU count."""

import re

import pytest
from conftest import CPU_COUNTS, brought
from weft_host import machine
from weft_host.guest import run

LOADER = {"kernel": "pvh", "iso": "multiboot2"}


@pytest.mark.parametrize("debug", [False, True], ids=["plain", "debug"])
@pytest.mark.parametrize("boot", ["kernel", "iso"])
@pytest.mark.parametrize("cpus", CPU_COUNTS)
def test_boot(guest, boot, cpus, debug):
    """The kernel finds its CPUs, memory and initial RAM disk, from either boot loader."""
    result = guest(["psrinfo"], boot=boot, smp=cpus, debug=debug, verbose=True)
    assert result.status == 0, result.output
    assert f"booted by {LOADER[boot]}," in result.output
    assert len(re.findall(r"^\s*\d+\s+on-?line", result.output, re.MULTILINE)) == cpus, \
        result.output


@pytest.mark.parametrize("boot", ["kernel", "iso"])
@pytest.mark.parametrize("cpus", CPU_COUNTS)
def test_boots_in_less_than_a_second(guest, boot, cpus):
    """From the kernel's first instruction to a program's main, by the guest's clock.  Guest time
    is host time, so what else the host does counts too: the best of three."""
    times = []
    for _ in range(3):
        result = guest(["since_boot"], boot=boot, smp=cpus)
        assert result.status == 0, result.output
        times.append(float(re.fullmatch(r"([0-9.]+) s since boot\n", result.output)[1]))
        if times[-1] < 1:
            break
    print(f"{boot}, {cpus} CPUs: {min(times):.3f} s")
    assert min(times) < 1


def test_64_cpus(guest):
    result = guest(["psrinfo"], smp=64, timeout=120)
    assert len(re.findall(r"^\s*\d+\s+on-?line", result.output, re.MULTILINE)) == 64


@pytest.mark.parametrize("mem", ["64M", "4G"])
def test_memory(guest, mem):
    """The least that the README promises, and memory above 4 GiB of addresses."""
    result = guest(["echo", "up"], mem=mem)
    assert (result.status, result.output) == (0, "up\n")


def test_no_init_is_a_panic(guest):
    result = guest(["echo"], append="init=/nothing", may_fail=True)
    assert result.status == 70
    assert "panic" in result.panic and "/nothing" in result.panic


@pytest.mark.parametrize("cpus, memory", [(1, {"mem": "64M"}), (4, {"mem": "512M"}), (8, {"mem": "6G"}),
                                          (2, {"free": "64M"})])
def test_the_firmware_changes_nothing(monkeypatch, cpus, memory):
    """Hosts without qboot print the same: the size of the memory, addresses, moments."""
    def output():
        argv = ["sh", "-c", "df; moments"]
        result = run(machine.Machine(argv=argv, files=brought(*argv), smp=cpus, timing="exact", verbose=True,
                                     timeout=60, background=True, **memory))
        assert (result.status, result.error) == (0, "")
        return result.output

    if not machine.firmware():
        pytest.skip("this host has no qboot")
    with_qboot = output()
    monkeypatch.setattr(machine, "firmware", list)
    assert output() == with_qboot
