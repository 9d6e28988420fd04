"""The kernel survives random system calls, and gets every page and every object back.

The long run, which a release should have behind it (a piece takes a few seconds):

    make test PYTEST="-k fuzz --fuzz-calls 10000000"
"""

import re
from collections import Counter

import pytest
from conftest import TOP
from syscall_errors import ERRNO, Comments

COMMENTS = Comments()
NAMES = {number: name for name, number in ERRNO.items()}

CALLS = 20000
PIECE = 100000  # calls of one boot in the long run

# These do not return when they succeed, or cannot: nobody has a console, and sigsuspend and
# lwp_sigcatch have only an error to tell.
NO_SUCCESS = {"exit", "lwp_exit", "execve", "sigreturn", "sigsuspend", "lwp_sigcatch",
              "ioctl"}

# These succeed less than once in six times, as measured over 300,000 calls, since they need
# luck: an object in the right state, the lock's owner, a name that is not there yet, an LWP that
# wakes the caller.
LUCK = set("""
fchdir ftruncate futimens getdents kobj_at_exit kobj_dup kobj_event_pulse kobj_event_reset
kobj_event_set kobj_mutex_release kobj_sema_release kobj_wait link lseek lwp_cond_timedwait
lwp_mutex_register lwp_mutex_unlock lwp_mutex_unregister lwp_rwlock_unlock lwp_unpark_all mkdir
mmap pread pset_destroy pwrite readlink readv rename rmdir spawn symlink timer_delete
timer_getoverrun timer_gettime timer_settime trace_detach truncate unlink upcall_idle waitpid writev
""".split())


def fuzz(guest, calls, seed, **options):
    """A run that must end well: how many calls were made; how often each; how often each
    succeeded."""
    result = guest(["fuzz", "-n", calls, "-s", seed], **options)
    assert result.status == 0, f"seed {seed}\n{result.output}"
    told = re.search(r"^fuzz: (\d+) calls by \d+ processes; memory is all back$", result.output,
                     re.MULTILINE)
    assert told, f"seed {seed}\n{result.output}"
    made, good = {}, {}
    for call, n, well, errors in re.findall(
            r"^fuzz: (\w+): (\d+) made, (\d+) well, errors((?: \d+)*)$", result.output, re.MULTILINE):
        made[call], good[call] = int(n), int(well)
        others = {NAMES.get(int(n), n) for n in errors.split()} - COMMENTS.errors(call)
        assert not others, f"seed {seed}: {call} gave errors that its comment does not list: {others}"
    assert [call for call, n in made.items() if n == 0] == ["reboot"]
    return int(told[1]), made, good


@pytest.mark.parametrize("timing, debug", [("fast", False), ("fast", True), ("exact", False)],
                         ids=["fast", "fast-debug", "exact"])
def test_random_calls(guest, timing, debug):
    total, made, good = fuzz(guest, CALLS, 7, smp=4, timing=timing, debug=debug, timeout=300)
    assert total >= CALLS
    # A call that is made 60 times and never succeeds, and is none of the lucky ones, has
    # arguments that are wrong: a chance of one in 17,000 for the rarest.
    assert {call for call in good if made[call] >= 60 and good[call] == 0} <= NO_SUCCESS | LUCK


def test_pieces(guest, fuzz_calls):
    """--fuzz-calls: the same at length, each piece a boot of its own, with its own seed."""
    if fuzz_calls == 0:
        pytest.skip("--fuzz-calls")
    total = seed = 0
    well = Counter()
    while total < fuzz_calls:
        seed += 1
        calls, _, good = fuzz(guest, PIECE, 1000 + seed, smp=4, debug=seed % 8 == 0, timeout=1200)
        well.update(good)
        total += calls
    print(f"{total} calls in {seed} pieces")
    assert {call for call, n in well.items() if n == 0} <= NO_SUCCESS | {"reboot"}


def test_every_call_is_in_some_guest_test():
    """A call that no test program names is tested by nobody."""
    calls = re.findall(r"^\s*X\(\d+, (\w+), \d\)",
                       (TOP / "kernel/include/weft/syscall.h").read_text(), re.MULTILINE)
    text = "".join(path.read_text() for path in (TOP / "tests/guest").rglob("*.[ch]")
                   if path.parent.name != "fuzz")
    missing = [call for call in calls if not re.search(rf"\b(__sys_|SYS_)?{call}\b *[(,)]", text)]
    assert missing == []
