"""The right files of a lab as a student's folder."""

import shutil
import subprocess
from pathlib import Path

from weft_host.machine import HostError
from weft_host.paths import TOP

from .lab import Lab


def take_solution(lab: Lab, folder: Path, patch: Path | None = None) -> None:
    """The right files as a student's folder, with a patch applied.  Raises HostError."""
    tree = folder / "tree"
    solutions = {mine: lab.solution(mine).relative_to(TOP) for mine in lab.replaces}
    for solution in solutions.values():
        to = tree / solution
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / solution, to)
    if patch is not None:
        command = ["patch", "-p1", "-s", "-F0", "-d", str(tree), "-i", str(patch)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise HostError(f"{patch.name} does not fit: {done.stdout}{done.stderr}")
    for mine, solution in solutions.items():
        shutil.copy(tree / solution, folder / mine)
    shutil.rmtree(tree)
