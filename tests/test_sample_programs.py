"""The programs beside the experiments' files: what must hold whatever their figures are."""

import re

import pytest
from weft_host import baseline
from weft_host.paths import HERE

FOLDER = HERE / "experiments"


@pytest.fixture(scope="module")
def program(weft, tmp_path_factory):
    """program(NAME): its binary."""
    directory, made = tmp_path_factory.mktemp("programs"), {}

    def of(name):
        if name not in made:
            made[name] = directory / name
            done = weft("cc", FOLDER / f"{name}.c", "-O2", "-o", made[name])
            assert done.returncode == 0, done.stderr.decode()
        return made[name]

    return of


def test_quantiles_are_in_their_order():
    rows = baseline.read_rows("remote")
    assert len(rows) == 10
    for row in rows:
        # A CPU's clock may be a turn of 200 instructions behind the waker's.
        assert -200 < row["least_ns"] <= row["median_ns"] <= row["p999_ns"] <= row["most_ns"]
        assert row["median_ns"] > 0


def test_latencies_are_in_their_order_and_the_cpus_busy():
    """No request is faster than its computation, and the CPUs take at least that of all requests."""
    work, cpus = 20_000, 8
    for row in baseline.read_rows("since-echo"):
        assert work < row["median_ns"] <= row["p99_ns"] <= row["p999_ns"]
        assert row["busy"] / 100 * row["length"] * 1000 * cpus > row["requests"] * work


def test_the_time_of_an_operation_is_of_all_cpus(guest, program):
    """A yield of one thread of a CPU's two takes a CPU what the experiment micro says of such a pair."""
    rows = baseline.read_rows("micro")
    pair, = (row["instructions"] for row in rows
             if (row["figure"], row["cpus"], row["model"]) == ("yield_pair", 1, "mxn"))
    result = guest(["scaling", "1000"], files=[program("scaling")], smp=1, timing="exact", model="mxn")
    figures = dict(re.findall(r"^result kind=(\w+) cpu_ns=([\d.]+) locks=[\d.]+$", result.output, re.MULTILINE))
    assert set(figures) == {"create", "yield", "wake"}
    assert float(figures["yield"]) == pytest.approx(pair / 2, rel=0.12)  # with a quarter of a look at the clock


@pytest.mark.parametrize("name, argv, said", [
    ("remote", ["wake", "10"], "no second CPU"),
    ("remote", ["wake", "0"], "usage:"),
    ("scaling", ["0"], "usage:"),
    ("contend", ["0", "1"], "usage:"),
    ("passedby", ["1"], "usage:"),
    ("idlepool", ["sleep", "1"], "usage:"),
    ("blocked", ["-1", "1"], "usage:"),
    ("objects", ["7", "1"], "usage:"),
    ("swamp", ["0", "1"], "usage:"),
    ("pipeserver", ["1", "1000", "1", "100"], "usage:"),
])
def test_what_makes_no_sense_is_refused(guest, program, name, argv, said):
    result = guest([name, *argv], files=[program(name)], smp=1, may_fail=True)
    assert result.status == 2 and said in result.output
