"""One machine to boot: its options, its initial RAM disk and its QEMU command line."""

import functools
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import iso
from .cpio import Archive, encoded
from .disks import DISKS
from .paths import build_dir

# A name, looked up in the PATH, or the path of another QEMU than the system's.
QEMU = os.environ.get("WEFT_QEMU") or "qemu-system-x86_64"
QMP_SOCKET = "qmp"
COUNTER = "count"  # another one, in exact timing under GDB: weft_debug/standstill.py
SOCKET_NAME = 104  # bytes: less than any host allows
RUN_FILE_BLOCK = 4096
INITRD = "initrd.cpio"  # the guest's, in its directory
MAX_CPUS = 64  # WEFT_MAXCPU
# Of a machine that is recorded or replayed, in the directory `work`.
LOG, SNAPSHOTS, FIRST_SNAPSHOT = "log", "snapshots.qcow2", "start"
RINGS = "rings"  # the memory of a trace, there too


# How exact timing runs the virtual CPUs: all on one processor of QEMU, or each on its own.
ENGINES = ("one", "processors")


class HostError(Exception):
    """The host cannot do what was asked; the text says why."""


class UsageError(HostError):
    """What was asked makes no sense."""


@functools.cache
def firmware() -> list[str]:
    """Options of QEMU: qboot, if it is there.  It does for a kernel what SeaBIOS does, in a tenth of the time;
    that is a third of the time that a guest takes to start.  The kernel sees the same machine with both."""
    prefix = Path(os.path.realpath(shutil.which(QEMU) or QEMU)).parents[1]
    for data in (prefix / "share/qemu", Path("/usr/share/qemu")):
        if (data / "qboot.rom").is_file():
            return ["-bios", str(data / "qboot.rom")]
    return []


def _megabytes(size: str) -> int:
    return int(size[:-1]) * (1024 if size[-1] == "G" else 1)


