"""weft run with real guests: statuses, files, input, environment."""

import os
import re
from unittest import mock

import pexpect
import pytest
from conftest import TOP
from weft_host import runcmd
from weft_host.machine import Machine


def run(weft, *words, **options):
    return weft("run", "--timeout", "60", *words, **options)


@pytest.mark.parametrize("command, status, output", [
    (["true"], 0, b""),
    (["false"], 1, b""),
    (["echo", "-n", "a b", ""], 0, b"a b "),
    (["sh", "-c", "exit 17"], 17, b""),
    (["sh", "-c", "echo one; echo two; exit 255"], 255, b"one\ntwo\n"),
])
def test_status_and_output(weft, command, status, output):
    done = run(weft, "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, b"")


def test_no_such_program(weft):
    done = run(weft, "--", "no-such-program")
    assert done.returncode == 127
    assert b"no-such-program" in done.stdout


def test_killed_by_a_signal(weft):
    """139: killed by SIGSEGV; the kernel's line says where."""
    done = run(weft, "--", "faults", "null-write")
    assert done.returncode == 128 + 11, done.stdout
    assert re.search(rb"weft: pid \d+ \(faults\) lwp 1: SIGSEGV at address 0x", done.stdout)


def test_time_out(weft):
    done = weft("run", "--timeout", "3", "--", "sh", "-c", "echo begun; sleep 100")
    assert (done.returncode, done.stdout) == (124, b"begun\n")


def test_panic(weft):
    done = run(weft, "--append", "init=/nothing", "--", "true")
    assert done.returncode == 70
    assert done.stdout == b""
    assert b"weft: panic: " in done.stderr
    assert b"CPU 0" in done.stderr


def test_environment(weft):
    done = run(weft, "--env", "A=1 2", "--env", "B=", "--model", "mxn", "--options", "queue=fifo",
               "--", "env")
    lines = done.stdout.decode().splitlines()
    assert {"A=1 2", "B=", "LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=queue=fifo",
            "PATH=/host:/bin"} <= set(lines)
    assert not [line for line in lines if line.startswith("WEFT_CONSOLE")]


def test_files(weft, tmp_path):
    text = bytes(range(32, 127)) * 1000 + b"\n"
    (tmp_path / "data").write_bytes(text)
    (tmp_path / "script").write_bytes(b"echo from a script\n")
    done = run(weft, "--file", tmp_path / "data", "--file", f"{tmp_path}/script:/a/b/c",
               "--", "cat", "/host/data", "/a/b/c")
    assert done.returncode == 0
    assert done.stdout == text + b"echo from a script\n"


def test_a_file_is_executable_and_on_the_path(weft):
    program = TOP / "build/bin/basename"
    done = run(weft, "--file", program, "--", "sh", "-c", "/host/basename it/runs")
    assert (done.returncode, done.stdout) == (0, b"runs\n")
    done = run(weft, "--file", f"{program}:/host/my-name", "--", "my-name", "found")
    assert (done.returncode, done.stdout) == (0, b"found\n")


def test_a_file_replaces_one_of_the_system(weft, tmp_path):
    (tmp_path / "motd").write_text("mine\n")
    done = run(weft, "--file", f"{tmp_path}/motd:/bin/true", "--", "cat", "/bin/true")
    assert done.stdout == b"mine\n"


@pytest.mark.parametrize("text", [b"", b"line\n", b"no newline at the end", b"a\n\nb\n"])
def test_input(weft, text):
    done = run(weft, "--", "cat", stdin=text)
    assert (done.returncode, done.stdout) == (0, text)


def test_much_input(weft):
    """More than every buffer on the way holds: none of it is lost."""
    text = b"".join(b"%06d the quick brown fox jumps over the lazy dog\n" % i
                    for i in range(4000))
    done = run(weft, "--", "cat", stdin=text)
    assert done.returncode == 0
    assert done.stdout == text


def test_much_output(weft):
    done = run(weft, "--file", TOP / "LICENSE", "--", "sh", "-c",
               "cat " + "/host/LICENSE " * 100)
    assert done.stdout == (TOP / "LICENSE").read_bytes() * 100


def test_boot_from_cd(weft):
    done = run(weft, "--boot", "iso", "--smp", "2", "--", "sh", "-c", "echo by CD; exit 3")
    assert (done.returncode, done.stdout) == (3, b"by CD\n")


@pytest.mark.parametrize("words, says", [
    (["--smp", "0"], "CPUs"),
    (["--smp", "65"], "CPUs"),
    (["--smp", "x"], "--smp"),
    (["--mem", "lots"], "--mem"),
    (["--mem", "512M", "--free", "100M"], "--mem and --free"),
    (["--timing", "exact", "--accel", "kvm"], "tcg"),
    (["--mips", "5"], "--mips"),
    (["--seed", "1"], "--seed"),
    (["--timeout", "0"], "--timeout"),
    (["--file", "/no/such/file"], "no such file"),
    (["--file", "LICENSE:relative"], "absolute"),
    (["--env", "NOVALUE"], "--env"),
    (["--env", "1=2"], "--env"),
    (["--no-such-option"], "--no-such-option"),
])
def test_wrong_usage(weft, words, says):
    done = weft("run", *words, "--", "true", cwd=TOP)
    assert done.returncode == 2
    assert says in done.stderr.decode()


def test_exact_timing_has_no_shell(weft):
    done = weft("run", "--timing", "exact")
    assert done.returncode == 2
    assert b"runs a command" in done.stderr


@pytest.mark.parametrize("command", ["monitor", "trace", "grade", ""])
def test_unknown_command(weft, command):
    assert weft(command).returncode == 2


@pytest.mark.parametrize("words", [["--model", "threads"], ["--options", "speed=high"]])
def test_unknown_model_or_option(weft, words):
    """The library's error, which lists what it knows."""
    done = run(weft, *words, "--", "pp", "-i", "10")
    assert done.returncode == 2
    assert words[1].encode() in done.stdout
    assert b"lwp" in done.stdout or b"spin" in done.stdout


@pytest.mark.parametrize("words, told", [(["--smp", "2"], True),
                                         (["--smp", "2", "--timing", "fast"], False),
                                         (["--smp", "2", "--timing", "exact"], False)])
def test_times_of_the_host_are_called_so(words, told):
    """To a person at a terminal, of two CPUs on one core, unless the timing is named."""
    call = pexpect.spawn(str(TOP / "tools/weft"), ["run", "--no-build", "--timeout", "100", *words, "--",
                                                   "echo", "done"], timeout=100, encoding="utf-8",
                         preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    said = call.read()
    assert "done\r\n" in said
    assert told == bool(re.search(r"^weft: 2 CPUs on [01] idle cores?: times are the host's\. "
                                  r"--timing exact gives .*\r\n", said, re.MULTILINE)), said


def test_idle_cores_are_counted(monkeypatch):
    """Of four cores' ticks one is idle wholly, two nearly, one not; one more is not ours."""
    before = dict.fromkeys(range(4), (0, 0))
    after = {0: (10, 10), 1: (9, 10), 2: (8, 10), 3: (1, 10)}
    monkeypatch.setattr(runcmd, "_core_times", mock.Mock(side_effect=[before, after]))
    monkeypatch.setattr(runcmd.sys, "platform", "linux")
    assert runcmd.idle_cores() == 3


def test_as_many_cpus_as_idle_cores_need_no_word(monkeypatch):
    monkeypatch.setattr(runcmd, "idle_cores", lambda: 2)
    assert runcmd.note_of_times(Machine(argv=["true"], smp=2)) is None
    assert "3 CPUs on 2 idle cores" in runcmd.note_of_times(Machine(argv=["true"], smp=3))


def test_a_shell_on_a_terminal():
    """An interactive session: a prompt, a command, an assignment, Ctrl-C, Ctrl-D."""
    shell = pexpect.spawn(str(TOP / "tools/weft"), ["run", "--no-build", "--timeout", "100"],
                          timeout=30, encoding="utf-8", dimensions=(24, 80))
    shell.expect_exact("$ ")
    shell.send("A=5 env\r")
    shell.expect_exact("A=5\r\n")
    shell.expect_exact("$ ")
    # What is typed before the shell has left its raw mode is not echoed, so the command says when it runs.
    shell.send("echo runs; cat\r")
    shell.expect_exact("runs\r\n")
    shell.send("typed\r")
    shell.expect("typed\r\n.*typed\r\n")
    shell.send("\x03")
    shell.expect_exact("$ ")
    shell.send("exit 7\r")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 7
