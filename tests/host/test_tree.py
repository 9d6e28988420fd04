"""The kernel's balanced tree, compiled for the host and compared with a sorted array."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOST_CC = os.environ.get("HOST_CC") or shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def tree_test(tmp_path_factory):
    if HOST_CC is None:
        pytest.skip("no compiler for the host itself")
    program = tmp_path_factory.mktemp("tree") / "tree_test"
    subprocess.run(
        [HOST_CC, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror",
         "-fsanitize=undefined", "-fno-sanitize-recover=all",
         "-I", ROOT / "kernel/include",
         "-o", program, ROOT / "tests/host/tree_test.c", ROOT / "kernel/lib/tree.c"],
        check=True,
    )
    return program


@pytest.mark.parametrize("seed", range(1, 6))
def test_random_operations(tree_test, seed):
    run = subprocess.run([tree_test, str(seed)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "ok\n"
