"""The instructions of a kernel, from objdump of the toolchain that has built it."""

import functools
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft_host import ccmd
from weft_host.machine import HostError

LINE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
NUMBER = re.compile(r"\b(?:0x)?(ffffffff[0-9a-f]{8})\b")


@dataclass(frozen=True)
class Instruction:
    address: int
    code: bytes
    text: str  # of objdump

    @property
    def end(self) -> int:
        return self.address + len(self.code)

    @property
    def name(self) -> str:
        """Without prefixes that objdump writes as words."""
        words = self.text.split()
        while words and words[0] in ("lock", "rep", "repz", "repnz", "notrack", "cs", "ds", "data16"):
            words.pop(0)
        return words[0] if words else ""

    def mentions(self) -> list[int]:
        """The kernel's addresses in it: what it jumps to, reads, or takes as a constant."""
        return [int(number, 16) for number in NUMBER.findall(self.text)]


def instructions(path: Path) -> Mapping[int, Instruction]:
    """{address: instruction} of the file's text.  Raises HostError, OSError."""
    return _instructions(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)  # an experiment traces the same kernel and program again and again
def _instructions(path: Path, _: int) -> Mapping[int, Instruction]:
    found = subprocess.run([ccmd.compiler(), "-print-prog-name=objdump"], capture_output=True, text=True)
    done = subprocess.run([found.stdout.strip(), "-d", "-w", "-j", ".text", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise HostError(f"objdump: {done.stderr.strip()}")
    result = {}
    for line in done.stdout.splitlines():
        if match := LINE.match(line):
            address = int(match[1], 16)
            result[address] = Instruction(address, bytes.fromhex(match[2]), match[3])
    return result
