"""The shell: the language without a terminal, and a person who edits lines at one."""

import re

import pexpect
import pytest
from test_terminal import status, terminal  # noqa: F401  (a fixture)

PROMPT = "weft:/$ "

CTRL_A = "\x01\x01"  # the host command takes one for its own
CTRL = {c: chr(ord(c) - 64) for c in "BCDEFHKLNPUW"}
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
HOME, END, DELETE = "\x1b[H", "\x1b[F", "\x1b[3~"


# --- the language -----------------------------------------------------------------------------

LANGUAGE = r"""
echo one   two 'three  four' "five $HOME" \$x $? ; echo a#b # comment
X=1 Y="a  b"; echo $X "$Y" $Y ${X}y "${Y}z"
A=b env -i PATH=/host:/bin env; FOO=bar sh -c 'echo FOO is $FOO'; echo FOO is $FOO.
echo '' "" x$NOTHING'' end
$NOTHING; $NOTHING echo vanished
"ec""ho" q'u'o"t"e\d \
joined
echo "two
lines"
false && echo no || echo yes
true || echo no && echo yes
LOCAL=1; export SEEN=2; sh -c 'echo $LOCAL,$SEEN'; unset SEEN; sh -c 'echo $SEEN.'
echo $# $0 $1 "$2" $3.
cd /bin && pwd && cd - && pwd; cd /nonexistent; echo $?
sleep 0.1 & wait $!; echo wait $?
false & wait %1; echo wait $?
true && sleep 0.1 && sh -c 'exit 5' & wait; echo wait $?
sleep 100 & kill %1; wait $!; echo wait $?
nonexistent; echo $?
/etc; echo $?
sh -c 'kill -9 $$'; echo $?
exit 23
"""

SAID = """\
one two three  four five / $x 0
a#b
1 a  b a b 1y a  bz
PATH=/host:/bin
FOO is bar
FOO is .
  x end
vanished
quoted joined
two
lines
yes
yes
,2
.
2 /host/script p 1 p2 .
/bin
/
cd: /nonexistent: No such file or directory
1
wait 0
wait 1
wait 5
Terminated
wait 143
sh: nonexistent: not found
127
sh: /etc: Permission denied
126
Killed
137
"""


def test_language(guest, tmp_path):
    """Every construct once, in a script; what it says on both outputs."""
    (tmp_path / "script").write_text(LANGUAGE)
    result = guest(["sh", "/host/script", "p 1", "p2"], files=[f"{tmp_path}/script"], smp=2)
    assert result.output == SAID
    assert result.status == 23


BAD = {
    'echo "abc': "unexpected end",
    "echo 'abc": "unexpected end",
    "echo a &&": "unexpected end",
    "echo \\": "unexpected end",
    "echo a | cat": "there are no pipes",
    "echo a > b": "there is no redirection",
    "echo a;; echo b": "a command is missing",
    "& echo b": "a command is missing",
    "echo `a`": "there is no command substitution",
    'echo "`a`"': "there is no command substitution",
    "echo $(a)": "unexpected parenthesis",
    "echo ${": "bad substitution",
    "echo ${X": "bad substitution",
}


def test_syntax_errors(guest):
    """Nothing of a text with an error is run, and the status is 2."""
    text = "".join(f'sh -c "$T{i}"; echo $?; ' for i in range(len(BAD)))
    result = guest(["sh", "-c", text],
                   env={f"T{i}": f"echo run; {bad}" for i, bad in enumerate(BAD)})
    assert result.output == "".join(f"sh: syntax error: {why}\n2\n" for why in BAD.values())


def test_commands_from_standard_input(guest):
    """The shell takes no more of its input than its own lines."""
    text = b"echo first\ncat\nfor cat\n\x04echo 'an open\nquote'\nexit 9\n"
    result = guest(["sh"], stdin=text)
    assert result.output == "first\nfor cat\nan open\nquote\n"
    assert result.status == 9


@pytest.mark.parametrize("argv, output, code", [
    (["sh", "-c", "echo $0 $1 $#", "name", "arg"], "name arg 1\n", 0),
    (["sh", "/nonexistent"], "sh: /nonexistent: No such file or directory\n", 127),
    (["sh", "-x"], "usage: sh [-c TEXT [NAME ARG...] | FILE [ARG...]]\n", 2),
])
def test_arguments(guest, argv, output, code):
    result = guest(argv)
    assert (result.output, result.status) == (output, code)


# --- at a terminal -----------------------------------------------------------------------------

@pytest.fixture
def sh(terminal):  # noqa: F811
    child = terminal("sh")
    child.expect_exact(PROMPT)
    return child


def type_line(sh, keys, output):
    """Types keys and Return; the command must print output, and the shell come back."""
    sh.send(keys + "\r")
    sh.expect_exact(f"\r\n{output}\r\n".encode())
    sh.expect_exact("\r" + PROMPT)


at_terminal = pytest.mark.parametrize("smp", [2])


