"""The programs beside the experiments' files: what must hold whatever their figures are."""

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
    assert len(rows) == 6
    for row in rows:
        assert 0 < row["least_ns"] <= row["median_ns"] <= row["p999_ns"] <= row["most_ns"]


@pytest.mark.parametrize("name, argv, said", [
    ("remote", ["wake", "10"], "no second CPU"),
    ("remote", ["wake", "0"], "usage:"),
])
def test_what_makes_no_sense_is_refused(guest, program, name, argv, said):
    result = guest([name, *argv], files=[program(name)], smp=1, may_fail=True)
    assert result.status == 2 and said in result.output
