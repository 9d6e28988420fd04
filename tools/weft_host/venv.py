"""The virtual environment that the host command runs in: made on first use.

pyproject.toml lists what every command needs, and groups of packages that only some need.  A group is
added to the same environment when it is asked for.  VENV/weft-GROUP lists what a group was installed
from, so that a change of pyproject.toml brings the new versions.

Only the standard library here: this runs before the environment exists.
"""

import contextlib
import fcntl
import importlib
import os
import shutil
import subprocess
import sys

from .paths import BUILD, TOP, VENV

GROUPS = ("test", "report", "cluster", "browser", "perfetto", "docs", "grade", "similarity")
BASE = "base"  # what every command needs


def _stamp(group):
    return VENV / f"weft-{group}"


def _locked():
    """The lock of the environment, until it is closed: another weft may be making it right now."""
    BUILD.mkdir(exist_ok=True)
    lock = open(BUILD / ".venv.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


class _Failed(Exception):
    """A command failed; the text is its output."""


def _call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise _Failed(done.stdout)


def _install(*packages):
    _call(str(VENV / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
          *packages)


# --- outside of the environment -------------------------------------------------------------

def _make():
    """A new environment with what every command needs."""
    print("weft: making the Python environment build/venv (once, about half a minute)",
          file=sys.stderr, flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        _call(sys.executable, "-m", "venv", str(VENV))
        _install("--editable", str(TOP))
        # Last, so that an interrupted installation does not look complete; and by the new
        # Python, because the old may be unable to read pyproject.toml.
        _call(str(VENV / "bin/python"), "-c", "from weft_host import venv; venv.record(venv.BASE)")
    except _Failed as failed:
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit(f"{failed}weft: cannot make the Python environment; it needs Python's venv "
                 "module (Debian: python3-venv) and, once, the network")


def enter():
    """Returns inside of the environment, after one re-execution at most."""
    try:
        _enter()
    except OSError as error:  # of execv it names no file
        sys.exit(f"weft: {error.filename or VENV / 'bin/python'}: {error.strerror}; weft keeps its "
                 "Python packages in build/venv")


def _enter():
    if sys.version_info < (3, 10):  # noqa: UP036 (any Python may call tools/weft)
        sys.exit("weft: needs Python 3.10 or newer")
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        add(BASE)
        return
    if not _stamp(BASE).is_file():
        with _locked():
            if not _stamp(BASE).is_file():
                _make()
    python = str(VENV / "bin/python")
    os.execv(python, [python, *sys.argv])


# --- inside -------------------------------------------------------------------------------------

def _wanted(group):
    """What the stamp of a group says when the group is installed."""
    from . import project  # not before there is an environment

    return "".join(f"{package}\n" for package in project.packages(group))


def record(group):
    """Says that a group is installed as pyproject.toml has it now."""
    _stamp(group).write_text(_wanted(group))


def _evidence(group):
    """What decides whether a group is installed: pyproject.toml, and what the group was installed from."""
    return (TOP / "pyproject.toml").read_bytes() + b"\0" + _stamp(group).read_bytes()


def _proved(group):
    """To read pyproject.toml takes Python a tenth of a short call.  So a file of build/ has the evidence with which
    a group was last found installed."""
    with contextlib.suppress(OSError):
        return (BUILD / f".venv-{group}").read_bytes() == _evidence(group)
    return False


def _prove(group):
    with contextlib.suppress(OSError):  # then the next call reads pyproject.toml again
        fresh = BUILD / f".venv-{group}.{os.getpid()}"
        fresh.write_bytes(_evidence(group))
        fresh.replace(BUILD / f".venv-{group}")


def add(group):
    """Sees that a group is in the environment, in which this process runs, as pyproject.toml says now."""
    if _proved(group):
        return
    _add(group)
    _prove(group)


def _add(group):
    wanted = _wanted(group)

    def there():
        return _stamp(group).is_file() and _stamp(group).read_text() == wanted

    if there():
        return
    with _locked():
        if not there():
            print(f"weft: installing the Python packages for {group} into build/venv (once)",
                  file=sys.stderr, flush=True)
            # With the base's, which stay, also where this group would like others.
            try:
                _install(*dict.fromkeys([*_wanted(BASE).splitlines(), *wanted.splitlines()]))
            except _Failed as failed:
                sys.exit(f"{failed}weft: cannot install the Python packages for {group}; that needs, "
                         "once, the network")
            record(group)
    importlib.invalidate_caches()


# --- weft setup -----------------------------------------------------------------------------

def add_options(parser):
    parser.add_argument("names", nargs="+", choices=GROUPS, metavar="GROUP", help=", ".join(GROUPS))


def setup(args):
    """weft setup GROUP..."""
    for name in args.names:
        add(name)
    return 0
