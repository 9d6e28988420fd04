"""Numbers in the explanations of claims: each is made of the baseline (a comment follows it, as documents.py says),
or is of the paper or a setting, or tests/explanations.toml says where it comes from.

Numbers in words (a fifth, twice) are not looked at.
"""

import re

import pytest
from conftest import TOP
from weft_host import experiment
from weft_host.claimfile import MARK
from weft_host.formula import Formula
from weft_host.paths import HERE
from weft_host.project import tomllib

LISTED = tomllib.loads((TOP / "tests/explanations.toml").read_text())
NUMBER = re.compile(r"(?<![\w.,*-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
# A number that names something: a table of the paper, a run.
NAMED = re.compile(r"\b(?:tables?|figures?|tests?|run|CL =|NT) \d+\w*(?:(?:,| and| to) \d+\w*)*")
MARKED = re.compile(rf"[\d,.]*\d{MARK.pattern}", re.DOTALL)
# What a claim and its file say besides the explanation.
SETTINGS = ("text", "arguments", "scale", "parameters", "run", "configurations", "quick")
SOURCES = ("paper", "file", "text", "made", "full")


def numbers(text):
    return {number.replace(",", "") for number in NUMBER.findall(text)}


def texts(value):
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)
    else:
        yield str(value)


def in_papers(paper):
    """Of all tables of a paper; those of the NT paper are nt-solaris-*."""
    head = {"nt-vs-solaris": "nt-solaris"}.get(paper, paper)
    return {number for path in (HERE / "papers").glob(f"{head}*.csv") for number in numbers(
        path.read_text().replace(",", " "))}


def explained():
    """(experiment, its file as data, claim with the marks)"""
    for path in sorted(experiment.EXPERIMENTS.glob("*.toml")):
        data = tomllib.loads(path.read_text())
        for claim in data.get("claims", []):
            if "explanation" in claim:
                yield data, claim


def open_numbers(data, claim):
    """Those of a claim's explanation that are neither made of the baseline nor the paper's nor a setting."""
    said = numbers(NAMED.sub("", MARKED.sub("", claim["explanation"])))
    known = [text for key, value in claim.items() if key != "explanation" for text in texts(value)]
    known += [text for key in SETTINGS for text in texts(data.get(key, ""))]
    return said - {number for text in known for number in numbers(text)} - in_papers(data["paper"])


def rounded(number, text):
    """Whether a number is written so, by as many digits as the text has."""
    shown = float(text)
    digits = len(text.partition(".")[2])
    tens = 10 ** (len(text) - len(text.rstrip("0"))) if not digits else 1
    return abs(number - shown) <= 0.5001 * tens * 10 ** -digits


@pytest.mark.parametrize("number, text, good", [
    (417.6, "420", True), (417.6, "430", False), (38.4, "38", True), (38.6, "38", False), (2.457, "2.5", True),
    (2.44, "2.5", False)])
def test_rounded(number, text, good):
    assert rounded(number, text) == good


def test_each_number_of_an_explanation_has_a_source():
    found = {claim["id"]: open_numbers(data, claim) for data, claim in explained()}
    assert {name: left for name, said in found.items() if (left := said - LISTED.get(name, {}).keys())} == {}
    assert {name: left for name in LISTED if (left := LISTED[name].keys() - found.get(name, set()))} == {}


def test_the_listed_sources():
    paper_of = {claim["id"]: data["paper"] for data, claim in explained()}
    for name, listed in LISTED.items():
        for number, source in listed.items():
            kind, = [key for key in SOURCES if key in source]
            if kind in ("paper", "made"):
                assert rounded(Formula(source[kind])({}), number), (name, number)
            if kind == "paper":
                given = {one for one in numbers(source[kind]) if "." in one}
                assert given <= in_papers(paper_of[name]), (name, given)
            if kind == "file":
                path, _, text = source[kind].partition(": ")
                assert text in (TOP / path).read_text(), (name, number)


def test_a_number_without_a_source_is_found():
    data = {"paper": "timemutex", "arguments": "-n 300 {threads}", "parameters": {"threads": [4]}}
    claim = {"id": "x", "text": "Twice.", "explanation": "With 4 threads 300 turns take 5.75 s, "
             "1.2<!-- claim x --> in run 6n and table 9, and 1,234 ms."}
    assert open_numbers(data, claim) == {"1234"}
