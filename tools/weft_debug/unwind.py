"""Unwinds the stack of a thread or a CPU from its registers and its memory.

Where there is call-frame information (.debug_frame), it says where a function keeps its caller's
registers, to the instruction.  Other functions (assembly, the C library) are taken to have a frame
pointer.  One that calls no other may have no frame, and then does not begin by pushing it.  No function has
a frame at its first instruction.

GDB's Python loads this, too: pyelftools and the standard library alone here.
"""

import bisect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.elf.elffile import ELFFile

# DWARF's numbers of the registers.
NAMES = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
         "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
RETURN_ADDRESS = NAMES.index("rip")
TRAP = b"S"
PUSH_RBP = b"\x55"
DEEPEST = 60  # frames


class Memory(Protocol):
    def read(self, address: int, size: int) -> bytes: ...
    def word(self, address: int) -> int: ...


class Frames(CallFrameInfo):
    """A .debug_frame whose trap frames are marked as the assembler does (.cfi_signal_frame)."""

    def _parse_cie_augmentation(self, header: Any, entry_structs: Any) -> Any:
        if header.get("augmentation") == TRAP:
            return b"", {}
        return super()._parse_cie_augmentation(header, entry_structs)


def _descriptions(path: Path) -> list[Any]:
    """The description of each function's frames that the file has."""
    dwarf = ELFFile(io.BytesIO(Path(path).read_bytes())).get_dwarf_info()
    if not dwarf.has_CFI():
        return []
    section = dwarf.debug_frame_sec
    frames = Frames(stream=section.stream, size=section.size, address=section.address,
                    base_structs=dwarf.structs)
    return [entry for entry in frames.get_entries() if isinstance(entry, FDE)]


class Unwinder:
    """Knows the frames of the kernel, or a program, or both."""

    def __init__(self, paths: Iterable[Path], function_start: Callable[[int], int | None],
                 faults: type[Exception]) -> None:
        """function_start: where the function begins that contains an address.  faults: what memory raises."""
        self._function_start, self._faults = function_start, faults
        self._fdes = sorted((fde for path in paths for fde in _descriptions(path)),
                            key=lambda fde: fde["initial_location"])
        self._starts = [e["initial_location"] for e in self._fdes]

    def _row(self, pc: int) -> tuple[Any, bool]:
        """The line of the frame table for this instruction, or None; whether a trap made the frame."""
        at = bisect.bisect_right(self._starts, pc) - 1
        if at < 0 or pc >= self._starts[at] + self._fdes[at]["address_range"]:
            return None, False
        rows = [row for row in self._fdes[at].get_decoded().table if row["pc"] <= pc]
        if not rows or rows[-1]["cfa"].reg is None:
            return None, False
        return rows[-1], self._fdes[at].cie["augmentation"] == TRAP

    def _by_convention(self, memory: Memory, registers: Mapping[str, int], calls: bool) -> dict[str, int]:
        start = None if calls else self._function_start(registers["rip"])
        if start is not None and (registers["rip"] == start or memory.read(start, 1) != PUSH_RBP):
            rsp = registers["rsp"]
            return {**registers, "rip": memory.word(rsp), "rsp": rsp + 8}
        frame = registers["rbp"]
        return {**registers, "rbp": memory.word(frame), "rip": memory.word(frame + 8),
                "rsp": frame + 16}

    @staticmethod
    def _by_row(row: Any, memory: Memory, registers: Mapping[str, int]) -> dict[str, int] | None:
        """None at the end of the stack."""
        cfa = registers[NAMES[row["cfa"].reg]] + row["cfa"].offset
        caller = {**registers, "rsp": cfa}
        for number, rule in row.items():
            if number not in range(len(NAMES)):
                continue
            if rule.type == "OFFSET":
                caller[NAMES[number]] = memory.word(cfa + rule.arg)
            elif rule.type == "REGISTER":
                caller[NAMES[number]] = registers[NAMES[rule.arg]]
            elif number == RETURN_ADDRESS and rule.type == "UNDEFINED":
                return None  # the function says that nobody has called it
        return caller

    def backtrace(self, memory: Memory, registers: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """The frames, the innermost first: (address, an address in the line that it executes)."""
        calls = False
        for _ in range(DEEPEST):
            # A return address may be the first one after the calling function.
            pc = registers["rip"] - calls
            yield registers["rip"], pc
            row, trap = self._row(pc)
            try:
                caller = self._by_convention(memory, registers, calls) if row is None else \
                    self._by_row(row, memory, registers)
            except (self._faults, KeyError):  # KeyError: a register that is not known
                return
            if caller is None or caller["rip"] == 0:
                return
            if caller["rsp"] <= registers["rsp"] and not trap:  # a trap comes from any stack
                return
            calls, registers = not trap, caller
