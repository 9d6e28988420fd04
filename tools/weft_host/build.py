"""Calls make."""

import fcntl
import os
import subprocess
import sys

from .machine import HostError
from .paths import BUILD, TOP


def make(*goals, debug=False):
    """Builds goals (none: all that a guest needs).  Output goes to standard error.
    One at a time, since two makes in one build directory would trip over each other."""
    command = ["make", "-s", f"-j{os.cpu_count() or 2}", "-C", str(TOP), *goals]
    if debug:
        command.append("DEBUG=1")
    # If make has called us, its options are not ours to hand on.
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".make.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=env)
        if done.returncode != 0:
            raise HostError("the build failed")
