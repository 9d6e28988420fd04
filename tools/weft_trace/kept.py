"""What takes long to find out about an ELF file of the build: kept in build/probes for the next command.

    stubs = kept.of(path, "stubs", lambda: ...)

A kept file holds the time and the size of the ELF file, and of the sources of this package, that it was made of.
If one of these is another, or the kept file is damaged, all is found out again.  Commands may do that at the
same time, so each replaces the kept file in one step.
"""

import contextlib
import functools
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from weft_host.paths import BUILD

Found = TypeVar("Found")
Key = tuple[tuple[str, int, int], ...]


def _mark(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return str(path), stat.st_mtime_ns, stat.st_size


@functools.cache
def _sources() -> Key:
    """Of this package.  They do not change for a program that has loaded them."""
    return tuple(_mark(path) for path in sorted(Path(__file__).parent.glob("*.py")))


def of(path: Path, what: str, find: Callable[[], Found], folder: Path = BUILD) -> Found:
    """What find() returns, or what it returned before for this file.  A file that is not in the folder, that of the
    build, may be gone tomorrow: nothing is kept of it.  Raises OSError, and what find() raises."""
    if not path.is_relative_to(folder):
        return find()
    key = (_mark(path), *_sources())
    at = folder / "probes" / f"{'-'.join(path.relative_to(folder).parts)}.{what}"
    try:
        with open(at, "rb") as file:
            if pickle.load(file) == key:
                found: Found = pickle.load(file)
                return found
    except Exception:  # a damaged file may say anything; it is replaced below
        pass
    found = find()
    with contextlib.suppress(OSError):
        at.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=at.parent, delete=False) as out:
            pickle.dump(key, out, pickle.HIGHEST_PROTOCOL)
            pickle.dump(found, out, pickle.HIGHEST_PROTOCOL)
        os.chmod(out.name, 0o644)  # a temporary file is its owner's alone
        os.replace(out.name, at)
    return found
