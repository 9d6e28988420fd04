"""What is looked at before the first run of an experiment, so that nothing is measured for nothing.

experiment.py has checked the file by itself.  Here, after the build: sources are compiled, programs
are of today's libraries, each program is in the guest, and a guest is asked whether the library takes
the models and options, and the dispatcher the classes.  The guest knows; the host keeps no list.
"""

import re
import shlex
import tempfile

from . import ccmd, cells, cpio, mark
from .guest import run as run_guest
from .machine import HostError, Machine, UsageError
from .paths import build_dir

TIMEOUT = 300  # seconds of a host that may be busy
ASKS, REFUSED = "weft asks", "weft refused"  # lines of the guest's script


def look(chosen, full, directory):
    """Raises a UsageError with file and key, or a HostError.  directory: for the results."""
    programs = cpio.names((build_dir(False) / "initrd.cpio").read_bytes())
    asked = {}  # {command of the guest: where it comes from}
    for one in chosen:
        if one.module:
            continue
        _look_at_paper(one)
        for path, words in one.built.items():
            compile_program(one, path, words)
        for run in one.runs(full):
            _look_for_program(one, run.machine(), programs)
            for command in _questions(run.settings):
                asked.setdefault(command, f"{one.path}: configuration {run.configuration}")
    if asked:
        _ask(asked)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise UsageError(f"--results: {directory}: {error.strerror}") from error


def _look_at_paper(one):
    """The paper's tables are read before there is something to set beside them."""
    for number, view in enumerate(one.tables):
        if "paper" in view and cells.is_table(view):
            try:
                cells.paper_cells(view["paper"])
            except (UsageError, KeyError, ValueError) as error:
                raise UsageError(f"{one.path}: tables[{number}].paper: {error}") from error


def compile_program(one, path, words):
    """words: of one.built.  Raises UsageError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        status = ccmd.compile([*words, "-o", str(path)], folder=one.path.resolve().parent)
    except UsageError as error:
        raise UsageError(f"{one.path}: build: {error}") from error
    if status != 0:
        raise UsageError(f"{one.path}: build: the compiler failed")


def _look_for_program(one, machine, programs):
    guests = dict(machine.guest_files())
    for file in guests:
        why = mark.complaint(file, debug=False)
        if why:
            raise UsageError(f"{one.path}: files: {why}: compile it again with `weft cc`, or name its "
                             'sources (build = ["..."])')
    names = set(guests.values()) | {f"/{name}" for name in programs} | {guest for _, guest in machine.brought()}
    if one.program not in names and not {f"/bin/{one.program}", f"/host/{one.program}"} & names:
        raise UsageError(f"{one.path}: program: the guest has no {one.program!r}, and 'files' "
                         "does not bring it")


def _questions(settings):
    """Commands that a guest refuses if it would refuse such a run."""
    words = [f"{name}={shlex.quote(settings[key])}" for name, key in (
        ("LIBTHREAD", "model"), ("LIBTHREAD_OPTIONS", "options")) if settings.get(key) is not None]
    yield " ".join([*words, "/bin/true"])
    if settings.get("class"):
        yield f"priocntl -e -c {shlex.quote(settings['class'])} /bin/true"


def _ask(asked):
    script = "".join(f"echo {ASKS} {number}\n{command} || echo {REFUSED}\n"
                     for number, command in enumerate(asked))
    result = run_guest(Machine(argv=["sh", "-c", script], timing="exact", timeout=TIMEOUT))
    answers = re.split(rf"^{ASKS} \d+\n", result.output, flags=re.MULTILINE)[1:]
    if result.error or len(answers) != len(asked):
        raise HostError(f"the guest that is asked about models and options: {result.error}\n"
                        f"{result.report}{result.output}")
    for where, answer in zip(asked.values(), answers):
        said, refused, _ = answer.partition(REFUSED)
        if refused:
            raise UsageError(f"{where}: {' '.join(said.split())}")
