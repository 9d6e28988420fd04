"""The guest's console with a person at it: weft run on a pseudo-terminal; and with a pipe."""

import os
import random
import re
import termios
import time

import pexpect
import pytest
from conftest import TOP, brought

PROMPT = r"\$ \x1b\[K$"  # and nothing typed yet

pytestmark = pytest.mark.parametrize("smp", [1, 4])


@pytest.fixture
def terminal(smp):
    """terminal(command ...) starts it in a guest; the pexpect child, past the greeting."""
    children = []

    def start(*argv):
        files = [f"--file={file}" for file in brought("console_modes")]
        child = pexpect.spawn(str(TOP / "tools/weft"),
                              ["run", "--no-build", "--smp", str(smp), *files, "--", *argv],
                              timeout=30,
                              env={**os.environ, "TERM": "vt100"})
        child.delaybeforesend = None
        children.append(child)
        child.expect_exact("leave with Ctrl-A x")
        # What is typed before weft has taken its terminal over is lost.
        deadline = time.monotonic() + 30
        while termios.tcgetattr(child.child_fd)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)
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
    cat.send("\r")
    cat.expect_exact("\r\n\r\n")
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
    program = terminal("console_modes", "lines")
    program.expect_exact("ready\r\n")
    program.send("some\r")
    program.expect_exact("some\r\ngot some\r\n")
    program.send("text\x03")
    program.expect_exact("text^C\r\n")
    assert status(program) == 128 + 2


def test_interrupt_of_a_program_that_does_not_read(terminal):
    program = terminal("console_modes", "spin")
    program.expect_exact("ready\r\n")
    program.send("typed\r")
    program.expect_exact("typed\r\n")  # echo needs no reader
    program.send("x" * 5000)
    program.expect_exact("\a")  # Ctrl-C is not lost, even when there is room for nothing else
    program.send("\x03")
    assert status(program) == 128 + 2


def test_raw(terminal):
    raw = terminal("console_modes", "raw")
    raw.expect_exact("raw\r\n")
    raw.send("a\x03\x04\x15\x7f\r\n\x1b[A\xe9q")
    raw.expect_exact("<61><03><04><15><7f>" + "<0a><0a>" + "<1b><5b><41><c3><a9><71>\r\n")
    assert status(raw) == 0


def test_shell_and_its_children(terminal):
    """Ctrl-C kills the child and not the shell; what is typed ahead is kept."""
    sh = terminal("sh")
    sh.expect(PROMPT)
    sh.send("console_modes lines\r")
    sh.expect_exact("\r\nready\r\n")
    sh.send("one\r")
    sh.expect_exact("one\r\ngot one\r\n")
    sh.send("\x03")
    sh.expect(PROMPT)
    sh.send("echo alive $?\r")
    sh.expect_exact("\r\nalive 130\r\n")
    sh.send("sleep 1\recho typed ahead\r")
    sh.expect_exact("\r\ntyped ahead\r\n")
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


def test_every_byte_goes_through_a_pipe(guest, smp):
    """255, too, with which the host tells of a window that is resized."""
    text = b"\xff\xfe\xff\xff\xfa\x1f\xff\xf0\n"
    result = guest(["hexdump", "-C"], smp=smp, stdin=text)
    assert result.output.startswith("00000000  ff fe ff ff fa 1f ff f0  0a ")
