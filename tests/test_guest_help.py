"""What the guest says of its own commands: help names them all, and each tells its usage."""

import re

import pytest
from conftest import TOP

TOOLS = ("bin/files", "bin/threads")
# What POSIX lets take any argument, and do nothing with it.
NO_OPTIONS = {"true", "false"}


def programs(*folders):
    """The names of the programs of these folders (user/user.mk)."""
    return {path.stem if path.suffix else path.name
            for folder in folders for path in (TOP / "user" / folder).iterdir()
            if path.suffix == ".c" or (path.is_dir() and path.name != "common")}


def links():
    """Programs that are the shell by another name."""
    return set(re.search(r"foreach p,(.*?),bin", (TOP / "user/user.mk").read_text())[1].split())


def test_help_names_every_program_and_builtin(guest):
    words = set(re.findall(r"[^\s,;:]+", guest(["help"], timing="exact").output))
    wanted = programs(*TOOLS, "bench", "demo") | links()
    assert {"truss", "micro", "many", "sed", "stty"} <= wanted
    assert wanted - words == set()
    table = (TOP / "user/bin/files/sh/builtin.c").read_text()
    builtins = set(re.findall(r'^\t\{"(\w+)", \w+, (?:true|false)\},', table, re.MULTILINE))
    assert {"cd", "history"} <= builtins
    assert builtins - words == set()


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_tool_prints_its_usage(guest, option):
    """On standard output, with status 0, and does nothing else."""
    names = [*sorted(programs(*TOOLS) - NO_OPTIONS), "stty"]
    script = "".join(f"echo == {name}; /bin/{name} {option} </dev/null 2>&1; echo $?\n"
                     for name in names)
    output = guest(["sh", "-c", script], timing="exact").output
    said = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", output, re.MULTILINE | re.DOTALL))
    wrong = {name: said.get(name) for name in names
             if not re.fullmatch(rf"usage: {name}\b.*\n0\n", said.get(name, ""), re.DOTALL)}
    assert wrong == {}


# Where each tool takes the id of a process.
TAKES_PID = ["pstack {}", "plocks {}", "pthreads {}", "pmap {}", "pmap -x {}", "lwps {}", "ps -p {}",
             "ps -p 1,{}", "prstat -p {} 1 1", "truss -p {}", "priocntl -d {}", "priocntl -s -p 1 {}",
             "psrset -q {}", "psrset -u {}", "pgrep -P {}", "pgrep -g {}", "pkill -s {}"]


def test_what_is_no_process_id_is_said(guest):
    """And nothing is shown in its place, as the tool's own process."""
    bad = ["abc", "0", "-1", "1x", "100000", "99999999999"]
    calls = [call.format(pid) for call in TAKES_PID for pid in bad]
    script = "".join(f"echo == '{call}'; {call} 2>/tmp/errors; echo $?; cat /tmp/errors\n"
                     for call in calls)
    output = guest(["sh", "-c", script], timing="exact", timeout=120).output
    said = dict(re.findall(r"^== ([^\n]*)\n(.*?)(?=^== |\Z)", output, re.MULTILINE | re.DOTALL))
    assert list(said) == calls
    for call, text in said.items():
        pid = call.split()[-1] if not call.endswith(" 1 1") else call.split()[-3]
        complaint = rf"2\n\w+: \w+: {re.escape(pid.split(',')[-1])} is no number from 1 to 99999\n"
        # An argument that looks like an option is none.
        option = r"2\n(\w+: \S+ .*option.*\n)?(.*\n)?usage: .*"
        assert re.fullmatch(complaint, text) or (
            "-1" in pid and re.fullmatch(option, text, re.DOTALL)), (call, text)


def test_what_is_no_process_any_more_is_said(guest):
    script = "".join(f"{call.format(99999)} >/tmp/out; echo $?\n"
                     for call in ("pstack {}", "plocks {}", "pthreads {}", "pmap {}", "lwps {}", "truss -p {}",
                                  "priocntl -d {}", "psrset -q {}"))
    output = guest(["sh", "-c", script], timing="exact").output
    assert re.findall(r"^\d+$", output, re.MULTILINE) == ["1"] * 8
    assert output.count("no process") + output.count("No such process") + \
        output.count("no such process") == 8, output
