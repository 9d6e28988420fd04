"""Names for what is in the records of the threads library: threads, states, kinds of locks.

Addresses are those of a process.  The records of a CPU come from the LWP that the kernel's records have put there.
"""

import struct
from collections.abc import Collection, Mapping
from pathlib import Path

from . import ring
from .events import Record
from .programs import SHOWN, Point, symbol_at

# enum thread_state in libthread/core/tcb.h; enum probe_kind and probe_pool in libthread/core/probe.h.
STATES = ("Stopped", "Blocked", "RunQueue", "Dispatchable", "OnLWP")
KINDS = ("-", "mutex", "read", "write", "cond", "sema", "barrier", "join", "once")
WHYS = ("-", "asked", "all_blocked", "aged", "too_many")
OWNER_FLAGS = 63  # M_FLAGS of libthread/sync/mutex.h
# Of a process-shared mutex: struct lwp_mutex in kernel/include/weft/ksync.h.
SHARED, OWNER_THREAD = 1 << 63, 1 << 31
CONTEXT = "context"  # of an LWP of the pool, in place of a thread


class Threads:
    """The threads of a process, by their addresses."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def made(self, address: int, number: int) -> None:
        self._ids[address] = number

    def name(self, pid: str, address: int) -> str:
        number = self._ids.get(address)
        return CONTEXT if number is None else f"{pid}.{number}"

    def known(self, address: int) -> bool:
        return address in self._ids


def chars(value: int) -> str:
    """Up to eight characters of a name; what would break a line becomes an underscore."""
    text = struct.pack("<Q", value).partition(b"\0")[0].decode(errors="replace")
    return "".join(char if char.isprintable() and char != " " else "_" for char in text)


class Library:
    """points: by what a record has."""

    def __init__(self, points: Mapping[int, Point]) -> None:
        self._points = points

    def has(self, point: int) -> bool:
        return point in self._points

    def program(self, point: int) -> Path:
        """The file of the program that has the point."""
        return self._points[point].path

    def address(self, point: int) -> int:
        return self._points[point].address

    def is_of(self, number: object, names: Collection[str]) -> bool:
        """Is this the point of one of these events?"""
        point = self._points.get(number)  # type: ignore[call-overload]
        return point is not None and SHOWN.get(point.name, point.name) in names

    def record(self, record: ring.Record, pid: str, threads: Threads) -> Record:
        """A record of the process that has these threads."""
        point = self._points[record.point]
        values = {name: value & (1 << 8 * size) - 1 for (name, size), value in zip(point.values, record.values)}
        name = point.name
        if name in ("thread_new", "thread_first"):
            threads.made(values["thread"], values.pop("id"))
        said: dict[str, str] = {}
        match name:
            case "rwlock_wait":
                name = "lock_wait"
                said = {"lock": object_at(point.path, values["lock"]),
                        "kind": "write" if values["write"] & 1 else "read"}
            case "thread_name":
                said = {"thread": threads.name(pid, values["thread"]),
                        "name": "".join(chars(value & (1 << 64) - 1) for value in record.values[1:])}
            case "sample_thread":
                said = _sampled(point.path, values)
            case _:
                said = {key: _value(point, key, value, pid, threads) for key, value in values.items()}
        return Record(record.time, record.cpu, name, said)


def _sampled(path: Path, values: Mapping[str, int]) -> dict[str, str]:
    """A thread in a sample, packed as libthread/core/sampler.c does it."""
    pid, at, wchan = values["of"] >> 32, values["at"], values["wchan"]
    return {"thread": f"{pid}.{values['of'] & 0xffffffff}", "state": STATES[at & 0xff],
            "lwp": f"{pid}/{at >> 8}" if at >> 8 else "-", "object": object_at(path, wchan) if wchan else "-"}


def object_at(path: Path, address: int) -> str:
    """An object of the program, with its name if it has one."""
    name = symbol_at(path, address)
    return f"{address:#x}" if name is None else f"{address:#x}:{name}"


def _owner(word: int, pid: str, threads: Threads) -> str:
    """Of a mutex: a thread of the process, or what a process-shared one has: a thread or an LWP of any process."""
    if not word & SHARED:
        owner = word & ~OWNER_FLAGS
        return threads.name(pid, owner) if threads.known(owner) else "-"
    process, number = word >> 40 & 0x1fffff, word >> 8 & 0xffffffff
    if number & OWNER_THREAD:
        return f"{process}.{number & ~OWNER_THREAD}"
    return f"{process}/{number}" if number else "-"


def _value(point: Point, key: str, value: int, pid: str, threads: Threads) -> str:
    match key:
        case "thread" | "next":
            return threads.name(pid, value)
        case "owner":
            return _owner(value, pid, threads)
        case "lock" if threads.known(value):
            return threads.name(pid, value)  # which another thread joins
        case "lock" | "mutex":
            return object_at(point.path, value)
        case "start":
            return f"{value:#x}"
        case "lwp":
            return f"{pid}/{value}"
        case "state" if value < len(STATES):
            return STATES[value]
        case "kind" if value < len(KINDS):
            return KINDS[value]
        case "why" if value < len(WHYS):
            return WHYS[value]
    return str(value)
