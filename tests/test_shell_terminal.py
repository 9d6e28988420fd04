"""The shell with a person at it: editing lines, history, jobs, Ctrl-C and Ctrl-Z."""

import re

import pytest
from test_terminal import status, terminal  # noqa: F401  (a fixture)

PROMPT = "weft:/$ "

CTRL_A = "\x01\x01"  # the host command takes one for its own
CTRL = {c: chr(ord(c) - 64) for c in "BCDEFGHKLNPRUWZ"}
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
HOME, END, DELETE = "\x1b[H", "\x1b[F", "\x1b[3~"

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
    sh.send("sh -c 'echo begun; sleep 2000'; echo never\r")
    sh.expect_exact("\r\nbegun\r\n")
    sh.send(CTRL["C"])
    sh.expect_exact("^C\r\n")
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("jobs\r")
    sh.expect(r"\[1\]\+ \d+ Running +sleep 1000")
    sh.expect_exact(PROMPT)
    sh.send("fg\r")
    sh.expect_exact("\r\nsleep 1000\r\n")
    sh.send(CTRL["C"])
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("jobs; echo none left\r")
    sh.expect_exact("\r\nnone left\r\n")


@at_terminal
@pytest.mark.parametrize("command", [
    "echo begun; while :; do :; done",
    "echo begun; sleep 1000 | sleep 2000 | cat",
    "(echo begun; sleep 1000)",
    "f() { echo begun; x=$(sleep 1000); echo never; }; f",
    "sleep 1000 & echo begun; wait",
])
def test_interrupt_of_anything(sh, command):
    sh.send(f"{command}; echo never\r")
    sh.expect_exact("\r\nbegun\r\n")
    sh.send(CTRL["C"])
    found = sh.expect_exact(["weft:/ [130]$ ", "never"])
    assert found == 0
    type_line(sh, "echo alive", "alive")


@at_terminal
def test_stop_and_continue(sh):
    """Ctrl-Z, then fg and bg."""
    sh.send("echo runs; cat\r")  # "one" is echoed only when the shell has left its raw mode
    sh.expect_exact("\r\nruns\r\n")
    sh.send("one\r")
    sh.expect_exact("one\r\none\r\n")
    sh.send(CTRL["Z"])
    sh.expect(r"\[1\]\+ \d+ Stopped +cat\r\n")
    sh.expect(r"weft:/ \[\d+\]\$ ")
    sh.send("(echo begun; sleep 1000) | cat\r")
    sh.expect_exact("\r\nbegun\r\n")
    sh.send(CTRL["Z"])
    sh.expect(r"\[2\]\+ \d+ Stopped +\(echo begun; sleep 1000\) \| cat\r\n")
    sh.send("bg\r")
    sh.expect_exact("\r\n(echo begun; sleep 1000) | cat &\r\n")
    sh.expect_exact(PROMPT)
    sh.send("jobs\r")
    sh.expect(r"\[1\]. \d+ Stopped +cat\r\n\[2\]. \d+ Running +\(echo")
    sh.send("fg %cat\r")
    sh.expect_exact("\r\ncat\r\n")
    sh.send("two\r")
    sh.expect_exact("two\r\ntwo\r\n")
    sh.send(CTRL["D"])
    sh.expect_exact(PROMPT)
    sh.send("kill %2; wait %2\r")
    sh.expect_exact("Terminated\r\n")
    sh.expect_exact("weft:/ [143]$ ")


@at_terminal
def test_reading_in_the_background(sh):
    """What is typed is the foreground's; a background job has to wait for its turn."""
    sh.send("cat &\r")
    sh.expect(r"\[1\] \d+\r\n")
    sh.expect_exact(PROMPT)
    type_line(sh, "echo mine", "mine")
    sh.send("fg\r")
    sh.expect_exact("\r\ncat\r\n")
    sh.send("yours\r")
    sh.expect_exact("yours\r\nyours\r\n")
    sh.send(CTRL["C"])
    sh.expect_exact("weft:/ [130]$ ")


