"""Samples beside each other: bins, faster / equal / slower, chi-square, ranges, cost.

The study whose methods these are printed its frequencies and what it made of them: from the one must
follow the other.
"""

import math
import subprocess
import sys

import pytest
from conftest import TOP
from weft_host import cells, experiment, samples

SYSTEMS = {"linux": "linux", "opensolaris": "opensolaris", "windows": "windows"}


def paper(case, language, operation):
    """The paper's frequencies of its three systems."""
    return samples.of_paper({
        "file": "os-comparison-frequencies.csv", "rows": "upto_ms", "columns": SYSTEMS,
        "where": {"experiment": case, "language": language, "operation": operation}}).counts


@pytest.mark.parametrize("low, high, printed", [
    (15, 33, "15.00 16.80 18.60 20.40 22.20 24.00 25.80 27.60 29.40 33.00"),  # table 3
    (87, 185, "87.00 96.80 106.60 116.40 126.20 136.00 145.80 155.60 165.40 185.00"),  # table 8
    (15, 37.22, "15.00 17.22 19.44 21.67 23.89 26.11 28.33 30.55 32.78 37.22")])  # table 14
def test_bins_of_the_paper(low, high, printed):
    """high: the greatest value and the millisecond that the paper adds."""
    assert samples.edges([high, low]) == pytest.approx([float(end) for end in printed.split()],
                                                       abs=0.006)


def test_frequencies():
    ends = samples.edges([10, 20, 30], bins=4)
    assert ends == [10, 15, 20, 30]
    assert samples.frequencies([10, 10.1, 15, 15.1, 20, 29, 30], ends) == [1, 2, 2, 2]


def test_frequencies_of_equal_values():
    ends = samples.edges([7, 7, 7])
    assert samples.frequencies([7, 7, 7], ends) == [3] + [0] * 9


@pytest.mark.parametrize("case, language, operation, first, second, totals, shares", [
    ("linear", "c", "equation", "linux", "windows", [144, 0, 56], [72.00, 0.00, 28.00]),
    ("threads", "c", "equation", "linux", "windows", [87, 11, 91], [46.03, 5.82, 48.15]),
    ("threads", "java", "counter", "linux", "windows", [49, 54, 43], [33.56, 36.99, 29.45]),
    ("stress", "java", "equation", "opensolaris", "windows", [118, 24, 34], [67.05, 13.64, 19.32])])
def test_sets_of_the_paper(case, language, operation, first, second, totals, shares):
    """Tables 4, 14, 19 and 26."""
    counts = paper(case, language, operation)
    sets = samples.algebra(counts[first], counts[second])
    assert sets.totals() == totals
    assert [share * 100 for share in sets.shares()] == pytest.approx(shares, abs=0.006)


def test_sets_by_bin():
    """Table 26, line by line."""
    counts = paper("stress", "java", "equation")
    sets = samples.algebra(counts["opensolaris"], counts["windows"])
    assert sets.faster == [0, 0, 0, 0, 36, 40, 5, 16, 15, 6]
    assert sets.equal == [0, 0, 0, 6, 10, 1, 7, 0, 0, 0]
    assert sets.slower == [0, 0, 5, 29, 0, 0, 0, 0, 0, 0]


def test_sets_turned_round():
    counts = paper("threads", "java", "counter")
    one = samples.algebra(counts["linux"], counts["windows"])
    other = samples.algebra(counts["windows"], counts["linux"])
    assert (one.faster, one.equal, one.slower) == (other.slower, other.equal, other.faster)


@pytest.mark.parametrize("case, language, operation, q, degrees, limit", [
    ("linear", "java", "equation", 77.867, 4, 9.488),
    ("threads", "c", "equation", 162.286, 8, 15.507),
    ("threads", "java", "counter", 49.226, 7, 14.067)])
def test_chi_square_of_the_paper(case, language, operation, q, degrees, limit):
    """Tables 9, 13 and 18."""
    counts = paper(case, language, operation)
    test = samples.chi_square(counts["linux"], counts["windows"])
    assert (test.q, test.limit) == pytest.approx((q, limit), abs=0.0006)
    assert test.degrees == degrees
    assert test.differ and test.chance < 1e-6


# Of the printed tables: the values above which lie 5 % and 1 % of the distribution.
@pytest.mark.parametrize("degrees, at_5, at_1", [
    (1, 3.841, 6.635), (2, 5.991, 9.210), (3, 7.815, 11.345), (4, 9.488, 13.277), (5, 11.070, 15.086),
    (8, 15.507, 20.090), (9, 16.919, 21.666), (10, 18.307, 23.209), (29, 42.557, 49.588), (30, 43.773, 50.892)])