@at_terminal
@pytest.mark.parametrize("keys, output", [
    ("echo plain", "plain"),
    ("echo abXc" + LEFT + "\x7f" + END + "d", "abcd"),
    ("cho ab" + HOME + "e" + END + "c", "abc"),
    ("cho ab" + CTRL_A + "e" + CTRL["E"] + "c", "abc"),
    ("echo abXXcd" + LEFT * 4 + DELETE + CTRL["D"], "abcd"),
    ("echo ac" + CTRL["B"] + "b" + CTRL["F"] + "d", "abcd"),
    ("nonsense" + CTRL["U"] + "echo kept", "kept"),
    ("echo abNO" + LEFT * 2 + CTRL["K"] + "c", "abc"),
    ("echo one two  " + CTRL["W"] * 2 + "three", "three"),
    ("echo ab" + CTRL["H"] * 2 + "x", "x"),
    ("echo h\u00e4\u00f6x" + LEFT * 2 + "\x7f" + RIGHT + "y", "h\u00f6yx"),
    ("echo " + "0123456789" * 12 + HOME + RIGHT * 5 + DELETE + END + "\x7f",
     ("0123456789" * 12)[1:-1]),
    ("echo a" + "\x1b[5~\x1b[1;5Q\x1bx" + "b", "ab"),
    ("echo l" + CTRL["L"] + "m", "lm"),
    (LEFT + RIGHT + "\x7f" + DELETE + HOME + END + "echo e", "e"),
])
def test_keys(sh, keys, output):
    type_line(sh, keys, output)


@at_terminal
def test_history(sh):
    type_line(sh, "echo first", "first")
    type_line(sh, "echo second", "second")
    type_line(sh, UP, "second")
    type_line(sh, UP * 2, "first")  # a line is not kept twice in a row
    type_line(sh, "echo third", "third")
    type_line(sh, CTRL["P"] * 2 + CTRL["N"], "third")
    type_line(sh, "echo typed" + UP * 3 + DOWN * 3 + " on", "typed on")
    type_line(sh, UP * 50, "first")
    type_line(sh, UP + "\x7f" * 5 + "changed", "changed")


@at_terminal
def test_prompt_shows_directory_and_status(sh):
    sh.send("cd /bin\r")
    sh.expect_exact("weft:/bin$ ")
    sh.send("false\r")
    sh.expect_exact("weft:/bin [1]$ ")
    sh.send("true\r")
    sh.expect_exact("weft:/bin$ ")
    sh.send("exit 3\r")
    assert status(sh) == 3


@at_terminal
def test_interrupt(sh):
    """Ctrl-C gives up a line, or ends the command in the foreground and no other."""
    sh.send("echo given up" + CTRL["C"])
    sh.expect_exact("^C\r\n")
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("sleep 1000 &\r")
    sh.expect(r"\[1\] (\d+)\r\n")
    sh.expect_exact(PROMPT)
    sh.send("sh -c 'echo begun; sleep 2000'\r")
    sh.expect_exact("\r\nbegun\r\n")
    sh.send(CTRL["C"])
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("jobs\r")
    sh.expect(r"\[1\] \d+ Running +sleep 1000")
    sh.expect_exact(PROMPT)
    sh.send("true; wait %1\r")
    while True:  # one that comes before the job has the terminal ends nothing
        sh.send(CTRL["C"])
        if sh.expect_exact(["weft:/ [130]$ ", pexpect.TIMEOUT], timeout=1) == 0:
            break
    sh.send("jobs; echo none left\r")
    sh.expect_exact("\r\nnone left\r\n")


@at_terminal
def test_jobs(sh):
    sh.send("sleep 0.3 &\r")
    sh.expect(r"\[1\] \d+\r\n")
    sh.send("sh -c 'exit 4' & false && true &\r")
    sh.expect(r"\[2\] \d+\r\n")
    sh.expect(r"\[3\] \d+\r\n")
    notices = [r"\[1\] \d+ Done +sleep 0.3\r\n", r"\[2\] \d+ Exit 4 +sh -c 'exit 4'\r\n",
               r"\[3\] \d+ Exit 1 +false && true\r\n"]
    while notices:  # each comes before some prompt, in any order
        found = sh.expect([*notices, re.escape("\r" + PROMPT)])
        if found < len(notices):
            del notices[found]
        else:
            sh.send("\r")
    sh.send("sleep 1000 &\r")
    sh.expect(r"\[1\] \d+\r\n")  # the lowest number is free again
    sh.expect_exact(PROMPT)


@at_terminal
def test_more_lines(sh):
    sh.send("echo 'one\r")
    sh.expect_exact("> ")
    sh.send("two'\r")
    sh.expect_exact("\r\none\r\ntwo\r\n")
    sh.expect_exact(PROMPT)
    sh.send("echo \"never")
    sh.send("\r")
    sh.expect_exact("> ")
    sh.send(CTRL["C"])
    sh.expect_exact("weft:/ [130]$ ")
    type_line(sh, "echo alive", "alive")


@at_terminal
def test_end_of_file(sh):
    type_line(sh, "echo x" + CTRL["D"], "x")  # not an empty line: nothing under the cursor
    sh.send("false\r")
    sh.expect_exact("weft:/ [1]$ ")
    sh.send(CTRL["D"])
    assert status(sh) == 1


@at_terminal
def test_a_program_that_leaves_the_terminal_raw(sh):
    """It gets its own terminal settings, and the shell's come back after it."""
    sh.send("console_modes raw\r")
    sh.expect_exact("raw\r\n")
    sh.send("q")
    sh.expect_exact("<71>\r\n")
    sh.expect_exact(PROMPT)
    type_line(sh, "sh -c 'echo nested'", "nested")
    sh.send("sh\r")
    sh.expect_exact("\r" + PROMPT)
    type_line(sh, "echo inner", "inner")
    sh.send(CTRL["D"])
    sh.expect_exact("\r" + PROMPT)
    type_line(sh, "echo outer", "outer")
