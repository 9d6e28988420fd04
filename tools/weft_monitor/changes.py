"""A recording: what happened to threads, LWPs and CPUs, change by change, in the order of time.

A file begins with MAGIC.  Blocks follow, each a head (its bytes, a letter) and bytes that zlib has compressed:

    J   definitions in JSON: numbers and names of objects, of which later changes speak; facts of the run
    C   changes, each as CHANGE says

A change is a time in nanoseconds since the run's begin, a kind, a state, a CPU, and three numbers:

    THREAD  thread a is in a state, on LWP b, and waits for text c
    LWP     LWP a is in a state, on CPU b (it runs there, or waits in its queue), in text c
    CPU     the CPU is in a state, and runs LWP a
    QUEUE   so many LWPs, a, wait in the queue of the CPU
    WOKEN   a has been woken by b because of text c; state 1: threads, 0: LWPs; b NONE: no LWP, as an interrupt
    NOTE    text c happened to LWP a and thread b
    OWNER   the lock of text a belongs to thread b
    STACK   a, a thread (state 1) or an LWP (0), has left with the stack of text c

NONE stands for no object.  The states are numbers of the lists below.  page/store.js reads the same.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

from weft_host.machine import HostError

MAGIC = b"weft monitor 1\n"
HEAD = struct.Struct("<Ic")
CHANGE = struct.Struct("<dBBHiii")
LEVEL = 1  # of zlib: a recording is written while the guest runs
MOST = 1 << 26  # bytes of a block, which a damaged head could otherwise make any number
FULL = 4096  # changes that become a block

THREAD, LWP, CPU, QUEUE, WOKEN, NOTE, OWNER, STACK = range(1, 9)
NONE = -1
NO_CPU = 0xffff

# page/states.js has the same order.
THREAD_STATES = ("gone", "Stopped", "Blocked", "Run queue", "Dispatchable", "On LWP")
LWP_STATES = ("gone", "Stopped", "Asleep", "Parked", "Wait CPU", "System", "User")
CPU_STATES = ("off", "Idle", "Wait", "System", "User")


def block(letter: bytes, data: bytes) -> bytes:
    data = zlib.compress(data, LEVEL)
    return HEAD.pack(len(data), letter) + data


class Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...
    def flush(self) -> object: ...


class Writer:
    """Writes a recording.  `file` is written to in whole blocks alone, so that a reader of the growing file
    sees no half of one."""

    def __init__(self, file: Sink) -> None:
        self._file = file
        self._changes: list[bytes] = []
        self._definitions: dict[str, Any] = {}
        self.size = 0
        self._put(MAGIC)

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self.size += len(data)

    def define(self, kind: str, row: list[Any]) -> None:
        """A row of `threads`, `lwps`, `processes` or `texts`, before the first change that has its number."""
        self._definitions.setdefault(kind, []).append(row)

    def say(self, **what: Any) -> None:
        """Facts of the run, its title, how many CPUs it has, that it is over."""
        for name, value in what.items():
            if name == "facts":
                self._definitions.setdefault("facts", {}).update(value)
            else:
                self._definitions[name] = value

    def change(self, time: float, kind: int, state: int = 0, cpu: int = NO_CPU, a: int = NONE, b: int = NONE,
               c: int = NONE) -> None:
        self._changes.append(CHANGE.pack(time, kind, state, cpu, a, b, c))
        if len(self._changes) >= FULL:
            self.flush()

    def flush(self) -> None:
        """Writes what there is: definitions first, since changes need them."""
        if self._definitions:
            self._put(block(b"J", json.dumps(self._definitions, separators=(",", ":")).encode()))
            self._definitions = {}
        if self._changes:
            self._put(block(b"C", b"".join(self._changes)))
            self._changes = []


def _inflated(data: bytes) -> bytes:
    """Raises ValueError: it is more than a block has, or less than the whole."""
    inflater = zlib.decompressobj()
    found = inflater.decompress(data, MOST)
    if not inflater.eof:
        raise ValueError("a block has too many bytes, or too few")
    return found


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


def blocks(file: Source, name: str) -> Iterator[tuple[str, Any]]:
    """("J", the definitions) or ("C", a list of tuples as CHANGE has them).  Raises HostError: it is no
    recording, or damaged."""
    if file.read(len(MAGIC)) != MAGIC:
        raise HostError(f"{name}: not a recording of weft monitor")
    try:
        while head := file.read(HEAD.size):
            # A head that ends in its middle is a struct.error.
            size, letter = HEAD.unpack(head)
            data = file.read(size) if size <= MOST else b""
            if len(data) < size or size > MOST:
                raise HostError(f"{name}: the recording ends in the middle of a block")
            data = _inflated(data)
            if letter == b"J":
                yield "J", json.loads(data)
            elif letter == b"C":
                yield "C", list(CHANGE.iter_unpack(data))
            else:
                raise HostError(f"{name}: damaged: a block of an unknown kind")
    except (struct.error, zlib.error, ValueError, RecursionError) as error:
        raise HostError(f"{name}: damaged: {error}") from error
