"""The lists of tests/conformance: every function has its requirements, and every requirement a check
that is made in each model.  That a program prints the checks that they name, test_guest.py sees."""

import re

import conformance
import pytest
from conftest import GUEST_PROGRAMS, MODELS, TOP
from interface_errors import functions
from test_guest import settings

# Of signal.h, time.h and the like, which are not libthread's, but are about threads.
ELSEWHERE = {"sigwait", "sigwaitinfo", "sigtimedwait", "sigsuspend", "sigqueue", "raise", "sigset",
             "sighold", "sigrelse", "sigignore", "sigpause", "getcontext", "setcontext",
             "makecontext", "swapcontext", "clock_nanosleep"}


def win32():
    """The functions that winthread.h and process.h declare, and those that are macros."""
    text = "".join((TOP / "libthread/include" / name).read_text() for name in ("winthread.h", "process.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = re.findall(r"^(?!typedef)\w[\w ]*[ *](_?[A-Za-z]\w+)\([^;{]*\)[^;{]*[;{]", text, re.MULTILINE)
    return set(names + re.findall(r"^#define (Interlocked\w+)\(", text, re.MULTILINE))


def test_every_function_has_requirements():
    wanted = functions() | ELSEWHERE | win32()
    listed = conformance.functions()
    assert not wanted - listed, f"not in tests/conformance: {sorted(wanted - listed)}"
    assert not listed - wanted, f"no such functions: {sorted(listed - wanted)}"


def models_of(requirement):
    """Those in which its checks are made."""
    found = set()
    for program, _ in requirement.checks:
        assert program in GUEST_PROGRAMS, f"{requirement.where}: no program {program}"
        how = settings(program)
        assert not how["tool"], f"{requirement.where}: {program} does not run by itself"
        found |= set(how["models"])
    return found


@pytest.mark.parametrize("path", conformance.LISTS, ids=[path.stem for path in conformance.LISTS])
def test_every_requirement_has_a_check(path):
    for requirement in conformance.REQUIREMENTS:
        if not requirement.where.startswith(path.name):
            continue
        assert requirement.checks or requirement.tests, requirement.where
        assert set(requirement.models) <= set(MODELS), requirement.where
        made = models_of(requirement)
        if not requirement.tests:
            assert set(requirement.models) <= made, \
                f"{requirement.where}: `{requirement.text}` is shown in {sorted(made)} only"
        for name, test in requirement.tests:
            file = TOP / "tests" / name
            assert file.is_file() and re.search(rf"^def {test}\(", file.read_text(), re.MULTILINE), \
                f"{requirement.where}: no {name}: {test}"
