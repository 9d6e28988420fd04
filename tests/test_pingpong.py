"""The experiments pingpong and checks, on recorded text: no guest is booted here."""

import pytest
from rich.console import Console
from weft_host.experiments import checks, pingpong
from weft_host.guest import Result
from weft_host.machine import HostError

# What pp -v -n 4 and ptime print.
RECORDED = """
PING-PONG CONFIGURATION:

target          (-i) = 1000000
ntables         (-n) = 4
sleepms         (-z) = 0
pthread_scope   (-s) = process
pthread_process (-p) = private
concurrency     (-c) = 0
stacksize       (-S) = 0

8 threads initialised in 4ms
4 games completed in 350930ms

real     5:50.976
user     4:24.881
sys   1:18:46.027
"""


class Recorded:
    """In place of the context: answers with what pp would print at a given speed."""

    timing = "fast"
    full = True

    def __init__(self, us_per_iteration):
        self.us = us_per_iteration
        self.calls = []
        self.total = self.begun = 0

    def steps(self, total):
        self.total = total

    def step(self, text):
        self.begun += 1

    def guest(self, argv, *, smp, model, options, mem, compare):
        def option(name, preset):
            return int(argv[argv.index(name) + 1]) if name in argv else preset

        self.calls.append((model, smp, options, argv))
        games, iterations = option("-n", 1), option("-i", None)
        ms = round(self.us(model, smp) * iterations * games / 1000)
        return Result(0, f"{2 * games} threads initialised in 3ms\n"
                         f"{games} games completed in {ms}ms\n\n"
                         "real 1.5\nuser 1.0\nsys 0.5\n")


def test_parser_reads_what_pp_and_ptime_print():
    measured = pingpong.parse(RECORDED)
    assert (measured.threads, measured.init_ms) == (8, 4)
    assert (measured.games, measured.completed_ms) == (4, 350930)
    assert (measured.real, measured.user) == (350.976, 264.881)
    assert measured.sys == pytest.approx(3600 + 18 * 60 + 46.027)


@pytest.mark.parametrize("line", ["8 threads", "4 games", "real", "user", "sys"])
def test_parser_refuses_output_without_a_line(line):
    text = "\n".join(one for one in RECORDED.splitlines() if not one.startswith(line))
    with pytest.raises(ValueError, match="no line like"):
        pingpong.parse(text)


def test_the_papers_runs():
    runs = {run.name: run for run in pingpong.paper_runs()}
    assert list(runs) == ["baseline"] + [f"test{n}" for n in range(1, 11)]
    assert runs["baseline"].arguments == ("-v",)
    assert (runs["baseline"].model, runs["baseline"].cpus) == ("lwp", 16)
    assert runs["test6"].arguments == ("-v", "-n", "4", "-c", "8")
    assert (runs["test6"].model, runs["test6"].iterations) == ("mxn", 1_000_000)
    assert runs["test8"].arguments == ("-v", "-n", "5000", "-S", "32768")
    assert runs["test8"].iterations == 100
    assert runs["test10"].arguments[:3] == ("-v", "-n", "5000")
    assert [run.name for run in runs.values() if run.misprint] == ["test10"]


@pytest.mark.parametrize("number, rounded", [
    (1, 1), (4.9, 2), (5, 5), (19, 10), (20, 20), (99.9, 50), (700_000, 500_000)])
def test_round_down(number, rounded):
    assert pingpong.round_down(number) == rounded


@pytest.mark.parametrize("probe_ms, iterations", [
    (0, 1_000_000), (8, 500_000), (40, 100_000), (2_000, 2_000), (60_000, 2_000)])
def test_iterations_follow_the_probe(probe_ms, iterations):
    baseline = pingpong.paper_runs()[0]
    assert pingpong.scaled_iterations(baseline, probe_ms) == iterations


def test_rows_compare_runs_of_different_length():
    ctx = Recorded(lambda model, smp: 50 if model == "mxn" else 10)
    rows = {row["run"]: row for row in pingpong.run(ctx)}
    assert ctx.begun == ctx.total == len(rows) == 14
    assert rows["baseline"]["iterations"] == 200_000
    assert rows["test1"]["iterations"] == 20_000
    # Five times as slow, although it took less time for fewer iterations.
    assert (rows["baseline"]["ms"], rows["test1"]["ms"]) == (2000, 1000)
    assert rows["test1"]["us_per_iteration"] == 50
    assert rows["test1"]["ratio"] == 5
    assert rows["test1"]["paper_ratio"] == pytest.approx(13881 / 6798, abs=0.001)
    # Four games, each of which the paper plays 1,000,000 times: four times the baseline.
    assert rows["test5"]["us_per_iteration"] == 10
    assert rows["test5"]["ratio"] == 4
    # Never shortened; in each of 5,000 games 100 iterations.
    assert rows["test8"]["iterations"] == 100
    assert rows["test8"]["threads"] == 10_000
    assert rows["test8"]["us_per_iteration"] == 10


def test_the_fastest_of_three_counts():
    speeds = iter([10, 30, 20, 25] * 14)  # the probe's, and the three runs'
    rows = pingpong.run(Recorded(lambda model, smp: next(speeds)))
    assert rows[0]["us_per_iteration"] == 20


def test_two_runs_without_spinning():
    ctx = Recorded(lambda model, smp: 10)
    rows = pingpong.run(ctx)
    assert [row["run"] for row in rows if row["options"] == "spin=never"] == ["test2n", "test6n"]
    assert {(model, smp) for model, smp, options, _ in ctx.calls if options == "spin=never"} == {
        ("mxn", 2), ("mxn", 8)}
    assert rows[2]["arguments"] == rows[3]["arguments"] == "-v -c 2"


def test_a_run_with_the_kernels_queues():
    ctx = Recorded(lambda model, smp: 10)
    row, = (row for row in pingpong.run(ctx) if row["options"] == "sleep=kernel")
    assert (row["run"], row["model"], row["paper_ms"]) == ("test4k", "lwp", 59231)


def test_the_papers_figures_stand_alone():
    alone = {row["run"]: row for row in pingpong.paper_rows()}
    for row in pingpong.run(Recorded(lambda model, smp: 10)):
        assert {key: value for key, value in row.items() if key.startswith("paper_")} == {
            key: value for key, value in alone[row["run"]].items() if key.startswith("paper_")}


def test_a_failing_pp_is_not_a_result():
    class Failing(Recorded):
        def guest(self, argv, **where):
            return Result(1, "pp: pthread_create: no memory\n")

    with pytest.raises(HostError, match="no memory"):
        pingpong.run(Failing(None))


@pytest.mark.parametrize("experiment", [pingpong, checks])
def test_tables_fit_into_80_columns(experiment):
    # A range of speeds as wide as can be expected.
    rows = experiment.run(Recorded(lambda model, smp: 400 if model == "mxn" else 2))
    console = Console(width=80, record=True, file=open("/dev/null", "w"))
    console.print(experiment.table(rows))
    text = console.export_text()
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


@pytest.mark.parametrize("mxn_us, holds", [(10, False), (3.9, True)])
def test_checks_judge(mxn_us, holds):
    us = {("lwp", 1): 10, ("lwp", 2): 9, ("mxn", 1): mxn_us}
    ctx = Recorded(lambda model, smp: us[model, smp])
    spinning, switching = checks.run(ctx)
    assert len(ctx.calls) == ctx.total == 9
    assert spinning["holds"] and spinning["ratio"] == pytest.approx(10 / 9, abs=0.001)
    assert switching["holds"] is holds
