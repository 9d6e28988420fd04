"""A copy of weft, source and build, into which a patch of tests/bugs has put a bug."""

import os
import shutil
import subprocess

from conftest import TOP

BUGS = TOP / "tests/bugs"
BUILT = ("kernel", "libthread", "user", "tests", "sysroot")  # folders of objects and libraries


def _copy_sources(tree):
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"],
                           capture_output=True, check=True).stdout.decode()
    for name in files.split("\0"):
        if name and (TOP / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, tree / name)  # with its time: make must see what is new


def _copy_build(tree):
    build = tree / "build"
    for name in BUILT:
        shutil.copytree(TOP / "build" / name, build / name)
    for name in ("weft.elf", "initrd.cpio"):
        shutil.copy2(TOP / "build" / name, build / name)
    for name in ("newlib", "venv"):
        (build / name).symlink_to(TOP / "build" / name)


def make(tree, bug, program):
    """Fills the new folder `tree`: its kernel and its `program` have the bug, the programs
    of its RAM disk have not.  Raises CalledProcessError if the patch does not fit any more."""
    _copy_sources(tree)
    _copy_build(tree)
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    env["GIT_CEILING_DIRECTORIES"] = str(tree.parent)
    for command in (["git", "apply", BUGS / f"{bug}.patch"],
                    ["make", "-s", "build/weft.elf", f"build/bin/{program}"]):
        subprocess.run(command, cwd=tree, env=env, check=True, stdin=subprocess.DEVNULL)
