"""truss: every system call is described, and what a trace shows."""

import re

from conftest import TOP


def names_of(path, pattern):
    return set(re.findall(pattern, (TOP / path).read_text(), re.MULTILINE))


def test_every_call_is_described():
    """Who adds a system call says in user/libc/sysdesc.c what its arguments are."""
    calls = names_of("kernel/include/weft/syscall.h", r"^\s*X\(\d+, (\w+), \d\)")
    described = names_of("user/libc/sysdesc.c", r"^\s*D\((\w+), ")
    assert len(calls) > 50
    assert calls - described == set()
    assert described - calls == set()


def trace(guest, *argv, status=0, **options):
    result = guest(["truss", *argv], timing="exact", **options)
    assert result.status == status, result.output
    return result.output


def test_calls_in_words(guest):
    """Names, strings from the program's memory, flags, errors; and no other calls."""
    output = trace(guest, "-t", "open,write,lwp_sleep", "cat", "/nowhere/\x01", status=1)
    assert re.search(r'^open\("/nowhere/\\1", O_RDONLY, 0\) += Err#2 ENOENT$', output,
                     re.MULTILINE), output
    assert 'write(2, "cat' in output
    assert "brk(" not in output
    output = trace(guest, "-t", "!write,brk", "sleep", "0.25")
    assert re.search(r"^lwp_sleep\(CLOCK_MONOTONIC, 0, \{sec=0, nsec=250000000\}\) += 0$", output,
                     re.MULTILINE), output
    assert "exit(0)\n" in output
    assert "brk(" not in output


def test_a_buffer_is_shown_when_it_is_filled(guest):
    output = trace(guest, "-t", "read", "cat", "/etc/weft-run")
    assert re.search(r'^read\(\d, ".*truss\\0.*"\.*, \d+\) += \d+$', output, re.MULTILINE), output


def test_children_and_stamps(guest):
    """-f shows children, with process ids; -d and -l put time and LWP before the calls."""
    output = trace(guest, "-f", "-d", "-l", "-t", "exit", "sh", "-c", "/bin/true; exit 5", status=5)
    ends = re.findall(r"^(\d+)/1:\t +(\d+\.\d+) +exit\((\d+)\)$", output, re.MULTILINE)
    assert [end[2] for end in ends] == ["0", "5"], output
    assert ends[0][0] != ends[1][0]
    assert float(ends[0][1]) < float(ends[1][1])


def test_counts(guest):
    output = trace(guest, "-c", "libc_start", status=0)
    count = {m[0]: int(m[1]) for m in re.findall(r"^(\w+) +[\d.]+ +(\d+)", output, re.MULTILINE)}
    total = re.search(r"^sys totals: +[\d.]+ +(\d+)", output, re.MULTILINE)
    assert count["write"] > 2
    assert sum(count.values()) == int(total[1]), output


def test_the_end_by_a_signal(guest):
    output = trace(guest, "trace_calls", "crash", status=128 + 11)
    assert "Incurred fault #14, address = 0x10, SIGSEGV" in output
    assert "*** process killed by SIGSEGV ***" in output


def test_the_traffic_of_one_lock(guest):
    """As in the ping-pong paper's diagnosis: with sleep queues in the kernel every wait for a
    lock is a call that names the lock's address."""
    output = trace(guest, "-t", "lwp_park,lwp_unpark", "pp", "-i", "20", smp=2)
    assert re.search(r"^(/\d+:\t)?lwp_park\(", output, re.MULTILINE), output
