"""Crash files: what is left of a guest that has failed.

A crash file is a zip archive, so that any zip tool shows its texts:

    guest.json      FORMAT; the command that was run, how it ended, and when, in nanoseconds since the boot (null:
                    not known); the registers of each processor of QEMU; the ranges of physical memory; of the
                    kernel and of each process's program, the path on the host and the file's SHA-256
    features/NAME   how QEMU's gdbstub describes the registers
    report.txt      the kernel's report
    picture.txt     the picture of every process (picture.py), as it was printed
    kernel.elf      the kernel, with its debugging information
    programs/N      program number N, with its debugging information
    memory/ADDRESS  CHUNK bytes of physical memory from this address on (hexadecimal); zeros are left out

The kernel and the programs are in it, because a later build may have changed them.
"""

import contextlib
import hashlib
import json
import os
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .guest import FRAME_REGISTERS, Guest, Machine, Registers
from .memory import MASK, MemoryFault
from .programs import Programs

FORMAT = "weft crash 1"
CHUNK = 1 << 18
KEPT_CHUNKS = 64  # in memory
LARGEST_FILE = 1 << 28  # of the kernel and of a program
LARGEST_TEXT = 1 << 24
MOST_PROCESSORS = 64
REGISTERS = (*FRAME_REGISTERS, "fs_base", "gs_base", "cr3")


class CrashError(Exception):
    """The file is no crash file, or damaged, or cannot be written."""


@dataclass
class Ended:
    """command: words of the host command that ran it.  status, error: how it ended.  report: the kernel's."""

    command: list[str]
    status: int
    error: str
    report: str


# --- writing ------------------------------------------------------------------------------------------


