"""What `make test`, `make format` and `make check-format` call."""

import os
import subprocess
import sys

from .paths import TOP, VENV

CLANG_FORMAT = VENV / "bin/clang-format"


def c_sources():
    """Every C source and header of the repository."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard",
                            "--", "*.c", "*.h"], capture_output=True, check=True).stdout
    return sorted(TOP / name for name in files.decode().split("\0")
                  if name and (TOP / name).is_file())


def badly_formatted(files):
    """Those that clang-format would change."""
    bad = []
    for path in files:
        done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", path], capture_output=True)
        if done.returncode != 0:
            bad.append(path.relative_to(TOP))
    return bad


def check_format(args):
    bad = badly_formatted(c_sources())
    for path in bad:
        print(f"{path}: clang-format would change it (make format)", file=sys.stderr)
    return 1 if bad else 0


def format_all(args):
    return subprocess.run([CLANG_FORMAT, "-i", *c_sources()]).returncode


def run_pytest(argv):
    """pytest on tests/, two tests side by side: most of them wait for a guest."""
    os.chdir(TOP)
    options = [] if any(word in ("-n", "--pdb") for word in argv) else ["-n", "2"]
    if not any(os.path.exists(word.partition("::")[0]) for word in argv):
        options.append("tests")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *options, *argv])
