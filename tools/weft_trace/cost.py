"""What a record costs in fast timing: the instructions from the jump at the point to the jump back, both included,
without the displaced ones (kernel/probe/record.S).  They are counted in the kernel that records."""

from collections.abc import Mapping
from dataclasses import dataclass

from .disassembly import Instruction
from .points import Image


@dataclass(frozen=True)
class Cost:
    kernel: int  # instructions of a record at a point of the kernel
    program: int  # and at one of a program


def _length(image: Image, code: Mapping[int, Instruction], start: str, end: str) -> int:
    """From a label to the first instruction `end`: the way of fast timing has no branch that is taken."""
    at, n = image.symbols[start], 1
    while code[at].name != end:
        at, n = code[at].end, n + 1
    return n


def stack(frames: int) -> int:
    """What a stack costs (kernel/probe/stack.c), nearly: no two have the same way through it."""
    return 180 + 53 * frames


def cost(image: Image, code: Mapping[int, Instruction]) -> Cost:
    jump, pushes_and_call, jump_back = 1, 5, 1
    kernel = jump + pushes_and_call + _length(image, code, "probe_record", "ret") + jump_back
    jump_and_int, pushes_and_jump = 2, 4
    program = (jump_and_int + _length(image, code, "probe_program_entry", "ret") + pushes_and_jump
               + _length(image, code, "probe_program_record", "iretq") + jump_back)
    return Cost(kernel, program)
