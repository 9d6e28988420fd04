"""Calls make."""

import fcntl
import subprocess
import sys

from .machine import HostError
from .paths import BUILD, TOP


def make(*goals, debug=False):
    """Builds goals (none: all that a guest needs).  Output goes to standard error.
    One at a time, since two makes in one build directory would trip over each other."""
    command = ["make", "-s", "-j2", "-C", str(TOP), *goals]
    if debug:
        command.append("DEBUG=1")
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".make.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode != 0:
            raise HostError("the build failed")
