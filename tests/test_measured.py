"""Traced runs of experiments: states of threads from events, in rows whose other figures do not move."""

import pytest
from weft_host import experiment, runner
from weft_host.paths import TOP
from weft_trace import events
from weft_trace.model import Model
from weft_trace.workers import Times, Workers

# Process 2 makes the threads 2 and 3; its LWPs are 2/1, 2/2 and 2/3, on one CPU each.
TRACE = """\
0 0 lwp_new lwp=?/1 process=0xffff8000001f6000 id=1
0 0 process_new process=0xffff8000001f6000 pid=2 parent=1
0 0 process_name process=2 name=prog
0 0 lwp_new lwp=2/2 process=2 id=2
0 0 lwp_new lwp=2/3 process=2 id=3
0 0 on_cpu lwp=2/1 pri=29
0 1 on_cpu lwp=2/2 pri=29
0 2 on_cpu lwp=2/3 pri=29
10 0 thread_first thread=2.1 id=1 bound=0
20 0 thread_new thread=2.2 id=2 bound=0
21 0 thread_state thread=2.2 state=Dispatchable
30 1 thread_state thread=2.2 state=OnLWP
40 0 thread_new thread=2.3 id=3 bound=0
50 0 thread_state thread=2.3 state=RunQueue
60 2 thread_state thread=2.3 state=OnLWP
80 1 thread_state thread=2.2 state=Blocked
90 2 thread_woken thread=2.2
100 1 thread_state thread=2.2 state=OnLWP
120 2 thread_exit thread=2.3
150 1 thread_exit thread=2.2
"""


def workers_of(text, tmp_path):
    path = tmp_path / "raw"
    path.write_text(text)
    model = Model()
    found = Workers(model)
    for record in events.read(path):
        model.feed(record)
    model.end()
    return found


def test_what_counts(tmp_path):
    """From the moment at which both can run, until the first has exited."""
    found = workers_of(TRACE, tmp_path)
    (process, times), = found.times().items()
    assert process.name == "prog"
    #               Stopped, Blocked, RunQueue, Dispatchable, OnLWP
    assert times == Times(2, {(0, 0, 1, 0, 1): 20, (0, 0, 0, 0, 2): 40, (0, 1, 0, 0, 1): 10},
                          {((0, 0, 1, 0, 1), (0, 0, 0, 0, 2)): 2, ((0, 0, 0, 0, 2), (0, 1, 0, 0, 1)): 1,
                           ((0, 1, 0, 0, 1), (0, 0, 1, 0, 1)): 1}, {"2/2", "2/3"})
    assert found.figures() == {"2": {"threads": 2, "time": 70, "lwps": ["2/2", "2/3"],
                                     "states": {"Blocked": 10, "RunQueue": 20, "OnLWP": 110}}}


def test_more_threads_count_anew(tmp_path):
    """The time in which fewer threads lived does not count; the time after another thread has taken the place of
    one that has exited does."""
    found = workers_of(TRACE.rstrip().rpartition("\n")[0] + """
130 1 thread_new thread=2.4 id=4 bound=0
131 1 thread_state thread=2.4 state=RunQueue
141 1 thread_new thread=2.5 id=5 bound=0
142 1 thread_state thread=2.5 state=RunQueue
150 1 thread_exit thread=2.2
160 1 thread_new thread=2.6 id=6 bound=0
161 1 thread_state thread=2.6 state=RunQueue
165 1 thread_exit thread=2.5
""", tmp_path)
    times, = found.times().values()
    assert (times.threads, times.mixes) == (3, {(0, 0, 2, 0, 1): 8, (0, 0, 3, 0, 0): 4})


FIVE = """
title = "Five threads, four LWPs"
program = "barrier"
arguments = "{kind} -t 5 -s 40 -i 120 -n 2"
figure = "barrier_ns"
[run]
smp = 4
model = "mxn"
mips = 1
class = "NT"
[states]
four_and_one = "onlwp == 4 and runqueue == 1"
one_alone = "onlwp == 1 and blocked == 4"
[configurations.plain]
parameters = { kind = "" }
[configurations.unbound]
parameters = { kind = "" }
traced = true
[configurations.bound]
parameters = { kind = "-b" }
traced = true
"""


def test_states_of_threads_at_a_barrier(tmp_path):
    """Half of the time one is on the run queue, the other half four are Blocked.  With an LWP for each none waits
    for one."""
    path = tmp_path / "five.toml"
    path.write_text(FIVE)
    one = experiment.load(path)
    rows = {run.configuration: runner.rows_of(one, run, runner.execute(run))[0] for run in one.runs(True)}
    plain, unbound, bound = rows["plain"], rows["unbound"], rows["bound"]
    assert all(row["status"] == "ok" for row in rows.values())
    assert plain.items() - {("configuration", "plain")} <= unbound.items()
    assert unbound["four_and_one"] == pytest.approx(50, rel=0.05) and unbound["four_and_one_times"] == 3
    assert unbound["one_alone"] == pytest.approx(50, rel=0.05) and unbound["one_alone_times"] == 3
    assert 5 * unbound["runqueue_share"] == pytest.approx(50, rel=0.05) and unbound["worker_lwps"] == 4
    assert bound["runqueue_share"] == bound["dispatchable_share"] == 0 and bound["worker_lwps"] == 5
    assert bound["blocked_share"] + bound["onlwp_share"] == pytest.approx(100, abs=0.01)
    assert 0 < unbound["records"] * 40 < unbound["record_instructions"] < unbound["records"] * 60


def test_the_command_that_repeats_a_traced_run(tmp_path):
    path = tmp_path / "five.toml"
    path.write_text(FIVE)
    commands = [run.command() for run in experiment.load(path).runs(True)]
    assert [command.split()[1] for command in commands] == ["run", "stats", "stats"]


def test_a_program_prints_no_figure_of_the_trace():
    one = experiment.load(TOP / "tools/weft_host/experiments/barrier-fine.toml")
    run = one.runs(False)[0]
    outcome = runner.Outcome(results=[{"barrier_ns": 1, "records": 2}], measured=runner.Measured())
    row, = runner.rows_of(one, run, outcome)
    assert "the program says records, which is a figure of the trace" in row["status"]
