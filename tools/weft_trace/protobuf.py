"""Protocol Buffers' wire format, as far as traces need it: a field is a number, a type and a value."""


def varint(value: int) -> bytes:
    """A value of 64 bits; one with a sign takes ten bytes if it is negative."""
    if 0 <= value < 0x80:
        return bytes((value,))
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def fixed(field: int, value: int) -> bytes:
    """fixed64."""
    return varint(field << 3 | 1) + value.to_bytes(8, "little")


def data(field: int, value: bytes) -> bytes:
    """Bytes, a message, or packed values."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    return data(field, value.encode())


def packed(field: int, values: list[int]) -> bytes:
    return data(field, b"".join(map(varint, values)))


def fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """What a message has: (field, value).  Raises ValueError: it is none."""
    found: list[tuple[int, int | bytes]] = []
    at = 0

    def take() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at == len(message) or shift > 63:
                raise ValueError("a message ends in the middle of a value")
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(message):
        head = take()
        if head & 7 == 0:
            found.append((head >> 3, take()))
            continue
        if head & 7 not in (1, 2, 5):
            raise ValueError(f"there is no type {head & 7}")
        size = take() if head & 7 == 2 else 8 if head & 7 == 1 else 4
        if at + size > len(message):
            raise ValueError("a message ends in the middle of a field")
        found.append((head >> 3, message[at:at + size]))
        at += size
    return found