@at_terminal
def test_leaving_stopped_jobs(sh):
    sh.send("sh -c 'echo begun; sleep 1000'\r")
    sh.expect_exact("\r\nbegun\r\n")
    sh.send(CTRL["Z"])
    sh.expect_exact("Stopped")
    sh.expect(r"weft:/ \[\d+\]\$ ")
    sh.send("exit\r")
    sh.expect_exact("There are stopped jobs.\r\n")
    sh.expect_exact("weft:/ [1]$ ")
    sh.send("exit 4\r")
    assert status(sh) == 4


@at_terminal
def test_jobs(sh):
    sh.send("sleep 0.3 &\r")
    sh.expect(r"\[1\] \d+\r\n")
    sh.send("sh -c 'exit 4' & false && true &\r")
    sh.expect(r"\[2\] \d+\r\n")
    sh.expect(r"\[3\] \d+\r\n")
    notices = [r"\[1\]. \d+ Done +sleep 0.3\r\n",
               r"\[2\]. \d+ Exit 4 +sh -c 'exit 4'\r\n",
               r"\[3\]. \d+ Exit 1 +false && true\r\n"]
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
def test_errors_return_to_the_prompt(sh):
    for command, says, code in [("echo $((1/0))", "arithmetic: division by zero: 1/0", 2),
                                ("f() { for i in 1 2; do echo ${u?}; done; }; f 1 2 >/dev/null",
                                 "u: not set", 2),
                                ("echo a; fi", "syntax error: unexpected fi", 2),
                                ("nonexistent", "nonexistent: not found", 127)]:
        sh.send(command + "\r")
        sh.expect_exact(f"\r\nsh: {says}\r\n")
        sh.expect_exact(f"weft:/ [{code}]$ ")
        type_line(sh, "echo $# $?", f"0 {code}")


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


@at_terminal
def test_a_window_that_is_resized(sh):
    """COLUMNS, LINES, stty and the line that is being edited know at once."""
    type_line(sh, "echo $COLUMNS $LINES $(sh -c 'echo $COLUMNS')", "80 24 80")
    sh.send("echo " + "0123456789" * 10)
    sh.expect_exact("\x1b[K" + ("0123456789" * 10)[67:])  # it has scrolled
    sh.setwinsize(30, 200)
    sh.expect_exact("weft:/$ echo " + "0123456789" * 10)  # there is room for all of it now
    type_line(sh, CTRL["U"] + "echo $COLUMNS $LINES $(sh -c 'echo $COLUMNS'); stty size",
              "200 30 200\r\n30 200")
    sh.send("sh -c 'trap \"echo told\" WINCH; echo ready; read x; echo end'\r")
    sh.expect_exact("\r\nready\r\n")
    sh.setwinsize(20, 100)
    sh.expect_exact("told\r\n")
    type_line(sh, "", "end")
    type_line(sh, "echo $COLUMNS $LINES", "100 20")


def sent_for(sh, keys):
    """What goes to the terminal for some keys; ^L, which paints all again, shows where it ends."""
    sh.send(keys + CTRL["L"])
    sh.expect_exact("\x1b[H\x1b[2J")
    sent = sh.before.decode()
    sh.expect_exact("\x1b[K")
    return sent


@at_terminal
def test_a_key_repaints_what_it_changes(sh):
    sh.expect_exact("\x1b[K")
    assert sent_for(sh, "echo abcdef") == "echo abcdef"
    assert sent_for(sh, "\x7f") == "\b\x1b[K"
    # A line that is too long scrolls now and then, and not at each key.
    assert len(sent_for(sh, "0123456789" * 30)) < 1000
    assert len(sent_for(sh, CTRL["U"] + "abcde")) < 20
    assert sent_for(sh, LEFT * 2 + "X") == "\b\bXde\b\b"