def write(path: Path, guest: Guest, features: Mapping[str, str], memory: Iterable[tuple[int, bytes]], ended: Ended,
          picture: str) -> None:
    """features: see stub.Description.  memory: all of the machine's, by address, in pieces of whole chunks.
    The file is there whole, or not at all.  Raises CrashError, and what `memory` raises."""
    part = path.with_name(path.name + ".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
            out.writestr("report.txt", ended.report)
            out.writestr("picture.txt", picture)
            for name, text in features.items():
                out.writestr(f"features/{name}", text)
            about: dict[str, Any] = {
                "format": FORMAT, "command": ended.command, "status": ended.status, "error": ended.error,
                "now": guest.time,
                "registers": {str(n): r for n, r in guest.machine.processors().items()},
                "kernel": _put_file(out, "kernel.elf", guest.layout.elf), "programs": {}}
            files = {p.program: p.name for p in guest.processes if p.program is not None}
            for number, (program, name) in enumerate(files.items()):
                about["programs"][str(number)] = {**_put_file(out, f"programs/{number}", program), "name": name}
            about["memory"] = _put_memory(out, memory)
            out.writestr("guest.json", json.dumps(about, indent=1))
        os.replace(part, path)
    except OSError as error:
        raise CrashError(f"{path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _put_file(out: zipfile.ZipFile, name: str, path: Path) -> dict[str, str]:
    data = path.read_bytes()
    out.writestr(name, data)
    return {"path": str(path.resolve()), "sha256": hashlib.sha256(data).hexdigest()}


def _put_memory(out: zipfile.ZipFile, memory: Iterable[tuple[int, bytes]]) -> list[list[int]]:
    """The ranges: address and size."""
    ranges: list[list[int]] = []
    nothing = bytes(CHUNK)
    for address, data in memory:
        if ranges and sum(ranges[-1]) == address:
            ranges[-1][1] += len(data)
        else:
            ranges.append([address, len(data)])
        for begin in range(0, len(data), CHUNK):
            chunk = data[begin:begin + CHUNK]
            if chunk != nothing[:len(chunk)]:
                out.writestr(f"memory/{address + begin:x}", chunk)
    return ranges


# --- reading ------------------------------------------------------------------------------------------


class FileMemory:
    """Physical memory of a crash file.  What is damaged in the file cannot be read."""

    def __init__(self, archive: zipfile.ZipFile, ranges: list[tuple[int, int]]) -> None:
        self._archive = archive
        self._ranges = ranges
        self._names = set(archive.namelist())
        self._chunks: OrderedDict[int, bytes] = OrderedDict()

    def _chunk(self, address: int) -> bytes:
        if address in self._chunks:
            self._chunks.move_to_end(address)
            return self._chunks[address]
        name = f"memory/{address:x}"
        if name not in self._names:
            data = bytes(CHUNK)
        else:
            try:
                if self._archive.getinfo(name).file_size > CHUNK:
                    raise MemoryFault(address)
                data = self._archive.read(name).ljust(CHUNK, b"\0")
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError,
                    ValueError):
                raise MemoryFault(address) from None
        self._chunks[address] = data
        if len(self._chunks) > KEPT_CHUNKS:
            self._chunks.popitem(last=False)
        return data

    def read(self, address: int, size: int) -> bytes:
        begin = next((begin for begin, length in self._ranges
                      if begin <= address and address + size <= begin + length), None)
        if begin is None:
            raise MemoryFault(address)
        out = b""
        while len(out) < size:
            offset = (address + len(out) - begin) % CHUNK
            out += self._chunk(address + len(out) - offset)[offset:offset + size - len(out)]
        return out

    def write(self, address: int, data: bytes) -> None:
        """What has happened cannot be changed."""
        raise MemoryFault(address)


@dataclass
class FileMachine:
    """The machine of a crash file."""

    physical: FileMemory
    registers: dict[int, Registers]

    def processors(self) -> dict[int, Registers]:
        return self.registers


class CrashFile:
    """An open crash file; all its parts are read when they are asked for.  Raises CrashError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except OSError as error:
            raise CrashError(f"{path}: {error.strerror or error}") from error
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise CrashError(f"{path} is no crash file: {error}") from error
        about = self._json()
        try:
            self.ended = Ended([str(word) for word in about["command"]], int(about["status"]), str(about["error"]),
                               self._text("report.txt"))
            ranges = [(_number(a), _number(n)) for a, n in about["memory"]]
            registers = {_number(int(n)): _registers(r) for n, r in about["registers"].items()}
            self._time = None if about["now"] is None else _number(about["now"])
            self._kernel = str(about["kernel"]["path"]), str(about["kernel"]["sha256"])
            self._programs = [(str(p["name"]), str(p["path"]), str(p["sha256"]), f"programs/{int(n)}")
                              for n, p in about["programs"].items()]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CrashError(f"{path} is damaged: guest.json: {error!r}") from error
        if len(registers) > MOST_PROCESSORS:
            raise CrashError(f"{path} is damaged: it has {len(registers)} processors")
        self.machine: Machine = FileMachine(FileMemory(self._archive, ranges), registers)
        self.rebuilt: list[str] = []  # files of the host that are not as they were

    def _json(self) -> dict[str, Any]:
        try:
            about = json.loads(self._text("guest.json"))
        except (ValueError, RecursionError) as error:
            raise CrashError(f"{self.path} is no crash file, or damaged: guest.json: {error}") from error
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise CrashError(f"{self.path} is no crash file of this version ({FORMAT})")
        return about

    def _bytes(self, name: str, most: int) -> bytes:
        try:
            if self._archive.getinfo(name).file_size > most:
                raise CrashError(f"{self.path} is damaged: {name} is too long")
            return self._archive.read(name)
        except KeyError:
            raise CrashError(f"{self.path} is no crash file: it has no {name}") from None
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError,
                ValueError) as error:
            raise CrashError(f"{self.path} is damaged: {name}: {error}") from error

    def _text(self, name: str) -> str:
        return self._bytes(name, LARGEST_TEXT).decode(errors="replace")

    @property
    def picture(self) -> str:
        """As it was printed."""
        return self._text("picture.txt")

    @property
    def features(self) -> dict[str, str]:
        """For stub.Description."""
        return {name.removeprefix("features/"): self._text(name) for name in self._archive.namelist()
                if name.startswith("features/")}

    def _file(self, path: str, digest: str, name: str, work: Path) -> Path:
        """The host's file, if it is still the same; else a copy in `work`."""
        with contextlib.suppress(OSError, ValueError):
            if hashlib.sha256(Path(path).read_bytes()).hexdigest() == digest:
                return Path(path)
        copy = work / name.replace("programs/", "program-") / Path(path).name
        try:
            data = self._bytes(name, LARGEST_FILE)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(data)
        except (OSError, ValueError) as error:
            raise CrashError(f"{copy}: {error}") from error
        self.rebuilt.append(path)
        return copy

    def guest(self, work: Path) -> Guest:
        """work: a directory for files of the archive.  Raises CrashError, LayoutError."""
        kernel = self._file(*self._kernel, "kernel.elf", work)
        files: dict[str, Path] = {}
        for name, path, digest, member in self._programs:
            with contextlib.suppress(CrashError):  # the rest can be seen without it
                files[f"{member}/{name}"] = self._file(path, digest, member, work)
        guest = Guest(self.machine, kernel, Programs(files, []))
        guest.time = self._time
        return guest

    def close(self) -> None:
        self._archive.close()


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MASK:
        raise ValueError(f"{value!r} is no number")
    return value


def _registers(values: Mapping[str, object]) -> Registers:
    """FPU registers have more bits than MASK, and nothing here needs them."""
    found = {str(name): value for name, value in values.items() if isinstance(value, int) and 0 <= value < 1 << 512}
    for name in REGISTERS:
        _number(found.get(name))
    return found


def pieces(ranges: Iterable[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """The ranges in pieces of at most this size."""
    for begin, length in ranges:
        for at in range(begin, begin + length, size):
            yield at, min(size, begin + length - at)
