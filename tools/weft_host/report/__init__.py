"""weft report: build/report/index.html and a page for each paper, out of the results of weft bench.

Static pages that open from disk and load nothing.  The same results make the same bytes.
"""

import shutil
import sys
from pathlib import Path

from .. import results, venv
from ..machine import HostError, UsageError
from ..paths import BUILD, RESULTS

REPORT = BUILD / "report"


def add_options(parser):
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR",
                        help="results of weft bench; default: build/results")
    parser.add_argument("--output", type=Path, default=REPORT, metavar="DIR",
                        help="where to write; default: build/report")


def write(source, output):
    """Writes all pages about the results in the directory source, and copies of the results; returns
    the path of the first page."""
    if not source.is_dir():
        raise UsageError(f"{source}: no results; measure first: tools/weft bench")
    measured = results.load_set(source)
    venv.add("report")
    from . import pages

    made = pages.render(measured)
    data = output / "data"
    try:
        data.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (output / name).write_text(text)
        for file in [source / (name + suffix) for name in measured for suffix in (".csv", ".json")]:
            if file.is_file():
                shutil.copyfile(file, data / file.name)
    except OSError as error:
        raise HostError(f"{error.filename or output}: {error.strerror}") from error
    return output / "index.html"


def main(args):
    """weft report: the exit status."""
    index = write(args.results, args.output)
    print(index)
    print(f"weft: open {index} in a browser", file=sys.stderr)
    return 0