def test_the_chi_square_distribution(degrees, at_5, at_1):
    for chance, printed in ((0.05, at_5), (0.01, at_1)):
        limit = samples.chi_square_limit(chance, degrees)
        assert limit == pytest.approx(printed, abs=0.00051)
        assert samples.chi_square_beyond(limit, degrees) == pytest.approx(chance, rel=1e-12)
    assert samples.chi_square_beyond(0, degrees) == 1
    chances = [samples.chi_square_beyond(q / 4, degrees) for q in range(400)]
    assert 0 < chances[-1] < chances[0] == 1
    assert all(more >= less - 1e-15 for more, less in zip(chances, chances[1:]))


def test_a_small_chance():
    """Where one minus the other part would be lost in rounding."""
    assert samples.chi_square_beyond(200, 2) == pytest.approx(math.exp(-100), rel=1e-12)
    assert samples.chi_square_beyond(200, 4) == pytest.approx(101 * math.exp(-100), rel=1e-12)
    assert samples.chi_square_beyond(200, 1) == pytest.approx(math.erfc(10), rel=1e-12)


def test_chi_square_of_the_same():
    assert not samples.chi_square([5, 10, 0], [6, 9, 0]).differ
    one_bin = samples.chi_square([0, 9], [0, 12])
    assert (one_bin.q, one_bin.differ, one_bin.chance) == (0.0, False, 1.0)


@pytest.mark.parametrize("case, operation, upto, linux, opensolaris, windows", [
    ("linear", "equation", [2, 7], [0, 54, 46], [99, 1, 0], [0, 0, 100]),  # table 10
    ("threads", "counter", [2, 6], [0, 76, 24], [85, 14, 1], [0, 64, 36]),  # table 20
    ("threads", "equation", [5], [41, 59], [100, 0], [90, 10]),  # table 22
    ("stress", "equation", [3, 6], [87, 13, 0], [0, 93, 7], [5, 46, 49])])  # table 27
def test_ranges_of_the_paper(case, operation, upto, linux, opensolaris, windows):
    counts = paper(case, "java", operation)
    for name, printed in (("linux", linux), ("opensolaris", opensolaris), ("windows", windows)):
        assert [share * 100 for share in samples.ranges(counts[name], upto)] == pytest.approx(printed)


def test_cost_of_the_paper():
    """Tables 28 and 29, and what follows from them."""
    averages = {system: list(cells.paper_cells({
        "file": "os-comparison-statistics.csv", "where": {"system": system, "statistic": "average"},
        "rows": ["experiment", "language"], "columns": {"": "iteration_ms"}}).values())
        for system in SYSTEMS}
    found = samples.costs(averages, 0.1536, 300)
    linux, opensolaris, windows = (found[system] for system in SYSTEMS)
    assert [round(one.average, 2) for one in found.values()] == [2415.53, 3016.08, 3042.02]
    assert [one.iterations for one in found.values()] == pytest.approx(
        [13_055_531, 10_455_963, 10_366_784], rel=1e-6)
    assert [round(one.days) for one in found.values()] == [290, 362, 365]
    assert [round(one.bill, 2) for one in found.values()] == [320.53, 400.22, 403.66]
    assert [round(one.each, 10) for one in found.values()] == pytest.approx(
        [0.0000245511, 0.0000382765, 0.0000389379], abs=1.1e-10)
    # A system that is as fast as the slowest costs as much, whichever way one divides.
    assert windows.each == windows.each_of_year
    assert linux.each_of_year / windows.each_of_year == pytest.approx(2415.53 / 3042.02, rel=1e-4)
    assert opensolaris.each < opensolaris.each_of_year < windows.each_of_year


# --- of rows, and in claims ------------------------------------------------------------------------

EXPERIMENT = """
title = "Samples"
program = "prog"
figure = "real_ns"
[configurations.one]
[configurations.other]
[configurations.third]
[[tables]]
kind = "sets"
unit = "us"
pairs = [["one", "other"]]
[tables.paper]
file = "os-comparison-frequencies.csv"
rows = "upto_ms"
where = { experiment = "threads", language = "c" }
columns = { one = "linux", other = "windows" }
[[tables]]
rows = "configuration"
columns = "statistic"
[tables.paper]
file = "os-comparison-statistics.csv"
rows = "system"
where = { experiment = "linear", language = "c" }
rename = { linux = "one", windows = "other" }
pivot = "statistic"
columns = { mean = "average", sd = "sd" }
value = "iteration_ms"
"""


@pytest.fixture
def judge(tmp_path):
    """judge(claim, one=[...], other=[...]): the verdict."""
    from weft_host import claims

    def call(claim, **columns):
        path = tmp_path / "samples.toml"
        path.write_text(f'{EXPERIMENT}[[claims]]\nid = "x"\ntext = "X."\nown = true\n{claim}')
        one = experiment.load(path)
        rows = [{"configuration": name, "seed": seed, "status": "ok", "real_ns": value}
                for name, values in columns.items() for seed, value in enumerate(values)]
        return claims.Judge({one.name: (one, rows)}).judge(one, one.claims[0])

    return call


