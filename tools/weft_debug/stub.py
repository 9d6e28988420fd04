"""A machine behind a gdbstub of QEMU's: its memory, and the registers of its processors."""

import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree

from weft_host.packets import StubError, read_annex

from .guest import Registers
from .memory import MemoryFault, StubMemory

TARGET = "target.xml"
INCLUDE = re.compile(r'include href="([^"]+)"')


class Description:
    """The registers in the order of the packet g.  texts: target.xml, and those that it includes, by name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Raises StubError."""
        self.texts = dict(texts)
        self.registers: list[tuple[str, int]] = []  # name, bytes
        try:
            for annex in INCLUDE.findall(self.texts[TARGET]):
                for node in ElementTree.fromstring(self.texts[annex]).iter("reg"):
                    self.registers.append((node.get("name", ""), int(node.get("bitsize", "")) // 8))
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise StubError(f"the registers are not described as they should be: {error}") from error

    def decode(self, packet: bytes) -> Registers:
        data = bytes.fromhex(packet.decode().replace("x", "0"))
        registers, at = {}, 0
        for name, size in self.registers:
            registers["rflags" if name == "eflags" else name] = int.from_bytes(data[at:at + size], "little")
            at += size
        return registers

    def encode(self, registers: Registers) -> bytes:
        return b"".join(
            (registers.get("rflags" if name == "eflags" else name, 0) & (1 << 8 * size) - 1)
            .to_bytes(size, "little").hex().encode() for name, size in self.registers)


class StubMachine:
    """ask: sends a packet that does not run the machine, and returns the answer."""

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        # The stub gives values of registers only after it has been asked for their description.
        target = read_annex(ask, TARGET)
        self.description = Description(
            {TARGET: target, **{annex: read_annex(ask, annex) for annex in INCLUDE.findall(target)}})
        try:
            self.physical = StubMemory(ask)
        except MemoryFault as error:
            raise StubError("the stub does not read physical memory") from error
        self._processors: dict[int, Registers] | None = None

    def forget(self) -> None:
        """The machine has run."""
        self.physical.forget()
        self._processors = None

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
        return self.description.decode(self._ask(b"g"))
