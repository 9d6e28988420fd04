"""A copy of a kernel in which probe points lead to their stubs (kernel/probe/record.S).

At each point a jump to the stub takes the place of the first instructions that follow.  These displaced
instructions are written behind the stub's call of probe_record, and once more into .probe.copies.

The first copy is for a window of exact timing that does not end among them.  Behind the call it takes exactly
one instruction more than at the point: the jump back, or what stands for it.  The second copy executes just
the instructions of the point, except for what follows a call of probe_settle: that is one instruction more again.
"""

import functools
import struct
from collections.abc import Collection, Mapping
from pathlib import Path

from weft_host.machine import HostError

from . import kept
from .disassembly import Instruction, instructions
from .points import Image, Point, image_of

JUMP = 5  # bytes of a jump
INT3 = b"\xcc"
NOP = b"\x90"
# They change the interrupt flag or the privilege, wait, read clocks, or talk to devices: none of this may
# happen beside its place.
FIXED = {"sti", "popf", "popfq", "iret", "iretq", "hlt", "int", "int3", "ud2", "rdtsc", "rdtscp", "sysret",
         "sysretq", "syscall", "in", "out", "inb", "outb", "inl", "outl", "rdmsr", "wrmsr", "loop", "loope",
         "loopne", "jrcxz", "jecxz", "lret", "lretq", "ljmp", "lcall"}


class Immovable(HostError):
    """A point that cannot be patched; the text says why."""


def _near(code: bytes, at: int, target: int) -> bytes:
    """A jump or call with a distance of 32 bits, at an address."""
    return code + struct.pack("<i", target - (at + len(code) + 4))


def _moved(one: Instruction, to: int) -> bytes:
    """The instruction at another address, where it does the same.  It is no branch."""
    if "(%rip)" not in one.text:
        return one.code
    target = one.mentions()[-1]
    old = struct.pack("<i", target - one.end)
    if one.code.count(old) != 1:
        raise Immovable(f"{one.text}: its address is not found in it")
    return one.code.replace(old, struct.pack("<i", target - (to + len(one.code))))


def _ret_address(one: Instruction) -> bytes:
    """PUSHQ of the address behind a call."""
    return b"\x68" + struct.pack("<i", one.end - (1 << 64))


class Patch:
    """What one point needs: {address: bytes}."""

    def __init__(self, image: Image, code: Mapping[int, Instruction], point: Point) -> None:
        self.point = point
        self._symbols = image.symbols
        if "%rsp" in point.operands:
            raise Immovable(f"{point}: a value lies relative to RSP, which the stub moves")
        self.displaced = self._displaced(code)
        self.end = self.displaced[-1].end
        self._check(image)

    def _displaced(self, code: Mapping[int, Instruction]) -> list[Instruction]:
        found: list[Instruction] = []
        at = self.point.address
        while at < self.point.address + JUMP:
            one = code.get(at)
            if one is None:
                raise Immovable(f"{self.point}: no instruction at {at:#x}")
            found.append(one)
            at = one.end
        try:
            check_movable(found)
        except Immovable as error:
            raise Immovable(f"{self.point}: {error}") from error
        return found

    def _check(self, image: Image) -> None:
        """That nothing leads into what the jump displaces, except to its beginning."""
        inside = range(self.point.address + 1, self.end)
        here = range(self.point.address, self.end)
        for other in image.points:
            if other is not self.point and (other.address in here or self.point.address in
                                            range(other.address, other.address + JUMP)):
                raise Immovable(f"{self.point}: too near to {other}")
        if image.labels & set(inside):
            raise Immovable(f"{self.point}: a label is less than {JUMP} bytes behind it")
        for address in here:
            if address in _faulting(image):
                raise Immovable(f"{self.point}: an instruction behind it may fault")
        for target in inside:
            if target in _mentioned(image):
                raise Immovable(f"{self.point}: a branch leads to {target:#x}, which the jump would displace")

    def writes(self) -> dict[int, bytes]:
        point, symbols = self.point, self._symbols
        copy = point.slot + symbols["probe_copies"] - symbols["probe_stubs"]
        jump = _near(b"\xe9", point.address, point.stub)
        return {point.address: jump + INT3 * (self.end - point.address - JUMP),
                point.slot: self.code(point.slot, settles=False),
                copy: self.code(copy, settles=True)}

    def writes_stack(self) -> dict[int, bytes]:
        """The call of the stub, of the function that records a stack, too."""
        call = self.point.slot - JUMP
        return {call: _near(b"\xe8", call, self._symbols["probe_record_stack"])}

    def code(self, at: int, settles: bool) -> bytes:
        """The displaced instructions at another place: the first copy, or (settles) the second."""
        out = b""

        def add(code: bytes) -> None:
            nonlocal out
            out += code

        def near(code: bytes, target: int) -> None:
            add(_near(code, at + len(out), target))

        def settle() -> None:
            if settles:
                near(b"\xe8", self._symbols["probe_settle"])

        for one in self.displaced[:-1]:
            add(_moved(one, at + len(out)))
        last = self.displaced[-1]
        match kind(last):
            case "plain":
                add(_moved(last, at + len(out)))
                settle()
                near(b"\xe9", last.end)
            case "call":  # a push and a jump: one instruction more than the call
                settle()
                add(_ret_address(last))
                near(b"\xe9", last.mentions()[0])
            case "jcc":
                condition = b"\x0f" + bytes([0x80 | last.code[-2 if len(last.code) == 2 else 1] & 0x0f])
                if settles:
                    near(condition, last.mentions()[0])
                    settle()
                    near(b"\xe9", last.end)
                else:
                    add(condition + struct.pack("<i", JUMP))
                    near(b"\xe9", last.end)
                    near(b"\xe9", last.mentions()[0])
            case "jmp":
                add(b"" if settles else NOP)
                near(b"\xe9", last.mentions()[0])
            case "ret":
                add((b"" if settles else NOP) + last.code)
        return out


