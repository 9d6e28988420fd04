"""Stacks of threads and LWPs that have left, as the kernel records them (kernel/probe/stack.c)."""

from collections.abc import Mapping
from pathlib import Path

from weft_debug.symbols import Symbols
from weft_debug.unwind import Unwinder
from weft_host.machine import HostError

from . import ring
from .elf import Elf

POINT = 1  # PROBE_STACK: in place of a point
EVENTS = frozenset({"off_cpu", "thread_switch"})  # whose points record a stack, if stacks are asked for
PARTS, WORDS = 3, 6  # of a stack, and of each part
FRAMES = 3  # where the return addresses begin


class Parts:
    """Puts the records of a stack together, of each CPU."""

    def __init__(self) -> None:
        self._words: dict[int, list[int]] = {}

    def add(self, record: ring.Record) -> list[int] | None:
        """The words, when the record is the last of its stack."""
        words = self._words.setdefault(record.cpu, [])
        words += [half for value in record.values for half in (value & 0xffffffff, value >> 32)]
        if words[-1] and len(words) < PARTS * WORDS:
            return None
        del self._words[record.cpu]
        return words

    def begin(self, cpu: int) -> None:
        """A record of another kind: the parts of a stack that have come before have lost the rest."""
        self._words.pop(cpu, None)


class _Missing(Exception):
    pass


class _Memory:
    """What the words tell of the stack.  The frames are as far apart as they can be at least."""

    def __init__(self, elf: Elf, words: list[int]) -> None:
        self._elf = elf
        self.rsp = 1 << 40
        self.rbp = self.rsp + 16
        # Where a function has just pushed RBP, the word at RSP is no address of a program.
        self._words = {self.rsp: words[1] or self.rbp, self.rsp + 8: words[2]}
        for i, address in enumerate(words[FRAMES:]):
            frame = self.rbp + 16 * i
            self._words[frame], self._words[frame + 8] = frame + 16, address

    def read(self, address: int, size: int) -> bytes:
        try:
            return self._elf.read(address, size)
        except HostError as error:
            raise _Missing from error

    def word(self, address: int) -> int:
        """A register that a function keeps for its caller is unknown, and 0."""
        return self._words.get(address, 0)


class Program:
    """The functions of one program.  Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._elf = Elf(path.read_bytes(), path.name)
        self._symbols = Symbols(path)
        self._unwinder = Unwinder([path], self._symbols.function_start, _Missing)
        self._known: dict[tuple[int, ...], str] = {}

    def calls(self, words: list[int]) -> str:
        """FUNCTION+0xOFFSET of each frame, the innermost first, with commas between."""
        key = tuple(words)
        if key not in self._known:
            memory = _Memory(self._elf, words)
            registers: Mapping[str, int] = {"rip": words[0], "rsp": memory.rsp, "rbp": memory.rbp}
            self._known[key] = ",".join(self._symbols.function(inside)
                                        for _, inside in self._unwinder.backtrace(memory, registers)
                                        if inside < memory.rsp)
        return self._known[key]
