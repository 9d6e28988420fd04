"""weft stats: its figures are those of traces whose times are known, and those that the kernel has counted."""

import collections
import json
import subprocess

import pytest
from conftest import WEFT
from weft_host.cli import main
from weft_host.paths import BUILD
from weft_trace import events
from weft_trace.model import Model
from weft_trace.stats import Durations, Stats
from weft_trace.watcher import Watcher

TESTS = BUILD / "tests/bin"

# Two CPUs; process 2 with LWPs 1, 2 and 3.  Times are microseconds here.
BEGIN = """\
0 0 lwp_idle lwp=idle cpu=0
0 0 lwp_idle lwp=idle cpu=1
0 0 lwp_new lwp=?/1 process=0xffff8000001f6000 id=1
0 0 process_new process=0xffff8000001f6000 pid=2 parent=1
0 0 process_name process=2 name=prog
10 0 queue lwp=2/1 cpu=0
12 0 off_cpu lwp=idle mstate=sleep wchan=-
12 0 on_cpu lwp=2/1 pri=29
20 0 syscall number=lwp_create
24 0 lwp_new lwp=2/2 process=2 id=2
25 0 queue lwp=2/2 cpu=0
26 0 syscall_end result=2
30 0 syscall number=lwp_create
32 0 lwp_new lwp=2/3 process=2 id=3
33 0 queue lwp=2/3 cpu=1
36 0 syscall_end result=3
40 1 off_cpu lwp=idle mstate=sleep wchan=-
40 1 on_cpu lwp=2/3 pri=29
"""
# LWP 2 starves for 75 us on CPU 0 behind LWP 1, and CPU 1 is idle for 40 us of them; LWP 1 then blocks for LWP 3.
THEN = """\
60 1 syscall number=nanosleep
61 1 off_cpu lwp=2/3 mstate=sleep wchan=sleep
61 1 on_cpu lwp=idle pri=-1
101 1 interrupt vector=96 rip=0x1
102 1 timer timer=0x5 function=sleep_over
103 1 wake lwp=2/3 reason=timeout
103 1 queue lwp=2/3 cpu=1
104 1 interrupt_end
105 1 off_cpu lwp=idle mstate=sleep wchan=-
105 1 on_cpu lwp=2/3 pri=29
106 1 syscall_end result=0
"""
END = """\
110 0 trap vector=14 error=6 rip=0x401d2f
112 0 trap_end
115 0 syscall number=lwp_park
116 0 off_cpu lwp=2/1 mstate=lock wchan=park
116 0 on_cpu lwp=2/2 pri=29
140 1 syscall number=lwp_unpark
142 1 wake lwp=2/1 reason=event
143 1 queue lwp=2/1 cpu=1
145 1 preempt lwp=2/3
146 1 off_cpu lwp=2/3 mstate=waitcpu wchan=-
146 1 queue lwp=2/3 cpu=1
146 1 on_cpu lwp=2/1 pri=29
147 1 park_end lwp=2/1 reason=event
150 0 syscall number=exit
155 0 lwp_exit lwp=2/2
156 0 off_cpu lwp=2/2 mstate=sleep wchan=-
156 0 on_cpu lwp=2/3 pri=29
160 0 syscall_end result=0
200 1 syscall number=exit
"""
TRACE = BEGIN + THEN + END