def kind(one: Instruction) -> str:
    code = one.code
    if code[0] == 0xe8:
        return "call"
    if code[0] in (0xe9, 0xeb):
        return "jmp"
    if code[0] & 0xf0 == 0x70 or (code[0] == 0x0f and code[1] & 0xf0 == 0x80):
        return "jcc"
    if code[0] in (0xc3, 0xc2):
        return "ret"
    if one.name.startswith(("j", "call", "ret")):
        raise Immovable(f"{one.text} at {one.address:#x}: a branch of a kind that is not moved")
    return "plain"


def check_movable(displaced: list[Instruction]) -> None:
    """Whether instructions can be elsewhere, one behind the other.  Raises Immovable."""
    for one in displaced:
        if one.name in FIXED:
            raise Immovable(f"{one.text} cannot be elsewhere")
    for one in displaced[:-1]:
        if kind(one) != "plain":
            raise Immovable(f"{one.text} is followed by what the jump would displace")


@functools.lru_cache(maxsize=2)
def _faulting(image: Image) -> frozenset[int]:
    """The instructions that may fault."""
    return frozenset(fault for fault, _ in struct.iter_unpack("<QQ", image.sections[".extable"][2]))


@functools.lru_cache(maxsize=2)
def _mentioned(image: Image) -> frozenset[int]:
    """All addresses that an instruction names, or that stand in the data."""
    found = {address for one in instructions(image.path).values() for address in one.mentions()}
    for name in (".rodata", ".data", ".extable"):
        data = image.sections[name][2]
        found.update(value for value, in struct.iter_unpack("<Q", data[:len(data) // 8 * 8]))
    return frozenset(found)


def patches(path: Path, names: Collection[str] | None = None) -> tuple[Image, list[Patch]]:
    """Of the points with these names; None: of all.  Raises HostError."""
    image = image_of(path)
    code = instructions(path)
    return image, [Patch(image, code, point) for point in image.points
                   if names is None or point.name in names]


def _all_writes(path: Path) -> list[tuple[str, dict[int, bytes], dict[int, bytes]]]:
    """Of each point, its name, writes() and writes_stack().  Raises HostError."""
    return [(patch.point.name, patch.writes(), patch.writes_stack()) for patch in patches(path)[1]]


def patched(path: Path, to: Path, names: Collection[str] | None = None, stacks: Collection[str] = ()) -> Image:
    """Writes the copy of the kernel.  names: the points that record, None: all; stacks: those of them that also
    record the LWP's stack.  Raises HostError."""
    image = Image(path)
    data = bytearray(path.read_bytes())
    for name, writes, writes_stack in kept.of(path, "patches", lambda: _all_writes(path)):
        if names is None or name in names:
            for address, code in {**writes, **(writes_stack if name in stacks else {})}.items():
                offset = image.offset(address)
                data[offset:offset + len(code)] = code
    to.write_bytes(data)
    return image
