"""What `make test`, `make format` and `make check-format` call."""

import os
import re
import subprocess
import sys

from . import english, venv
from .machine import HostError
from .paths import BUILD, TOP, VENV

CLANG_FORMAT, RUFF = VENV / "bin/clang-format", VENV / "bin/ruff"


def c_sources():
    """Every C source and header of the repository."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard",
                            "--", "*.c", "*.h"], capture_output=True, check=True).stdout
    return sorted(TOP / name for name in files.decode().split("\0")
                  if name and (TOP / name).is_file())


def badly_formatted(files):
    """Those that clang-format would change, with what it says first about each."""
    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *files], capture_output=True,
                          text=True)
    said = {}
    for line in done.stderr.splitlines():
        if match := re.fullmatch(r"(.+?):(\d+):\d+: error: (.*)", line):
            said.setdefault(match[1], f"{match[1]}:{match[2]}: {match[3]}")
    if done.returncode != 0 and not said:
        raise HostError(f"clang-format failed: {done.stderr.strip()}")
    return list(said.values())


def _complaints(name, *command):
    """The lines that a checker of the whole tree prints, FILE:LINE first; none if it is content."""
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if re.match(r"[^ ]+:\d+:", line)]
    if done.returncode != 0 and not lines:
        raise HostError(f"{name} failed: {done.stdout.strip()}{done.stderr.strip()}")
    return lines if done.returncode != 0 else []


def ruff(*paths):
    """What the rules of pyproject.toml say against these files of Python; without any: all."""
    return _complaints("ruff", RUFF, "check", "--quiet", "--output-format", "concise", *paths)


def mypy(*options):
    """Types of the host command that do not fit.  options: in place of the packages in pyproject.toml."""
    return _complaints("mypy", sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context",
                       *options)


def check_format(args):
    """weft check-format"""
    venv.add("test")
    text = english.check()
    bad = [*badly_formatted(c_sources()), *ruff(), *mypy(), *text.hits, *text.stale]
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


def format_all(args):
    """weft format: of Python only the order of imports is made, and what ruff can mend safely."""
    venv.add("test")
    subprocess.run([CLANG_FORMAT, "-i", *c_sources()], check=True)
    return subprocess.run([RUFF, "check", "--fix", "--quiet"], cwd=TOP).returncode


def run_pytest(argv):
    """pytest on tests/, a test for each core side by side, and one more, since those with a guest in
    fast timing take turns (tests/conftest.py)."""
    venv.add("test")
    os.chdir(TOP)
    side_by_side = min((os.cpu_count() or 1) + 1, 8)
    options = [] if any(word in ("-n", "--pdb") for word in argv) else ["-n", str(side_by_side)]
    if "--pdb" not in argv:  # the groups and the order of tests/conftest.py
        options += ["--dist", "loadgroup", "--no-loadscope-reorder"]
    if not any(os.path.exists(word.partition("::")[0]) for word in argv):
        options.append("tests")
    # What pytest starts keeps compiled modules in build/, too.
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix or str(BUILD / "pycache")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *options, *argv])
