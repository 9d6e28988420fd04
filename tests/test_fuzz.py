"""The kernel survives random system calls, and gets every page and every object back.

The long run, which a release should have behind it (a piece takes a few seconds):

    make test PYTEST="-k fuzz --fuzz-calls 10000000"
"""

import re

import pytest
from conftest import TOP
from syscall_errors import ERRNO, Comments

COMMENTS = Comments()
NAMES = {number: name for name, number in ERRNO.items()}

CALLS = 20000
PIECE = 100000  # calls of one boot in the long run

# These do not return when they succeed, or cannot: nobody has a console, and sigsuspend has
# only an error to tell.
NO_SUCCESS = {"exit", "lwp_exit", "execve", "sigreturn", "sigsuspend", "ioctl"}


def fuzz(guest, calls, seed, **options):
    """A run that must end well: how many calls were made; those never made; those that never
    succeeded."""
    result = guest(["fuzz", "-n", calls, "-s", seed], **options)
    assert result.status == 0, f"seed {seed}\n{result.output}"
    told = re.search(r"^fuzz: (\d+) calls by \d+ processes; memory is all back$", result.output,
                     re.MULTILINE)
    assert told, f"seed {seed}\n{result.output}"
    for call, errors in re.findall(r"^fuzz: errors of (\w+)((?: \d+)+)$", result.output,
                                   re.MULTILINE):
        others = {NAMES.get(int(n), n) for n in errors.split()} - COMMENTS.errors(call)
        assert not others, f"seed {seed}: {call} gave errors that its comment does not list: {others}"
    missing = [set(re.search(rf"^fuzz: never {word}:(.*)$", result.output, re.MULTILINE)[1].split())
               for word in ("made", "with success")]
    return int(told[1]), *missing


@pytest.mark.parametrize("timing, debug", [("fast", False), ("fast", True), ("exact", False)],
                         ids=["fast", "fast-debug", "exact"])
def test_random_calls(guest, timing, debug):
    made, never_made, never_good = fuzz(guest, CALLS, 7, smp=4, timing=timing, debug=debug,
                                        timeout=300)
    assert made >= CALLS
    assert never_made == {"reboot"}
    # Some calls need luck to succeed; a table of arguments that is wrong shows.
    assert len(never_good - NO_SUCCESS) < 16, never_good


def test_pieces(guest, fuzz_calls):
    """--fuzz-calls: the same at length, each piece a boot of its own, with its own seed."""
    if fuzz_calls == 0:
        pytest.skip("--fuzz-calls")
    made = seed = 0
    never_good = None
    while made < fuzz_calls:
        seed += 1
        calls, never_made, no_success = fuzz(guest, PIECE, 1000 + seed, smp=4, debug=seed % 8 == 0,
                                             timeout=1200)
        assert never_made == {"reboot"}
        never_good = no_success if never_good is None else never_good & no_success
        made += calls
    print(f"{made} calls in {seed} pieces")
    assert never_good <= NO_SUCCESS


def test_every_call_is_in_some_guest_test():
    """A call that no test program names is tested by nobody."""
    calls = re.findall(r"^\s*X\(\d+, (\w+), \d\)",
                       (TOP / "kernel/include/weft/syscall.h").read_text(), re.MULTILINE)
    text = "".join(path.read_text() for path in (TOP / "tests/guest").rglob("*.[ch]")
                   if path.parent.name != "fuzz")
    missing = [call for call in calls if not re.search(rf"\b(__sys_|SYS_)?{call}\b *[(,)]", text)]
    assert missing == []
