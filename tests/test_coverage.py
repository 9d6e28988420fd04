"""What the papers have and what weft has of it: the items, and what they are shown by.

That docs/coverage.md is made of them is in test_documents.py, that the report has them in test_report.py.
"""

import re

import pytest
from weft_host import coverage, documents, experiment
from weft_host.machine import UsageError

# {paper: (the letter of its items, how many it has)}
ITEMS = {"nt-vs-solaris": ("Z", 45), "ping-pong": ("H", 60), "timemutex": ("J", 44), "m-to-n": ("T", 33),
         "os-comparison": ("C", 43)}


@pytest.fixture(scope="module")
def known():
    return experiment.all_experiments()


def test_each_item_is_there():
    assert set(ITEMS) == set(experiment.papers()) - {"since-then", "weft"}
    assert {paper: [item.id for item in items] for paper, items in coverage.papers().items()} == {
        paper: [f"{letter}{number}" for number in range(1, count + 1)]
        for paper, (letter, count) in ITEMS.items()}


def test_each_item_is_shown_or_says_why_not():
    for item in (item for items in coverage.papers().values() for item in items):
        assert item.reason or item.claims or item.experiments or item.files, item.id
        assert (item.mark == coverage.DONE) == (not item.reason), item.id


def test_each_claim_and_experiment_of_a_paper_shows_an_item(known):
    """Of the claims those that quote the paper."""
    for paper, items in coverage.papers().items():
        owned = [one for one in known.values() if one.paper == paper]
        named = {name for item in items for name in (*item.claims, *item.experiments)}
        assert [claim["id"] for one in owned for claim in one.claims
                if "quote" in claim and claim["id"] not in named] == []
        assert [one.name for one in owned
                if not named & {one.name, *(claim["id"] for claim in one.claims)}] == []


GOOD = """[Z1]
says = "A sentence"
weft = "A table"
shown = ["nt-max", "nt-max-many", "README.md", "README.md: weft"]
"""


@pytest.fixture
def load(tmp_path, known):
    """load(text): the items of a file; its name is no paper's."""
    def read(text):
        path = tmp_path / "none.toml"
        path.write_text(text)
        return coverage.read(path, known)

    return read


def test_an_item(load):
    item, = load(GOOD)
    assert (item.mark, item.claims, item.experiments) == ("done", ("nt-max-many",), ("nt-max",))
    assert item.files == ("README.md", "README.md: weft")
    item, = load(GOOD + 'to_come = "Java"')
    assert (item.mark, item.reason) == ("to come", "Java")


@pytest.mark.parametrize("before, after, why", [
    ("says", "say", "unknown key 'say'"), ('weft = "A table"\n', "", "'weft' is missing"),
    ('"nt-max",', '"nt-most",', "no claim, experiment or file 'nt-most'"),
    ('"README.md",', '"NOTHING.md",', "no claim, experiment or file 'NOTHING.md'"),
    ("README.md: weft", "README.md: nowhere at all", "the file lacks the text"),
    ("shown = [", "shown = [5, ", "no claim, experiment or file 5"),
    ("\nshown", '\nhardware = "a"\nto_come = "b"\nshown', "one reason is enough"),
    ('shown = ["nt-max", "nt-max-many", "README.md", "README.md: weft"]', "", "nothing that was done"),
    # A claim that nothing is checked of shows nothing.
    ('"nt-max", "nt-max-many", "README.md", "README.md: weft"', '"os-advantages"', "nothing that was done"),
    ("[Z1]", "[Z1", "none.toml"),
])
def test_what_is_wrong_is_said(load, before, after, why):
    assert before in GOOD
    with pytest.raises(UsageError, match=why):
        load(GOOD.replace(before, after))


def test_a_document_has_the_tables():
    text = "Text\n<!-- coverage ping-pong -->\n| old |\n| older |\nmore\n<!-- coverage -->\n"
    made = documents.renew(text)
    assert made.startswith("Text\n<!-- coverage ping-pong -->\n| | the paper |") and "old" not in made.splitlines()
    assert "| H2 |" in made and "| left out: " in made and "`pp-6`: " in made
    assert re.search(r"\| all \|.*\| 225 \|\n$", made)
    assert documents.renew(made) == made
    with pytest.raises(UsageError, match="no paper 'nobody'"):
        documents.renew("<!-- coverage nobody -->\n")
