"""The threads library of a process, as its own description tells (libthread/core/threaddb.h)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .memory import PAGE, MemoryFault, Space, printable

MAGIC = b"weft threaddb 1\0"
IMAGE = 0x400000  # where the linker puts each program's first page
ENTRY = struct.Struct("<22sHQ")
MOST_THREADS = 1_000_000
LARGEST = 65536  # bytes of a structure

# What this package needs of a description.
NAMES = """thread thread.self thread.lwp thread.rsp thread.state thread.special thread.pri thread.bound thread.id
thread.named thread.name thread.wchan thread.q thread.wait_arg thread.pi_wait thread.exited thread.list_next
thread.sigmask ulwp.id value.to_armed at.thread_list mutex.owner value.mutex_flags value.mutex_waiters
rwlock.word rwlock.writer value.wait_read value.wait_write barrier.word barrier.count once.state
value.once_running at.any_exit at.ends_in_sleep at.sleepq_point at.sleepq_other value.sleepq_bytes""".split()


@dataclass
class Record:
    """A struct thread.  at: its address.  lwp: the LWP that it is on, by its own field; 0: none.  rsp: where
    its registers are if it is on no LWP; 0: it has not begun.  timed: its wait has a deadline."""

    at: int
    id: int
    name: str
    state: str
    lwp: int
    rsp: int
    priority: int
    bound: bool
    exited: bool
    timed: bool
    wchan: int
    q: int
    wait_arg: int
    pi_wait: int


class Library:
    """One process's.  fields: name -> (size, value)."""

    def __init__(self, space: Space, fields: dict[str, tuple[int, int]]) -> None:
        self.space = space
        self.fields = fields
        self.damage = ""  # why there may be more threads, after records()
        self._states = {value: name[6:] for name, (_, value) in fields.items() if name.startswith("state.")}

    @classmethod
    def of(cls, space: Space) -> "Library | str":
        """The library, or why there is none that can be read."""
        try:
            page = space.read(IMAGE, PAGE)
        except MemoryFault:
            return "it has no program at its usual address"
        for at in range(0, PAGE - 24, 8):
            if page.startswith(MAGIC, at):
                size, count = struct.unpack_from("<II", page, at + 16)
                if size != ENTRY.size or at + 24 + count * size > PAGE:
                    break
                entries = [ENTRY.unpack_from(page, at + 24 + size * i) for i in range(count)]
                fields = {name.partition(b"\0")[0].decode(errors="replace"): (length, value)
                          for name, length, value in entries}
                if all(name in fields for name in NAMES) and _plausible(fields):
                    return cls(space, fields)
                break
        else:
            return "it has no threads library"
        return "its threads library is of another version, or damaged"

    def value(self, name: str) -> int:
        return self.fields[name][1]

    def size(self, name: str) -> int:
        return self.fields[name][0]

    def field(self, at: int, name: str) -> int:
        """The number in a field of the object at this address; 0 if it cannot be read."""
        size, offset = self.fields[name]
        try:
            return self.space.number(at + offset, min(size, 8))
        except MemoryFault:
            return 0

    def is_thread(self, at: int) -> bool:
        """Does a struct thread lie there, of the program or not, in use or not?"""
        return at != 0 and self.field(at, "thread.self") == at

    def _record(self, at: int, copy: bytes) -> Record:
        def number(name: str) -> int:
            size, offset = self.fields[name]
            return int.from_bytes(copy[offset:offset + min(size, 8)], "little")

        size, offset = self.fields["thread.name"]
        name = printable(copy[offset:offset + size].partition(b"\0")[0]) if number("thread.named") else ""
        state = self._states.get(number("thread.state"), "?")
        return Record(at, number("thread.id"), name, state, self.field(number("thread.lwp"), "ulwp.id"),
                      number("thread.rsp"), number("thread.pri"), bool(number("thread.bound")),
                      bool(number("thread.exited")),
                      bool(number("thread.special") & self.value("value.to_armed")), number("thread.wchan"),
                      number("thread.q"), number("thread.wait_arg"), number("thread.pi_wait"))

    def records(self) -> Iterator[Record]:
        """The threads, in the order of the library's list; says in `damage` why it ends before its end."""
        self.damage = ""
        head, first, seen = self.value("at.thread_list"), 0, set[int]()
        try:
            at = first = self.space.word(head)
        except MemoryFault:
            self.damage = "the list of threads cannot be read"
            return
        while at != 0:
            if at in seen or len(seen) >= MOST_THREADS:
                self.damage = "the list of threads does not lead back to its first"
                return
            seen.add(at)
            try:
                copy = self.space.read(at, self.size("thread"))
            except MemoryFault:
                copy = b""
            if copy[:8] != struct.pack("<Q", at):
                self.damage = "the list of threads leads to memory that is no thread"
                return
            record = self._record(at, copy)
            if record.id != 0:  # else a free one (libthread/core/ids.h)
                yield record
            size, offset = self.fields["thread.list_next"]
            at = int.from_bytes(copy[offset:offset + size], "little")
            if at == first:
                return
        if first != 0:
            self.damage = "the list of threads ends"


def _plausible(fields: dict[str, tuple[int, int]]) -> bool:
    """The fields of a thread lie in it, and its first word points at itself (tcb.h)."""
    length = fields["thread"][0]
    return 0 < length <= LARGEST and fields["thread.self"] == (8, 0) and \
        all(at + size <= length for name, (size, at) in fields.items() if name.startswith("thread."))
