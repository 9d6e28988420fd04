"""The figures of exact timing that the documents state are those of the baseline.

`weft bench --update-docs` makes them again, as --update-baseline does.  tools/weft_host/documents.py says
how a document marks them.
"""

import pytest
from conftest import TOP
from weft_host import baseline, cli, documents, progress
from weft_host.machine import UsageError

# {document: experiments whose figures it states}
STATED = {"README.md": {"pingpong"}, "docs/ping-pong.md": {"pingpong", "checks"},
          "libthread/README.md": {"micro", "scaling", "ablation-pingpong", "nt-burst-one", "nt-create", "nt-global",
                                  "nt-respond", "pingpong-games", "pingpong-signals", "remote", "since-crossings",
                                  "since-echo"},
          "docs/what-it-comes-to.md": {"pingpong"}}


def test_the_documents_state_the_figures_of_the_baseline():
    found, source = {}, documents.Source()
    for path in documents.marked():
        text = path.read_text()
        assert documents.renew(text, source) == text, f"{path}: weft bench --update-docs makes it again"
        for file, drawn in documents.drawings(path, text).items():
            assert file.read_text() == drawn, f"{file}: weft bench --update-docs draws it again"
        names = {match["name"] for kind in (documents.TABLE, documents.FIGURE)
                 for match in kind.finditer(text)}
        if names and path.suffix == ".md":
            found[str(path.relative_to(TOP))] = names
        assert text.count("\ntest  model  CPUs") == text.count("bench pingpong: games"), path
    assert found == STATED


ROWS = {"micro": [
    {"figure": "mutex", "cpus": 1, "instructions": 19.0},
    {"figure": "mutex", "cpus": 2, "instructions": 1234.56},
    {"figure": "twice", "cpus": 1, "instructions": 1.0},
    {"figure": "twice", "cpus": 1, "instructions": 2.0}],
    "checks": [{"check": "one", "slower_ms": 7, "slower_model": "lwp", "slower_cpus": 1,
                "faster_ms": 2, "faster_model": "mxn", "faster_cpus": 2, "ratio": 3.5,
                "required": 2.0, "holds": True}]}


def mark(formula, row):
    return f"<!-- bench micro: {formula} of {row} -->"


@pytest.mark.parametrize("before, after, comment", [
    ("18", "19", mark("instructions", "figure=mutex cpus=1")),
    ("1.0", "19.0", mark("instructions", "figure=mutex cpus=1")),
    ("999", "1,235", mark("instructions", "figure=mutex cpus=2")),
    ("1.2", "1.2", mark("instructions / 1000", "figure=mutex cpus=2")),
    ("| a | 1,234.5", "| a | 1,234.6", mark("instructions", "figure=mutex cpus=2")),
    ("9", "2", mark("instructions", "figure=twice cpus=1 statistic=max")),
    ("9.0", "1.5", mark("instructions", "figure=twice cpus=1 statistic=median")),
])
def test_a_number_is_made_anew(before, after, comment):
    text = f"Text with {before}{comment} in it, 5 times.\n"
    assert documents.renew(text, documents.Source(ROWS.get)) == text.replace(before + "<", after + "<")


def test_a_table_is_made_anew():
    head, old = "Text\n<!-- bench checks: checks -->\n", "```\nold\n```\nmore\n```\nanother\n```\n"
    made = documents.renew(head + old, documents.Source(ROWS.get))
    assert made.startswith(head + "```\ncheck ") and made.endswith("\n```\nmore\n```\nanother\n```\n")
    assert "one    7 ms (lwp, 1)  2 ms (mxn, 2)   3.50    2.0  yes\n```\n" in made
    assert documents.renew(made, documents.Source(ROWS.get)) == made


@pytest.fixture(scope="module")
def source():
    """The baseline, read once."""
    return documents.Source()


