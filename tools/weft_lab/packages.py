"""Ready autograders for courses' web services: weft itself, one lab, and what starts `weft grade` there.

`weft grade --package gradescope LAB -o FILE`: a zip file to upload.  "Autograder Specifications" in Gradescope's
documentation: setup.sh and run_autograder stand in its root; setup.sh installs all when the image is made.

`weft grade --package classroom50 LAB -o FILE`: a zip file to unpack beside the assignment's other files, in
CLASSROOM/autograders/ASSIGNMENT of the course's repository `classroom50`.  "Advanced Autograding" in Classroom 50's
documentation: its own workflow starts autograder.py for each submission, in the student's files, and
publishes the result.json that autograder.py leaves.  runtime.json is for `gh teacher assignment add --runtime`.
try-LAB.yaml is a workflow of GitHub that grades the skeleton by hand, before students do.

The sources of weft go along, without its tests and documents and without other labs and the wrong solutions, so
that a package depends on nothing else, and grades the same as long as it is used.  The secret of the hidden set
goes along for Gradescope.  Classroom 50 publishes the package, and everybody with its address can read it: there
the visible set alone is graded.
"""

import argparse
import gzip
import io
import json
import re
import shlex
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft_host.machine import HostError, UsageError
from weft_host.paths import TOP

from . import files

HERE = Path(__file__).resolve().parent
PACKAGED = HERE / "packaged"
SOURCES = "weft.tar.gz"
SECRET = "secret"  # the file
# What a grade depends on, from the top.
PARTS = ("Makefile", "pyproject.toml", "README.md", "LICENSE", "kernel", "libthread", "user", "tools", "labs",
         "tests/guest")  # its headers, which programs of labs include
SHARED = ("common",)  # folders of labs/ that every lab needs
KEPT_BACK = ("wrong", "own")  # folders of a lab: the lecturer's
SKIPPED = {"__pycache__", ".git"}
LIMIT = 10 << 20  # bytes that Classroom 50's runner takes of an autograder
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file knows: the same files make the same bytes
# What Classroom 50 gives the autograder to run on.  Its python3 is of this version.
RUNTIME = {"runs-on": "ubuntu-24.04", "python": "3.12"}


@dataclass(frozen=True)
class Autograder:
    """What a package is made for."""

    lab: str  # as the host command knows it: "park"
    folder: Path  # of the lab, in labs/
    options: Sequence[str] = ()  # further words for `weft grade`
    secret: str | None = None  # that the hidden set is drawn from

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", self.lab):  # it becomes a word of scripts
            raise UsageError(f"{self.lab!r} is no name of a lab")


def _listed() -> list[Path]:
    """All files of PARTS, from the top: what git knows and what is new; in a tree without git, what is there."""
    if (TOP / ".git").exists():
        done = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard", "--", *PARTS],
                              capture_output=True, check=True)
        names = [Path(name) for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name]
    else:
        names = [path.relative_to(TOP) for part in PARTS for path in [TOP / part, *(TOP / part).rglob("*")]
                 if not SKIPPED.intersection(path.parts)]
    return sorted(name for name in set(names) if (TOP / name).is_file())


def sources(folder: Path) -> list[Path]:
    """The files, from the top, that the grade of the lab in this folder depends on: weft's sources and that lab."""
    labs = TOP / "labs"

    def belongs(name: Path) -> bool:
        if name.parts[0] == "tests":
            return name.suffix == ".h"
        if name.parts[0] != "labs" or len(name.parts) == 2:
            return True
        shown = name.parts[1] in SHARED or labs / name.parts[1] == folder.resolve()
        return shown and name.parts[2] not in KEPT_BACK

    return [name for name in _listed() if belongs(name)]


def _archive(folder: Path) -> bytes:
    """The sources as a tar file, which unpacks to a folder weft."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for name in sources(folder):
            file = TOP / name
            entry = tarfile.TarInfo(f"weft/{name}")
            entry.mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
            content = file.read_bytes()
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _filled(name: str, autograder: Autograder) -> str:
    """A file of packaged/, with this lab and these options in their places."""
    text = (PACKAGED / name).read_text()
    quoted = "".join(f" {shlex.quote(word)}" for word in autograder.options)
    for place, words in (("@LAB@", autograder.lab), (" @OPTIONS@", quoted),
                         ("OPTIONS: list[str] = []", f"OPTIONS: list[str] = {list(autograder.options)!r}")):
        text = text.replace(place, words)
    return text


def gradescope(autograder: Autograder) -> dict[str, tuple[bytes, bool]]:
    """{name: contents, whether it is a program} of the zip file."""
    found = {"setup.sh": (_filled("setup.sh", autograder).encode(), True),
             "run_autograder": (_filled("run_autograder", autograder).encode(), True),
             SOURCES: (_archive(autograder.folder), False)}
    if autograder.secret is not None:
        found[SECRET] = f"{autograder.secret}\n".encode(), False
    return found


def classroom50(autograder: Autograder) -> dict[str, tuple[bytes, bool]]:
    """As of gradescope().  Raises UsageError: a secret; HostError: it is larger than Classroom 50 takes."""
    if autograder.secret is not None:
        raise UsageError("--secret: Classroom 50 publishes its autograders, so a secret in one is none")
    found = {"autograder.py": (_filled("autograder.py", autograder).encode(), True),
             "runtime.json": (json.dumps(RUNTIME, indent=2).encode() + b"\n", False),
             f"try-{autograder.lab}.yaml": (_filled("try.yaml", autograder).encode(), False),
             SOURCES: (_archive(autograder.folder), False)}
    size = sum(len(content) for content, _ in found.values())
    if size > LIMIT:
        raise HostError(f"the package has {size:,} bytes, and Classroom 50 takes {LIMIT:,}")
    return found


KINDS = {"gradescope": gradescope, "classroom50": classroom50}
NEXT = {
    "gradescope": "upload it as the autograder of a programming assignment; give it 2 CPUs and 3 GB of memory",
    "classroom50": "unpack it to CLASSROOM/autograders/ASSIGNMENT of the repository classroom50, with try-LAB.yaml "
                   "in .github/workflows; give the assignment the runtime of runtime.json",
}


def write(kind: str, autograder: Autograder, file: Path) -> str:
    """Writes the package, and tells in a sentence what to do with it.  The same tree makes the same bytes.
    Raises UsageError, HostError, OSError."""
    if kind not in KINDS:
        raise UsageError(f"--package: {kind!r} is none of {', '.join(KINDS)}")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, program) in KINDS[kind](autograder).items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the next line has the file's mode
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, content)
    files.write(file, packed.getvalue())
    return f"{file}: {NEXT[kind]}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """For `weft grade`; the file is its option -o."""
    parser.add_argument("--package", choices=KINDS,
                        help="grades nothing: writes an autograder of the lab for a course's web service, to -o")
