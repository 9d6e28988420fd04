"""Compiles the class library and the programs with javac, and puts the class files beside their sources:

    java/classes.py          writes them (javac of JDK 9 to 19; the kept ones are of JDK 17)
    java/classes.py FOLDER   writes them into FOLDER/lib, FOLDER/bench and FOLDER/tests

Only these are needed to build and to test; a test compares them where there is the same javac."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent
PROGRAMS = ["bench", "tests"]
OPTIONS = ["-Xlint:-options", "-XDstringConcat=inline", "-g:source,lines", "-encoding", "UTF-8"]


def sources(folder):
    return sorted(map(str, folder.rglob("*.java")))


def compile_all(where):
    """The library is compiled against itself, and the programs as a user does it."""
    lib = where / "lib"
    lib.mkdir(parents=True)
    own = ["-source", "8", "-target", "8", "-bootclasspath", str(lib)]
    subprocess.run(["javac", *OPTIONS, *own, "-d", lib, *sources(TOP / "lib")], check=True)
    for part in PROGRAMS:
        (where / part).mkdir()
        subprocess.run(["javac", *OPTIONS, "--release", "8", "-d", where / part, *sources(TOP / part)], check=True)


def main():
    if sys.argv[1:]:
        compile_all(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        compile_all(Path(folder))
        for part in ("lib", *PROGRAMS):
            for old in (TOP / part).rglob("*.class"):
                old.unlink()
            shutil.copytree(Path(folder) / part, TOP / part, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
