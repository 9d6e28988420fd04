"""What claims and tables make of the figures."""

import pytest
from rich.console import Console
from sample_experiment import GOOD
from weft_host import baseline, cells, claimlist, claims, experiment, results
from weft_host.machine import UsageError

# --- claims --------------------------------------------------------------------------------------

def rows(**curves):
    """Rows of an experiment with threads; curves: configuration = {threads: value or values}."""
    return [{"configuration": name, "threads": threads, "seed": seed, "status": "ok", "real_ns": v}
            for name, curve in curves.items() for threads, value in curve.items()
            for seed, v in enumerate(value if isinstance(value, list) else [value])]


BEFORE = GOOD[:GOOD.index("[[claims]]")]


def claimed(claim):
    """The experiment with one claim, which may be against the paper."""
    return f'{BEFORE}[[claims]]\nid = "x"\ntext = "X."\nown = true\n{claim}'


def judge(load, claim, measured):
    one = load(claimed(claim))
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


# --- what a claim says ---------------------------------------------------------------------------

OF_PAPER = GOOD.replace("[run]", 'paper = "nt-vs-solaris"\n[run]', 1)


@pytest.mark.parametrize("lines, why", [
    ("", "'quote' is missing"), ('quote = "Q."', "'quote' and 'section' go together"),
    ('section = "3.3"', "'quote' and 'section' go together"),
    ('own = true\nquote = "Q."\nsection = "3.3"', "weft's own, or of a paper"),
    ('own = true\nquote = 3', "a text is needed")])
def test_a_claim_quotes_its_paper(load, lines, why):
    with pytest.raises(UsageError, match=f"mine.toml: .*{why}"):
        load(OF_PAPER.replace('text = "The same."', f'text = "The same."\n{lines}'))


def test_one_of_wefts_own_says_so(load):
    for lines in ('own = true', 'quote = "Q."\nsection = "3.3"'):
        assert load(OF_PAPER.replace('text = "The same."', f'text = "The same."\n{lines}')).claims


RATIO = 'kind = "ratio"\nover = {configuration="bound"}\nunder = {configuration="nt"}\n'


def test_a_check_that_the_papers_table_fails_is_refused(load):
    """1.01 at eight threads is the largest of its quotients."""
    line = BEFORE.count("\n") + 2
    for check in ("at_least = 1.5", 'at_most = 0.5'):
        text = claimed(RATIO + 'each = "threads"\n' + check)
        assert load(text)  # weft's own
        with pytest.raises(UsageError, match=rf"line {line}: claim x: the paper's own figures fail.*1\.01"):
            load(text.replace("own = true\n", ""))


def test_what_a_claim_takes_of_another_experiment_is_of_the_paper_too():
    """Table 6 over table 5: 10.84 s / 1.04 s of NT, and 1.18 s / 1.20 s of bound threads."""
    known = experiment.all_experiments()
    one, judge = known["nt-global"], claims.Judge(baseline.quick_results())
    found = {claim["id"]: judge.paper(one, claim) for claim in one.claims}
    assert found["nt-global-large"].figures == ["10.42 (10.84 s / 1,040 ms)"]
    assert found["nt-global-few"].figures == ["0.983 (1,180 ms / 1,200 ms)"]
    # Of the experiment micro the paper has none.
    one = known["models"]
    creation, = (claim for claim in one.claims if claim["id"] == "mn-lwp-creation")
    assert judge.paper(one, creation) is None


def test_no_check_fails_on_the_papers_figures():
    """The reader refuses such a check of one experiment; here are those of two as well."""
    judge = claims.Judge(baseline.quick_results())
    assert [claim["id"] for one in experiment.all_experiments().values() for claim in one.claims
            if "kind" in claim and not claim.get("own") and one.paper != "weft"
            and (found := judge.paper(one, claim)) and found.verdict == claims.FAILS] == []


def test_a_figure_of_the_papers_text_is_judged_too(load):
    text = claimed('kind = "range"\nof = {configuration="nt", threads=4, value="lwps"}\nat_most = 40\n')
    text = text.replace("own = true\n", "")
    found = claims.Judge({})
    one = load(text + "paper_figure = 32")
    assert found.judge(one, one.claims[0]).paper.verdict == "holds"
    assert found.judge(one, one.claims[0]).paper.change == pytest.approx(0.25)
    with pytest.raises(UsageError, match="the paper's own figures fail this check: 41"):
        load(text + "paper_figure = 41")


@pytest.mark.parametrize("check", [
    RATIO + "at_least = 0", 'kind = "range"\nof = {configuration="nt", threads=4}\nat_least = 0',
    'kind = "ratio"\nover = {configuration="nt"}\nunder = {configuration="nt"}\nat_least = 0.5',
    'kind = "order"\norder = [{configuration="nt"}, {configuration="nt"}]',
    'kind = "spread"\nof = {configuration="nt"}\nat_least = 0',
    'kind = "linear"\nx = "threads"\ntolerance = 1',
    'kind = "sets"\npair = ["nt", "bound"]\nshare = "equal"\nat_most = 1',
    'kind = "expression"\nlet = {a = {threads=1}, b = {threads=8}}\ncheck = "a > b or b >= a"'])
def test_a_check_that_cannot_fail_is_refused(load, check):
    with pytest.raises(UsageError, match="claim x: no figures fail this check"):
        load(claimed(check))
    assert load(claimed(check + "\nby_construction = true"))


def test_what_no_system_can_fail_is_said(load):
    check = 'kind = "range"\nof = {configuration="nt", threads=4}\nat_most = 40\nby_construction = true'
    assert judge(load, check, rows(nt={4: 30})).verdict == "by construction"
    assert judge(load, check, rows(nt={4: 50})).verdict == "does not hold"


# --- how firm a verdict is -----------------------------------------------------------------------

BELOW = 'kind = "range"\nof = {configuration="nt", threads=4}\nat_most = 40'


@pytest.mark.parametrize("claim, measured, verdict", [
    (BELOW, {4: [30, 39]}, "holds"), (BELOW, {4: [30, 41]}, "not decided"),
    (BELOW, {4: [39, 50]}, "not decided"), (BELOW, {4: [41, 50]}, "does not hold"),
    (BELOW, {4: [20, 41] * 10}, "holds"),  # the mean of twenty runs is known better than one of them
    (BELOW, {4: [35, 46] * 10}, "not decided"),
    # An extreme is one run's, and the median has its own bounds.
    (BELOW.replace("=4}", '=4, statistic="max"}'), {4: [30, 39]}, "holds"),
    (BELOW.replace("=4}", '=4, statistic="max"}'), {4: [30, 41]}, "does not hold"),
    (BELOW.replace("=4}", '=4, statistic="sd"}'), {4: [30, 60, 30, 60, 30]}, "holds"),
    (BELOW.replace("=4}", '=4, statistic="sd"}'), {4: [30, 32, 31, 33, 300]}, "not decided"),
    (BELOW.replace("=4}", '=4, statistic="sd"}'), {4: [30, 300, 30, 300]}, "does not hold"),
    (BELOW.replace("=4}", '=4, statistic="median"}'), {4: [90] + [30] * 9}, "holds"),
    (BELOW.replace("=4}", '=4, statistic="median"}'), {4: [90] * 3 + [30] * 7}, "not decided"),
])
def test_what_seeds_leave_open_is_not_decided(load, claim, measured, verdict):
    assert judge(load, claim, rows(nt=measured)).verdict == verdict


def test_ends_of_two_figures_are_tried_together(load):
    """Neither alone brings the quotient over the bound."""
    check = RATIO + "at_most = 1.1\nwhere = {threads = 4}"
    apart = rows(bound={4: [100, 108]}, nt={4: [100, 104]})
    assert judge(load, check, apart).verdict == "holds"
    found = judge(load, check, rows(bound={4: [100, 108]}, nt={4: [97, 103]}))
    assert found.verdict == "not decided" and "over the runs: 100 ns to 108 ns" in found.figures[0]


