"""PUSHQ of an operand that the compiler has written as text, as machine code."""

import re
import struct
from collections.abc import Callable

REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
MEMORY = re.compile(r"(?P<place>[^(]*)(?:\((?:%(?P<base>\w+))?(?:,%(?P<index>\w+)(?:,(?P<scale>[1248]))?)?\))?$")
TERM = re.compile(r"([+-]?)([^+-]+)")
RSP = 4


def _sum(text: str, symbol: Callable[[str], int]) -> int:
    """Of numbers and symbols."""
    total = 0
    for sign, term in TERM.findall(text):
        value = int(term, 0) if term[0].isdigit() else symbol(term)
        total += -value if sign == "-" else value
    return total


def _int32(value: int) -> bytes:
    return struct.pack("<i", value)


def push(operand: str, symbol: Callable[[str], int]) -> bytes:
    """symbol: the address of a name.  Raises ValueError, KeyError, struct.error: it cannot be encoded."""
    if operand.startswith("$"):
        return b"\x68" + _int32(_sum(operand[1:], symbol))
    if operand.startswith("%"):
        number = REGISTERS.index(operand[1:])
        if number == RSP:
            raise ValueError("RSP is the kernel's in a stub")
        return (b"\x41" if number > 7 else b"") + bytes([0x50 | number & 7])
    match = MEMORY.match(operand)
    if match is None:
        raise ValueError(operand)
    place = _sum(match["place"].strip(), symbol)
    if match["base"] in (None, "rip") and match["index"] is None:
        return b"\xff\x34\x25" + _int32(place)
    if match["base"] is None:
        raise ValueError(f"{operand}: without a base register")
    return _push_memory(place, REGISTERS.index(match["base"]), match["index"], int(match["scale"] or 1))


def _push_memory(place: int, base: int, index: str | None, scale: int) -> bytes:
    if base == RSP:
        raise ValueError("RSP is the kernel's in a stub")
    rex = 0x40 | base >> 3
    if index is None and base & 7 != RSP:
        code = bytes([0xff, 0xb0 | base & 7])
    else:
        other = REGISTERS.index(index) if index is not None else RSP
        rex |= other >> 3 << 1
        code = bytes([0xff, 0xb4, (scale.bit_length() - 1) << 6 | (other & 7) << 3 | base & 7])
    return (bytes([rex]) if rex != 0x40 else b"") + code + _int32(place)
