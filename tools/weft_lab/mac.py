"""The lines by which a lab's test program reports (labs/common/labtest.h), and what makes them authentic.

The host draws a key for each run and puts it into the program's file.  A line counts only with the
SipHash-2-4 of its text under that key.  SipHash is written out here: the packages that have it are
modules in C, and a grade needs it for a few lines.
"""

MAGIC = b"weft-lab-slot-1:"
KEY = 16  # bytes
_MASK = 2**64 - 1


def _rotated(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _MASK


def _rounds(v0: int, v1: int, v2: int, v3: int, n: int) -> tuple[int, int, int, int]:
    for _ in range(n):
        v0, v2 = (v0 + v1) & _MASK, (v2 + v3) & _MASK
        v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
        v0, v2 = (_rotated(v0, 32) + v3) & _MASK, (v2 + v1) & _MASK
        v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
        v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


def siphash24(key: bytes, data: bytes) -> int:
    """The SipHash-2-4 of bytes, a number below 2**64.  key: 16 bytes."""
    if len(key) != KEY:
        raise ValueError(f"a key of {len(key)} bytes, not {KEY}")
    k0, k1 = (int.from_bytes(part, "little") for part in (key[:8], key[8:]))
    v0, v1, v2, v3 = (k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                      k1 ^ 0x7465646279746573)
    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at:at + 8], "little")
        v0, v1, v2, v3 = _rounds(v0, v1, v2, v3 ^ word, 2)
        v0 ^= word
    v0, v1, v2, v3 = _rounds(v0, v1, v2 ^ 0xff, v3, 4)
    return v0 ^ v1 ^ v2 ^ v3


def with_key(program: bytes, key: bytes) -> bytes:
    """A test program's file, as bytes, with this key in its slot.  ValueError: it has no slot, or two."""
    if len(key) != KEY or not any(key):
        raise ValueError("a key is 16 bytes, and not all of them 0")
    if program.count(MAGIC) != 1:
        raise ValueError(f"{program.count(MAGIC)} slots for a key: the program is to be linked with labtest.c")
    at = program.index(MAGIC) + len(MAGIC)
    if at + KEY > len(program):
        raise ValueError("the slot for the key is cut off")
    return program[:at] + key + program[at + KEY:]


def right(key: bytes, number: int, text: str, code: str) -> bool:
    """Is this the MAC of the line of this number?  text: what stands between the number and the MAC."""
    try:
        return int(code, 16) == siphash24(key, f"{number} {text}".encode())
    except ValueError:  # no number, or a text that no program has printed
        return False
