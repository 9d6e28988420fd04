"""The shell's language, and the text tools: the tables of tests/shell/.

A table is a file of cases.  A case begins with "$ " and a command; "> " adds lines to it.  What
follows is what it says on both outputs, then in brackets its exit status unless that is 0; a last
line that does not end in a newline ends in <no newline> instead, and an empty line reads <empty>.
Lines that are empty, or stand in front of the first case of a paragraph, belong to no case.  Each
case is run by a shell of its own with the parameters "p 1" and p2, all of a table in one boot.
"""

import re
import shlex
from pathlib import Path

import pytest

TABLES = sorted(Path(__file__).with_name("shell").glob("*.t"))


def cases(table):
    """The table's cases: (script, what it says)."""
    found = []
    for paragraph in re.split(r"\n{2,}", table.read_text()):
        script, said = None, []
        for line in paragraph.splitlines():
            if line.startswith("$ "):
                if script:
                    found.append((script, said))
                script, said = [line[2:]], []
            elif script and not said and (line == ">" or line.startswith("> ")):
                script.append(line[2:])
            elif script:
                said.append("" if line == "<empty>" else line)
        if script:
            found.append((script, said))
    return [("\n".join(script), said) for script, said in found]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_table(guest, tmp_path, table):
    wanted = cases(table)
    driver = "".join(
        f"echo; echo '== case {i}'; sh -c {shlex.quote(script)} sh 'p 1' p2 </dev/null 2>&1\n"
        f"status=$?; [ $status = 0 ] || echo \"[$status]\"\n"
        for i, (script, _) in enumerate(wanted))
    (tmp_path / "driver").write_text(driver)
    result = guest(["sh", "/host/driver"], files=[f"{tmp_path}/driver"])
    said = re.split(r"\n== case \d+\n", result.output)[1:]
    assert len(said) == len(wanted), result.output[-2000:]
    wrong = [f"$ {script}\n" + "\n".join(lines) + "\n-- but it said:\n" + text
             for (script, lines), text in zip(wanted, said)
             if re.sub(r"([^\n])(\[\d+\]\n)?\Z", r"\1<no newline>\n\2", text)
             != "".join(f"{line}\n" for line in lines)]
    assert not wrong, "\n\n".join(wrong)


def test_commands_from_standard_input(guest):
    """The shell takes no more of its input than its own lines."""
    text = b"echo first\ncat\nfor cat\n\x04echo 'an open\nquote'\nexit 9\n"
    result = guest(["sh"], stdin=text)
    assert result.output == "first\nfor cat\nan open\nquote\n"
    assert result.status == 9


USAGE = "usage: sh [-efux] [-c TEXT [NAME ARG...] | FILE [ARG...]]\n"


@pytest.mark.parametrize("argv, output, code", [
    (["sh", "-c", "echo $0 $1 $#", "name", "arg"], "name arg 1\n", 0),
    (["sh", "-e", "-c", "false; echo no"], "", 1),
    (["sh", "/nonexistent"], "sh: /nonexistent: No such file or directory\n", 127),
    (["sh", "-q"], "sh: no such option: q\n" + USAGE, 2),
    (["sh", "-c"], USAGE, 2),
])
def test_arguments(guest, argv, output, code):
    result = guest(argv)
    assert (result.output, result.status) == (output, code)


def test_scripts(guest, tmp_path):
    """Files that are run as commands: by the shell, or by the program that #! names."""
    (tmp_path / "plain").write_text("echo $0 $# \"$1\"; exit 3\n")
    (tmp_path / "marked").write_text("#! /bin/sh -x\necho marked \"$@\"\n")
    (tmp_path / "other").write_text("#!/bin/cat\nshown\n")
    (tmp_path / "lost").write_text("#!/bin/nonexistent\n")
    result = guest(["sh", "-c", "plain 'a b'; echo $?; exec 5</dev/null; marked 1 2; other;"
                    "lost; echo $?; plain | cat; cd /host; ./plain; echo end"],
                   files=[str(tmp_path / name) for name in ("plain", "marked", "other", "lost")])
    assert result.output == ("/host/plain 1 a b\n3\n+ echo marked 1 2\nmarked 1 2\n"
                             "#!/bin/cat\nshown\nsh: line 1: lost: not found\n127\n"
                             "/host/plain 0 \n./plain 0 \nend\n")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wait_loses_no_trapped_signal(guest, seed):
    """The signal comes at about the time when `wait' goes to sleep, for a child that does not
    end: were it lost, the machine would stand still."""
    script = """trap 'n=$((n + 1))' USR1
        while [ ${n:-0} -lt 12 ]; do (kill -USR1 $$; read x </dev/console) & wait $!; done
        echo $n; kill -9 $(jobs -p)"""
    result = guest(["sh", "-c", script], smp=2, timing="exact", seed=seed, quantum=200)
    assert result.output.startswith("12\n"), result.output
