"""Reads the user memory of any process, not only of the one that a CPU runs.

QEMU translates addresses as the selected CPU does.  The kernel's half is the same in every
address space, and holds all physical memory at KDIRECT; so we walk the page tables ourselves.
"""

import struct

import gdb

KDIRECT = KERNEL_HALF = 0xFFFF800000000000  # kern/layout.h
PRESENT, LARGE = 1 << 0, 1 << 7
FRAME = 0x000FFFFFFFFFF000
LARGE_SIZE = {2: 1 << 30, 1: 1 << 21}  # by level: how much one entry maps


def read_kernel(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


class UserMemory:
    """The memory of one address space, while the machine stands still."""

    def __init__(self, cr3):
        self._pml4 = cr3 & FRAME
        self._pages = {}  # page number -> physical address

    def _translate(self, address):
        page = address >> 12
        if page not in self._pages:
            self._pages[page] = self._walk(address & ~0xFFF)
        return self._pages[page] | address & 0xFFF

    def _walk(self, address):
        table = self._pml4
        for level in (3, 2, 1, 0):
            index = address >> 12 + 9 * level & 511
            entry, = struct.unpack("<Q", read_kernel(KDIRECT + table + 8 * index, 8))
            if not entry & PRESENT:
                raise gdb.MemoryError(f"Cannot access user memory at address {address:#x}")
            if level in LARGE_SIZE and entry & LARGE:
                size = LARGE_SIZE[level]
                return (entry & FRAME & -size) | address & size - 1
            table = entry & FRAME
        return table

    def read(self, address, size):
        """Raises gdb.MemoryError."""
        out = b""
        while len(out) < size:
            at = address + len(out)
            count = min(size - len(out), 4096 - at % 4096)
            out += read_kernel(KDIRECT + self._translate(at), count)
        return out

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def value(self, address, gdb_type):
        """The object at a user address, as a gdb.Value that GDB itself need not read."""
        return gdb.Value(self.read(address, gdb_type.sizeof), gdb_type)