@at_terminal
def test_completion(sh):
    sh.send("mkdir -p /tmp/d/sub /tmp/d/.dot; cd /tmp/d; echo 1 >one; echo 2 >'two words'; "
            "echo 3 >two.txt; f_unction() { :; }; cd /\r")
    sh.expect_exact("\r" + PROMPT)
    type_line(sh, "cat /t\td/o\t", "1")
    type_line(sh, "cat /tmp/d/tw\t\\ \t", "2")
    type_line(sh, "cat '/tmp/d/two w\t", "2")
    type_line(sh, "cat </tmp/d/two.\t", "3")
    type_line(sh, "echo /tmp/d/s\t", "/tmp/d/sub/")
    type_line(sh, "echo /tmp/d/.\t", "/tmp/d/.dot/")
    type_line(sh, "true && base\t/a/b/c; f_\t", "c")
    type_line(sh, "if ! fals\t; then prin\tf yes; fi; printf '\\n'", "yes")
    sh.send("cat /tmp/d/two\t")
    sh.expect_exact("\r\ntwo words  two.txt  ")
    sh.expect_exact("\r" + PROMPT + "cat /tmp/d/two")
    type_line(sh, ".\t", "3")
    sh.send("cat /nothing\t")
    sh.expect_exact("\a")
    type_line(sh, CTRL["U"] + "echo on", "on")


@at_terminal
def test_completion_of_difficult_names(sh):
    sh.send("mkdir /tmp/e; cd /tmp/e; echo 1 >\"it's\"; echo 2 >two; x=$(printf '3a\\nb\\033')\r")
    sh.expect_exact("\r\n\rweft:/tmp/e$ \x1b[K")
    sh.send("echo 3 >\"$x\"; echo 4 >3b; cd /\r")
    sh.expect_exact("\r" + PROMPT)
    type_line(sh, "cat '/tmp/e/it\t", "1")
    type_line(sh, "echo 2>&1 /tmp/e/tw\t", "/tmp/e/two")
    type_line(sh, "cat /tmp/e/3a\t", "3")
    sh.send("cat /tmp/e/3a\t" + CTRL["C"])
    sh.expect_exact("'?'b?")
    sh.expect_exact("^C")
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("cat /tmp/e/3\t")
    sh.expect_exact("\r\n3a?b?  3b     \r\n")


@at_terminal
def test_a_prompt_that_is_too_long(sh):
    """Its end is shown, so that there is room for the line, and all is in one row."""
    text = "0123456789" * 3
    type_line(sh, "echo " + text, text)
    sh.send(CTRL["R"] + text)
    sh.expect_exact("9': echo 0123456789012345678901\x1b[22D")
    sh.setwinsize(24, 30)
    sh.expect_exact("\x1b[J\r" + (text + "': ")[-21:] + "echo 012")
    sh.send(CTRL["G"] + "mkdir -p /tmp/" + text + "; cd /tmp/" + text + "\r")
    sh.expect_exact("\r" + ("weft:/tmp/" + text + "$ ")[-21:] + "\x1b[K")
    sh.setwinsize(24, 5)
    sh.expect_exact("\x1b[J\r\x1b[K")
    sh.send("abcdef")
    sh.expect_exact("abcd")
    sh.send(CTRL["U"] + "exit 3\r")
    assert status(sh) == 3


@at_terminal
def test_a_line_scrolls_by_whole_characters(sh):
    type_line(sh, "true " + "\u00e4x" * 50 + "; echo 1", "1")
    type_line(sh, "true " + "x\u00e4" * 50 + "; echo 2", "2")
    sh.send(UP + LEFT * 3 + UP + CTRL["C"])
    sh.expect_exact("^C")
    for part in re.split(rb"[\x00-\x1f]+", sh.before):
        part.decode()
    assert sh.before.count("\u00e4".encode()) > 20