def trace_of(text):
    """Microseconds become nanoseconds from the second 1 on."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines.append(line)
        else:
            time, rest = line.split(" ", 1)
            lines.append(f"{1000000000 + 1000 * int(time)} {rest}")
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE))
    return path


@pytest.fixture
def weft(capfd):
    """Calls the command in this process: (its standard output, its standard error)."""
    def call(*words, status=0):
        found = main([str(word) for word in words])
        said = capfd.readouterr()
        assert found == status, said
        return said
    return call


@pytest.fixture
def figures(weft):
    return lambda *words: json.loads(weft("stats", "--json", *words).out)


def test_times_by_state(figures, trace):
    found = figures(trace)
    assert (found["begin"], found["end"]) == (1000000000, 1000200000)
    assert found["lwps"] == {
        "2/1": {"user": 8000 + 4000 + 74000 + 3000 + 53000, "system": 6000 + 6000 + 1000 + 1000, "dfault": 2000,
                "lock": 27000, "waitcpu": 2000 + 3000, "stopped": 10000},
        "2/2": {"user": 34000, "system": 6000, "waitcpu": 91000, "stopped": 1000},
        "2/3": {"user": 20000 + 34000 + 40000, "system": 1000 + 1000 + 6000 + 4000, "sleep": 42000,
                "waitcpu": 7000 + 2000 + 10000, "stopped": 1000},
    }
    cpus = found["cpus"]
    assert cpus["0"] == {"user": 163000, "system": 23000, "dfault": 2000, "idle": 12000}
    assert cpus["1"] == {"user": 20000 + 34000 + 53000, "system": 1000 + 1000 + 6000 + 1000,
                         "idle": 40000 + 44000}


def test_a_fault_of_the_kernel(figures, tmp_path):
    """In a system call, and as a signal is delivered to user mode."""
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE + """\
210 1 kfault address=4096
215 1 kfault_end
220 1 syscall_end result=0
230 1 kfault address=4096
237 1 kfault_end
240 1 interrupt_end
"""))
    states = figures(path)["lwps"]["2/1"]
    assert states["kfault"] == 5000 + 7000
    assert states["system"] == 14000 + 10000 + 5000 and states["user"] == 142000 + 10000 + 3000


def test_mappings(figures, trace):
    found = figures(trace)
    assert found["lwp_on_cpu"] == {"2/1": {"0": 104000, "1": 54000}, "2/2": {"0": 40000},
                                   "2/3": {"0": 44000, "1": 21000 + 41000}}
    assert found["migrations"] == 2 and found["wakes"] == 2
    assert found["switches"] == 7


def test_run_queues(figures, trace):
    queues = figures(trace)["queues"]
    assert queues["0"] == {"mean": (2 + 91) / 200, "max": 1, "time": {"0": 107000, "1": 93000}}
    assert queues["1"]["time"] == {"0": 200000 - 7000 - 2000 - 3000 - 10000, "1": 22000}


def test_from_runnable_to_running(figures, trace):
    latency = figures(trace)["latency"]
    assert latency["woken"]["count"] == 5  # two wake-ups, three new LWPs
    assert latency["woken"]["max"] == 91000 and latency["woken"]["p50"] == 3000
    assert latency["woken"]["mean"] == (2000 + 91000 + 7000 + 2000 + 3000) / 5
    assert latency["woken"]["histogram"] == {"2048": 2, "4096": 1, "8192": 1, "131072": 1}
    assert latency["preempted"] == {"count": 1, "mean": 10000, "p50": 10000, "p99": 10000, "p99.9": 10000,
                                    "max": 10000, "histogram": {"16384": 1}}


def test_percentiles_are_of_the_nearest_rank(figures):
    durations = Durations()
    for one in range(2000, 0, -1):
        durations.add(one)
    found = durations.figures()
    assert (found["p50"], found["p99"], found["p99.9"], found["max"]) == (1000, 1980, 1998, 2000)
    assert sum(found["histogram"].values()) == 2000


def test_longest_waits(figures, trace):
    found = figures(trace)
    first, second = found["longest_waits"]
    assert (first["waiter"], first["duration"], first["state"], first["for"], first["woken_by"]) == (
        "2/3", 42000, "sleep", "sleep", "sleep_over")
    assert (second["waiter"], second["duration"], second["state"], second["for"], second["woken_by"]) == (
        "2/1", 27000, "lock", "park", "2/3")
    assert found["longest_waits_for_cpu"][0]["waiter"] == "2/2"


def test_the_starved(figures, trace):
    found = figures("--query", "starved", trace)
    first = found["lwps"][0]
    assert found["threads"] == []
    assert (first["waiter"], first["duration"], first["total"]) == ("2/2", 91000, 91000)
    assert first["ran"] == {"2/1": 91000}


def test_idle_while_waiting(figures, trace):
    found = figures("--query", "idle-while-waiting", trace)
    one, two = found["longest"]
    assert (one["waiter"], one["for"], one["duration"]) == ("CPU 1", "queue of CPU 0", 44000)
    assert two["duration"] == 15000 and found["total"] == 59000


def test_antagonists(figures, trace):
    found = figures("--query", "antagonists", "--of", "2/3", trace)
    assert found["waits"] == 3 and found["total"] == 19000
    assert found["ran"] == {"2/1": 10000, "idle": 9000}


def test_two_policies(figures, trace, tmp_path):
    other = tmp_path / "other"
    other.write_text(trace_of(TRACE.replace("116 0 off_cpu", "115 0 off_cpu").replace("116 0 on", "115 0 on")))
    found = figures("--query", "policies", "--against", other, trace)
    assert found["span"] == [200000, 200000]
    assert found["latency woken max"] == [91000, 90000]


def test_the_tables_are_printed(weft, trace):
    said = weft("stats", trace).out
    for words in ("200.000 us", "CPU 0", "2/2 prog", "Run queues", "Longest waits", "99.9 %", "sleep_over"):
        assert words in said


THREADS = """\
200 0 thread_first thread=2.1 id=1 bound=0
201 0 thread_new thread=2.2 id=2 bound=0
202 0 thread_state thread=2.2 state=RunQueue
210 0 lock_wait lock=0x4c0 kind=cond
212 0 thread_switch thread=2.1 state=Blocked next=2.2
220 0 thread_name thread=2.2 name=worker
230 0 thread_wake thread=2.1
231 0 thread_state thread=2.1 state=RunQueue
240 0 thread_exit thread=2.2
245 0 thread_leave thread=2.2 next=2.1
250 0 thread_state thread=2.1 state=OnLWP
"""


def test_threads_that_starve(figures, tmp_path):
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE + THREADS))
    found = figures("--query", "starved", path)["threads"]
    assert [(one["waiter"], one["begin"] // 1000 % 1000, one["duration"], one["ran"]) for one in found] == [
        ("2.1", 231, 14000, {"2.2": 9000}), ("2.2", 202, 10000, {"2.1": 10000})]
    assert found[0]["total"] == 14000


class Said(Watcher):
    """What a model tells of threads and locks."""

    def __init__(self):
        self.threads, self.locks = [], []

    def thread(self, time, thread, before, since, lwp):
        self.threads.append((time // 1000 % 1000, thread.key, before, thread.state,
                             thread.lwp.key if thread.lwp else None))

    def lock(self, time, lock, before, since):
        self.locks.append((time // 1000 % 1000, str(lock), [thread.key for thread in lock.waiters]))


def test_threads(figures, tmp_path):
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE + THREADS))
    model, said = Model(), Said()
    model.watch(said)
    stats = Stats(model)
    for record in events.read(path):
        model.feed(record)
    model.end()
    lwp = "2/3"  # which is on CPU 0
    assert said.threads[:8] == [
        (200, "2.1", "Stopped", "OnLWP", lwp), (202, "2.2", "Stopped", "RunQueue", None),
        (212, "2.1", "OnLWP", "Blocked", None), (212, "2.2", "RunQueue", "OnLWP", lwp),
        (231, "2.1", "Blocked", "RunQueue", None), (240, "2.2", "OnLWP", "gone", None),
        (245, "2.1", "RunQueue", "OnLWP", lwp), (250, "2.1", "OnLWP", "OnLWP", lwp)]
    assert said.locks[:2] == [(210, "cond 0x4c0", ["2.1"]), (231, "cond 0x4c0", [])]
    found = stats.figures()
    assert found["threads"] == {"2.1": {"Blocked": 19000, "RunQueue": 14000, "OnLWP": 17000},
                                "2.2": {"Stopped": 1000, "RunQueue": 10000, "OnLWP": 28000}}
    assert found["thread_on_lwp"] == {"2.1": {lwp: 17000}, "2.2": {lwp: 28000}}
    assert found["latency"]["dispatched"]["count"] == 2
    assert found["thread_queues"] == {"2": {"mean": 24 / 250, "max": 1, "time": {"0": 226000, "1": 24000}}}


LOCKS = """\
200 0 thread_first thread=2.1 id=1 bound=0
201 0 thread_new thread=2.2 id=2 bound=0
202 0 thread_state thread=2.2 state=RunQueue
203 0 thread_switch thread=2.1 state=RunQueue next=2.2
204 0 lock_wait lock=0x4c8:door kind=mutex owner=2.1
205 0 thread_switch thread=2.2 state=Blocked next=2.1
220 0 lock_free lock=0x4c8:door kind=mutex
221 0 thread_woken thread=2.2
222 0 lock_wait lock=0x4d0 kind=cond mutex=0x4c8:door
223 0 thread_switch thread=2.1 state=Blocked next=2.2
224 0 lock_own lock=0x4c8:door kind=mutex
226 0 lock_move thread=2.1 lock=0x4c8:door
230 0 lock_free lock=0x4c8:door kind=mutex
231 0 thread_woken thread=2.1
"""


def test_the_owners_of_locks(figures, tmp_path):
    """Of the one that was owned before the trace knew of it, by the record of the wait."""
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE + LOCKS))
    waits = [(wait["waiter"], wait["duration"], wait["for"], wait["owner"], wait["woken_by"])
             for wait in figures(path)["longest_waits"] if wait["state"] == "Blocked"]
    assert waits == [("2.2", 16000, "mutex door", "2.1", "2.1"), ("2.1", 8000, "mutex door", "2.2", "2.2")]
    model, said = Model(), Said()
    model.watch(said)
    for record in events.read(path):
        model.feed(record)
    assert [(time, lock, waiters) for time, lock, waiters in said.locks] == [
        (204, "mutex door", []), (204, "mutex door", ["2.2"]), (220, "mutex door", ["2.2"]),
        (221, "mutex door", []), (222, "cond 0x4d0", ["2.1"]), (224, "mutex door", []), (226, "cond 0x4d0", []),
        (226, "mutex door", ["2.1"]), (230, "mutex door", ["2.1"]), (231, "mutex door", [])]


def test_threads_end_with_their_program(tmp_path):
    """By exec, after which its LWP has the number 1; by the end of the process."""
    path = tmp_path / "raw"
    path.write_text(trace_of(TRACE + LOCKS + """\
