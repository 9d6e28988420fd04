#!/usr/bin/env python3
"""Grades a submission of the lab @LAB@ for Classroom 50.

Classroom 50's runner starts it in the student's files, and publishes the result.json that it leaves there.
It unpacks weft, which lies beside it, to the machine's folder for temporary files, installs what weft needs, and
calls `weft grade`, which builds it.  The last records of the first run that fails are in its test's output; more
of them are in traces/ there, for `weft stats`, as long as the machine is there.  The status is not 0 only if the
grader itself has failed; then the runner publishes no score.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

OPTIONS: list[str] = []


def main() -> int:
    here, submission = Path(__file__).resolve().parent, Path.cwd()
    place = Path(os.environ.get("RUNNER_TEMP") or here)
    weft = place / "weft"
    result = submission / "result.json"
    result.unlink(missing_ok=True)  # of the student
    try:
        if not weft.exists():
            with tarfile.open(here / "weft.tar.gz") as archive:
                archive.extractall(place)
            subprocess.run(["tools/setup.sh"], cwd=weft, check=True)
        command = ["tools/weft", "grade", "@LAB@", str(submission), "--classroom50", str(result),
                   "--traces", str(place / "traces"), *OPTIONS]
        return subprocess.run(command, cwd=weft).returncode
    except (OSError, tarfile.TarError, subprocess.CalledProcessError) as error:
        print(f"::error::{error}", file=sys.stderr)
        return 1


sys.exit(main())