def test_a_point_that_fails_decides(load):
    """Another one that is open does not help."""
    check = 'kind = "range"\nof = {configuration="nt"}\nat_most = 40\neach = "threads"'
    assert judge(load, check, rows(nt={1: [39, 41], 4: 90})).verdict == "does not hold"
    assert judge(load, check, rows(nt={1: [39, 41], 4: 30})).verdict == "not decided"


@pytest.mark.parametrize("recorded, measured, verdict, said", [
    ("holds", {4: 30}, "holds", "holds"), ("does not hold", {4: 30}, "not decided", "not decided"),
    # The full set has more seeds: what it leaves open is open, and what it decides stands.
    ("not decided", {4: 30}, "not decided", "not decided"), ("holds", {4: [30, 41]}, "not decided", "not decided"),
    ("not measured", {4: 30}, "holds", "holds"), (None, {4: 30}, "holds", "holds"),
    ("holds", {1: 1}, "not measured", "holds (full set)"),
    ("not measured", {1: 1}, "not measured", "not measured"), (None, {1: 1}, "not measured", "not measured")])
def test_quick_and_full_set_agree(load, recorded, measured, verdict, said):
    one = load(claimed(BELOW))
    sets = claims.Sets({one.name: "quick"}, full={"x": recorded} if recorded else {})
    judge = claims.Judge({one.name: (one, rows(nt=measured))}, sets)
    found = judge.judge(one, one.claims[0])
    assert (found.verdict, found.said) == (verdict, said)
    own = judge.verdict(one, rows(nt=measured), one.claims[0]).verdict
    assert found.sets == {"quick": own} | ({"full": recorded} if recorded else {})
    both = f"the quick set: holds; the full set: {recorded}"
    assert (both in found.figures) == (own == "holds" and verdict == "not decided")


def test_full_and_quick_set_agree(load):
    one = load(claimed(BELOW))
    for stored, verdict, quick in (
            ({4: 50}, "not decided", "does not hold"), ({4: 20}, "holds", "holds"),
            ({4: [20, 50]}, "holds", "not decided"), ({1: 1}, "holds", "not measured")):
        sets = claims.Sets({one.name: "full"}, quick={one.name: (one, rows(nt=stored))})
        found = claims.Judge({one.name: (one, rows(nt={4: 30}))}, sets).judge(one, one.claims[0])
        assert found.verdict == verdict
        assert found.sets == {"quick": quick, "full": "holds"}


def test_verdicts_of_the_full_set_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(baseline, "FULL", tmp_path / "verdicts.csv")
    assert baseline.full_verdicts() == {}
    baseline.store_full({"b": "holds", "a": "does not hold"}, whole=True)
    baseline.store_full({"b": "not measured"}, whole=False)
    assert baseline.full_verdicts() == {"a": "does not hold", "b": "not measured"}
    baseline.store_full({"b": "holds"}, whole=True)
    assert baseline.full_verdicts() == {"b": "holds"}


def test_verdicts_of_results_at_hand(tmp_path):
    """Of the full set alone: what it says by itself, whatever the quick set in the repository does."""
    one = experiment.all_experiments()["pingpong-latency"]
    claim = next(claim for claim in one.claims if claim["id"] == "pp-latency-cross")
    for spin, verdict in ((1, "holds"), (0, "does not hold")):
        measured = [run.row() | {"status": "ok", one.figure: run.parameters["quantum"] * spin
                                 if run.configuration == "spin" else 500} for run in one.runs(True)]
        results.save(one, measured, full=True, timing="exact", made_from="x", directory=tmp_path)
        assert claimlist.full_verdicts(tmp_path)[claim["id"]] == verdict
    results.save(one, measured, full=False, timing="exact", made_from="x", directory=tmp_path)
    with pytest.raises(UsageError, match="no results of the full set"):
        claimlist.full_verdicts(tmp_path)


