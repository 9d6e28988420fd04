"""weft bench: reading experiments, running them, judging claims, comparing results."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from weft_host import (bench, cells, claims, cli, experiment, results, runcmd, runner, tables,
                       venv, words)
from weft_host.formula import Formula
from weft_host.guest import Result
from weft_host.machine import QEMU, HostError, UsageError

GOOD = """
title = "An experiment"
program = "prog"
arguments = "-n {threads} {kind}"
figure = "real_ns"
[run]
smp = 4
seeds = [1, 2]
[parameters]
threads = [1, 4, 8]
[configurations.bound]
model = "mxn"
parameters = { kind = "-b" }
[configurations.nt]
class = "NT"
parameters = { kind = "" }
[quick]
parameters = { threads = [4] }
seeds = [7]
[[tables]]
rows = "threads"
unit = "ms"
normalise = { threads = 1, configuration = "nt" }
paper = { file = "nt-solaris-table4.csv", rows = "threads", columns = { bound = "bound", nt = "nt" }, unit = "s" }
[[claims]]
id = "same"
text = "The same."
kind = "ratio"
over = { configuration = "bound" }
under = { configuration = "nt" }
each = "threads"
at_least = 0.9
at_most = 1.1
"""


@pytest.fixture
def load(tmp_path):
    """load(text) reads it as an experiment `mine`."""
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return experiment.load(path)
    return read


# --- formulas ------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, value", [
    ("1 + 2 * 3 == 7", True), ("max(a, b) / a >= 2", True), ("a < b < 5", True),
    ("a < b < 3", False), ("-a if b > 3 else a", -2), ("not (a > b) and ceil(2.5) == 3", True),
    ("kind == 'x' or a ** 2 % 3 == 1", True)])
def test_formula(text, value):
    assert Formula(text)({"a": 2, "b": 4, "kind": "y"}) == value


@pytest.mark.parametrize("text", ["a.b", "open('x')", "(lambda: 1)()", "[1][0]", "a +", "f'{a}'",
                                  "max(a, key=b)", "a in b", "__import__('os')", "a & b", "-" * 5000 + "a"])
def test_no_formula(text):
    with pytest.raises(UsageError):
        Formula(text)


@pytest.mark.parametrize("text, why", [
    ("a / b", "division"), ("c", "no 'c'"), ("a + 'x'", "type"), ("2 ** 10 ** 10", "too large"),
    ("(2 ** 1000) ** 1000", "too large"), ("2 ** 600 * 2 ** 600", "too large"), ("'x' * 10 ** 12", "multiples"),
    ("'%01000000000d' % a", "remainder"), ("(-2) ** 0.5 > 1", "complex")])
def test_formula_without_a_value(text, why):
    with pytest.raises(UsageError, match=why):
        Formula(text)({"a": 1, "b": 0})


# --- reading -------------------------------------------------------------------------------------

def test_those_of_weft_are_good():
    found = experiment.all_experiments()
    papers = experiment.papers()
    assert {"pingpong", "pingpong-latency", "micro", "scale"} <= set(found)
    for one in found.values():
        assert one.paper in papers
        assert one.module or one.runs(True)
    ids = [claim["id"] for one in found.values() for claim in one.claims]
    assert len(ids) == len(set(ids))
    for one in found.values():
        for claim in one.claims:
            assert set(claim.get("evidence", [])) <= set(found), claim["id"]


def test_runs(load):
    one = load(GOOD)
    runs = one.runs(True)
    assert len(runs) == 3 * 2 * 2
    assert runs[0].argv == ("prog", "-n", "1", "-b")
    assert runs[2].argv == ("priocntl", "-e", "-c", "NT", "prog", "-n", "1")
    assert [run.seed for run in runs[:4]] == [1, 2, 1, 2]
    assert [(run.parameters, run.seed) for run in one.runs(False)] == 2 * [({"threads": 4}, 7)]
    machine = runs[0].machine()
    assert (machine.smp, machine.model, machine.timing, machine.seed) == (4, "mxn", "exact", 1)


def test_the_command_repeats_the_run(load):
    text = GOOD.replace("smp = 4", 'smp = 4\nquantum = 200\nmips = 10\nmem = "1G"').replace(
        'model = "mxn"', 'model = "mxn"\noptions = "queue=fifo"')
    for run in load(text).runs(True):
        words = shlex.split(run.command())
        args = cli._parser().parse_args(words[1:words.index("--")])
        args.argv = words[words.index("--") + 1:]
        machine, again = run.machine(), runcmd.machine_from(args)
        machine.timeout, machine.background = None, False
        assert machine == again


def test_grid_of_machines_and_condition(load):
    one = load(GOOD.replace("threads = [1, 4, 8]", "threads = [1, 4, 8]\nsmp = [1, 2]")
               .replace('figure =', 'when = "threads <= smp * 4"\nfigure ='))
    points = {(run.parameters["threads"], run.settings["smp"]) for run in one.runs(True)}
    assert points == {(1, 1), (1, 2), (4, 1), (4, 2), (8, 2)}


def test_several_grids(load):
    one = load(GOOD.replace("[parameters]", "[[parameters]]") + "")
    assert len(one.runs(True)) == 12


@pytest.mark.parametrize("old, new, why", [
    ('title =', 'titel =', "unknown key 'titel'"),
    ('title = "An experiment"', '', "'title' is missing"),
    ('title = "An experiment"', 'title = 3', "title: a text is needed, not 3"),
    ('program = "prog"', '', "'program' or 'module'"),
    ('[1, 4, 8]', '[]', "parameters.threads: has no values"),
    ('[1, 4, 8]', '[1, 1]', "a value twice"),
    ('[1, 4, 8]', '[[1], 4, 8]', "neither number nor text"),
    ('threads = [1, 4, 8]', 'threads = [1, 4, 8]\nsmp = ["x"]', "parameters.smp: a whole number"),
    ('{kind}', '{kin}', "no parameter 'kin'"),
    ('{kind}', '{kind', "arguments"),
    ('smp = 4', 'smp = 400', "--smp: 1 to 64"),
    ('smp = 4', 'cpus = 4', "run: unknown key 'cpus'"),
    ('seeds = [1, 2]', 'seeds = []', "run.seeds"),
    ('seeds = [1, 2]', 'seeds = 0', "run.seeds"),
    ('model = "mxn"', 'modle = "mxn"', "configurations.bound: unknown key 'modle'"),
    ('rows = "threads"\nunit', 'rows = "thread"\nunit', "there is no 'thread'"),
    ('table4.csv', 'table40.csv', "no file"),
    ('unit = "ms"', 'unit = "pages"', r"tables\[0\].unit: real_ns is in ns, not in pages"),
    ('figure = "real_ns"', 'figure = "took"', "took is in no unit, not in ms; .units. took"),
    ('figure = "real_ns"', 'figure = "real_ns"\n[units]\nreal_ns = 1', "units.real_ns: a text"),
    ('[[claims]]', '[[plots]]\nx = "threads"\nsummary = ["other"]\n[[claims]]', "no claim 'other'"),
    ('[[claims]]', '[[plots]]\nx = "threads"\nover = "other"\n[[claims]]',
     "no configuration 'other'"),
    ('{ configuration = "nt" }', '{ configuration = "ntt" }', "no configuration 'ntt'"),
    ('normalise = { threads = 1', 'normalise = { threads = 2', "threads is never 2"),
    ('kind = "ratio"', 'kind = "ration"', "kind: one of"),
    ('kind = "ratio"', '', "needs a 'kind'"),
    ('at_least = 0.9\nat_most = 1.1', '', "'at_least' or 'at_most'"),
    ('under = { configuration = "nt" }', '', "'under' is missing"),
    ('each = "threads"', 'each = "thread"', "each: there is no 'thread'"),
    ('parameters = { threads = [4] }', 'configurations = ["x"]', "quick.configurations"),
    ('title =', 'title = "x"\ntitle =', "Cannot overwrite"),
    ('smp = 4', 'smp = 4\ntiming = "exat"', "--timing: fast or exact"),
    ('figure =', 'files = ["nowhere"]\nfigure =', "files: there is no file 'nowhere'"),
    ('figure =', 'files = ["mine.toml:x"]\nfigure =', "files: 'x' is not an absolute path"),
    ('figure =', 'files = [3]\nfigure =', "files: a list of texts is needed"),
    ('figure =', 'build = ["nowhere.c"]\nfigure =', "build: there is no source 'nowhere.c'"),
    ('figure =', 'build = ["-O2"]\nfigure =', "build: names no source"),
    ('"prog"', '"/bin/prog"\nbuild = ["mine.toml"]', "build: makes 'program', which has to be"),
    ('figure =', 'patterns = ["("]\nfigure =', "patterns: '\\('"),
    ('figure =', 'patterns = ["(?P<real>x)"]\nfigure =', "figure: neither 'patterns' nor"),
    ('-n {threads}', "-n '{threads}", "No closing quotation"),
    ('{threads}', '{threads:x.y}', "arguments: for bound: Invalid format"),
    ('figure =', 'when = "threads > 8"\nfigure =', "when: no run is left"),
    ('figure =', 'when = "threads > \'x\'"\nfigure =', "not supported"),
])
def test_what_is_wrong_is_said(load, old, new, why):
    assert old in GOOD
    with pytest.raises(UsageError, match=f"mine.toml: .*{why}"):
        load(GOOD.replace(old, new, 1) if old != '{ configuration = "nt" }' else
             GOOD.replace(old, new))


def test_words_and_units(load):
    """Of the file, of weft, and of the key itself."""
    one = load(GOOD.replace('figure = "real_ns"', 'figure = "took"').replace(
        "[run]", '[names]\nthreads = "players"\n[units]\ntook = "us"\n[run]', 1))
    assert words.axis(one, "threads") == "players" and words.axis(one, "smp") == "CPUs"
    assert words.axis(one, "first_turn_ms") == "first turn, ms"
    assert cells.describe(one, {"threads": 4, "smp": 1, "configuration": "nt"}) == \
        "players 4, 1 CPU, nt"
    assert cells.divisor(one, one.tables[0]) == 1000
    assert cells.Table(one, rows(nt={1: 1}), one.tables[0]).caption == "An experiment (ms)"
    assert words.quantity(1234567, "ns") == "1,235 µs" and words.quantity(4321, "ns") == "4,321 ns"
    assert words.quantity(12.5, "s") == "12.50 s" and words.quantity(68000, "LWPs") == "68,000 LWPs"


def test_a_module_that_is_not_there(load):
    with pytest.raises(UsageError, match="mine.toml: module: there is no 'nowhere'"):
        load('title = "x"\nfigure = "y"\nmodule = "nowhere"')


def test_two_claims_of_one_name(load):
    with pytest.raises(UsageError, match="two with the id 'same'"):
        load(GOOD + GOOD[GOOD.index("[[claims]]"):])


# --- running -------------------------------------------------------------------------------------

def test_lines_of_results():
    output = "hello\nresult threads=4 real_ns=12 share=0.5 kind=a\nresult threads=8 real_ns=3\n"
    assert runner.parse(output) == [{"threads": 4, "real_ns": 12, "share": 0.5, "kind": "a"},
                                    {"threads": 8, "real_ns": 3}]
    for wrong in ("nothing\n", "result\n", "result x\n", "result =1\n"):
        with pytest.raises(HostError):
            runner.parse(wrong)


def test_results_by_patterns():
    patterns = [r"^(?P<games>\d+) games", r"^real\s+(?P<real_s>\S+)"]
    assert runner.parse("4 games\nreal 1:02:03.5\n", patterns) == [{"games": 4, "real_s": 3723.5}]
    with pytest.raises(HostError, match="no line like"):
        runner.parse("4 games\n", patterns)


@pytest.fixture
def guests(monkeypatch):
    """guests.answer(machine) -> Result stands in for guests."""
    fake = SimpleNamespace(answer=None)
    monkeypatch.setattr(runner, "run_guest", lambda machine, started=None: fake.answer(machine))
    return fake


def measure(one, jobs=2, full=True):
    """(rows, failures) as weft bench gets them."""
    display = SimpleNamespace(more=lambda count: None, begins=lambda name, text, key: None,
                              ended=lambda: None, left=lambda key, name: None)
    args = SimpleNamespace(full=full, timing="exact", accel="tcg")
    done, = bench._Bench(args, [one], display, runner.Local(jobs)).run()
    assert done.measured == done.runs - len(done.failures)
    return done.rows, done.failures


def answer(machine):
    threads = int(machine.argv[machine.argv.index("-n") + 1])
    return Result(0, f"result threads={threads} real_ns={threads * 1000000 + machine.seed}\n")


def test_rows_are_in_the_order_of_the_runs(load, guests):
    guests.answer = answer
    one = load(GOOD)
    rows, failures = measure(one)
    assert failures == []
    assert rows == measure(one, jobs=5)[0]
    assert [(row["threads"], row["configuration"], row["seed"]) for row in rows] == [
        (run.parameters["threads"], run.configuration, run.seed) for run in one.runs(True)]
    assert rows[0]["real_ns"] == 1000001 and rows[0]["status"] == "ok"


@pytest.mark.parametrize("result, status", [
    (Result(1, "result threads=4 real_ns=1\n"), "exit status 1"),
    (Result(124, error="time-out after 300 s"), "time-out after 300 s"),
    (Result(70, error="the kernel panicked", panic="PANIC: x"), "the kernel panicked"),
    (Result(0, "hello\n"), "no line of results"),
    (Result(0, "result threads=5 real_ns=1\n"), "the program says threads=5, .*"),
    (Result(0, "result user_ns=1\n"), "the program printed no real_ns"),
])
def test_a_failure_is_told_and_the_others_go_on(load, guests, result, status):
    calls = []

    def some(machine):
        calls.append(machine)
        return result if "-n 4 -b" in " ".join(machine.argv) else answer(machine)

    guests.answer = some
    one = load(GOOD)
    rows, failures = measure(one)
    assert len(calls) == len(rows) == 12  # nothing was repeated
    bad = [row for row in rows if row["status"] != "ok"]
    assert len(bad) == len(failures) == 2
    for row, failure in zip(bad, failures):
        assert re.fullmatch(status, row["status"], re.DOTALL)
        assert "real_ns" not in row
        assert failure["command"].endswith("-- prog -n 4 -b")


def test_fast_timing_runs_alone(load, guests):
    """When all others have ended, one at a time; and the results say whose time it is."""
    calls, running = [], []

    def alone(machine):
        running.append(machine)
        time.sleep(0.01)  # for another to begin, if any may
        calls.append((machine.timing, len(running)))
        threads = machine.argv[machine.argv.index("-n") + 1]
        running.remove(machine)
        return Result(0, f"result threads={threads} real_ns=1\n")

    guests.answer = alone
    one = load(GOOD.replace('class = "NT"', 'class = "NT"\ntiming = "fast"'))
    rows, failures = measure(one)
    assert failures == []
    assert [timing for timing, _ in calls] == ["exact"] * 6 + ["fast"] * 6
    assert {count for timing, count in calls if timing == "fast"} == {1}
    assert {row["timing"] for row in rows if row["configuration"] == "nt"} == {"fast"}


def test_derived_figures(load, guests):
    guests.answer = answer
    rows, _ = measure(load(GOOD.replace("figure =", 'derive = { each_ns = "real_ns / threads" }\n'
                                        "figure =")))
    assert rows[4]["each_ns"] == 1000000.25


# --- a cluster -----------------------------------------------------------------------------------

def test_without_the_package_for_clusters(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="weft setup cluster"):
        runner.Cluster("tcp://127.0.0.1:1")


# --- claims --------------------------------------------------------------------------------------

def rows(**curves):
    """Rows of an experiment with threads; curves: configuration = {threads: value or values}."""
    return [{"configuration": name, "threads": threads, "seed": seed, "status": "ok", "real_ns": v}
            for name, curve in curves.items() for threads, value in curve.items()
            for seed, v in enumerate(value if isinstance(value, list) else [value])]


def judge(load, claim, measured):
    text = GOOD[:GOOD.index("[[claims]]")] + '[[claims]]\nid = "x"\ntext = "X."\n' + claim
    one = load(text)
    return claims.Judge({one.name: (one, measured)}).judge(one, one.claims[0])


LINE = {1: 10, 4: 40, 8: 80}
STAIRS = {1: 10, 4: 10, 8: 20}


@pytest.mark.parametrize("claim, measured, verdict", [
    ('kind = "ratio"\nover = {configuration="bound"}\nunder = {configuration="nt"}\n'
     'each = "threads"\nat_least = 0.9\nat_most = 1.1', rows(bound=LINE, nt=LINE), "holds"),
    ('kind = "ratio"\nover = {configuration="bound"}\nunder = {configuration="nt"}\n'
     'each = "threads"\nat_most = 1.1', rows(bound=LINE, nt=STAIRS), "does not hold"),
    ('kind = "ratio"\nover = {configuration="bound"}\nunder = {configuration="nt"}\n'
     'each = {threads = [8]}\nat_least = 1', rows(bound={1: 1}, nt={1: 1}), "not measured"),
    ('kind = "range"\nof = {configuration="nt", threads=4}\nat_most = 40', rows(nt=LINE), "holds"),
    ('kind = "range"\nof = {configuration="nt", threads=8}\nat_most = 40', rows(nt=LINE),
     "does not hold"),
    ('kind = "linear"\nx = "threads"\nwhere = {configuration="nt"}\ntolerance = 0.01',
     rows(nt=LINE), "holds"),
    ('kind = "linear"\nx = "threads"\nwhere = {configuration="nt"}\ntolerance = 0.05',
     rows(nt=STAIRS), "does not hold"),
    ('kind = "linear"\nx = "threads"\nwhere = {configuration="nt"}\ntolerance = 0.05',
     rows(nt={1: 1, 4: 4}), "not measured"),
    ('kind = "staircase"\nx = "threads"\nstep = 4\nwhere = {configuration="nt"}\ntolerance = 0.05',
     rows(nt=STAIRS), "holds"),
    ('kind = "staircase"\nx = "threads"\nstep = 4\nwhere = {configuration="nt"}\ntolerance = 0.05',
     rows(nt=LINE), "does not hold"),
    ('kind = "order"\norder = [{configuration="nt"}, {configuration="bound"}]\neach = "threads"',
     rows(bound=LINE, nt=STAIRS), "holds"),
    ('kind = "order"\norder = [{configuration="bound"}, {configuration="nt"}]\neach = "threads"',
     rows(bound=LINE, nt=STAIRS), "does not hold"),
    ('kind = "spread"\nof = {configuration="nt", threads=1}\nat_least = 0.1',
     rows(nt={1: [10, 12]}), "holds"),
    ('kind = "spread"\nof = {configuration="nt", threads=1}\nat_least = 0.1', rows(nt={1: 10}),
     "not measured"),
    ('kind = "expression"\nlet = {a = {configuration="nt", threads=1}, '
     'b = {configuration="nt", threads=8, statistic="max"}}\ncheck = "b / a >= 8"', rows(nt=LINE),
     "holds"),
    ('kind = "range"\nof = {configuration="nt", threads=4}\nat_most = 40\nhardware = "caches"',
     rows(nt=LINE), "depends on hardware"),
    ('hardware = "caches"', [], "depends on hardware"),
    ('not_measured = "There is no Java."', [], "not measured"),
    ('kind = "range"\nof = {experiment = "other", a = 1}\nat_most = 40', rows(nt=LINE),
     "not measured"),
])
def test_verdicts(load, claim, measured, verdict):
    found = judge(load, claim, measured)
    assert found.verdict == verdict, found
    assert found.figures


def test_a_failed_run_is_no_measurement(load):
    measured = rows(nt=LINE)
    measured[1]["status"] = "exit status 1"
    found = judge(load, 'kind = "range"\nof = {configuration="nt", threads=4}\nat_most = 9', measured)
    assert found.verdict == "not measured" and "exit status 1" in found.figures[0]


def test_an_ambiguous_selection(load):
    with pytest.raises(UsageError, match="several values of 'threads'"):
        judge(load, 'kind = "range"\nof = {configuration="nt"}\nat_most = 9', rows(nt=LINE))


def test_the_papers_own_figures_are_judged_too(load):
    one = load(GOOD)
    found = claims.Judge({}).judge(one, one.claims[0])
    assert found.verdict == "not measured"
    assert found.paper.verdict == "holds"
    assert "1.01" in " ".join(found.paper.figures) or found.paper.figures


# --- tables --------------------------------------------------------------------------------------

def test_cells(load):
    one = load(GOOD)
    table = cells.Table(one, rows(bound={1: [1e6, 3e6], 4: 4e6}, nt={1: 1e6}), one.tables[0])
    assert table.row_labels == [1, 4] and table.column_labels == ["bound", "nt"]
    assert table.cell(1, "bound") == 2.0 and table.spread(1, "bound") == pytest.approx(2 ** 0.5)
    assert table.cell(4, "nt") is None
    assert table.paper[4, "nt"] == 10.13
    assert table.baseline() == (1, "nt")


@pytest.mark.parametrize("value, text", [
    (None, "–"), (3, "3"), (123456, "123,456"), (1.5, "1.50"), (123.45, "123.5"), (0.0123, "0.012"),
    (12345.6, "12,346"), (1e-5, "1e-05"), (2e9, "2,000,000,000"), (0.0, "0"), ("word", "word")])
def test_numbers(value, text):
    assert cells.number(value) == text


def test_statistics():
    values = [1, 2, 3, 4]
    assert [cells.statistic(values, name) for name in ("mean", "max", "min", "median")] == [
        2.5, 4, 1, 2.5]
    assert cells.statistic(values, "margin99") == pytest.approx(1.6627, abs=1e-3)


# --- comparing -----------------------------------------------------------------------------------

def facts(values, better="less", name="x"):
    return {name: {"experiment": name, "keys": ["n"], "figures": {"ns": better},
                   "rows": [{"n": n, "ns": value} for n, value in values.items()]}}


@pytest.mark.parametrize("old, new, better, worse", [
    ({1: 100}, {1: 100}, "less", []),
    ({1: 100, 2: 100}, {1: 101.9, 2: 103}, "less", ["n=2"]),
    ({1: 100}, {1: 50}, "less", []),
    ({1: 100}, {1: 50}, "more", ["n=1"]),
    ({1: 100, 2: 1}, {1: 100}, "less", ["n=2"]),  # no longer measured
    ({1: 100}, {1: None}, "less", ["n=1"]),  # fails
    ({1: None}, {1: 3}, "less", []),
    ({1: 0}, {1: 3}, "less", ["n=1"]),
])
def test_compare(old, new, better, worse):
    found = results.compare(facts(old, better), facts(new, better), 2.0)
    assert [one["key"] for one in found if one["worse"]] == worse
    tables.changes(found, 2.0)


def test_compare_sets():
    found = results.compare(facts({1: 1}), facts({1: 1}, name="y"), 2.0)
    assert [(one["experiment"], one["worse"]) for one in found] == [("x", True), ("y", False)]


def test_compare_files(tmp_path, capsys):
    for name, value in (("a", 100), ("b", 110)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text(json.dumps(facts({1: value})["x"]))

    def compare(*argv):
        return cli.main(["bench", "--compare", *(str(tmp_path / name) for name in argv[:2]),
                         *argv[2:]])

    assert compare("a", "b") == 1
    assert "+10.00 %" in capsys.readouterr().out
    assert compare("a", "b", "--tolerance", "11") == 0
    assert compare("b/x.json", "a/x.csv") == 0
    (tmp_path / "b/x.json").write_text("{}")
    assert compare("a", "b") == 2
    assert "not a result of weft bench" in capsys.readouterr().err
    assert compare("c", "a") == 2


# --- the whole -----------------------------------------------------------------------------------

MINE = """
title = "Mine"
program = "pp"
arguments = "-vu -i {iterations} {more}"
patterns = ['^1 games completed in (?P<real_us>\\d+)us']
figure = "real_us"
[run]
smp = 2
timeout = 60
[parameters]
iterations = [50, 100]
[configurations.lwp]
model = "lwp"
parameters = { more = "" }
[configurations.wrong]
parameters = { more = "-y" }
[[claims]]
id = "longer"
text = "Twice as many take longer."
kind = "ratio"
where = { configuration = "lwp" }
over = { iterations = 100 }
under = { iterations = 50 }
at_least = 1
"""


def test_an_experiment_of_ones_own(weft, tmp_path):
    """Twice the same bytes; a configuration that cannot run is told, and the others are there."""
    (tmp_path / "mine.toml").write_text(MINE)
    for name in ("one", "two"):
        done = weft("bench", "--no-build", "--results", tmp_path / name, tmp_path / "mine.toml")
        assert done.returncode == 1, done.stderr
        assert b"FAILED" in done.stderr and b"exit status 2" in done.stderr
        assert b"pp: invalid option" in done.stderr
        assert re.search(r"^holds +longer: ", done.stdout.decode(), re.MULTILINE)
        last = done.stderr.decode().splitlines()[-8:]
        assert last[1] == "weft: 1 of 1 experiment FAILED, each with its first reason:"
        assert last[2] == "  mine: 2 of 4 runs: exit status 2"
        assert last[-1] == f"  tools/weft bench --results {tmp_path / name} {tmp_path}/mine.toml"
    one, two = ((tmp_path / name / "mine.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    found = list(csv.DictReader(one.decode().splitlines()))
    assert [(row["configuration"], row["iterations"], row["status"]) for row in found] == [
        ("lwp", "50", "ok"), ("wrong", "50", "exit status 2"),
        ("lwp", "100", "ok"), ("wrong", "100", "exit status 2")]
    assert 0 < int(found[0]["real_us"]) < int(found[2]["real_us"])
    assert found[0]["smp"] == "2" and found[0]["revision"]
    facts = json.loads((tmp_path / "one/mine.json").read_text())
    assert len(facts["failures"]) == 2 and facts["revision"] == found[0]["revision"]


CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""
# Stands in for QEMU: kills the worker that calls it, once, if it is told to.
FATAL = """#!/bin/sh
if rm {order} 2>/dev/null; then kill -9 $PPID; fi
exec {qemu} "$@"
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask cluster of processes that know nothing of weft: its address, and the file whose making
    kills a worker."""
    venv.add("cluster")
    place = tmp_path_factory.mktemp("cluster")
    order, script, fatal = place / "order", place / "cluster.py", place / "qemu"
    script.write_text(CLUSTER)
    fatal.write_text(FATAL.format(order=order, qemu=shutil.which(QEMU)))
    fatal.chmod(0o755)
    with open(place / "said", "w") as said, subprocess.Popen(
            [sys.executable, script], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=said, text=True, env=os.environ | {"WEFT_QEMU": str(fatal)}) as started:
        yield started.stdout.readline().strip(), order
        started.communicate("\n", timeout=60)


def test_cluster(weft, tmp_path, cluster):
    """The same bytes as here.  A run whose worker died is a failure, though Dask makes it again."""
    address, order = cluster
    (tmp_path / "mine.toml").write_text(MINE[:MINE.index("[[claims]]")].replace("[50, 100]", "[50]"))
    for name, argv in (("here", ["--jobs", "1"]), ("there", ["--scheduler", address])):
        done = weft("bench", "--no-build", *argv, "--results", tmp_path / name,
                    tmp_path / "mine.toml")
        assert done.returncode == 1, done.stderr
    here, there = ((tmp_path / name / "mine.csv").read_bytes() for name in ("here", "there"))
    assert here == there and b"exit status 2" in here
    order.touch()
    weft("bench", "--no-build", "--scheduler", address, "--results", tmp_path / "there",
         tmp_path / "mine.toml")
    found = list(csv.DictReader((tmp_path / "there/mine.csv").read_text().splitlines()))
    assert "its worker died" in [row["status"] for row in found]


def test_cluster_with_another_build(weft, load, monkeypatch, cluster):
    monkeypatch.setattr(runner, "build_digest", lambda: "another")
    one, = load(GOOD).runs(False)[:1]
    (key, outcome), = runner.Cluster(cluster[0])([("key", one, ())], [], lambda run: None)
    assert key == "key" and outcome.status.startswith("this worker has another build in ")


@pytest.mark.parametrize("argv, why", [
    (("no-such",), "no experiment 'no-such'; there are: "), (("no-such.toml",), "no-such.toml"),
    (("--jobs", "0"), "--jobs"), (("--update-baseline", "--full"), "of the quick set"),
    (("--update-baseline", "--timing", "fast"), "in exact timing"),
    (("--update-baseline", "scale"), "scale has no quick form")])
def test_wrong_usage(argv, why, capsys):
    assert cli.main(["bench", *argv]) == 2
    assert why in capsys.readouterr().err


def test_list(capsys):
    assert cli.main(["bench", "--list"]) == 0
    assert "pingpong-latency" in capsys.readouterr().out
