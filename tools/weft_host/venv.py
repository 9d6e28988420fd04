"""The virtual environment that the host command runs in: made on first use.

requirements.txt is what every command needs.  Sets of packages that only some need are added to the
same environment when they are asked for: requirements-SET.txt.

Only the standard library here: this runs before the environment exists.
"""

import fcntl
import importlib
import os
import shutil
import subprocess
import sys

from .paths import BUILD, TOP, VENV

REQUIREMENTS = TOP / "tools/requirements.txt"
STAMP = VENV / "requirements.txt"  # what the environment was made from
SETS = ("report", "cluster", "browser")


def _fresh():
    return STAMP.is_file() and STAMP.read_bytes() == REQUIREMENTS.read_bytes()


def _call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit(f"{done.stdout}weft: cannot make the Python environment; it needs Python's venv "
                 "module (Debian: python3-venv) and, once, the network")


def _make():
    print("weft: making the Python environment build/venv (once, about half a minute)",
          file=sys.stderr, flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    _call(sys.executable, "-m", "venv", str(VENV))
    _call(str(VENV / "bin/python"), "-m", "pip", "install", "--quiet",
          "--disable-pip-version-check", "-r", str(REQUIREMENTS))
    # Last, so that an interrupted installation does not look complete.
    shutil.copyfile(REQUIREMENTS, STAMP)


def add(name):
    """Sees that a set of SETS is in the environment, in which this process runs."""
    wanted, stamp = TOP / f"tools/requirements-{name}.txt", VENV / f"requirements-{name}.txt"

    def there():
        return stamp.is_file() and stamp.read_bytes() == wanted.read_bytes()

    if there():
        return
    with open(BUILD / ".venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not there():
            print(f"weft: installing the Python packages for {name} into build/venv (once)",
                  file=sys.stderr, flush=True)
            # The other sets' versions stay, also where this one would like newer ones.
            done = subprocess.run(
                [str(VENV / "bin/python"), "-m", "pip", "install", "--quiet",
                 "--disable-pip-version-check", "-c", str(REQUIREMENTS), "-r", str(wanted)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                sys.exit(f"{done.stdout}weft: cannot install the packages of {wanted.name}; that "
                         "needs, once, the network")
            shutil.copyfile(wanted, stamp)
    importlib.invalidate_caches()


def enter():
    """Returns inside of the environment, after one re-execution at most."""
    try:
        _enter()
    except OSError as error:  # of execv it names no file
        sys.exit(f"weft: {error.filename or VENV / 'bin/python'}: {error.strerror}; weft keeps its Python "
                 "packages in build/venv")


def _enter():
    if sys.version_info < (3, 10):
        sys.exit("weft: needs Python 3.10 or newer")
    inside = os.path.realpath(sys.prefix) == os.path.realpath(VENV)
    if _fresh() and inside:
        return
    BUILD.mkdir(exist_ok=True)
    if not _fresh():
        if inside:  # it cannot replace itself while it runs
            sys.exit("weft: tools/requirements.txt has changed: call tools/weft from outside of "
                     "build/venv")
        with open(BUILD / ".venv.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another weft may be making it right now
            if not _fresh():
                _make()
    python = str(VENV / "bin/python")
    os.execv(python, [python, *sys.argv])
