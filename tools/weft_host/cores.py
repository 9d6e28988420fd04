"""The host's cores: QEMU is a batch job, and a guest of exact timing stays on one core.

A batch job that wakes does not displace what runs (sched(7)).  Else a thread of QEMU that wakes another one loses
its core to it, often with a lock in its hands: QEMU's own, or a spin lock of the guest, for which other CPUs then
spin.  Programs that wait much for each other's LWPs take a host of two cores three to ten times as long.

One thread of QEMU executes a guest of exact timing, and wakes QEMU's main thread in each window.  On one
core, as batch jobs, the two threads do not fight for QEMU's lock: a window then costs the host less than half.

Guests side by side spread over the cores: each takes a place on the core that has the fewest.  A place
is an abstract name of a socket (unix(7), Linux), which all processes of the host see.  No file stays
behind, and the name is free as soon as its holder ends, however it ends.  Where the host has no such
names, or refuses the core or the batch job, the guest runs as any process does.
"""

import contextlib
import errno
import itertools
import os
import socket
import sys
from collections.abc import Iterator

NAME = "weft-core"  # of the places, of all weft on this host


def usable() -> list[int]:
    """The cores that this process may use, in their order."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def threads(pid: int) -> Iterator[int]:
    """Those of a process; 0: the calling thread.

    *Race:* the first thread starts a second thread while the caller sets something for each.  *Without this:* the
    second thread is not in a list that was made before, and has not inherited it.  *Closed by:* the first
    thread comes before the list is made, so each thread is listed, or inherits it."""
    yield pid
    if pid != 0:
        with contextlib.suppress(OSError):
            yield from (int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid)


def batch(pid: int = 0) -> None:
    """A process that has just begun, and what it starts, is a batch job.  0: the calling process, between fork()
    and exec()."""
    for thread in threads(pid):
        with contextlib.suppress(AttributeError, OSError):  # not there; refused
            os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))


class Place:
    """A place on a core, until leave()."""

    def __init__(self) -> None:
        self.core: int | None = None  # None: the host chooses
        self._socket: socket.socket | None = None
        if not sys.platform.startswith("linux"):
            return
        with contextlib.suppress(OSError):
            self._take()

    def _take(self) -> None:
        """The first free place, of the places with the lowest number on any core."""
        mine = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            for number in itertools.count():
                for core in usable():
                    if _bind(mine, f"\0{NAME}-{core}-{number}"):
                        self.core, self._socket = core, mine
                        return
        finally:
            if self._socket is None:
                mine.close()

    def settle(self, pid: int = 0) -> None:
        """As of batch(); and it stays on the core."""
        batch(pid)
        if self.core is not None:
            for thread in threads(pid):
                with contextlib.suppress(AttributeError, OSError):
                    os.sched_setaffinity(thread, {self.core})

    def leave(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self.core = self._socket = None


def _bind(mine: socket.socket, name: str) -> bool:
    """False: another process, or another thread of this process, has the name."""
    try:
        mine.bind(name)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True
