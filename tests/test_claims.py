"""What claims and tables make of the figures."""

import pytest
from sample_experiment import GOOD
from weft_host import cells, claims
from weft_host.machine import UsageError

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
