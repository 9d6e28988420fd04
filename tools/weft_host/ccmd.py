"""weft cc: compiles a C program against libthread and the C library.

The options to compile and to link with are those that the programs of this repository are
built with; the build writes them to the sysroot.  All others go to GCC as they are.
"""

import contextlib
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from . import build, mark
from .machine import HostError, UsageError
from .paths import TOP, build_dir

USAGE = """\
usage: weft cc FILE.c... -o PROG [-c] [-O2 -g -I DIR -D NAME -l NAME ...]

Compiles a C program against libthread and the C library, to be run by
`weft run --file PROG -- PROG`.  Options are GCC's, and:
  --debug     against the build with DEBUG=1
  --no-build  do not call make first
"""

# A program written for another system may ask for threads, which weft always has.
NOT_NEEDED = ("-pthread", "-lpthread", "-lthread", "-lrt")

# What GCC would take, and fail at with hundreds of lines about the host's own libraries.
OPENMP = ("-fopenmp", "-fopenacc", "-lgomp")
NO_OPENMP = "weft has no library of OpenMP; create the threads with pthread_create()"
NO_CPP = "weft has no C++ library, and compiles C alone"
CPP_SUFFIXES = {".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".hh", ".hpp", ".hxx"}
CPP_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[a-z_]+>)", re.MULTILINE)
OPENMP_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]omp\.h[>\"]", re.MULTILINE)


def compiler():
    """The command that compiles x86-64 code.  Raises HostError."""
    found = subprocess.run([TOP / "tools/find-cc"], capture_output=True, text=True)
    if found.returncode != 0:
        raise HostError("there is no compiler that makes x86-64 code; see `make setup`")
    return found.stdout.strip()


def options_of(path):
    """The options in a file of the sysroot, which is that of this very tree: a copied tree compiles
    against itself."""
    if not path.is_file():
        raise HostError(f"{path} is not built; call make")
    return [word.replace("@SYSROOT@", str(path.parent)) for word in shlex.split(path.read_text())]


def _refuse(words):
    """Raises UsageError for another language than C."""
    for word, following in zip(words, [*words[1:], ""]):
        if word in OPENMP:
            raise UsageError(f"{word}: {NO_OPENMP}")
        if not word.startswith("-") and Path(word).suffix in CPP_SUFFIXES:
            raise UsageError(f"{word}: {NO_CPP}")
        if word.startswith("-xc++") or (word == "-x" and following.startswith("c++")):
            raise UsageError(f"-x c++: {NO_CPP}")


def _explain(words, folder):
    """After a failure: prints a line for each C source that is written for what weft has not."""
    for path in (Path(folder or ".") / word for word in words if word.endswith(".c")):
        with contextlib.suppress(OSError):
            text = path.read_text(errors="replace")
            if header := CPP_HEADER.search(text):
                print(f"weft cc: {path}: {header[1]} is a header of C++: {NO_CPP}", file=sys.stderr)
            elif OPENMP_HEADER.search(text):
                print(f"weft cc: {path}: <omp.h> is OpenMP's: {NO_OPENMP}", file=sys.stderr)


def cc(argv):
    """The compiler's exit status.  argv is not for argparse: the order of GCC's options counts."""
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if argv else 2
    debug, may_build = "--debug" in argv, "--no-build" not in argv
    own = [word for word in argv if word not in ("--debug", "--no-build")]
    if not any(word.startswith("-o") for word in own):
        raise UsageError("-o PROG is missing")
    _refuse(own)  # before there is anything to build for it
    if may_build:
        build.make("sysroot", debug=debug)
    return compile(own, debug=debug)


def compile(own, debug=False, folder=None):
    """The compiler's exit status.  own: options and files, as seen from folder.  A program that is
    linked is marked with what it is linked with (mark.py).  Raises UsageError for another language."""
    own = [word for word in own if word not in NOT_NEEDED]
    _refuse(own)
    sysroot = build_dir(debug) / "sysroot"
    command = [compiler(), *options_of(sysroot / "cflags"), *own]
    if {"-c", "-S", "-E"} & set(own):
        return _compiled(command, own, folder)
    with tempfile.NamedTemporaryFile("w", prefix="weft.", suffix=".s") as marks:
        marks.write(mark.source(debug))
        marks.flush()
        command += ["-x", "none", marks.name, *options_of(sysroot / "ldflags")]
        return _compiled(command, own, folder)


def _compiled(command, own, folder):
    """The compiler's exit status; of a failure a line says what it has failed at, if that is known."""
    status = subprocess.run(command, cwd=folder).returncode
    if status != 0:
        _explain(own, folder)
    return status
