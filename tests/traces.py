"""What the tests of traces share: traced runs, and their records."""

import subprocess

from conftest import WEFT
from weft_host.paths import BUILD
from weft_trace import events

MOST = 60  # instructions of a record in fast timing


def guest(call, *words):
    return subprocess.run([*WEFT, call, "--no-build", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)


def same_bytes(smp, options, command, raw):
    """The records of a command in exact timing.  Its output, with the kernel's messages and the time of the end, is
    that of a run without a trace."""
    words = ["--timing", "exact", "--smp", str(smp), "--verbose", *options.split()]
    program = BUILD / "tests/bin" / command.split()[0]
    if program.is_file():
        words += ["--file", str(program)]
    words += ["--", *command.split()]
    plain = guest("run", *words)
    traced = guest("trace", "--raw", str(raw), *words)
    assert (traced.stdout, traced.stderr, traced.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    assert "weft: ends at " in plain.stdout + plain.stderr
    return list(events.read(raw))
