"""weft run against a stand-in for QEMU: every way in which a guest can end, without a guest."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest
from weft_host.machine import QEMU

TOP = Path(__file__).resolve().parents[1]

STAND_IN = """\
#!{python}
import os, sys, time
open({pid!r}, "w").write(str(os.getpid()))
def say(text):
    os.write(1, text.encode())
def hear(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data))
    return data
{body}
"""


@pytest.fixture
def stand_in(tmp_path):
    """stand_in(body) makes a QEMU that does this; returns (environment, its pid)."""
    build = TOP / "build"
    if not (build / "weft.elf").exists() or not (build / "initrd.cpio").exists():
        pytest.fail("not built")

    def make(body):
        program = tmp_path / QEMU
        pid = tmp_path / "pid"
        program.write_text(STAND_IN.format(python=sys.executable, body=body, pid=str(pid)))
        program.chmod(0o755)
        return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, pid

    return make


def run(env, *options, stdin=b""):
    return subprocess.run([TOP / "tools/weft", "run", "--no-build", *options, "--", "x"],
                          env=env, input=stdin, capture_output=True, timeout=30)


def gone(pid):
    """Has the process with this pid ended?"""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def await_file(path):
    for _ in range(1000):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.01)
    pytest.fail("QEMU's stand-in has not started")


def test_exit_sequence_split_over_writes(stand_in):
    env, _ = stand_in("""
for piece in ("hello\\r", "\\n\\x1b]we", "ft;ex", "it;1", "7\\a"):
    say(piece)
    time.sleep(0.05)
sys.exit(33)""")
    done = run(env)
    assert (done.returncode, done.stdout, done.stderr) == (17, b"hello\n", b"")


def test_input_waits_until_the_console_is_ready(stand_in):
    env, _ = stand_in("""
time.sleep(0.3)
import select
early = select.select([0], [], [], 0)[0]
say("early\\r\\n" if early else "patient\\r\\n")
say("\\x1b]weft;ready\\a")
say(repr(hear(6)))
say("\\x1b]weft;exit;0\\a")
sys.exit(33)""")
    done = run(env, stdin=b"ab\nc")
    # The end of the input within a line: the first Ctrl-D ends the line.
    assert done.stdout == b"patient\n" + repr(b"ab\nc\x04\x04").encode()


def test_panic(stand_in):
    env, _ = stand_in("""
say("out\\r\\n\\x1b]weft;panic\\a\\r\\nweft: panic: assertion failed\\r\\n")
sys.exit(35)""")
    done = run(env)
    assert (done.returncode, done.stdout) == (70, b"out\n")
    assert b"weft: panic: assertion failed\n" in done.stderr


def test_panic_that_hangs(stand_in):
    env, _ = stand_in("""
say("\\x1b]weft;panic\\aweft: panic: x\\r\\n")
time.sleep(60)""")
    done = run(env, "--timeout", "1")
    assert done.returncode == 70
    assert b"weft: panic: x\n" in done.stderr


def test_reset(stand_in):
    env, _ = stand_in("sys.exit(0)")
    done = run(env)
    assert done.returncode == 70
    assert b"reset" in done.stderr


def test_qemu_fails(stand_in):
    env, _ = stand_in("""
sys.stderr.write("no such machine\\n")
sys.exit(1)""")
    done = run(env)
    assert done.returncode == 69
    assert b"no such machine" in done.stderr


def test_a_halt_without_a_status_is_no_success(stand_in):
    env, _ = stand_in("sys.exit(33)")
    assert run(env).returncode == 69


def test_time_out_kills(stand_in):
    env, pid = stand_in("""
say("before\\r\\n")
time.sleep(60)""")
    done = run(env, "--timeout", "1")
    assert (done.returncode, done.stdout) == (124, b"before\n")
    assert b"time-out" in done.stderr
    assert gone(await_file(pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_qemu_does_not_outlive_weft(stand_in, number):
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux can promise that")
    env, pid = stand_in("time.sleep(60)")
    weft = subprocess.Popen([TOP / "tools/weft", "run", "--no-build", "--", "x"], env=env,
                            stdin=subprocess.DEVNULL)
    qemu = await_file(pid)
    assert not gone(qemu)
    weft.send_signal(number)
    status = weft.wait(timeout=20)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    for _ in range(500):
        if gone(qemu):
            return
        time.sleep(0.01)
    os.kill(qemu, signal.SIGKILL)
    pytest.fail("QEMU has outlived weft")


def test_closed_output(stand_in):
    env, pid = stand_in("""
for i in range(100000):
    say("line\\r\\n" * 1000)""")
    with subprocess.Popen([TOP / "tools/weft", "run", "--no-build", "--", "x"], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as weft:
        assert weft.stdout.read(5) == b"line\n"
        weft.stdout.close()
        assert weft.wait(timeout=20) == 128 + signal.SIGPIPE
        assert weft.stderr.read() == b""
    assert gone(await_file(pid))


def test_no_qemu(tmp_path):
    """PATH without QEMU, but with what starts weft itself."""
    (tmp_path / "python3").symlink_to(sys.executable)
    done = subprocess.run([sys.executable, TOP / "tools/weft", "run", "--no-build", "--", "x"],
                          env={**os.environ, "PATH": str(tmp_path)}, capture_output=True,
                          timeout=30)
    assert done.returncode == 69
    assert b"qemu-system-x86_64 is not installed" in done.stderr


def test_a_terminal(stand_in):
    """On a terminal, keys go to the guest as they are typed, and Ctrl-A x leaves."""
    env, pid = stand_in("""
say("\\x1b]weft;ready\\aready\\r\\n")
say(repr(hear(4)))
time.sleep(60)""")
    weft = pexpect.spawn(str(TOP / "tools/weft"), ["run", "--no-build"], env=env, timeout=20)
    weft.expect_exact("leave with Ctrl-A x")
    weft.expect_exact("ready\r\n")
    weft.send("\x03\x01\x01\rz")
    weft.expect_exact(repr(b"\x03\x01\rz"))
    weft.send("\x01x")
    weft.expect(pexpect.EOF)
    weft.close()
    assert (weft.exitstatus, weft.signalstatus) == (0, None)
    assert gone(await_file(pid))
