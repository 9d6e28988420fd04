"""Every error of every system call: documented where the call is, and provoked in a guest.

The programs tests/guest/err_*.c provoke them and print what errtest.h says; together they must
prove what the comments list, no less and no more, and of every call a success.
"""

import re

from conftest import TOP
from syscall_errors import Comments, calls
from tap import failures
from weft_host.guest import Result

COMMENTS = Comments()
PROGRAMS = sorted({path.stem for path in (TOP / "tests/guest").glob("err_*.c")} - {"err_memory"})

REBOOT_STATUS = 7  # err_proc's

# Documented, and in no guest's power to provoke at will.
NOT_PROVOKED = {
    ("spawn", "ENOSPC"),  # memory for the new process, and then none for a file that it opens
}


def test_every_call_says_its_errors():
    assert COMMENTS.bare == set(), "each of these needs a comment directly above it"
    assert set(COMMENTS.text) == calls()
    for call in sorted(calls()):
        assert not COMMENTS.loose(call), \
            f"{COMMENTS.where[call]}, sys_{call}: write each error as `ENAME: its cause;`"
        COMMENTS.errors(call)


def pairs_of(output):
    return set(re.findall(r"^ok (\w+)(?: (E[A-Z0-9]+): .*)?$", output, re.MULTILINE))


def proven(guest):
    """(call, error) of all errors that were provoked; (call, "") of each success."""
    alone = guest(["err_memory"], smp=1, mem="64M", timing="exact")
    assert not failures(alone), "\n".join(["err_memory", *failures(alone), alone.output])
    script = "; ".join(f"echo {name}; {name}" for name in PROGRAMS)
    # QEMU's writes to a page that once held code are slow: err_sync's 65,536 handles take 1 s or 20 s, by chance.
    result = guest(["sh", "-c", script + "; err_proc reboot"], smp=2, timing="exact", timeout=300)
    reports = re.split(r"^(err_\w+)\n", result.output, flags=re.MULTILINE)[1:]
    assert reports[::2] == PROGRAMS
    for name, report in zip(reports[::2], reports[1::2]):
        wrong = failures(Result(0, report))
        assert not wrong, "\n".join([name, *wrong])
    pairs = pairs_of(alone.output) | pairs_of(result.output)
    if result.status == REBOOT_STATUS:  # the last command's doing, which can print nothing
        pairs.add(("reboot", ""))
    return pairs


def test_every_error_is_provoked(guest):
    pairs = proven(guest)
    documented = {(call, error) for call in calls() for error in COMMENTS.errors(call)}
    errors = {pair for pair in pairs if pair[1]}
    assert documented - errors >= NOT_PROVOKED, "an exception that is none"
    wrong = []
    for found, what in (
        (documented - errors - NOT_PROVOKED, "documented, but never provoked: add to a tests/guest/err_*.c\n"
         '    gives(CALL, ERROR, "cause", ARGUMENTS...);\n'
         "or take it out of the comment if the call cannot give it"),
        (errors - documented, "provoked, but not documented: add to the comment at the call\n"
         "    ERROR: its cause;"),
        ({(call, "") for call in calls()} - pairs, "never seen to succeed: add to a "
         "tests/guest/err_*.c\n    works(CALL, ARGUMENTS...);"),
    ):
        if found:
            wrong.append(what)
            wrong += [f"  {COMMENTS.where.get(call, 'no such call')}: sys_{call} {error}"
                      for call, error in sorted(found)]
    assert not wrong, "\n".join(wrong)
