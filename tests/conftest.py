"""What the tests share: the way to the host command, and guests.

    --soak N    runs each racing guest test N times in a row
    --seeds N   runs each test of test_seeds.py under N seeds
    --fuzz-calls N
                makes N random system calls, in pieces under different seeds
    --java-fuzz N
                changes N class files at random, and N jars, for the Java machine
    --java-seeds N
                runs the torture of the Java machine N times in a thread model
    --sa-all    runs all programs of guest.toml in model sa, at all of their CPU counts
    --gdb-steps N
                makes N steps at random under the server of GDB
    --engines-all
                compares the engines of exact timing over all commands of engines.py
"""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import broken
import pytest
from weft_host import experiment
from weft_host.guest import run as run_guest
from weft_host.machine import Machine
from weft_host.paths import build_dir

TOP = Path(__file__).resolve().parents[1]

# The host command in its environment.  A user's call gets there by itself (test_host.py, test_run.py).
WEFT = [sys.executable, TOP / "tools/weft"]

CPU_COUNTS = (1, 2, 4, 8)
MODELS = ("lwp", "mxn", "n1", "sa")


def guest_programs():
    """Names of the programs of tests/guest, as user.mk finds them: NAME.c or NAME/*.c."""
    names = {path.stem for path in (TOP / "tests/guest").glob("*.c")}
    return names | {path.parent.name for path in (TOP / "tests/guest").glob("*/*.c")}


GUEST_PROGRAMS = guest_programs()

# Goes on from look_here to look_here until the three threads have come to rest.
AWAIT_REST = """\
break look_here
continue
python
for _ in range(500):
    if gdb.execute("weft-threads -s", to_string=True).count(": Blocked,") == 3:
        break
    gdb.execute("continue", to_string=True)
end
"""


def brought(*texts, debug=False):
    """What --file takes for the test programs that these texts name: they are no part of the initial
    RAM disk, and lie in /bin."""
    named = GUEST_PROGRAMS.intersection(re.findall(r"\w+", " ".join(map(str, texts))))
    return [f"{build_dir(debug)}/tests/bin/{name}:/bin/{name}" for name in sorted(named)]


def pytest_addoption(parser):
    parser.addoption("--soak", type=int, default=1, metavar="N",
                     help="repeat the racing tests N times in a row")
    parser.addoption("--seeds", type=int, default=4, metavar="N",
                     help="run the racing tests under N seeds of exact timing")
    parser.addoption("--update-races", action="store_true",
                     help="make docs/races.md again, of the headers of tests/bugs")
    parser.addoption("--update-seeds", action="store_true",
                     help="keep the seeds that find the planted bugs, in tests/baseline/races.csv")
    parser.addoption("--sa-all", action="store_true",
                     help="run all programs of guest.toml in model sa, at all of their CPU counts")
    parser.addoption("--engines-all", action="store_true",
                     help="compare the engines of exact timing over all commands, not a sample")
    parser.addoption("--gdb-steps", type=int, default=60, metavar="N",
                     help="steps at random under the server of GDB (test_debug_gdb)")
    parser.addoption("--fuzz-calls", type=int, default=0, metavar="N",
                     help="make N random system calls, in pieces under different seeds")
    parser.addoption("--java-fuzz", type=int, default=1000, metavar="N",
                     help="change N class files at random, and N jars, for the Java machine")
    parser.addoption("--java-seeds", type=int, default=5, metavar="N",
                     help="run the torture of the Java machine N times in a thread model")


def pytest_configure(config):
    """A shell starts what it puts into the background with SIGINT ignored, and all inherit that.  The tests
    of interruptions would wait for the time limits of their guests."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


SPREAD = (("test_guest",), ("test_seeds", "test_races", "test_races_kernel", "test_races_java"))
# The tests of each of these share guests or pages that take long to make: one worker runs them all.
SHARED = ("test_cc", "test_debug_objects", "test_labs", "test_papers", "test_perfetto", "test_quick", "test_report",
          "test_site")


@pytest.hookimpl(tryfirst=True)  # xdist looks at the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Leaves out what needs --sa-all.  Begins with what takes longest; and spreads the guests of fast timing,
    which take turns, among those of exact timing: one after the other, all workers but one would wait."""
    if not config.getoption("--sa-all"):
        items[:] = [item for item in items if item.get_closest_marker("sa_all") is None]
    place = {}
    for modules in SPREAD:
        group = [item for item in items if item.path.stem in modules]
        place |= {item: (i + 0.5) / len(group) for i, item in enumerate(group)}
    rest = [item for item in items if item not in place]
    rest.sort(key=lambda item: item.get_closest_marker("first") is None)
    items[:] = rest + sorted(place, key=place.get)
    for item in items:
        if item.path.stem in SHARED:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session")
def soak(request):
    return request.config.getoption("--soak")


@pytest.fixture(scope="session")
def seeds(request):
    return request.config.getoption("--seeds")


@pytest.fixture(scope="session")
def java_fuzz(request):
    return request.config.getoption("--java-fuzz")


@pytest.fixture(scope="session")
def java_seeds(request):
    return request.config.getoption("--java-seeds")


@pytest.fixture(scope="session")
def fuzz_calls(request):
    return request.config.getoption("--fuzz-calls")


@contextlib.contextmanager
def turn():
    """What slows others down, or is slowed down by them, one at a time of all that run here."""
    with open(TOP / "build/tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def guest():
    """guest(argv, **options of Machine) boots a guest, runs argv and returns its Result; a
    guest that panics, hangs or resets fails the test unless may_fail is set.

    In fast timing guests take turns: one whose CPUs do not each have a host thread that runs
    waits for itself, and takes ten times as long.  In exact timing nothing depends on the host, so
    these take what the others leave."""

    def run(argv, stdin=b"", may_fail=False, timeout=60, **options):
        exact = options.get("timing") == "exact"
        options.setdefault("background", exact)
        files = [*brought(*argv, stdin, debug=options.get("debug", False)),
                 *options.pop("files", ())]
        machine = Machine(argv=[str(a) for a in argv], files=files, timeout=timeout, **options)
        with contextlib.nullcontext() if exact else turn():
            result = run_guest(machine, stdin)
        if result.error and not may_fail:
            pytest.fail(f"{result.error}\n{result.panic}{result.output}", pytrace=False)
        return result

    return run


@pytest.fixture(scope="session")
def weft():
    """weft("run", ...) calls the host command as a user does; make test has built all.  Test programs
    that a guest's command names come with --file."""

    def call(*argv, stdin=b"", timeout=120, **options):
        argv = [str(a) for a in argv]
        if argv and argv[0] in ("run", "gdb") and "--" in argv:
            files = brought(*argv[argv.index("--"):], debug="--debug" in argv)
            argv[1:1] = [word for file in files for word in ("--file", file)]
        if argv and argv[0] in ("run", "cc", "gdb", "doctor", "trace", "stats"):
            argv.insert(1, "--no-build")
        return subprocess.run([*WEFT, *argv], input=stdin, timeout=timeout,
                              capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
                              **options)

    return call


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    return broken.Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def load(tmp_path):
    """load(text) reads it as an experiment `mine`."""
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return experiment.load(path)
    return read
