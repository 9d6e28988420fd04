"""A Dask cluster of two processes that know nothing of weft, for the tests."""

import contextlib
import os
import subprocess
import sys

from weft_host import venv

SCRIPT = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@contextlib.contextmanager
def started(place, **variables):
    """Gives its address.  place: a folder for its files; variables: of its environment."""
    venv.add("cluster")
    (place / "cluster.py").write_text(SCRIPT)
    with open(place / "said", "w") as said, subprocess.Popen(
            [sys.executable, place / "cluster.py"], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=said, text=True, env=os.environ | variables) as process:
        yield process.stdout.readline().strip()
        process.communicate("\n", timeout=60)