@dataclass
class Machine:
    """What `weft run` can choose.  argv empty: an interactive shell."""

    argv: list[str] = field(default_factory=list)
    smp: int = 1
    mem: str = "512M"
    free: str | None = None  # in place of mem: what of it is free when the first program starts
    model: str | None = None
    options: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    files: list[str | Path] = field(default_factory=list)  # HOST or HOST:GUEST
    wanted: list[str] = field(default_factory=list)  # files of the guest, for the host: absolute paths
    timing: str = "fast"
    seed: int | None = None  # the three are for exact timing
    quantum: int | None = None  # instructions of a round
    engine: str = ENGINES[0]  # of exact timing
    mips: int | None = None  # speed of a virtual CPU, million instructions a second
    until: int | None = None  # a time limit in virtual milliseconds: the same end on each host
    stdin: bytes = b""  # exact timing: the program's whole input
    accel: str = "tcg"
    boot: str = "kernel"
    timeout: float | None = None  # seconds
    debug: bool = False
    build: Path = None  # type: ignore[assignment]  # whose kernel; None: this tree's, see debug
    append: str = ""  # more words for the kernel's command line
    background: bool = field(default=False, compare=False)  # let other work of the host go first
    verbose: bool = False  # the kernel tells of its boot
    recording: str | None = None  # "record" or "replay": recording.py
    stepped: bool = False  # by GDB, from the first instruction on
    debugger: str | None = None  # "may" come to the socket `stub`, or the machine is to "wait" for it
    keep: Path | None = field(default=None, compare=False)  # a directory: for the memory of a guest that fails
    picture: bool = field(default=True, compare=False)  # of a guest that fails, what its threads wait for
    cpu_limit: int | None = field(default=None, compare=False)  # seconds of the host's cores, for QEMU
    most_output: int | None = field(default=None, compare=False)  # bytes; a guest that prints more is ended
    kernel: Path | None = None  # in place of the build's
    rings: tuple[int, int] | None = None  # of a trace: records of a CPU, bytes of the memory (weft_trace/ring.py)
    disk_written: Callable[[Path], None] | None = field(default=None, compare=False)  # may change the RAM disk

    def check(self) -> None:
        """Raises UsageError."""
        if not 1 <= self.smp <= MAX_CPUS:
            raise UsageError(f"--smp: 1 to {MAX_CPUS} CPUs, not {self.smp}")
        for name, size in (("mem", self.mem), ("free", self.free)):
            if size is not None and not re.fullmatch(r"[1-9][0-9]*[MG]", size):
                raise UsageError(f"--{name}: a size such as 512M or 2G, not {size!r}")
        self._check_timing()
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise UsageError(f"--timeout: a number of seconds above 0, not {self.timeout:g}")
        for name in self.env:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise UsageError(f"--env: {name!r} is no name of a variable")

    def _check_timing(self) -> None:
        if self.timing not in ("fast", "exact"):
            raise UsageError(f"--timing: fast or exact, not {self.timing!r}")
        if self.engine not in ENGINES:
            raise UsageError(f"--engine: {' or '.join(ENGINES)}, not {self.engine!r}")
        if self.engine != ENGINES[0] and self.timing != "exact":
            raise UsageError("--engine has no meaning without --timing exact")
        limits = {"seed": (0, 2**32 - 1), "quantum": (50, 1_000_000), "mips": (1, 1_000_000),
                  "until": (1, 1_000_000_000)}
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if value is None:
                continue
            if self.timing != "exact":
                raise UsageError(f"--{name} has no meaning without --timing exact")
            if not least <= value <= most:
                raise UsageError(f"--{name}: a number from {least} to {most}, not {value}")
        if self.timing == "exact" and not self.argv:
            raise UsageError("--timing exact runs a command (after --): what is typed comes at "
                             "no exact time")
        if self.timing == "exact" and self.accel != "tcg":
            raise UsageError("--timing exact needs --accel tcg, which counts instructions")
        if self.recording is not None:
            self._check_recording()

    def can_be_recorded(self) -> bool:
        try:
            self._check_recording()
        except UsageError:
            return False
        return True

    def _check_recording(self) -> None:
        if self.timing != "exact":
            raise UsageError("--reverse needs --timing exact: only a run whose instructions are counted "
                             "can be repeated")
        if self.processors() != 1:
            raise UsageError("--reverse needs --engine one: QEMU records machines of one processor only")
        if self.boot != "kernel":
            raise UsageError("--reverse needs --boot kernel: QEMU does not record the CD drive")

    def __post_init__(self) -> None:
        self.build = self.build or build_dir(self.debug)
        self._rings_at = 0  # MiB

    def guest_files(self) -> Iterator[tuple[Path, str]]:
        """Pairs of host path and guest path."""
        for item in self.files:
            host, colon, guest = str(item).partition(":")
            path = Path(host)
            if not path.is_file():
                raise UsageError(f"--file: {host}: no such file")
            if colon and not guest.startswith("/"):
                raise UsageError(f"--file: {guest!r} is not an absolute path of the guest")
            yield path, guest or f"/host/{path.name}"

    def brought(self) -> Iterator[tuple[Path, str]]:
        """Pairs of host path and guest path of programs for which the RAM disk has no room (BROUGHT of the
        makefile): those that a word of the command names; for a shell, those that a file of the run needs."""
        words = set(re.findall(r"[\w.-]+", " ".join(self.argv)))
        if not self.argv and any(Path(guest).suffix in (".class", ".jar") for _, guest in self.guest_files()):
            words.add("java")
        for path in sorted((self.build / "brought").glob("*")):
            if path.name in words:
                yield path, f"/bin/{path.name}"

    def host_program(self) -> Path | None:
        """The ELF file, with symbols, of the program that argv names, or None."""
        name = self.argv[0] if self.argv else "sh"
        for path, guest in self.guest_files():
            if (name in (guest, path.name) and guest == f"/host/{path.name}") or name == guest:
                return path
        path = self.build / "bin" / Path(name).name
        return path if path.is_file() else None

    def stem(self) -> str:
        """A name for files of the host about a run: the program's, and the seed."""
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", Path(self.argv[0]).name if self.argv else "sh").lstrip(".") or "run"
        return name if self.seed is None else f"{name}-seed{self.seed}"

    def run_file(self, terminal: bool) -> bytes:
        """/etc/weft-run: what init shall start, and hand over at its end; init.c has its form.
        WEFT_CONSOLE tells init how to set the console up."""
        env = {"WEFT_CONSOLE": "tty" if terminal else "pipe"}
        if self.model is not None:
            env["LIBTHREAD"] = self.model
        if self.options is not None:
            env["LIBTHREAD_OPTIONS"] = self.options
        env.update(self.env)
        strings = [f"{name}={value}" for name, value in env.items()]
        argv = self.argv or ["sh"]
        strings += ["", str(len(argv)), *argv, *self.wanted, ""]
        if any("\0" in s for s in strings):
            raise UsageError("an argument holds a NUL")
        text = b"".join(encoded(s) + b"\0" for s in strings)
        return text + bytes(-len(text) % RUN_FILE_BLOCK)

    def write_initrd(self, path: Path, terminal: bool) -> None:
        """The build's initial RAM disk, and a second archive with this run's files.  When the guest has ended,
        DISKS may have the file back."""
        extra = Archive()
        extra.file("/etc/weft-run", self.run_file(terminal))
        if self.timing == "exact":
            extra.file("/etc/weft-stdin", self.stdin)
        for host, guest in (*self.brought(), *self.guest_files()):
            try:
                extra.file(guest, host.read_bytes(), 0o755)
            except OSError as error:
                raise UsageError(f"--file: {error}") from error
        DISKS.write(self.build / "initrd.cpio", Path(path), extra.bytes())

    def processors(self) -> int:
        """Of QEMU."""
        return 1 if self.timing == "exact" and self.engine == "one" else self.smp

    def is_counted(self) -> bool:
        """Whether QEMU tells a debugger how many instructions it has executed."""
        return (self.stepped or self.debugger is not None) and self.timing == "exact" and not self.recording

    def _clock_and_console(self, work: str | Path) -> list[str]:
        if self.timing == "fast":
            return ["-accel", self.accel, "-cpu", "max", "-serial", "chardev:console"]
        # All CPUs in turn on one host thread, and every clock counts instructions; output
        # without polling, and a date that is always the same.
        recorder, snapshots = self._recorder(work) if self.recording else ("", [])
        return ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off" + recorder, "-cpu", "max",
                "-rtc", "base=2020-01-01,clock=vm", "-serial", "none",
                "-device", "isa-debugcon,iobase=0xe9,chardev=console", *snapshots]

    def _recorder(self, work: str | Path) -> tuple[str, list[str]]:
        """More words of -icount, and options."""
        log, snapshots = (f"{work}/{name}".replace(",", ",,") for name in (LOG, SNAPSHOTS))
        return (f",rr={self.recording},rrfile={log},rrsnapshot={FIRST_SNAPSHOT}",
                ["-drive", f"file={snapshots},format=qcow2,if=none",
                 # *Race:* QEMU's main thread loads a snapshot, and resets this device; the thread of the
                 # processor is about to take the lock of the log, which the main thread holds.  *Without
                 # this:* each thread waits for the other for ever, in QEMU 7.2 at every second snapshot.
                 # *Closed by:* the machine has no such device, and weft uses none.
                 "-global", "apic-common.vapic=off"])

    def cmdline(self, stays: bool = False) -> str:
        words = [] if self.verbose else ["quiet"]
        words.append(f"timing={self.timing}")
        words += [f"{name}={getattr(self, name)}" for name in ("seed", "quantum", "mips", "until")
                  if getattr(self, name) is not None]
        if self.timing == "exact" and self.engine == "one":
            words.append(f"engine=one cpus={self.smp}")
        if self.free is not None:
            words.append(f"free={_megabytes(self.free)}")
        if stays:
            words.append("stay" if self.keep is None else "stay=all")
        if self.rings is not None:
            words.append(f"probe-memory={self._rings_at} probe-records={self.rings[0]}")
        if self.append:
            words.append(self.append)
        return " ".join(words)

    def _memory(self, initrd: Path) -> str:
        """For QEMU.  Beside what shall be free there is the initial RAM disk, whose files keep their
        pages, and the kernel, which has a part of the whole in tables."""
        if self.free is None:
            return self.mem
        free = _megabytes(self.free)
        return f"{free + (initrd.stat().st_size >> 20) + 24 + free // 16}M"

    def _memory_options(self, initrd: Path, work: str | Path) -> list[str]:
        memory = self._memory(initrd)
        if self.rings is None:
            return ["-m", memory]
        # Another module of memory, of which the kernel knows nothing else: the RAM, and with it every
        # page that the kernel uses, is the same as without a trace.  QEMU places it behind 4 GiB and the
        # RAM above; a machine `pc` has RAM there if it has more than 3.5 GiB.
        mib = _megabytes(memory)
        above = mib - 3072 if mib > 3584 else 0
        self._rings_at = 4096 + -(-above // 1024) * 1024
        path = f"{work}/{RINGS}".replace(",", ",,")
        size = -(-self.rings[1] >> 21) << 21
        return ["-m", f"{memory},slots=1,maxmem={mib + 2048}M",
                "-object", f"memory-backend-file,id=rings,mem-path={path},size={size},share=on",
                "-device", f"pc-dimm,memdev=rings,addr={self._rings_at << 20}"]

    def qemu(self, work: str | Path, terminal: bool, console: str, events: int | None = None) -> list[str]:
        """The command line of QEMU; what it needs is written into the directory `work`.
        console: the back end of the serial console, a -chardev without its id.  events: a socket, as a number that
        QEMU inherits, on which it tells how the guest ends (events.py).  With it, a guest that does not end well
        stands still, and QEMU stays, if there can be a monitor (not for a recording)."""
        self.check()
        if shutil.which(QEMU) is None:
            raise HostError(f"{QEMU} is not installed (Debian: qemu-system-x86; `make setup`)")
        kernel, initrd = self.kernel or self.build / "weft.elf", Path(work) / INITRD
        for need in (kernel, self.build / "initrd.cpio"):
            if not need.is_file():
                raise HostError(f"{need} is not built; call make")
        self.write_initrd(initrd, terminal)
        if self.disk_written is not None:
            DISKS.forget(initrd)
            self.disk_written(initrd)
        command = [QEMU, "-machine", "pc", *self._clock_and_console(work),
                   "-smp", str(self.processors()), *self._memory_options(initrd, work),
                   "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                   "-chardev", f"{console},id=console",
                   "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        socket = f"{work}/{QMP_SOCKET}"
        # If the socket's name is too long, only what tells of a failure is lost.
        stays = events is not None and not self.recording and len(os.fsencode(socket)) < SOCKET_NAME
        if self.wanted or self.recording or stays:
            command += ["-qmp", f"unix:{socket},server=on,wait=off"]
        if self.is_counted():
            command += ["-qmp", f"unix:{work}/{COUNTER},server=on,wait=off"]
        if self.stepped or stays:  # a guest that resets itself stands still
            command += ["-action", "shutdown=pause"]
        if stays:
            command += ["-chardev", f"socket,id=events,fd={events}", "-mon", "chardev=events,mode=control"]
        if self.debugger is not None:
            command += ["-gdb", f"unix:{work}/stub,server=on,wait=off"]
            command += ["-S"] if self.debugger == "wait" else []
        if self.boot == "kernel":
            # After qboot, which leaves no timer running, QEMU 7.2 with several processors in exact timing tells
            # GDB of a first step that it has not made.
            command += [] if self.stepped or self.debugger == "wait" else firmware()
            command += ["-kernel", str(kernel), "-initrd", str(initrd), "-append", self.cmdline(stays)]
        else:
            image = Path(work) / "weft.iso"
            try:
                iso.make(image, kernel, initrd, self.cmdline(stays))
            except (iso.IsoError, OSError, subprocess.SubprocessError) as error:
                raise HostError(str(error)) from error
            initrd.unlink()
            # An AHCI drive gives the loader its blocks by DMA.  The IDE drive of -cdrom gives two bytes an
            # instruction; when QEMU counts instructions, that takes the host twelve times as long.
            command += ["-drive", f"file={str(image).replace(',', ',,')},if=none,id=cd,media=cdrom,readonly=on",
                        "-device", "ahci,id=ahci", "-device", "ide-cd,bus=ahci.0,drive=cd,bootindex=0"]
        return command
