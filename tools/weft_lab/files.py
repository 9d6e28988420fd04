"""Files of grades: names, and writing."""

import hashlib
import os
import stat
import urllib.parse
from pathlib import Path

LONGEST = 120  # characters of a name


def named(student: str) -> str:
    """A name for files about a student, that every file system takes, and that no other student has."""
    name = urllib.parse.quote(os.fsencode(student), safe=" ")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name) > LONGEST:
        name = f"{name[:LONGEST - 33]}~{hashlib.sha256(os.fsencode(student)).hexdigest()[:32]}"
    return name


def write(path: Path, content: str | bytes) -> None:
    """Writes a file whole, or leaves the old file.  A device or a pipe is written to, and not replaced.  Raises
    OSError."""
    data = content.encode() if isinstance(content, str) else content
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        regular = True
    if not regular:
        path.write_bytes(data)
        return
    path = path.resolve()
    fresh = path.with_name(f".{path.name[:200]}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
