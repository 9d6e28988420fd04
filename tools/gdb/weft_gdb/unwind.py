"""Unwinds the stack of a thread that no CPU runs: GDB itself unwinds only what a CPU runs.

Where the program has call-frame information (.debug_frame), it says where a function keeps its
caller's registers, to the instruction.  Other functions (assembly, the C library) are taken to
have a frame pointer.
"""

import bisect
import sys
from pathlib import Path

import gdb

# pyelftools is in the host command's environment; it is pure Python, so any version may load it.
_SITES = sorted((Path(__file__).resolve().parents[3] / "build/venv/lib").glob("*/site-packages"))
sys.path += [str(site) for site in _SITES if str(site) not in sys.path]

from elftools.dwarf.callframe import FDE  # noqa: E402
from elftools.elf.elffile import ELFFile  # noqa: E402

# DWARF's numbers of the registers that a function preserves, the stack pointer, and the
# return address.
NUMBERS = {3: "rbx", 6: "rbp", 7: "rsp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "rip"}
RETURN_ADDRESS = 16
DEEPEST = 60  # frames


class Unwinder:
    """Knows the frames of one program."""

    def __init__(self, path):
        with open(path, "rb") as file:
            dwarf = ELFFile(file).get_dwarf_info()
            entries = dwarf.CFI_entries() if dwarf.has_CFI() else []
            self._fdes = sorted((e for e in entries if isinstance(e, FDE)),
                                key=lambda e: e["initial_location"])
            for entry in self._fdes:
                entry.get_decoded()  # while the file is open
        self._starts = [e["initial_location"] for e in self._fdes]

    def _row(self, pc):
        """The line of the frame table for this instruction, or None."""
        at = bisect.bisect_right(self._starts, pc) - 1
        if at < 0 or pc >= self._starts[at] + self._fdes[at]["address_range"]:
            return None
        rows = [row for row in self._fdes[at].get_decoded().table if row["pc"] <= pc]
        return rows[-1] if rows and rows[-1]["cfa"].reg in NUMBERS else None

    def _caller(self, memory, registers, innermost):
        """The registers that the caller had, or None at the end of the stack."""
        # A return address may be the first one after the calling function.
        row = self._row(registers["rip"] - (not innermost))
        if row is None:
            frame = registers["rbp"]
            return {**registers, "rbp": memory.word(frame), "rip": memory.word(frame + 8),
                    "rsp": frame + 16}
        cfa = registers[NUMBERS[row["cfa"].reg]] + row["cfa"].offset
        caller = {**registers, "rsp": cfa}
        for number, rule in row.items():
            if number in NUMBERS and rule.type == "OFFSET":
                caller[NUMBERS[number]] = memory.word(cfa + rule.arg)
            elif number == RETURN_ADDRESS and rule.type == "UNDEFINED":
                return None  # the function says that nobody has called it
        return caller

    def backtrace(self, memory, registers):
        """The addresses of all frames, the innermost first."""
        for depth in range(DEEPEST):
            yield registers["rip"]
            try:
                caller = self._caller(memory, registers, depth == 0)
            except gdb.MemoryError:
                return
            if caller is None or caller["rip"] == 0 or caller["rsp"] <= registers["rsp"]:
                return
            registers = caller
