"""The virtual environment that the host command runs in: made on first use.

Only the standard library here: this runs before the environment exists.
"""

import fcntl
import os
import shutil
import subprocess
import sys

from .paths import BUILD, TOP, VENV

REQUIREMENTS = TOP / "tools/requirements.txt"
STAMP = VENV / "requirements.txt"  # what the environment was made from


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


def enter():
    """Returns inside of the environment, after one re-execution at most."""
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
