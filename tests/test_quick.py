"""The two commands of the README on the tree that is tested: `make bench` runs to its end, its figures are
those of tests/baseline, and `make report` makes pages of them."""

import shutil

import pytest
from weft_host import baseline
from weft_host.experiments import micro


@pytest.fixture(scope="module")
def measured(weft, tmp_path_factory):
    """The results of the quick set."""
    directory = tmp_path_factory.mktemp("quick") / "results"
    done = weft("bench", "--no-build", "--results", directory, timeout=1800)
    said = done.stderr.decode()
    assert done.returncode == 0, said[-4000:]
    assert "no run failed" in said
    return directory


@pytest.mark.first
def test_the_quick_set(measured):
    different = baseline.differences(measured)
    assert not different, "\n".join(
        [f"{len(different)} figures differ from tests/baseline.  A commit that means them to says why, and "
         "stores them: tools/weft bench --update-baseline", *different[:40]])


@pytest.mark.first
def test_a_report_of_it(weft, measured, tmp_path):
    done = weft("report", "--results", measured, "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr.decode()
    assert "</html>" in (tmp_path / "report/index.html").read_text()


@pytest.mark.first
def test_no_figure_of_micro_has_grown(measured):
    """Against those that it keeps itself.  A figure that grows on purpose is stored again: weft bench micro
    --update-baseline."""
    _, fresh = micro.read_rows(measured / "micro.csv")
    _, stored = micro.read_rows(micro.BASELINE)
    assert micro.complaints(fresh, stored) == []


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A baseline of its own, and a directory of results that are the same."""
    monkeypatch.setattr(baseline, "QUICK", tmp_path / "stored")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "one.csv").write_text("n,real_ns,status,revision\n1,1000,ok,abc\n2,2000,ok,abc\n")
    (fresh / "two.csv").write_text("n,took,revision\n1,5,abc\n")
    assert len(baseline.store(fresh)) == 2
    return fresh


@pytest.mark.parametrize("text, says", [
    ("n,real_ns,status,revision\n1,1000,ok,def\n2,2000,ok,def\n", []),
    ("n,real_ns,status,revision\n1,1009,ok,abc\n2,1981,ok,abc\n", []),
    ("n,real_ns,status,revision\n1,1011,ok,abc\n2,2000,ok,abc\n",
     ["one.csv, line 2: real_ns is 1011, was 1000"]),
    ("n,real_ns,status,revision\n1,1000,ok,abc\n2,2000,time-out,abc\n",
     ["one.csv, line 3: status is time-out, was ok"]),
    ("n,real_ns,status,revision\n1,1000,ok,abc\n", ["one.csv: 1 rows in place of 2"]),
    ("n,ns,status,revision\n1,1000,ok,abc\n2,2000,ok,abc\n",
     ["one.csv: columns n, ns, status in place of n, real_ns, status"]),
])
def test_differences(stored, text, says):
    (stored / "one.csv").write_text(text)
    assert baseline.differences(stored) == says


def test_experiments_that_come_and_go(stored):
    shutil.move(stored / "one.csv", stored / "three.csv")
    assert baseline.differences(stored) == ["three.csv: no such experiment in tests/baseline",
                                            "one.csv: not measured any more"]


def test_what_is_gone_is_not_stored(stored):
    (stored / "two.csv").unlink()
    baseline.store(stored)
    assert [path.name for path in baseline.QUICK.iterdir()] == ["one.csv"]
