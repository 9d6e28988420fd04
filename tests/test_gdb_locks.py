"""weft-locks, weft-queues, weft-timers, weft-mutex and its like in GDB: one command finds a deadlock."""

import re

import pytest
from conftest import MODELS
from test_gdb import EXACT, gdb  # noqa: F401  (a fixture)

# Every LWP sleeps for ever.
REST = "break lockstep_standstill\ncontinue\n"
EACH = """\
python
for command in {commands!r}:
    print("==", command)
    try:
        gdb.execute(command)
    except gdb.error as error:
        print("error:", error)
print("== end")
end
"""
DEADLOCK = "deadlock: thread 2 (alice pays) waits for mutex bob held by thread 3 (bob pays), which waits for " \
           "mutex alice held by thread 2 (alice pays)\n"


def answers(output):
    """What each command of EACH printed."""
    asked, _, _ = output.rpartition("== end\n")  # the guest's own report may come behind
    found = re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", asked, re.MULTILINE)
    return {command: re.sub(r", for \d+\.\d{3} s\b", "", text) for command, text in found}


@pytest.fixture
def asked(gdb):  # noqa: F811
    """asked(commands, *options, argv=[...]): {command: what it printed} where every LWP sleeps for ever."""

    def ask(commands, *options, argv):
        return answers(gdb(REST + EACH.format(commands=list(commands)), "--smp", "2", *options, argv=argv))

    return ask


@pytest.mark.parametrize("engine", EXACT)
@pytest.mark.parametrize("model", MODELS)
def test_a_deadlock_is_found_with_one_command(asked, model, engine):
    said = asked(["weft-locks", "weft-locks 2", "inferior 2", "weft-mutex alice.lock", "weft-mutex &bob.lock",
                  "weft-barrier both_hold", "weft-queues", "weft-timers"], *EXACT[engine], "--model", model,
                 argv=["transfers"])
    for command in ("weft-locks", "weft-locks 2"):
        assert f"\n{DEADLOCK}" in said[command], said
    assert "\nCPU " in said["weft-locks"] and "\nCPU " not in said["weft-locks 2"]
    of = "of process 2 (transfers)"
    assert said["weft-mutex alice.lock"] == f"mutex alice {of}, held by thread 2 (alice pays)\n" \
        f"    thread 3 (bob pays) waits\n{DEADLOCK}"
    assert said["weft-mutex &bob.lock"] == f"mutex bob {of}, held by thread 3 (bob pays)\n" \
        f"    thread 2 (alice pays) waits\n{DEADLOCK}"
    assert said["weft-barrier both_hold"] == f"barrier both_hold {of}, 0 of 2 threads have arrived\n"
    assert "\n    mutex bob: thread 2 (alice pays)\n" in said["weft-queues"], said
    assert re.fullmatch(r"now \d\.\d{6} s\nCPU 0\n    no timer\nCPU 1\n    no timer\n", said["weft-timers"]), said


def test_each_kind_of_object(asked):
    """The variable itself, a pointer to it, and a cast."""
    commands = ["inferior 2", "weft-mutex plain", "weft-mutex &plain", "weft-mutex *(pthread_mutex_t *) &plain",
                "weft-cond news", "weft-sema tokens", "weft-rwlock written", "weft-barrier three", "inferior 1",
                "weft-mutex clock_setting"]
    said = asked(commands, *EXACT["one"], argv=["held_locks", "kinds"])
    of = "of process 2 (held_locks)"
    assert said["weft-mutex plain"] == said["weft-mutex &plain"] == said[commands[3]] == \
        f"mutex plain {of}, held by thread 1\n    thread 12 (after a wait) waits\n    thread 2 (plain) waits\n"
    assert said["weft-cond news"] == f"condition variable news {of}\n    thread 8 (news) waits, with mutex guard\n"
    assert said["weft-sema tokens"] == \
        f"semaphore tokens {of}, value 0\n    thread 13 (once) waits\n    thread 9 (tokens) waits\n"
    assert said["weft-rwlock written"] == \
        f"reader-writer lock written {of}, held by thread 1\n    thread 6 (written) waits to read\n"
    assert said["weft-barrier three"].startswith(f"barrier three {of}, 2 of 3 threads have arrived\n"), said
    assert said["weft-mutex clock_setting"] == "kernel mutex clock_setting (clock_settime), free\n"


def test_wrong_words(asked):
    """They get a clear error, and GDB goes on."""
    said = asked(["weft-locks x", "weft-locks 1 2", "weft-locks 99", "weft-queues 1", "weft-timers 1",
                  "inferior 2", "weft-mutex", "weft-mutex nothing", "weft-mutex 5", "weft-mutex 1 + 1.5",
                  "inferior 1", "weft-sema 5", "weft-cond curlwp", "weft-mutex -1"], *EXACT["one"],
                 argv=["transfers"])
    assert said["weft-locks x"] == said["weft-locks 1 2"] == "error: usage: weft-locks [PID]\n"
    assert said["weft-locks 99"] == "error: there is no process 99\n"
    assert said["weft-queues 1"] == "error: usage: weft-queues\n"
    assert said["weft-timers 1"] == "error: usage: weft-timers\n"
    assert said["weft-mutex"] == "error: usage: weft-mutex EXPR\n"
    assert said["weft-mutex nothing"] == 'error: No symbol "nothing" in current context.\n'
    assert said["weft-mutex 5"] == "error: process 2: cannot access memory at address 0x5\n"
    assert said["weft-mutex 1 + 1.5"] == "error: it is in no memory\n"
    assert said["weft-sema 5"] == "error: 0x5 is an address of a process: select one (inferior N)\n"
    assert said["weft-cond curlwp"].startswith("error: "), said
    assert said["weft-mutex -1"].startswith("error: cannot access memory"), said


def test_a_lock_of_the_kernel(gdb):  # noqa: F811
    """While an LWP holds it."""
    output = gdb("inferior 1\nbreak kmutex_exit if m == &cpu_lock\ncontinue\nweft-mutex *m\nweft-mutex m\n",
                 "--smp", "2", *EXACT["one"], argv=["psradm", "-f", "1"])
    assert output.count("kernel mutex cpu_lock (cpu_lock), held by 2/1 (psradm)\n") == 2, output


def test_before_the_kernel_runs(gdb):  # noqa: F811
    """The texts say that there is nothing yet."""
    output = gdb(EACH.format(commands=["weft-locks", "weft-queues", "weft-timers"]), "--at", "boot", *EXACT["one"])
    said = answers(output)
    assert said["weft-locks"] == "the kernel has no processes yet\n"
    assert said["weft-queues"] == said["weft-timers"] == "no CPU has started yet\n"
