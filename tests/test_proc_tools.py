"""The tools that look at processes: ps, pstack, pmap, and the files of /proc under them."""

import re

import pytest
from conftest import TOP

# The shell is process 2, and at_rest, which blocks its threads, process 3.
AT_REST = "at_rest & sleep 0.1; "


def sh(guest, command, status=0):
    result = guest(["sh", "-c", command], smp=2, timing="exact")
    assert result.status == status, result.output
    return result.output


def test_ps(guest):
    output = sh(guest, AT_REST + "ps; ps -f -p 3; ps -L -p 3; ps -o pid,nlwp,args -p 2,3")
    assert re.search(r"^ +3 +2 +4 sleep .* at_rest$", output, re.MULTILINE), output
    assert re.search(r"^ +3 +2 +\d+ +4 sleep +\d+ +\d+ +1\.\d+ +0:00\.\d+ at_rest$", output,
                     re.MULTILINE), output
    lwps = re.findall(r"^ +3 +(\d) sleep +\w+ +\d+ +[01] +0:00\.\d+ (\w+) +\w+ +at_rest$", output,
                      re.MULTILINE)
    assert lwps == [("1", "lwp_sleep"), ("2", "lwp_park"), ("3", "lwp_park"), ("4", "lwp_park")]
    assert re.search(r"^ +2 +1 sh -c at_rest & sleep", output, re.MULTILINE), output


def test_ps_refuses(guest):
    assert "no column nonsense; there are: pid" in sh(guest, "ps -o nonsense", status=2)
    assert sh(guest, "ps -p 77", status=1).count("\n") == 1


def test_pstack(guest):
    """Every LWP, with the functions that it is in, down to where its thread began."""
    output = sh(guest, AT_REST + "pstack 3")
    # Each LWP runs the thread with its number; the second has a name.
    threads = re.findall(r"lwp# (\d+) / thread# (\d+)(?: (\S.*?))?  ", output)
    assert threads == [(i, i, "reads news" if i == "3" else "") for i in "1234"], output
    stacks = re.split(r"-+  lwp# (\d+) / .*?(?:  in (\w+))?  -+\n", output)
    calls = dict(zip(stacks[1::3], stacks[2::3]))
    functions = {lwp: re.findall(r"^ [0-9a-f]{16} (\w+)\+", text, re.MULTILINE)
                 for lwp, text in zip(stacks[1::3], stacks[3::3])}
    assert [calls[lwp] for lwp in "234"] == ["lwp_park"] * 3, output
    assert "main" in functions["1"], output
    assert functions["2"][0] == "__sys_lwp_park", output
    assert functions["2"].count("wants_lock") == 3 and "lock_taker" in functions["2"], output
    assert "news_reader" in functions["3"] and "token_taker" in functions["4"], output
    assert "????" not in output  # also of a function whose last instruction is a call


def test_lwps_names_threads(guest):
    output = sh(guest, AT_REST + "lwps 3")
    assert re.findall(r" (\S+/.*|at_rest)$", output, re.MULTILINE) == \
        ["at_rest", "at_rest", "at_rest/reads news", "at_rest"], output


def test_pstack_lets_go(guest):
    """A process runs on after pstack; and what cannot be looked at is said."""
    assert "process 99: No such process" in sh(guest, "pstack 99", status=1)
    output = sh(guest, "sleep 0.3 & pstack 3; wait; echo waited")
    assert "in lwp_sleep" in output and "main+0x" in output and output.endswith("waited\n")


def test_pmap(guest):
    output = sh(guest, AT_REST + "pmap -x 3; pmap 3")
    rows = re.findall(r"^([0-9A-F]{16}) +(\d+) +(\d+) (\S+) +(\S+)$", output, re.MULTILINE)
    what = [row[4] for row in rows]
    assert {"/bin/at_rest", "[stack]", "[time]", "[schedctl]"} <= set(what), output
    assert all(int(row[2]) <= int(row[1]) for row in rows)
    total = re.search(r"^ *total Kb +(\d+) +(\d+)$", output, re.MULTILINE)
    assert sum(int(row[1]) for row in rows) == int(total[1])
    assert sum(int(row[2]) for row in rows) == int(total[2])
    code = [row for row in rows if row[4] == "/bin/at_rest" and "x" in row[3]]
    assert len(code) == 1 and "w" not in code[0][3]


def test_proc_files(guest):
    output = sh(guest, AT_REST + "cat /proc/3/status /proc/3/cmdline /proc/3/lwp/2/status; "
                                 "ls /proc/3/lwp; cat /proc/self/cmdline")
    # Its first thread naps and looks in turns.
    assert re.search("Name:\tat_rest\nState:\t(sleep|run|cpu)\nPid:\t3\nPPid:\t2\n", output)
    assert "Lwps:\t4\n" in output
    assert "\nat_rest\nId:\t2\nState:\tsleep\n" in output
    assert "Waits:\tpark\n" in output
    assert output.endswith("1\n2\n3\n4\ncat /proc/self/cmdline\n"), output
    bad = ["99", "03", "x", "3/nothing", "3/lwp/9", "3/lwp/0", "3/lwp/2/x"]
    output = sh(guest, AT_REST + "cat" + "".join(f" /proc/{path}" for path in bad), status=1)
    assert output.count("No such file") == len(bad), output


def test_pstack_of_a_call_without_a_frame(guest):
    """A function that only makes a system call: its caller is not left out."""
    output = sh(guest, "sleep 1 | sort & sleep 0.1; pstack $(pgrep -x sort)")
    assert re.findall(r"^ [0-9a-f]{16} (\w+)\+", output, re.MULTILINE)[:2] == \
        ["__plain_read", "__sread"], output


@pytest.mark.parametrize("model, lwps", [("lwp", 6), ("mxn", 5)])
def test_the_lwps_that_the_document_shows(guest, model, lwps):
    """docs/own-program.md: the list for each model, without what time and place it was."""
    def rows(text):
        found = re.findall(r"^ +3 +(\d+) \w+ +TS +\d+ +\d +[\d.]+ +[\d.]+ (\S+) +(\S+) +(states\S*)$",
                           text, re.MULTILINE)
        assert len(found) == lwps, text
        return found

    document = (TOP / "docs/own-program.md").read_text()
    shown, = (block for block in document.split("```")
              if "    3     2 sleep" in block and ("states/" in block) == (model == "mxn"))
    result = guest(["sh", "-c", "states 100 & sleep 0.05; lwps"], smp=2, model=model, timing="exact",
                   mips=100)
    assert rows(shown) == rows(result.output)
