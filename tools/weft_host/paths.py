"""Where things are."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"  # shared by both builds: C library, Python environment, results
VENV = BUILD / "venv"
RESULTS = BUILD / "results"
CRASHES = BUILD / "crashes"  # what is left of runs that failed


def build_dir(debug):
    """The directory of the plain build, or of the one with DEBUG=1."""
    return BUILD / "debug" if debug else BUILD
