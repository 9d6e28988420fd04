"""weft bench as a user calls it: an experiment of their own, the list, wrong usage."""

import csv
import json
import re

import pytest
from sample_experiment import MINE
from weft_host import cli


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


@pytest.mark.parametrize("argv, why", [
    (("no-such",), "no experiment 'no-such'; there are: "), (("no-such.toml",), "no-such.toml"),
    (("--jobs", "0"), "--jobs"), (("--update-baseline", "--timing", "fast"), "of exact timing"),
    (("--update-baseline", "scale"), "scale has no quick form")])
def test_wrong_usage(argv, why, capsys):
    assert cli.main(["bench", *argv]) == 2
    assert why in capsys.readouterr().err


def test_list(capsys):
    assert cli.main(["bench", "--list"]) == 0
    assert "pingpong-latency" in capsys.readouterr().out
