"""Where two ways of doing the same cost the same."""

import pytest
from weft_host import baseline, breakeven, experiment
from weft_host.machine import UsageError


@pytest.mark.parametrize("points, found", [
    ([(1, 0.5), (3, 1.5)], [2]), ([(1, 1.5), (3, 0.5), (4, 1.5)], [2, 3.5]),
    ([(1, 0.5), (2, 0.7)], []), ([(1, 0.5)], []), ([], []),
    # What is equal makes no passage, and does not hide one.
    ([(1, 0.5), (2, 1.01), (3, 0.99), (4, 0.7)], []), ([(1, 1.0), (2, 1.5), (3, 1.01)], []),
    ([(1, 0.8), (2, 0.99), (4, 1.01), (5, 1.5)], [3]), ([(1, 0.8), (2, 1.2)], [1.5])])
def test_crossings(points, found):
    assert breakeven.Curve("x", points).crossings() == pytest.approx(found)


@pytest.fixture(scope="module")
def known():
    return experiment.all_experiments()


def test_what_was_not_measured_has_no_curve(known):
    """And a point with one of the two figures is none."""
    latency = known["pingpong-latency"]
    rows = [{"configuration": name, "quantum": quantum, "iterations": 2000, "status": "ok", "ns_per_iteration": ns}
            for name, quantum, ns in (("spin", 100, 50), ("user", 100, 100), ("spin", 500, 200))]
    found = breakeven.pictures({name: (one, rows if one is latency else []) for name, one in known.items()})
    assert {name: list(picture.curves) for name, picture in found.items() if picture.curves} == {
        "latency": ["spin"]}
    assert found["latency"].curves["spin"].points == [(100, 0.5)]
    assert found["latency"].quotient("spin", 100) == 0.5
    with pytest.raises(UsageError, match="no curve 'barrier' was measured, only none"):
        found["load"].crossing("barrier")


def test_the_baseline_has_each_curve(known):
    rows = {name: (one, baseline.read_rows(name)) for name, one in known.items()}
    for picture in breakeven.pictures(rows).values():
        for curve in picture.curves.values():
            assert len(curve.points) > 1, (picture.name, curve.title)


@pytest.mark.parametrize("old, new, why", [
    ('"pingpong-latency"', '"pingpong-nowhere"', "latency.curves.spin: no experiment 'pingpong-nowhere'"),
    ('x = "quantum"', 'x = "quanta"', "latency.curves.spin: x: there is no 'quanta'"),
    ('configuration = "spin"', 'configuration = "spun"', "latency.curves.spin: over: there is no config.* 'spun'"),
    ('log = "xy"\n', "", "latency: 'log' is missing"), ('log = "xy"', "log = 2", "latency.log: a text is needed")])
def test_what_is_wrong_is_said(known, monkeypatch, tmp_path, old, new, why):
    text = breakeven.FILE.read_text()
    assert old in text
    (tmp_path / "b.toml").write_text(text.replace(old, new, 1))
    monkeypatch.setattr(breakeven, "FILE", tmp_path / "b.toml")
    with pytest.raises(UsageError, match=rf"b\.toml: {why}"):
        breakeven.pictures({name: (one, []) for name, one in known.items()})