def test_what_a_claim_is_about_is_made_anew(source):
    """Of the baseline: a ratio, one of its points, a range, what `let` names; and a verdict where it is marked."""
    for comment, start in (("claim micro-create", "5."), ("claim pp-half", "1."), ("claim mn-load-share", "8"),
                           ("claim nt-burst-half-better at threads=16", "0.7"),
                           ("claim pp-latency-cross: far_spin / far_user", "1."),
                           ("break-even latency: spin", "52"), ("break-even latency: sleep at 1000", "0.5")):
        made = documents.renew(f"so 0.00<!-- {comment} -->\n", source)
        assert made.startswith(f"so {start}") and made.endswith(f"<!-- {comment} -->\n"), made
    text = "`pp-5`: does not hold, `micro-create`: not\nmeasured; `none`: holds.\n"
    assert documents.renew("`pp-5`: does not hold", source) == "`pp-5`: does not hold"
    with pytest.raises(UsageError, match="there is no claim 'none'"):
        documents.renew("<!-- verdicts -->\n" + text, source)
    assert documents.renew("<!-- verdicts -->\n`pp-5`: does not hold, `pp-6`:\nholds", source) == (
        "<!-- verdicts -->\n`pp-5`: holds, `pp-6`:\ndoes not hold")


@pytest.mark.parametrize("text, why", [
    ("so 1<!-- claim nowhere -->", "no claim 'nowhere'"),
    ("so 1<!-- claim os-advantages -->", "no 'value'"),
    ("so 1<!-- claim nt-burst-half-better at threads=64 -->", "no figures of 64 threads"),
    ("so 1<!-- claim pp-latency-cross: far / near -->", "no 'far'"),
    ("so x<!-- claim pp-half -->", "it follows no number"),
    ("so 1<!-- break-even nowhere: spin -->", "no picture 'nowhere', but latency"),
    ("so 1<!-- break-even latency: nobody -->", "no curve 'nobody' was measured, only spin, sleep"),
    ("so 1<!-- break-even latency: sleep -->", "sleep does not pass 1"),
    ("so 1<!-- break-even latency: sleep at 3 -->", "no figure at 3"),
])
def test_what_is_not_known_of_claims_and_pictures(source, text, why):
    with pytest.raises(UsageError, match=why):
        documents.renew(text, source)


def test_a_document_without_its_picture(tmp_path):
    path = tmp_path / "a.md"
    with pytest.raises(UsageError, match="no picture 'nowhere'"):
        documents.drawings(path, "![text](pictures/break-even-nowhere.svg)")
    assert list(documents.drawings(path, "![text](pictures/break-even-load.svg)")) == [
        tmp_path / "pictures/break-even-load.svg"]


@pytest.mark.parametrize("text, why", [
    ("x" + mark("instructions", "figure=mutex cpus=1"), "and it follows no number"),
    ("<!-- bench checks: checks -->\ntext\n", "no table in ``` follows"),
    ("<!-- bench checks: check -->\n```\n```\n", "no part 'check', but checks"),
    ("5" + mark("instructions", "figure=mutex cpus=3"), "0 rows with figure=mutex cpus=3"),
    ("5" + mark("instructions", "figure=twice"), "2 rows"),
    ("5" + mark("instruction", "figure=mutex cpus=1"), "no 'instruction'"),
])
def test_what_cannot_be_made_anew(text, why):
    with pytest.raises(UsageError, match=why):
        documents.renew(text, documents.Source(ROWS.get))


def test_an_experiment_without_a_baseline():
    with pytest.raises(UsageError, match="there is no baseline .*quick/nowhere.csv"):
        documents.read_rows("nowhere")


def test_update(monkeypatch, tmp_path, capsys):
    """Documents, and the table of what experiments take: rows that are as good as before stay."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("5" + mark("instructions", "figure=mutex cpus=1"))
    (tmp_path / "docs/other.md").write_text("nothing")
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick/micro.csv").write_text("figure,cpus,instructions\nmutex,1,19.0\n")
    monkeypatch.setattr(documents, "TOP", tmp_path)
    monkeypatch.setattr(baseline, "QUICK", tmp_path / "quick")
    monkeypatch.setattr(progress, "SECONDS", tmp_path / "seconds.csv")
    for name, seconds in (("a", 9), ("b", 260)):
        (tmp_path / f"{name}.json").write_text(f'{{"set": "quick", "runs": 2, "seconds": {seconds}}}')
    (tmp_path / "seconds.csv").write_text("experiment,set,seconds\na,quick,4\nb,quick,4\nc,full,7\n")
    assert cli.main(["bench", "--update-docs", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"weft: {tmp_path}/README.md\nweft: {tmp_path}/seconds.csv\n"
    assert (tmp_path / "README.md").read_text().startswith("19<!--")
    assert (tmp_path / "seconds.csv").read_text() == (
        "experiment,set,seconds\nc,full,7\na,quick,4\nb,quick,130\n")
