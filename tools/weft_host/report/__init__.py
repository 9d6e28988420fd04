"""weft report: build/report/index.html and a page for each paper, out of the results of weft bench.

Static pages that open from disk and load nothing.  The same results make the same bytes.
"""

import shutil
import sys
from datetime import datetime, timezone
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
    data = output / "data"
    try:  # before the pages are drawn, which takes long
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{error.filename or output}: {error.strerror}") from error
    venv.add("report")
    from . import pages

    made = pages.render(measured, {name: _day(source / f"{name}.json", facts)
                                   for name, facts in measured.items()})
    try:
        for name, text in made.items():
            (output / name).write_text(text)
        for file in [source / (name + suffix) for name in measured for suffix in (".csv", ".json")]:
            if file.is_file():
                shutil.copyfile(file, data / file.name)
    except OSError as error:
        raise HostError(f"{error.filename or output}: {error.strerror}") from error
    return output / "index.html"


def _day(path, facts):
    """On which a result was measured, UTC: in exact timing a result does not say, so its file does."""
    return facts["when"][:10] if "when" in facts else written_on(path)


def written_on(path):
    """The day of a file, UTC."""
    return datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).date().isoformat()


def main(args):
    """weft report: the exit status."""
    index = write(args.results, args.output)
    print(index)
    print(f"weft: open {index} in a browser", file=sys.stderr)
    return 0
