"""A machine behind a gdbstub of QEMU's: its memory, and the registers of its processors."""

from collections.abc import Callable
from xml.etree import ElementTree

from .guest import Registers
from .memory import MemoryFault, StubMemory

REGISTERS = "i386-64bit.xml"  # how the stub calls the description of its registers


class StubError(Exception):
    """The stub does not answer as QEMU's does."""


class StubMachine:
    """ask: sends a packet that does not run the machine, and returns the answer."""

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        self._described = self._describe()
        try:
            self.physical = StubMemory(ask)
        except MemoryFault as error:
            raise StubError("the stub does not read physical memory") from error
        self._processors: dict[int, Registers] | None = None

    def forget(self) -> None:
        """The machine has run."""
        self.physical.forget()
        self._processors = None

    def _read(self, annex: str) -> str:
        text = b""
        while True:
            piece = self._ask(f"qXfer:features:read:{annex}:{len(text):x},ffb".encode())
            if piece[:1] not in (b"m", b"l"):
                raise StubError("the stub does not describe its registers")
            text += piece[1:]
            if piece[:1] == b"l":
                return text.decode()

    def _describe(self) -> list[tuple[str, int]]:
        """The registers in the order of packet g, with their bytes.  The stub gives values only after it has
        been asked for the description of its target."""
        self._read("target.xml")
        try:
            registers = ElementTree.fromstring(self._read(REGISTERS)).iter("reg")
            return [(register.get("name", ""), int(register.get("bitsize", "")) // 8) for register in registers]
        except (ElementTree.ParseError, ValueError) as error:
            raise StubError(f"the stub describes its registers wrongly: {error}") from error

    def processors(self) -> dict[int, Registers]:
        if self._processors is None:
            self._processors = {thread - 1: self._registers(thread) for thread in self._threads()}
        return self._processors

    def _threads(self) -> list[int]:
        """QEMU counts from 1; it may name a process before the thread, as p01.02."""
        found, answer = list[int](), self._ask(b"qfThreadInfo")
        while answer[:1] == b"m":
            found += [int(word.rpartition(b".")[2], 16) for word in answer[1:].split(b",")]
            answer = self._ask(b"qsThreadInfo")
        return found

    def _registers(self, thread: int) -> Registers:
        if self._ask(b"Hg%x" % thread) != b"OK":
            raise StubError(f"the stub has no processor {thread}")
        data = bytes.fromhex(self._ask(b"g").decode().replace("x", "0"))
        registers, at = {}, 0
        for name, size in self._described:
            registers["rflags" if name == "eflags" else name] = int.from_bytes(data[at:at + size], "little")
            at += size
        return registers
