"""What a program was linked with: a note in its ELF file, which `weft cc` puts in.

A program holds the libraries themselves.  When these change, a program of weft's own is built again,
but not one that a user has compiled: it would go on measuring the libraries of that day under the
revision of this day.  So the note has the kind of build (plain or debug) and a digest of the
sysroot, and `weft run`, `gdb` and `bench` compare it with today's.

A file without the note is no program of weft cc's, or was linked by other means: nothing is known of
it, so nothing is said.  The note is not loaded, and survives strip(1).
"""

import struct
import sys

from .paths import build_dir

SECTION = b".note.weft"
KINDS = {"plain": False, "debug": True}  # {kind of build: whether it is that with DEBUG=1}

# The three fields of a note's head, then its name and what it says (elf(5), "Notes").
SOURCE = """\
	.section {section},"",@note
	.balign 4
	.long 1f - 0f, 3f - 2f, 1
0:	.asciz "weft"
1:	.balign 4
2:	.ascii "{kind} {digest}"
3:	.balign 4
"""


def digest(debug):
    """Of the libraries and headers that weft cc uses, or None if they are not built."""
    sysroot = build_dir(debug) / "sysroot"
    files = [path for part in ("lib", "include") for path in sorted((sysroot / part).rglob("*"))
             if path.suffix in (".a", ".o", ".h")]
    if not files:
        return None
    import hashlib  # most programs have no note, and need no digest

    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(sysroot)}\n".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def source(debug):
    """The assembler text that marks the program with which it is linked."""
    kind = next(kind for kind, meant in KINDS.items() if meant == debug)
    return SOURCE.format(section=SECTION.decode(), kind=kind, digest=digest(debug))


def read(path):
    """(kind, digest) of a program's note, or None."""
    try:
        note = _section(path.read_bytes(), SECTION)
        if note is None:
            return None
        name, said, _ = struct.unpack_from("<3I", note)
        start = 12 + (name + 3) // 4 * 4
        kind, _, value = note[start:start + said].decode().partition(" ")
    except (OSError, struct.error, ValueError):
        return None
    return (kind, value) if kind in KINDS else None


def _section(data, name):
    """What a section of a 64-bit little-endian ELF file holds, or None.  struct.error if its headers
    lie beyond its end."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    headers, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<3H", data, 0x3a)
    sections = [struct.unpack_from("<2I4Q", data, headers + size * i) for i in range(count)]
    if names >= count:
        return None
    table = sections[names]
    for start, _, _, _, offset, length in sections:
        at = table[4] + start
        if data[at:at + len(name) + 1] == name + b"\0":
            return data[offset:offset + length]
    return None


def complaint(path, debug=None):
    """Why a program is not one of today's libraries, or None.  debug: the kind of build that it must
    be of; None: either."""
    found = read(path)
    if found is None:
        return None
    kind, value = found
    if debug is not None and KINDS[kind] != debug:
        return f"{path} was linked with the {kind} build"
    if value != digest(KINDS[kind]):
        return f"{path} was linked with other libraries than today's"
    return None


def warn(machine):
    """Says on standard error which of a machine's files are not of today's libraries."""
    for path, _ in machine.guest_files():
        why = complaint(path)
        if why:
            print(f"weft: {why}: compile it again with `weft cc`", file=sys.stderr)
