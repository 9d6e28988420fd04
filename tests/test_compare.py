"""weft bench --compare: what differs between two sets of results."""

import json

import pytest
from weft_host import cli, results, tables


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
