"""A copy of weft, source and build, into which patches of tests/bugs have put a bug."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
BUGS = TOP / "tests/bugs"
# Folders of objects and libraries.
BUILT = ("kernel", "libthread", "newlib-extra", "user", "java", "tests", "sysroot")


def _copy_sources(tree):
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"],
                           capture_output=True, check=True).stdout.decode()
    folders = {Path()}
    for name in files.split("\0"):
        if name and (TOP / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, tree / name)  # with its time: make must see what is new
            folders.update(Path(name).parents)
    for name in folders:  # make looks at theirs too
        shutil.copystat(TOP / name, tree / name)


def _copy_build(tree):
    build = tree / "build"
    for name in BUILT:
        shutil.copytree(TOP / "build" / name, build / name)
    for name in ("weft.elf", "initrd.cpio"):
        shutil.copy2(TOP / "build" / name, build / name)
    for name in ("newlib", "venv"):
        (build / name).symlink_to(TOP / "build" / name)


def _build(tree, patch, program):
    if not (tree / "build/bin" / program).exists():  # a bug of the kernel leaves it as it is
        (tree / "build/bin").mkdir(exist_ok=True)
        shutil.copy2(TOP / "build/bin" / program, tree / "build/bin")
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    env["GIT_CEILING_DIRECTORIES"] = str(tree.parent)
    for command in (["git", "apply", BUGS / f"{patch}.patch"],
                    ["make", "-s", "build/weft.elf", f"build/bin/{program}"]):
        subprocess.run(command, cwd=tree, env=env, check=True, stdin=subprocess.DEVNULL)


def make(tree, bug, program):
    """Fills the new folder `tree`: its kernel and its `program` have the bug, the programs
    of its RAM disk have not.  Raises CalledProcessError if the patch does not fit any more."""
    _copy_sources(tree)
    _copy_build(tree)
    _build(tree, bug, program)


def _files(folder):
    """Yields (path, time) of each file below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif not entry.is_symlink():
                yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns


class Workshop:
    """One copy for many bugs, one at a time: what a bug has changed is put back, so that the
    next one costs no more than what it changes itself."""

    def __init__(self, folder):
        self._tree = folder / "tree"
        self._folder = folder
        self._made = {}
        self._tree.mkdir()
        _copy_sources(self._tree)
        _copy_build(self._tree)
        self._sound = dict(_files(self._tree))

    def make(self, patches, program):
        """Applies the patches one after the other.  For each a folder, which a Machine can have as
        its build: a kernel and a `program` with it, and with those before it.  Raises
        CalledProcessError if a patch does not fit any more."""
        key = (*patches, program)
        if key not in self._made:
            self._made[key] = [self._make(patch, program) for patch in patches]
            self._put_back()
        return self._made[key]

    def _make(self, patch, program):
        _build(self._tree, patch, program)
        made = Path(tempfile.mkdtemp(dir=self._folder, prefix=patch))
        shutil.copy2(self._tree / "build/weft.elf", made)
        shutil.copy2(self._tree / "build/bin" / program, made)
        (made / "initrd.cpio").symlink_to(TOP / "build/initrd.cpio")
        return made

    def _put_back(self):
        for path, time in _files(self._tree):
            if path not in self._sound:
                os.unlink(path)
            elif time != self._sound[path]:
                shutil.copy2(TOP / os.path.relpath(path, self._tree), path)