@at_terminal
def test_search_in_the_history(sh):
    type_line(sh, "echo first one", "first one")
    type_line(sh, "echo second one", "second one")
    type_line(sh, "echo third", "third")
    type_line(sh, CTRL["R"] + "one", "second one")
    type_line(sh, CTRL["R"] + "first", "first one")
    type_line(sh, CTRL["R"] + "o s" + END + " more", "second one more")
    type_line(sh, CTRL["R"] + "one" + CTRL["R"] * 2, "second one")
    type_line(sh, CTRL["R"] + "firsX\x7ft", "first one")
    # What was typed comes back below the history, though a search has gone up in it.
    type_line(sh, CTRL["R"] + "first" + END + DOWN * 9 + "echo empty", "empty")
    type_line(sh, "echo kept" + CTRL["R"] + "empty" + END + DOWN * 9 + " too", "kept too")
    type_line(sh, "echo kept" + UP + CTRL["R"] + "nowhere" + END + DOWN * 9 + " so", "kept so")
    type_line(sh, "echo typed" + CTRL["R"] + "third" + CTRL["G"], "typed")
    sh.send(CTRL["R"] + "nowhere")
    sh.expect_exact("failed reverse-i-search)`no': ")
    sh.send(CTRL["C"])
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("history 2\r")
    sh.expect(r"\r\n +\d+  echo typed\r\n +\d+  history 2\r\n")
    sh.send("history -c; history\r")
    sh.expect_exact("history\r\n\r" + PROMPT)


@at_terminal
def test_modes_of_the_terminal(sh):
    """What stty sets stays, for commands and in the shell; what is wrong changes nothing."""
    sh.send("stty\r")
    sh.expect_exact("rows 24; columns 80;\r\n"
                    "intr = ^C; quit = ^\\; susp = ^Z; erase = ^?; kill = ^U; eof = ^D; min = 1; "
                    "time = 0;\r\nisig icanon echo icrnl opost -crtscts\r\n")
    sh.expect_exact("\r" + PROMPT)
    type_line(sh, "saved=$(stty -g); stty intr ^X -echo; "
              "/bin/stty | grep -c -e 'intr = ^X' -e -echo", "2")
    sh.send("cat\r")
    sh.send("not echoed\r")
    sh.expect_exact("\r\nnot echoed\r\n")
    sh.send("\x18")
    sh.expect_exact("weft:/ [130]$ ")
    sh.send("stty echo erase\r")
    sh.expect_exact("sh: stty: no such mode: erase\r\n")
    sh.expect_exact("weft:/ [2]$ ")
    sh.send("stty rows 5x\r")
    sh.expect_exact("sh: stty: rows: not a value: 5x\r\n")
    sh.expect_exact("weft:/ [2]$ ")
    type_line(sh, "stty | grep -c -e -echo", "1")
    type_line(sh, "stty $saved; stty | grep -c -e 'intr = ^C' -e ' echo'; stty columns 99",
              "2")
    type_line(sh, "echo $COLUMNS", "99")


@at_terminal
def test_prstat_repaints_in_place(sh):
    """On a terminal, as many rows as there are, none in two; else, or with -c, report below report."""
    sh.setwinsize(8, 100)
    sh.expect_exact("\x1b[J\r" + PROMPT)
    sh.send("for i in 1 2 3 4 5 6; do sleep 99 & done\r")
    for _ in range(6):
        sh.expect(r"\[\d\] \d+\r\n")
    sh.send("clear; prstat 1 2\r")
    sh.expect_exact("\x1b[H\x1b[2J\x1b[3J\x1b[2J")
    for _ in range(2):
        # Without the terminal's wrap, which is on again behind each row.
        sh.expect(r"\x1b\[H\x1b\[\?7l   PID .*?\x1b\[K\x1b\[\?7h\r\n"
                  r"((?:\x1b\[\?7l +\d+ .*?\x1b\[K\x1b\[\?7h\r\n)+)\x1b\[\?7lTotal: \d+ "
                  r"processes, \d+ lwps\x1b\[K\x1b\[\?7h\r\n\x1b\[J")
        assert sh.match[1].count(b"\n") == 5
    sh.expect_exact("\r" + PROMPT)
    for command in ("prstat -c -n 1 1 2", "prstat -n 1 1 2 | cat"):
        sh.send(command + "\r")
        sh.expect_exact("\r\n   PID ")
        sh.expect(r"\d lwps\r\n   PID [^\x1b]*\d lwps\r\n\r" + re.escape(PROMPT))
