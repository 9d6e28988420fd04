"""The English of the sources and documents: plain, as CONTRIBUTING.md asks."""

import pytest
from weft_host import english


def test_the_sources():
    report = english.check()
    assert not report.hits, "\n".join(["see CONTRIBUTING.md, or list the place in tests/english.toml:",
                                       *map(str, report.hits)])
    assert not report.stale, "\n".join(["take out of tests/english.toml:", *report.stale])


@pytest.mark.parametrize("text", [
    "The thread that has it; whoever comes next waits.", "Returns whom that has put down.",
    "The LWP gives up his lock.", "All locks but the latter are free.", "Nothing but a test.",
    "Of a later one nothing is asked.", "The books of the mask are kept.", "It is made anew.",
    "Asleep it is in a system call.", "Nor does a thread spin.", "The waiter sleeps, and so does its LWP.",
    "It waits, for it has no lock.", "The mutex.  Whose signal was it?",
])
def test_the_old_style_is_found(text):
    assert english.find("x.md", text), text


@pytest.mark.parametrize("text", [
    "The waiter that comes next takes the lock.", "Only one thread waits, but it does not spin.",
    "It waits for the owner, whose LWP runs.", "One thread has it; the others wait.",
    "The history of this machine, another one.", "Wait for it.",
])
def test_plain_english_is_not(text):
    assert not english.find("x.md", text), text


def test_over_the_end_of_a_line():
    text = "/* The lock is free, but\n * for the owner.\n *\n * Fine.\n * It is made\n * anew.\n */\n"
    hits = english.find("x.c", text)
    assert [(hit.line, hit.text) for hit in hits] == [(1, "but for"), (6, "anew")]
    assert not english.find("x.md", "It is but\n\nfor the next paragraph.\n")


def test_of_c_only_comments_and_strings_are_read():
    text = "int who; /* it's free */\nint f(int whence)\n{\n" \
        "\tsay('\"', who, \"made anew\"); /* but for */\n}\n"
    assert [(hit.line, hit.text) for hit in english.find("x.c", text)] == [(4, "anew"), (4, "but for")]


def test_of_a_patch_only_its_head_is_read():
    assert len(english.find("x.patch", "Whoever comes.\n\n--- a/x\n+++ b/x\n whoever\n")) == 1
