"""Packs the class files of a folder into a jar: jar.py JAR FOLDER. The same files give the same bytes.

They are stored, and not deflated: the machine finds a class in its own library without unpacking it."""

import sys
import zipfile
from pathlib import Path


def main(jar, folder):
    with zipfile.ZipFile(jar, "w") as archive:
        for path in sorted(Path(folder).rglob("*.class")):
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            archive.writestr(info, path.read_bytes())


main(*sys.argv[1:])
