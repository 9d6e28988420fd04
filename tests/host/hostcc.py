"""Compiles parts of the kernel for the host, so that a test can run them there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOST_CC = os.environ.get("HOST_CC") or shutil.which("cc") or shutil.which("gcc")
FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
         "-DWEFT_DEBUG", "-DWEFT_ON_HOST", "-I", ROOT / "kernel/include"]


def compile_c(output, *sources, shared=False):
    """Builds `output` from sources named from the root; skips the test without a compiler."""
    if HOST_CC is None:
        pytest.skip("no compiler for the host itself")
    how = ["-shared", "-fPIC"] if shared else [
        "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run([HOST_CC, *FLAGS, *how, "-o", output, *(ROOT / s for s in sources)], check=True)
    return output


def run(program, *args, **kwargs):
    """Runs a test program; it must end well.  Returns what it printed."""
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([program, *map(str, args)], capture_output=True, timeout=120, env=env,
                          **kwargs)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout
