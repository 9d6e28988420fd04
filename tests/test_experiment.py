"""An experiment as data: formulas, what is wrong with a file, and the runs that follow from it."""

import shlex

import pytest
from sample_experiment import GOOD
from test_claims import rows
from weft_host import cells, cli, experiment, runcmd, words
from weft_host.formula import Formula
from weft_host.machine import UsageError

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
    ("(2 ** 1000) ** 1000", "too large"), ("2 ** 600 * 2 ** 600", "too large"),
    ("'x' * 10 ** 12", "multiples"),
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
        args = cli._parser("run").parse_args(words[1:words.index("--")])
        args.argv = words[words.index("--") + 1:]
        machine, again = run.machine(), runcmd.machine_from(args)
        machine.timeout, machine.background = None, False
        assert machine == again


def test_grid_of_machines_and_condition(load):
    one = load(GOOD.replace("threads = [1, 4, 8]", "threads = [1, 4, 8]\nsmp = [1, 2]")
               .replace('figure =', 'when = "threads <= smp * 4"\nfigure ='))
    points = {(run.parameters["threads"], run.settings["smp"]) for run in one.runs(True)}
    assert points == {(1, 1), (1, 2), (4, 1), (4, 2), (8, 2)}


def test_a_condition_on_which_points_are_repeated(load):
    one = load(GOOD.replace('figure =', 'repeated = "threads <= 4"\nfigure ='))
    seeds = {}
    for run in one.runs(True):
        seeds.setdefault(run.parameters["threads"], []).append(run.seed)
    assert seeds == {1: [1, 2] * 2, 4: [1, 2] * 2, 8: [1] * 2}


def test_a_quick_form_without_seeds(load):
    one = load(GOOD.replace("seeds = [7]", "seeds = []"))
    assert {run.seed for run in one.runs(False)} == {None}
    assert {run.seed for run in one.runs(True)} == {1, 2}


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
    ('[run]', '[states]\nalone = "onlwp == 1"\n[run]', "states: no run is traced"),
    ('[run]', '[states]\nalone = "on == 1"\n[run]\ntraced = true', "states.alone: there is no 'on'"),
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
    ('rows = "threads"\nunit', 'rows = "threads"\nwhere = { configuration = ["bound", "nt"] }\nunit',
     r"tables\[0\].where: configuration: one value is needed, not \['bound', 'nt'\]"),
    ('[[claims]]', '[[plots]]\nx = "threads"\nwhere = { seed = [1, 2] }\n[[claims]]',
     r"plots\[0\].where: seed: one value is needed"),
    ('{ configuration = "nt" }', '{ configuration = ["nt"] }', "under: configuration: one value is needed"),
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
    ('figure =', 'programs = { more = ["nowhere.c"] }\nfigure =', "programs.more: there is no source 'nowhere.c'"),
    ('figure =', 'programs = { "bin/more" = ["mine.toml"] }\nfigure =', "programs.bin/more: a name is needed"),
    ('figure =', 'programs = { more = "more.c" }\nfigure =', "programs.more: a list is needed"),
    ('figure =', 'programs = { prog = ["mine.toml"] }\nfigure =', "programs.prog: is 'program'"),
    ('figure =', 'patterns = ["("]\nfigure =', "patterns: '\\('"),
    ('figure =', 'patterns = ["(?P<real>x)"]\nfigure =', "figure: neither 'patterns' nor"),
    ('-n {threads}', "-n '{threads}", "No closing quotation"),
    ('{threads}', '{threads:x.y}', "arguments: for bound: Invalid format"),
    ('figure =', 'when = "threads > 8"\nfigure =', "when: no run is left"),
    ('figure =', 'when = "threads > \'x\'"\nfigure =', "not supported"),
    ('figure =', 'repeated = "thread > 1"\nfigure =', "repeated: is about parameters of the grid"),
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
