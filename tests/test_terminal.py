"""The guest's console with a person at it: weft run on a pseudo-terminal; and with a pipe."""

import os
import random
import re

import pexpect
import pytest
from conftest import TOP

pytestmark = pytest.mark.parametrize("smp", [1, 4])


@pytest.fixture
def terminal(smp):
    """terminal(command ...) starts it in a guest; the pexpect child, past the greeting."""
    children = []

    def start(*argv):
        child = pexpect.spawn(str(TOP / "tools/weft"),
                              ["run", "--no-build", "--smp", str(smp), "--", *argv], timeout=30,
                              env={**os.environ, "TERM": "vt100"})
        child.delaybeforesend = None
        children.append(child)
        child.expect_exact("leave with Ctrl-A x")
        return child

    yield start
    for child in children:
        child.close(force=True)


def status(child):
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_lines(terminal):
    cat = terminal("cat")
    cat.send("hello\r")
    cat.expect_exact("hello\r\nhello\r\n")  # the echo, then the line
    cat.send("two\rlines\r")
    cat.expect_exact("two\r\nlines\r\n")
    cat.send("\x04")
    assert status(cat) == 0


def test_editing(terminal):
    cat = terminal("cat")
    cat.send("wrong\x15abX\x7f\x7fBc\x08C\r")
    cat.expect_exact("aBC\r\n")
    cat.send("\x7f\x7f\x15kept\r")  # nothing to erase: the line before stays
    cat.expect_exact("kept\r\nkept\r\n")
    cat.send("no newline\x04")
    cat.expect_exact("no newlineno newline")
    cat.send("\x04")
    assert status(cat) == 0


def test_interrupt(terminal):
    cat = terminal("cat")
    cat.send("some\r")
    cat.expect_exact("some\r\nsome\r\n")
    cat.send("text\x03")
    cat.expect_exact("text^C\r\n")
    assert status(cat) == 128 + 2


def test_interrupt_of_a_spinning_program(terminal):
    states = terminal("proc_calls", "spin")
    states.send("typed\r")
    states.expect_exact("typed\r\n")  # echo needs no reader
    states.send("\x03")
    assert status(states) == 128 + 2


def test_raw(terminal):
    raw = terminal("console_modes", "raw")
    raw.expect_exact("raw\r\n")
    raw.send("a\x03\x04\x15\x7f\r\n\x1b[A\xe9q")
    raw.expect_exact("<61><03><04><15><7f>" + "<0a><0a>" + "<1b><5b><41><c3><a9><71>\r\n")
    assert status(raw) == 0


def test_shell_and_its_children(terminal):
    """Ctrl-C kills the child and not the shell; what is typed ahead is kept."""
    sh = terminal("sh")
    sh.send("cat\r")
    sh.expect_exact("cat\r\n")
    sh.send("one\r")
    sh.expect_exact("one\r\none\r\n")
    sh.send("\x03")
    sh.expect_exact("^C")
    sh.send("echo alive $?\r")
    sh.expect_exact("\nalive 130")
    sh.send("sleep 1\recho typed ahead\r")
    sh.expect_exact("\ntyped ahead")
    sh.send("exit 7\r")
    assert status(sh) == 7


def test_writes_do_not_mix(guest, smp):
    result = guest(["console_modes", "writers"], smp=smp)
    lines = result.output.splitlines()
    assert len(lines) == 400
    assert all(re.fullmatch(r"([a-d])\1{198}", line) for line in lines)
    assert all(sum(line[0] == c for line in lines) == 100 for c in "abcd")


def test_a_long_input_from_a_pipe(guest, smp):
    """Far more than the console can hold: the sender has to wait, and nothing is lost."""
    rng = random.Random(1)
    text = "".join("x" * rng.randrange(200) + f" {i}\n" for i in range(3000))
    result = guest(["cat"], smp=smp, stdin=text.encode(), timeout=120)
    assert result.status == 0
    assert result.output == text


def test_an_input_without_a_last_newline(guest, smp):
    result = guest(["cat"], smp=smp, stdin=b"one\ntwo")
    assert (result.status, result.output) == (0, "one\ntwo")