240 0 exec lwp=2/1 process=2 id=1
241 0 thread_first thread=2.1 id=1 bound=1
250 0 process_exit process=2 status=0
251 0 off_cpu lwp=2/1 mstate=sleep wchan=-
"""))
    model, before = Model(), None
    for record in events.read(path):
        model.feed(record)
        if record.name == "exec":
            before = set(model.threads), set(model.lwps), model.cpus[0].lwp.key
    assert before == (set(), {"2/1"}, "2/1")
    assert model.threads == model.lwps == {} and model.processes[2].gone == 1000250000


# --- traces that are empty, incomplete or damaged ---------------------------------------------------------


def test_an_empty_trace(figures, weft, tmp_path):
    path = tmp_path / "raw"
    path.write_text("")
    found = figures(path)
    assert found["records"] == 0 and found["lwps"] == {} and found["latency"]["woken"] == {"count": 0}
    assert "0.000 us" in weft("stats", path).out
    weft("trace", "--from", path, "-o", tmp_path / "out")


@pytest.mark.parametrize("gone", range(2, 48, 3))
def test_records_are_lost(weft, gone, tmp_path):
    """Any of them may be: the figures are then others, and this is said."""
    lines = trace_of(TRACE).splitlines(keepends=True)
    path = tmp_path / "raw"
    path.write_text("".join(lines[:gone] + lines[gone + 2:]) + "# lost 2 on CPU 0\n")
    done = weft("stats", "--json", path)
    assert "2 records of CPU 0 are lost" in done.err
    found = json.loads(done.out)
    assert found["lost"] == {"0": 2}
    weft("trace", "--from", path, "-o", tmp_path / "out")


@pytest.mark.parametrize("text, said", [
    ("1000 0 interrupt_end\nEND", ":2: this is no record of a trace: 'END'"),
    ("1000 0\n", ":1: this is no record of a trace: '1000 0'"),
    ("1000 x wake lwp=2/1\n", ":1: this is no record"),
    ("1000 0 wake lwp\n", ":1: this is no record"),
    ("1000 0 wake lwp=2/1", ":1: the file ends in the middle of a record"),
    ("# gained 3 on CPU 0\n", ":1: this is no record"),
    ("1000 0 lwp_idle lwp=idle cpu=0\n900 0 lwp_idle lwp=idle cpu=1\n", ":2: the time goes back from 1000 to 900"),
    ("1000 0 on_cpu lwp=2/1 pri=high\n", "'1000 0 on_cpu lwp=2/1 pri=high' has no or a wrong value"),
    ("1000 0 queue cpu=1\n", "'1000 0 queue cpu=1' has no or a wrong value"),
    ("\0\1\2\3\xff", ":1: this is no record"),
])
def test_damaged_files(weft, text, said, tmp_path):
    path = tmp_path / "raw"
    path.write_text(text)
    assert said in weft("stats", path, status=69).err
    assert said in weft("trace", "--from", path, "-o", tmp_path / "out", status=69).err


@pytest.mark.parametrize("words, said", [
    ([], "needs a trace, or a command after --"),
    (["{}", "--", "true"], "needs a trace, or a command after --"),
    (["--query", "antagonists", "{}"], "--query antagonists and --of LWP belong together"),
    (["--query", "antagonists", "--of", "9/9", "{}"], "there is no LWP 9/9 in the trace"),
    (["--query", "policies", "{}"], "--query policies and --against FILE belong together"),
    (["--rows", "0", "{}"], "--rows: 1 at least"),
])
def test_wrong_usage(weft, words, said, trace):
    assert said in weft("stats", *(word.format(trace) for word in words), status=2).err


def test_no_such_file(weft):
    assert "No such file" in weft("stats", "/nowhere/raw", status=69).err


# --- a guest ----------------------------------------------------------------------------------------------


def guest(call, *words, status=0):
    """Standard output."""
    done = subprocess.run([*WEFT, call, "--no-build", *map(str, words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("options", ["--smp 1", "--smp 2", "--smp 2 --seed 3"])
def test_as_the_kernel_has_counted(figures, options, tmp_path):
    """The microstates of a process, to a few microseconds: from a record to the kernel's reading of its clock there
    are some ten instructions."""
    said = guest("trace", "--raw", tmp_path / "raw", "--timing", "exact", *options.split(), "--file",
                 TESTS / "trace_times", "--", "trace_times")
    counted = {name: int(value) for name, value in (line.split() for line in said.splitlines())}
    found = figures(tmp_path / "raw")
    times = collections.Counter()
    for lwp, states in found["lwps"].items():
        if lwp.startswith(f"{counted['pid']}/"):
            times.update(states)
    for state in ("user", "system", "dfault", "lock", "sleep", "waitcpu", "stopped"):
        assert counted[state] > 0, state
        assert abs(times[state] - counted[state]) < 5000, state
    assert found["lost"] == {}


def test_stats_of_a_command():
    said = guest("stats", "--timing", "exact", "--json", "--", "sh", "-c", "exit 7", status=7)
    found = json.loads(said)
    assert "sh" in found["processes"].values() and found["wakes"] > 0
