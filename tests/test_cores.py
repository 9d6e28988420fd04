"""Guests of exact timing stay on a core each, where the host has it; nothing fails where it has not."""

import contextlib
import os
import socket
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest
from weft_host import cores
from weft_host.guest import Guest, run
from weft_host.machine import Machine

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has it")
EXACT = {"argv": ["true"], "timing": "exact", "timeout": 60}


@pytest.fixture
def alone(monkeypatch):
    """Places that no other test takes, on four cores."""
    monkeypatch.setattr(cores, "NAME", f"weft-test-{os.getpid()}")
    monkeypatch.setattr(cores, "usable", lambda: [1, 2, 5, 6])


@LINUX
def test_guests_spread_over_the_cores(alone):
    places = [cores.Place() for _ in range(10)]
    assert [place.core for place in places] == [1, 2, 5, 6] * 2 + [1, 2]
    places[6].leave()  # now 5 has one
    assert cores.Place().core == 5
    assert Counter(place.core for place in places)[None] == 1
    for place in places:
        place.leave()
        place.leave()
    first = cores.Place()
    assert first.core == 1


@LINUX
def test_another_process_takes_a_place(alone):
    holder = "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); " \
             "s.bind('\\0' + sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holder, f"{cores.NAME}-1-0"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert cores.Place().core == 2
        process.kill()
        process.wait()
        assert cores.Place().core == 1


@LINUX
def test_qemu_is_where_its_place_is():
    """All its threads.  In fast timing it has none, and is a batch job too."""
    with Guest(Machine(**EXACT | {"argv": ["spin_for", "1"]})) as guest:
        pid = guest.qemu.pid
        assert guest._place.core in cores.usable()
        for thread in map(int, os.listdir(f"/proc/{pid}/task")):
            with contextlib.suppress(ProcessLookupError):  # it has ended
                assert os.sched_getaffinity(thread) == {guest._place.core}
                assert os.sched_getscheduler(thread) == os.SCHED_BATCH
    with Guest(Machine(**EXACT | {"timing": "fast"})) as guest:
        assert os.sched_getaffinity(guest.qemu.pid) == os.sched_getaffinity(0)
        assert os.sched_getscheduler(guest.qemu.pid) == os.SCHED_BATCH


def refuse(*_):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("name", ["sched_setaffinity", "sched_setscheduler"])
def test_a_host_that_refuses(monkeypatch, name):
    monkeypatch.setattr(os, name, refuse, raising=False)
    assert run(Machine(**EXACT)).status == 0


def test_a_host_without_abstract_names(monkeypatch):
    names = SimpleNamespace(socket=refuse, AF_UNIX=socket.AF_UNIX, SOCK_DGRAM=socket.SOCK_DGRAM)
    monkeypatch.setattr(cores, "socket", names)
    assert run(Machine(**EXACT)).status == 0


def test_a_host_that_has_none_of_it(monkeypatch):
    for name in ("sched_setaffinity", "sched_getaffinity", "sched_setscheduler", "SCHED_BATCH"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(sys, "platform", "plan9")
    assert cores.Place().core is None
    assert cores.usable() == list(range(os.cpu_count()))
    assert run(Machine(**EXACT)).status == 0
