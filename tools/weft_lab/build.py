"""Builds a student's solution: labs/labs.mk compiles the student's files in the place of weft's.

Nothing of the student's is executed on the host, except by the compiler, under limits of time and memory.  What
the compiler reads is looked at: a file that includes another one than weft's, or whose assembly brings one in,
is refused, because its contents would then be in the guest.
"""

import re
import resource
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from weft_host import ccmd
from weft_host.machine import HostError
from weft_host.paths import TOP

from .lab import Lab

LIMITS = ((resource.RLIMIT_CPU, 120), (resource.RLIMIT_AS, 4 << 30), (resource.RLIMIT_FSIZE, 256 << 20))
SECONDS = 600  # of the host's clock, for a build that waits for something
MOST_TEXT = 20000  # bytes of what a compiler says
MOST_SOURCE = 1 << 20  # bytes of a student's file
# Directives of the assembler that read a file, and those that could put the name of such a one together.
READS = re.compile(r"\.(?:incbin|include|macro|irpc?|altmacro|rept|rep)\b", re.IGNORECASE)
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')


class BuildFailed(Exception):
    """The student's files do not compile or link; the text says why, for the student."""


@dataclass(frozen=True)
class Built:
    """A build directory, as Machine.build wants it, and what the compiler said."""

    folder: Path
    log: str

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def build(lab: Lab, student: Path, out: Path, program: str = "") -> Built:
    """Builds the files of the folder `student` into the directory `out`, for all tests or those of one
    program.  The plain build has been made.  Raises BuildFailed; HostError if the host cannot build."""
    _take_files(lab, student, out / "src")
    words = [f"LAB={lab.folder.name}", f"LAB_OUT={out.resolve()}"]
    try:
        _make(out, *words, "lab-tests")
    except BuildFailed as error:  # no file of the student's is in it
        raise HostError(f"the tests of lab {lab.name} do not compile:\n{error}") from error
    # Before the code, since an error in a file that is no C shows its lines.
    _make(out, *words, "lab-includes")
    _check_includes(lab, out)
    log = _make(out, *words, "lab-code")
    _check_assembly(lab, out)
    log += _make(out, *words, *([f"LAB_ONLY={program}"] if program else []), "lab")
    return Built(out.resolve(), log)


def _take_files(lab: Lab, student: Path, source: Path) -> None:
    """Copies the student's files to the names that they replace, and beside them what the lab gives; files that
    have not changed keep their times."""
    for mine, theirs in lab.replaces.items():
        path = student / mine
        try:
            if path.is_symlink() or not path.is_file():
                raise BuildFailed(f"{mine} is not there: lab {lab.name} wants {', '.join(lab.replaces)}")
            if path.stat().st_size > MOST_SOURCE:
                raise BuildFailed(f"{mine} has more than {MOST_SOURCE} bytes")
            text = path.read_bytes()
        except OSError as error:
            raise BuildFailed(f"{mine}: {error.strerror}") from error
        _place(source / theirs, text)
    for given in sorted(path for path in lab.given.rglob("*") if path.is_file()):
        _place(source / given.relative_to(lab.given), given.read_bytes())


def _place(to: Path, text: bytes) -> None:
    if not to.is_file() or to.read_bytes() != text:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(text)


def _limit() -> None:
    for what, most in LIMITS:
        resource.setrlimit(what, (most, most))


def _make(out: Path, *words: str) -> str:
    """What it printed.  Raises BuildFailed."""
    command = ["make", "-s", "-C", str(TOP), *words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=_limit, timeout=SECONDS, env=_environment())
    except FileNotFoundError as error:
        raise HostError("make is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise BuildFailed("the compiler does not end") from error
    text = done.stdout[:MOST_TEXT].decode(errors="replace").replace(f"{out.resolve()}/src/", "")
    if done.returncode != 0:
        raise BuildFailed("\n".join(line for line in text.splitlines() if not line.startswith("make")))
    return text


def _environment() -> dict[str, str]:
    """Nothing of the caller's but what a compiler needs: a student's file sees no variable of it."""
    import os

    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}


def _check_includes(lab: Lab, out: Path) -> None:
    """Raises BuildFailed for a file that includes what is not weft's."""
    allowed = [TOP / name for name in ("kernel", "libthread", "user", "build/newlib")]
    allowed = [folder.resolve() for folder in (*allowed, out / "src", _compiler_headers())]
    for mine, theirs in lab.replaces.items():
        listed = (out / f"{theirs}.includes").read_text(errors="surrogateescape").replace("\\\n", " ")
        for name in shlex.split(listed)[1:]:
            path = (TOP / name).resolve()
            if not any(path.is_relative_to(folder) for folder in allowed):
                raise BuildFailed(f"{mine} includes {path.name}, which is no file of weft's")


def _check_assembly(lab: Lab, out: Path) -> None:
    """Raises BuildFailed for a file whose assembly reads files."""
    for mine, theirs in lab.replaces.items():
        for line in (out / f"{theirs}.s").read_text(errors="replace").splitlines():
            if READS.search(QUOTED.sub("", line)):
                raise BuildFailed(f"{mine}: assembly with {line.strip()[:60]!r} is not for a lab")


def _compiler_headers() -> Path:
    command = [*shlex.split(ccmd.compiler()), "-print-file-name=include"]
    done = subprocess.run(command, capture_output=True, text=True)
    return Path(done.stdout.strip())


def clean(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
