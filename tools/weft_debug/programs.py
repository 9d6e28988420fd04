"""The files on the host of the programs that a guest's processes run."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .library import IMAGE
from .memory import PAGE, MemoryFault, Space
from .symbols import Symbols


class Programs:
    """files: paths of the guest, as --file has brought them, with the host's files.  folders: those of the build
    that have programs."""

    def __init__(self, files: Mapping[str, Path], folders: Iterable[Path]) -> None:
        self._files = dict(files)
        self._folders = list(folders)
        self._first_pages: dict[Path, tuple[int, bytes]] = {}

    @classmethod
    def of_build(cls, build: Path, files: Mapping[str, Path] | None = None) -> "Programs":
        return cls(files or {}, [build / "bin", build / "tests/bin"])

    def _candidates(self, name: str) -> Iterator[Path]:
        """The files of the build come first, because they have debugging information.  A process that runs a file
        of --file may have changed its name."""
        for folder in self._folders:
            yield folder / name
        yield from self._files.values()

    def find(self, name: str, space: Space) -> Path | None:
        """The file that the process runs: its first page is that of the process.  None: there is none."""
        if not name or "/" in name:
            return None
        try:
            page = space.read(IMAGE, PAGE)
        except MemoryFault:
            return None
        return next((path for path in self._candidates(name) if self._begins(path, page)), None)

    def _begins(self, path: Path, page: bytes) -> bool:
        """The description of the threads library, in the first page, has addresses of the program's own; so
        another program has another page."""
        try:
            time = path.stat().st_mtime_ns
            if self._first_pages.get(path, (0, b""))[0] != time:
                with open(path, "rb") as file:
                    self._first_pages[path] = time, _compared(file.read(PAGE).ljust(PAGE, b"\0"))
        except OSError:
            return False
        return self._first_pages[path][1] == _compared(page)

    @functools.cache  # noqa: B019 (the programs live as long as the guest)
    def symbols(self, path: Path | None) -> Symbols:
        return Symbols(path)


def _compared(page: bytes) -> bytes:
    """Without what the ELF header says of the file's sections: the guest has files without debugging
    information."""
    return page[:40] + page[48:60] + page[64:]
