"""truss: every system call is described, and what a trace shows."""

import re

import pytest
from conftest import TOP
from test_errors import PROGRAMS
from test_terminal import status, terminal  # noqa: F401  (a fixture)


def names_of(path, pattern):
    return set(re.findall(pattern, (TOP / path).read_text(), re.MULTILINE))


def test_every_call_is_described():
    """A new system call needs a line in user/libc/sysdesc.c, which says what its arguments are."""
    calls = names_of("kernel/include/weft/syscall.h", r"^\s*X\(\d+, (\w+), \d\)")
    described = names_of("user/libc/sysdesc.c", r"^\s*D\((\w+), ")
    assert len(calls) > 50
    assert calls - described == set()
    assert described - calls == set()


# What a decoded argument looks like, by its type in the table of sysdesc.c.
NUMBER, NAME, TEXT, LIST = r"-?\d+", r"[A-Z]\w*(\|[A-Z]\w*)*", r'"', r"~?\["
SHAPES = {
    "INT": NUMBER, "FD": NUMBER, "PID": NUMBER, "LWP": NUMBER, "CPU": NUMBER, "LONG": NUMBER,
    "SIZE": NUMBER, "OCT": r"0[0-7]*", "HEX": r"0x[0-9a-f]+|\d", "PTR": r"0x[0-9a-f]+|NULL",
    "SIG": r"SIG[A-Z]", "FLAGS": NAME, "IDTYPE": NAME, "NAMED": NAME, "VARIANT": r"\{|\[|" + NAME,
    "PATH": TEXT, "IN": TEXT, "OUT": TEXT, "STRV": LIST + TEXT, "LWPS": LIST, "INT_IN": LIST,
    "INT_OUT": LIST, "PAIR_OUT": LIST, "INTS_OUT": LIST, "SET_IN": LIST, "SET_OUT": LIST,
    "struct": r"\{[\w.]+=", "array": r"\[\{[\w.]+=",
}


def pieces(text):
    """`text` cut at the commas outside of all brackets and strings."""
    found, depth, quoted, at = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"' and not re.search(r"(?<!\\)(\\\\)*\\$", text[:i]):
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        elif not quoted and depth == 0 and c == ",":
            found.append(text[at:i].strip())
            at = i + 1
    return found + ([text[at:].strip()] if text.strip() else [])


def shape_of(what):
    """INT, T(PATH), FLAGS(open), IN(weft_stat), ... as a key of SHAPES."""
    match = re.fullmatch(r"(\w+)(?:\((\w+)\))?", what)
    if match[1] == "T":
        return match[2]
    if match[1] in ("INS", "INOUTS", "TWO_IN", "OUTS"):
        return "array"
    return "struct" if match[1] in ("IN", "OUT", "INOUT") else match[1]


def shapes():
    """Of each call, what its arguments are."""
    table = (TOP / "user/libc/sysdesc.c").read_text()
    table = re.sub(r"\s*\\\n\s*", " ", table[table.index("#define CALLS(D)"):])
    calls = re.findall(r"\bD\((\w+), ((?:[^()]|\([^()]*\))*)\)(?= D\(|\n)", table.split("\n\n")[0])
    return {call: [shape_of(what) for what in pieces(rest)[1:]] for call, rest in calls}


def test_every_call_is_decoded(guest):
    """The programs that provoke all errors make every call.  Each argument of each call must be
    seen in words: flags by name, strings and structures with what is in them."""
    script = "".join(f"truss -o /tmp/{name}.out {name} few > /dev/null; cat /tmp/{name}.out; "
                     for name in PROGRAMS)
    result = guest(["sh", "-c", script + "truss err_proc reboot"], smp=2, timing="exact",
                   timeout=120)
    lines = re.findall(r"^(?:/\d+:\t)?(\w+)\((.*)\)(?: += .*|  \(it ends here\))?$", result.output,
                       re.MULTILINE)
    seen = {}
    for call, text in lines:
        for i, arg in enumerate(pieces(text)):
            seen.setdefault((call, i), []).append(arg)
    wrong = []
    for call, args in shapes().items():
        if not args and not any(call == made for made, _ in lines):
            wrong.append(f"{call}: it is never made")
        for i, shape in enumerate(args):
            if not any(re.match(SHAPES[shape], arg) for arg in seen.get((call, i), [])):
                wrong.append(f"{call}: argument {i}, {shape}: {seen.get((call, i), [])[-3:]}")
    assert not wrong, "\n".join([
        "truss shows these arguments in no words (table: user/libc/sysdesc.c; calls are those of",
        "the programs tests/guest/err_*.c):", *wrong])
    assert "syscall" not in {call[:7] for call, _ in lines}


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


VICTIM = "while sleep 0.01; do echo tick >> /tmp/ticks; done & victim=$!; "
GOES_ON = """
    seen=$(wc -l < /tmp/ticks)
    while test $(wc -l < /tmp/ticks) -eq $seen; do sleep 0.01; done
    echo it goes on
"""


def test_processes_that_run(guest):
    """-p: each line from then on; an interrupt lets the process go on as if nothing had been, and
    it can be watched again, to its end."""
    output = guest(["sh", "-c", VICTIM + """
        truss -t waitpid -o /tmp/first -p $victim & truss=$!
        while ! test -s /tmp/first; do sleep 0.01; done
        truss -p $victim; echo a second one gets $?
        kill -INT $truss; wait $truss; echo truss ended with $?
        """ + GOES_ON + """
        truss -t waitpid -o /tmp/second -p $victim & truss=$!
        while ! test -s /tmp/second; do sleep 0.01; done
        kill $victim; wait $truss; echo truss ended with $?
        wait $victim; echo the victim with $?
        cat /tmp/first; echo --; cat /tmp/second
        truss -p 99999; echo nobody: $?; truss -p 0; echo no number: $?
        """], smp=2, timing="exact").output
    first, second = output.split("\n--\n")
    assert "a second one gets 1\n" in first, output
    assert first.count("truss ended with 0\n") == 2, output
    assert "it goes on\n" in first and "the victim with 143\n" in first, output
    line = r"^waitpid\(-?\d+, \[0\], .*\) += \d+$"
    assert re.search(line, first, re.MULTILINE), output
    assert re.search(line, second, re.MULTILINE), output
    assert "Received signal" not in first
    assert "*** process killed by SIGTERM ***" in second, output
    assert "nobody: 1\n" in second and "no number: 2\n" in second, output


@pytest.mark.parametrize("smp", [2])
def test_interrupt_from_the_terminal(terminal):  # noqa: F811
    """Ctrl-C is truss's alone: the process in the background goes on."""
    sh = terminal("sh")
    sh.expect_exact("weft:/$ ")
    sh.send(VICTIM + "\r")
    sh.expect_exact("weft:/$ ")
    sh.send("truss -t waitpid -p $victim\r")
    sh.expect_exact("\nwaitpid(")
    sh.send("\x03")
    sh.expect_exact("weft:/$ ")
    sh.send("; ".join(GOES_ON.split("\n")[1:-1]).replace("do;", "do") + "\r")
    sh.expect_exact("\nit goes on\r\n")
    sh.expect_exact("weft:/$ ")
    sh.send("kill $victim; exit 3\r")
    assert status(sh) == 3


def test_the_traffic_of_one_lock(guest):
    """As in the ping-pong paper's diagnosis: with sleep queues in the kernel every wait for a
    lock is a call that names the lock's address."""
    output = trace(guest, "-t", "lwp_park,lwp_unpark", "pp", "-i", "20", smp=2)
    assert re.search(r"^(/\d+:\t)?lwp_park\(", output, re.MULTILINE), output
