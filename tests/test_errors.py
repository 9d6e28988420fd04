"""Every error of every system call: documented where the call is, and provoked in a guest."""

from syscall_errors import Comments, calls

COMMENTS = Comments()


def test_every_call_says_its_errors():
    assert COMMENTS.bare == set(), "each of these needs a comment directly above it"
    assert set(COMMENTS.text) == calls()
    for call in sorted(calls()):
        assert not COMMENTS.loose(call), \
            f"{COMMENTS.where[call]}, sys_{call}: write each error as `ENAME: its cause;`"
        COMMENTS.errors(call)
