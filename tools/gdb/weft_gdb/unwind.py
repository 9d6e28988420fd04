"""Unwinds the stack of a thread or a CPU whose registers GDB does not have, by the memory and the symbols that
GDB has."""

import sys
from pathlib import Path

import gdb

from . import kernel

_TOP = Path(__file__).resolve().parents[3]
# pyelftools is in the host command's environment; it is pure Python, so any version may load it.
for _place in (*sorted((_TOP / "build/venv/lib").glob("*/site-packages")), _TOP / "tools"):
    if str(_place) not in sys.path:
        sys.path.append(str(_place))

from weft_debug import unwind  # noqa: E402


class Unwinder(unwind.Unwinder):
    """Knows the frames of the kernel, or a program, or both."""

    def __init__(self, *paths):
        super().__init__(paths, kernel.function_start, gdb.MemoryError)
