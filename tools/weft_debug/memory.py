"""The memory of a guest that stands still: physical memory, and address spaces over it.

Nothing here trusts the memory.  A page table may be damaged, so a walk ends at addresses that no memory
has, and MemoryFault says where.
"""

from collections.abc import Callable
from typing import Protocol

PAGE = 4096
MASK = (1 << 64) - 1

# The kernel half of every address space (kern/layout.h).
KDIRECT = KERNEL_HALF = 0xFFFF800000000000
KIMAGE = 0xFFFFFFFF80000000

# Page tables (Intel SDM 3A, 4.5).
PRESENT, LARGE = 1 << 0, 1 << 7
FRAME = 0x000FFFFFFFFFF000
LARGE_SIZE = {2: 1 << 30, 1: 1 << 21}  # by level: how much one entry maps

# QEMU's machine pc has devices here, and no RAM.  To read a device may change it.
DEVICES = range(0xE0000000, 1 << 32)
HIGHEST = 1 << 46

PIECE = 2048  # bytes that the stub is asked for at once: its packets have 4096 characters


class MemoryFault(Exception):
    """There is no memory at this address.  entry: of the page tables, not present, or 0."""

    def __init__(self, address: int, entry: int = 0) -> None:
        super().__init__(f"cannot access memory at address {address:#x}")
        self.address = address
        self.entry = entry


class Physical(Protocol):
    """Physical addresses.  Both raise MemoryFault."""

    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


class Space:
    """One address space, by its page tables.  Translations are kept for the life of the object."""

    def __init__(self, physical: Physical, cr3: int) -> None:
        self.physical = physical
        self.cr3 = cr3 & FRAME
        self._pages: dict[int, int] = {}  # page number -> physical address

    def translate(self, address: int) -> int:
        page = address >> 12
        if page not in self._pages:
            self._pages[page] = self._walk(address & ~(PAGE - 1))
        return self._pages[page] | address & PAGE - 1

    def _walk(self, address: int) -> int:
        sign = address >> 47
        if sign not in (0, (1 << 17) - 1):  # not canonical
            raise MemoryFault(address)
        table = self.cr3
        for level in (3, 2, 1, 0):
            index = address >> 12 + 9 * level & 511
            try:
                entry = int.from_bytes(self.physical.read(table + 8 * index, 8), "little")
            except MemoryFault:
                raise MemoryFault(address) from None
            if not entry & PRESENT:
                raise MemoryFault(address, entry if level == 0 else 0)
            if level in LARGE_SIZE and entry & LARGE:
                size = LARGE_SIZE[level]
                return (entry & FRAME & -size) | address & size - 1
            table = entry & FRAME
        return table

    def read(self, address: int, size: int) -> bytes:
        out = b""
        while len(out) < size:
            at = address + len(out)
            count = min(size - len(out), PAGE - at % PAGE)
            try:
                out += self.physical.read(self.translate(at), count)
            except MemoryFault as fault:
                out += self.missing(at, count, fault.entry)
        return out

    def missing(self, address: int, size: int, entry: int) -> bytes:
        """Bytes of one page that is not present; entry: its own in the page tables.  Here: raises MemoryFault."""
        raise MemoryFault(address) from None

    def write(self, address: int, data: bytes) -> None:
        """Past the protection of pages.  If it fails, some bytes may have been written."""
        done = 0
        while done < len(data):
            at = address + done
            count = min(len(data) - done, PAGE - at % PAGE)
            try:
                self.physical.write(self.translate(at), data[done:done + count])
            except MemoryFault:
                raise MemoryFault(at) from None
            done += count

    def number(self, address: int, size: int) -> int:
        """A number without a sign."""
        return int.from_bytes(self.read(address, size), "little")

    def word(self, address: int) -> int:
        return self.number(address, 8)

    def text(self, address: int, most: int) -> str:
        """A text of at most so many bytes, up to a NUL.  What cannot be printed becomes a question mark."""
        data = b""
        while len(data) < most and b"\0" not in data:
            at = address + len(data)
            data += self.read(at, min(most - len(data), PAGE - at % PAGE))
        return printable(data.partition(b"\0")[0])


def printable(data: bytes) -> str:
    return "".join(c if c.isprintable() else "?" for c in data.decode(errors="replace").replace("\ufffd", "?"))


class KernelSpace(Space):
    """The kernel half.  The direct map and the kernel's image need no page tables, so that they are read
    whatever address space a CPU has; kernel stacks need those of the kernel."""

    def __init__(self, physical: Physical, cr3: Callable[[], int]) -> None:
        """cr3: asked when page tables are needed first."""
        super().__init__(physical, 0)
        self._cr3 = cr3

    def _walk(self, address: int) -> int:
        if address >= KIMAGE:
            return address - KIMAGE
        if KDIRECT <= address < KDIRECT + HIGHEST:
            return address - KDIRECT
        if not self.cr3:
            self.cr3 = self._cr3() & FRAME
        return super()._walk(address)


class StubMemory:
    """Physical memory over a gdbstub of QEMU's.

    ask: sends a packet, and returns the answer.  The stub then takes physical addresses in m and M until
    it is told `Qqemu.PhyMemMode:0`; breakpoints are not concerned.
    """

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        self._pieces: dict[int, bytes] = {}
        if ask(b"Qqemu.PhyMemMode:1") != b"OK":
            raise MemoryFault(0)

    def forget(self) -> None:
        """The machine has run."""
        self._pieces.clear()

    def _piece(self, number: int) -> bytes:
        if number not in self._pieces:
            address = number * PIECE
            if address in DEVICES or address >= HIGHEST:
                raise MemoryFault(address)
            answer = self._ask(b"m%x,%x" % (address, PIECE))
            if len(answer) != 2 * PIECE:  # E and a number
                raise MemoryFault(address)
            self._pieces[number] = bytes.fromhex(answer.decode())
        return self._pieces[number]

    def read(self, address: int, size: int) -> bytes:
        first, last = address // PIECE, (address + size - 1) // PIECE
        data = b"".join(self._piece(number) for number in range(first, last + 1))
        return data[address - first * PIECE:][:size]

    def peek(self, address: int, size: int) -> bytes:
        """Some bytes of one piece, alone: for those that are read at each stop.  Raises MemoryFault."""
        number, first = divmod(address, PIECE)
        if number in self._pieces:
            return self._pieces[number][first:first + size]
        answer = self._ask(b"m%x,%x" % (address, size))
        if len(answer) != 2 * size:
            raise MemoryFault(address)
        return bytes.fromhex(answer.decode())

    def write(self, address: int, data: bytes) -> None:
        for begin in range(0, len(data), PIECE // 2):
            part = data[begin:begin + PIECE // 2]
            at = address + begin
            if at in DEVICES or at >= HIGHEST:
                raise MemoryFault(at)
            if self._ask(b"M%x,%x:%s" % (at, len(part), part.hex().encode())) != b"OK":
                raise MemoryFault(at)
            for number in (at // PIECE, (at + len(part) - 1) // PIECE):
                self._pieces.pop(number, None)
