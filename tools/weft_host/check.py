"""What `make test`, `make format` and `make check-format` call."""

import os
import re
import subprocess
import sys

from .machine import HostError
from .paths import TOP, VENV

CLANG_FORMAT = VENV / "bin/clang-format"


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


def check_format(args):
    bad = badly_formatted(c_sources())
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


def format_all(args):
    return subprocess.run([CLANG_FORMAT, "-i", *c_sources()]).returncode


def run_pytest(argv):
    """pytest on tests/, a test for each core side by side, and one more, since those with a guest in
    fast timing take turns (tests/conftest.py)."""
    os.chdir(TOP)
    side_by_side = min((os.cpu_count() or 1) + 1, 8)
    options = [] if any(word in ("-n", "--pdb") for word in argv) else ["-n", str(side_by_side)]
    if not any(os.path.exists(word.partition("::")[0]) for word in argv):
        options.append("tests")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *options, *argv])
