"""Every error of every system call: documented where the call is, and provoked in a guest.

The programs tests/guest/err_*.c provoke them and print what errtest.h says; together they must
prove what the comments list, no less and no more, and of every call a success.
"""

import re

import pytest
from conftest import TOP
from syscall_errors import Comments, calls
from tap import failures
from weft_host.guest import Result

COMMENTS = Comments()
PROGRAMS = sorted(path.stem for path in (TOP / "tests/guest").glob("err_*.c"))

REBOOT_STATUS = 7  # err_proc's


def test_every_call_says_its_errors():
    assert COMMENTS.bare == set(), "each of these needs a comment directly above it"
    assert set(COMMENTS.text) == calls()
    for call in sorted(calls()):
        assert not COMMENTS.loose(call), \
            f"{COMMENTS.where[call]}, sys_{call}: write each error as `ENAME: its cause;`"
        COMMENTS.errors(call)


@pytest.fixture(scope="module")
def proven(guest):
    """(call, error) of all errors that were provoked; (call, "") of each success."""
    script = "; ".join(f"echo {name}; {name}" for name in PROGRAMS)
    result = guest(["sh", "-c", script + "; err_proc reboot"], smp=2, timing="exact")
    reports = re.split(r"^(err_\w+)\n", result.output, flags=re.MULTILINE)[1:]
    assert reports[::2] == PROGRAMS
    for name, report in zip(reports[::2], reports[1::2]):
        wrong = failures(Result(0, report))
        assert not wrong, "\n".join([name, *wrong])
    pairs = set(re.findall(r"^ok (\w+)(?: (E[A-Z0-9]+): .*)?$", result.output, re.MULTILINE))
    if result.status == REBOOT_STATUS:  # the last command's doing, which can print nothing
        pairs.add(("reboot", ""))
    return pairs


def missing(pairs):
    return "\n".join(f"  {call} {error}  ({COMMENTS.where[call]})" for call, error in sorted(pairs))


def test_nothing_else_happens(proven):
    documented = {(call, error) for call in calls() for error in [*COMMENTS.errors(call), ""]}
    more = proven - documented
    assert not more, "the comments at these calls do not list this error:\n" + missing(more)