def test_a_claim_whose_other_experiment_is_not_at_hand_has_no_verdict(tmp_path):
    known = experiment.all_experiments()
    for name, there in (("nt-global", False), ("nt-local", True)):
        one = known[name]
        measured = [run.row() | {"status": "ok", one.figure: 100} for run in one.runs(True)]
        results.save(one, measured, full=True, timing="exact", made_from="x", directory=tmp_path)
        said = claimlist.full_verdicts(tmp_path)
        assert "nt-global-cl" in said and ("nt-global-few" in said) == there


def test_the_stored_verdicts_are_of_known_claims():
    known = {claim["id"] for one in experiment.all_experiments().values() for claim in one.claims}
    stored = baseline.full_verdicts()
    assert set(stored) <= known, "tools/weft bench --full --update-baseline stores them again"
    assert set(stored.values()) <= set(claims.VERDICTS)


@pytest.mark.parametrize("check, measured, change", [
    (RATIO + "at_most = 1.1\nwhere = {threads = 4}", rows(bound={4: 100}, nt={4: 100}), 0.1),
    (RATIO + "at_most = 1.1\nwhere = {threads = 4}", rows(bound={4: 220}, nt={4: 100}), 1.0),
    (RATIO + 'at_most = 1.1\neach = "threads"', rows(bound={1: 100, 4: 50}, nt={1: 100, 4: 100}), 0.1),
    (RATIO + 'at_most = 1.1\neach = "threads"', rows(bound={1: 220, 4: 440}, nt={1: 100, 4: 100}), 3.0),
    (RATIO + "at_most = 100\nwhere = {threads = 4}", rows(bound={4: 100}, nt={4: 100}), None),
    ('kind = "order"\norder = [{configuration="nt"}, {configuration="bound"}]\nwhere = {threads=4}',
     rows(bound={4: 150}, nt={4: 100}), 0.5),
    ('kind = "linear"\nx = "threads"\nwhere = {configuration="nt"}\ntolerance = 0.1', rows(nt=LINE), 0.3),
    ('kind = "expression"\nlet = {a = {threads=1}, b = {threads=8}}\ncheck = "a + b < 100"\n'
     'where = {configuration="nt"}', rows(nt={1: 20, 8: 40}), 1.0),
    ('kind = "spread"\nof = {configuration="nt", threads=1}\nat_most = 0.5', rows(nt={1: [90, 100, 110]}), 0.3),
])
def test_power(load, check, measured, change):
    """By how much one figure has to change."""
    found = judge(load, check, measured)
    assert found.change == (change and pytest.approx(change, rel=0.15))


def test_claims_are_listed(load, monkeypatch, tmp_path):
    """Of results that are at hand, and else of the quick set's in the repository; with what both sets say."""
    monkeypatch.setattr(baseline, "FULL", tmp_path / "full.csv")
    one = load(OF_PAPER.replace('text = "The same."', 'text = "The same."\nquote = "Q is Q."\nsection = "3.3"'))
    listed = Console(width=200)
    with listed.capture() as printed:
        claimlist.show(listed, [one], tmp_path / "nothing")
    lines = [line.split(maxsplit=1) for line in printed.get().splitlines()]
    assert lines[0][0] == "same"
    said = {words[0]: words[1] for words in lines[1:]}
    assert said["quote"] == "“Q is Q.” (3.3)" and said["tolerance"] == "at least 0.9 and at most 1.1"
    assert said["paper"].startswith("holds: ") and "9 % flips it" in said["paper"]
    assert said["weft"].startswith("not measured")
    results.save(one, rows(nt=LINE, bound=LINE), full=False, timing="exact", made_from="x", directory=tmp_path)
    with listed.capture() as printed:
        claimlist.show(listed, [one], tmp_path)
    assert "holds: 1 thread: 1.00" in printed.get() and "by 10 % flips it" in printed.get()
    assert "sets " not in printed.get()
    baseline.store_full({"same": "does not hold"}, whole=True)
    with listed.capture() as printed:
        claimlist.show(listed, [one], tmp_path)
    assert "weft      not decided: " in printed.get()
    assert "sets      quick: holds; full: does not hold" in printed.get()


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
