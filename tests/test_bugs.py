"""The planted bugs themselves: each patch fits the tree, says what it is in the one form, and is used; and
docs/races.md is what is made of them (`make races`)."""

import re

import kept_seeds
import pytest
import races
import test_races
import test_races_java
import test_races_kernel
import test_seeds
import test_selftest

ALL = *test_races.RACES, *test_races_kernel.RACES, *test_races_java.RACES


def found_by():
    """{bug: what finds it}, of the tests' own lists."""
    shown = {}
    for race in ALL:
        model = race.machine.get("model", "lwp")
        wide = f", `{race.wide}`" if race.wide else ""
        shown.setdefault(race.bug, []).append(f"`{race.program}` ({model}){wide}")
    for bug, model, _, _, argv in test_seeds.PLANTED:
        words = " ".join(map(str, argv[:1])) if argv[0] != "torture" else f"torture -m {argv[2]}"
        shown.setdefault(bug, []).append(f"`{words}` ({model})")
    return shown


def test_every_patch_fits():
    assert [wrong for wrong in map(races.applies, sorted(races.BUGS.glob("*.patch"))) if wrong] == []


def test_a_patch_that_does_not_fit_is_found(tmp_path):
    patch = tmp_path / "x.patch"
    patch.write_text("--- a/Makefile\n+++ b/Makefile\n@@ -1,1 +1,1 @@\n-nothing of that\n+something\n")
    assert "x.patch" in races.applies(patch)


def test_headers_have_one_form():
    for bug in races.bugs():
        expected = set() if bug.wide else {"Wrong"} if "Wrong" in bug.fields else {"Race", "Without this"}
        assert set(bug.fields) == expected, bug.name
        assert bug.sentence.endswith("."), bug.name
        assert all(text[0] == text[0].upper() and text.endswith(".") for text in bug.fields.values()), bug.name
        assert "; " in bug.fields.get("Race", "; ") or " at once" in bug.fields["Race"] or \
            re.match("Two ", bug.fields["Race"]), f"{bug.name}: a race has two sides"


@pytest.mark.parametrize("text", ["A bug.\n\nSomething else.\n", "A bug.\n\nRaces: A does.\n"])
def test_a_header_of_another_form_is_found(text):
    with pytest.raises(ValueError):
        races.parse_header(text + "\n--- a/x\n")


def test_every_patch_is_used():
    known = {bug.name for bug in races.bugs()}
    wide = {f"{race.wide}.wide" for race in ALL if race.wide}
    assert known == set(found_by()) | wide | {bug for bug, _ in test_selftest.BUGS}


def test_the_table(request):
    fresh = races.table(found_by())
    if request.config.getoption("--update-races"):
        races.TABLE.write_text(fresh)
    assert races.TABLE.read_text() == fresh, "`make races` makes docs/races.md again"


def test_seeds_are_kept_of_bugs_that_are_there():
    programs = {(race.bug, race.program) for race in ALL} | \
        {(bug, argv[0]) for bug, _, _, _, argv in test_seeds.PLANTED}
    assert set(kept_seeds.read()) <= programs


@pytest.mark.parametrize("seed, enough, kept, late", [
    (12, 16, 1, False), (13, 16, 1, True), (13, 16, 4, False), (16, 16, None, True), (1, 3, 1, False),
    (3, 3, 1, False), (19, 24, 2, True), (30, 40, 1, False), (31, 40, 9, False)])
def test_a_seed_that_is_too_late(seed, enough, kept, late):
    assert bool(kept_seeds.too_late(seed, enough, kept)) == late


def test_keeping_seeds(tmp_path):
    path = tmp_path / "races.csv"
    assert kept_seeds.read(path) == {}
    kept_seeds.keep("b", "races x", 3, path)
    kept_seeds.keep("a", "races x", 2, path)
    kept_seeds.keep("b", "races x", 5, path)
    assert path.read_text() == "bug,program,seed\na,races x,2\nb,races x,5\n"
