"""A machine behind a gdbstub of QEMU's: its memory, and the registers of its processors."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from weft_host.packets import StubError, read_annex

from .guest import Registers
from .memory import MemoryFault, StubMemory

TARGET = "target.xml"
INCLUDE = re.compile(r'include href="([^"]+)"')


@dataclass(frozen=True)
class Register:
    """size: bytes.  offset: where the packet g has it."""

    name: str
    number: int
    size: int
    offset: int


class Description:
    """The registers in the order of the packet g.  eflags has its name of 64-bit mode, rflags.  texts: target.xml,
    and those that it includes, by name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Raises StubError."""
        self.texts = dict(texts)
        self.registers: list[Register] = []
        try:
            for annex in INCLUDE.findall(self.texts[TARGET]):
                for node in ElementTree.fromstring(self.texts[annex]).iter("reg"):
                    self._take(node)
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise StubError(f"the registers are not described as they should be: {error}") from error
        self.by_name = {register.name: register for register in self.registers}
        self.by_number = {register.number: register for register in self.registers}

    @classmethod
    def of(cls, ask: Callable[[bytes], bytes]) -> "Description":
        """That of a stub, which gives values of registers only after it has been asked for their description."""
        target = read_annex(ask, TARGET)
        return cls({TARGET: target, **{annex: read_annex(ask, annex) for annex in INCLUDE.findall(target)}})

    def _take(self, node: ElementTree.Element) -> None:
        last = self.registers[-1] if self.registers else Register("", -1, 0, 0)
        name = node.get("name", "")
        self.registers.append(Register(
            "rflags" if name == "eflags" else name, int(node.get("regnum", last.number + 1)),
            int(node.get("bitsize", "")) // 8, last.offset + last.size))

    def decode(self, packet: bytes) -> Registers:
        """x, which stands for what is not known, is taken for 0."""
        data = bytes.fromhex(packet.decode().replace("x", "0"))
        return {r.name: int.from_bytes(data[r.offset:r.offset + r.size], "little") for r in self.registers}

    def encode(self, registers: Registers) -> bytes:
        return "".join(self.word(register, registers) for register in self.registers).encode()

    @staticmethod
    def word(register: Register, registers: Registers) -> str:
        """One register, as g and p have it."""
        value = registers.get(register.name)
        if value is None:
            return "xx" * register.size
        return (value & (1 << 8 * register.size) - 1).to_bytes(register.size, "little").hex()


class StubMachine:
    """ask: sends a packet that does not run the machine, and returns the answer."""

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        self.description = Description.of(ask)
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