FEW, MANY = [1000] * 30 + [1100] * 30, [2000] * 54 + [3000] * 6
SETS = 'kind = "sets"\npair = ["one", "other"]\nshare = "{}"\nat_least = {}'


@pytest.mark.parametrize("claim, verdict, of_paper", [
    (SETS.format("faster", 1), "holds", "does not hold"),
    (SETS.format("slower", 0.4), "does not hold", "holds"),
    ('kind = "chi-square"\npair = ["one", "other"]\ndiffer = true', "holds", "holds"),
    ('kind = "chi-square"\npair = ["one", "other"]\ndiffer = false', "does not hold",
     "does not hold"),
    ('kind = "expression"\nlet = { a = { configuration = "one", statistic = "sd" }, '
     'b = { configuration = "other", statistic = "sd" } }\ncheck = "b > 6.5 * a"', "does not hold",
     "holds"),
    ('kind = "expression"\nlet = { a = { configuration = "one", statistic = "sd" }, '
     'b = { configuration = "other", statistic = "sd" } }\ncheck = "b > 6 * a"', "not decided",
     "holds")])
def test_claims(judge, claim, verdict, of_paper):
    found = judge(claim, one=FEW, other=MANY)
    assert (found.verdict, found.paper.verdict) == (verdict, of_paper), found


def test_claims_without_samples(judge):
    found = judge(SETS.format("faster", 1), one=FEW)
    assert found.verdict == "not measured" and "other" in found.figures[0]


def test_claims_of_too_few_samples(judge):
    found = judge(SETS.format("faster", 1), one=FEW[:49], other=MANY)
    assert found.verdict == "not measured" and "49 samples are too few" in found.figures[0]


def test_labels_of_bins_differ(tmp_path):
    """Whatever the unit: a range of nanoseconds in milliseconds too."""
    path = tmp_path / "samples.toml"
    path.write_text(EXPERIMENT)
    one = experiment.load(path)
    rows = [{"configuration": "one", "status": "ok", "real_ns": 1_606_882 + n} for n in range(28)]
    found = samples.of_rows(one, rows, {"unit": "ms"})
    assert len(set(found.labels)) == samples.BINS
    assert sum(found.counts["one"]) == 28


def test_bins_span_the_study(tmp_path, judge):
    """A column that the study has not, far from the others, does not make the others equal."""
    path = tmp_path / "samples.toml"
    path.write_text(EXPERIMENT)
    one = experiment.load(path)
    columns = {"one": [10, 20] * 30, "other": [30, 40] * 30, "third": [1, 25, 9000]}
    rows = [{"configuration": name, "status": "ok", "real_ns": value * 1000}
            for name, values in columns.items() for value in values]
    found = samples.of_rows(one, rows, {"unit": "us"})
    assert found.labels == ["10.0", "13.0", "16.0", "19.0", "22.0", "25.0", "28.0", "31.0", "34.0", "40.0", "more"]
    assert found.counts == {"one": [30, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0], "other": [0] * 7 + [30, 0, 30, 0],
                            "third": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}
    assert samples.of_rows(one, rows[-3:], {"unit": "us"}) is None
    claim = SETS.format("faster", 1)
    assert judge(claim, one=FEW, other=MANY).verdict == "holds"
    assert judge(claim, one=FEW, other=MANY, third=[10 ** 9] * 60).verdict == "holds"


@pytest.mark.parametrize("old, new, why", [
    ('"sets"', '"set"', "kind: one of cells, frequencies"),
    ('pairs = [["one", "other"]]', '', "'pairs' is missing"),
    ('[["one", "other"]]', '[["one", "one"]]', "two configurations are a pair"),
    ('[["one", "other"]]', '[["one", "two"]]', "no configuration 'two'"),
    ('kind = "sets"\nunit', 'kind = "cost"\nunit', "'of' is missing"),
    ('[[tables]]\nkind', '[[claims]]\nid = "c"\ntext = "C."\nkind = "sets"\npair = ["one", "other"]\n'
     'share = "best"\nat_least = 1\n[[tables]]\nkind', "share: one of faster")])
def test_what_is_wrong_is_said(tmp_path, old, new, why):
    assert old in EXPERIMENT
    path = tmp_path / "mine.toml"
    path.write_text(EXPERIMENT.replace(old, new, 1))
    with pytest.raises(experiment.UsageError, match=f"mine.toml: .*{why}"):
        experiment.load(path)


def test_a_verdict_needs_no_package():
    """weft bench judges claims in an environment that has only what every command needs."""
    program = ("import sys; sys.path.insert(0, 'tools'); from weft_host import samples; "
               "samples.chi_square([30, 30], [20, 40]); "
               "print(*({'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", program], cwd=TOP, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")
