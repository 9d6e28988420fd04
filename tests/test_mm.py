"""Memory: the kernel's self-test, and machines with little and with much of it."""

import re

import pytest
from conftest import turn
from tap import failures
from test_initrd import Damaged
from weft_host.guest import run
from weft_host.paths import build_dir


def disk_size(debug):
    return (build_dir(debug) / "initrd.cpio").stat().st_size >> 20


@pytest.mark.parametrize("debug", [False, True], ids=["plain", "debug"])
@pytest.mark.parametrize("beside", [14, 470])
def test_selftest(guest, beside, debug):
    """With little memory beside the initial RAM disk, and with much."""
    result = guest(["true"], mem=f"{disk_size(debug) + beside}M", debug=debug, append="selftest=mm",
                   timeout=120)
    assert result.status == 0
    assert "weft: selftest of mm: ok," in result.output


def test_initrd_and_its_copy():
    """Memory for the initial RAM disk and a half of what is in it: the pages of what has been
    unpacked hold what comes next.  All is copied, since no file's bytes start with a page."""
    with turn():
        result = run(Damaged(argv=["echo", "up"], timeout=60, front=b"\0" * 512,
                             mem=f"{disk_size(False) * 3 // 2 + 4}M"))
    assert (result.status, result.output) == (0, "up\n")


@pytest.mark.parametrize("boot", ["kernel", "iso"])
@pytest.mark.parametrize("mem, least, most", [("64M", 32, 64), ("3G", 3000, 3072),
                                              ("8G", 8000, 8192)])
def test_size_of_memory(guest, boot, mem, least, most):
    """All of it is found, also what lies above the hole below 4 GiB; programs run."""
    result = guest(["mm_calls"], mem=mem, boot=boot, smp=2, verbose=True)
    assert result.status == 0, result.output
    found = int(re.search(r"booted by \w+, (\d+) MiB", result.output)[1])
    assert least <= found <= most


@pytest.mark.parametrize("smp, mem", [(1, "64M"), (4, "96M")])
def test_limit_of_lwps(guest, smp, mem):
    """As many as the memory holds; the next is an EAGAIN, and all others are at work."""
    result = guest(["lwp_many", "limit"], mem=mem, smp=smp, timeout=120)
    assert not failures(result), result.output
