"""The filter that takes weft's escape sequences out of the console's stream."""

import itertools

import pytest
from weft_host.console import ConsoleFilter

STREAM = (b"\x1b]weft;ready\x07one\r\ntwo \x1b[1mbold\x1b[0m\r\n\x1b]0;title\x07three\r"
          b"four\r\r\n\x1b]weft;exit;17\x07")
RAW = b"one\r\ntwo \x1b[1mbold\x1b[0m\r\n\x1b]0;title\x07three\rfour\r\r\n"
TEXT = RAW.replace(b"\r\n", b"\n")


def feed(pieces, crlf_to_lf):
    console = ConsoleFilter(crlf_to_lf)
    out = b"".join([console.feed(piece) for piece in pieces] + [console.finish()])
    return console, out


@pytest.mark.parametrize("crlf_to_lf, want", [(False, RAW), (True, TEXT)])
def test_any_two_splits(crlf_to_lf, want):
    """Wherever the reads split the stream, the text and the status are the same."""
    for i, j in itertools.combinations(range(len(STREAM) + 1), 2):
        console, out = feed([STREAM[:i], STREAM[i:j], STREAM[j:]], crlf_to_lf)
        assert (out, console.status, console.ready) == (want, 17, True), (i, j)


def test_byte_by_byte():
    console, out = feed([STREAM[i:i + 1] for i in range(len(STREAM))], True)
    assert (out, console.status) == (TEXT, 17)


def test_status_is_unknown_without_the_sequence():
    console, out = feed([b"\x1b]weft;exit;17"], True)
    assert out == b"\x1b]weft;exit;17"
    assert console.status is None


def test_endless_sequence_is_text():
    text = b"\x1b]weft;" + b"x" * 500 + b"\x07"
    assert feed([text[:100], text[100:]], False)[1] == text


@pytest.mark.parametrize("split", range(len(b"output\x1b]weft;panic\x07\r\nreport\r\n")))
def test_panic_report_is_kept_apart(split):
    stream = b"output\x1b]weft;panic\x07\r\nreport\r\n"
    console, out = feed([stream[:split], stream[split:]], True)
    assert console.panicked
    assert out == b"output"
    assert console.report.replace(b"\r\n", b"\n") == b"\nreport\n"


@pytest.mark.parametrize("words", [b"exit;x", b"out;", b"out;1;2;3", b"held;x"])
def test_not_a_number(words):
    """A program may print anything."""
    console = feed([b"\x1b]weft;exit;1\x07" * words.startswith(b"held"), b"\x1b]weft;" + words + b"\x07"],
                   True)[0]
    assert console.status in (None, 1)
    assert (console.manifest, console.held) == (None, None)


def test_files_that_are_handed_over():
    held = b"\x1b]weft;held;3\x07"
    console = feed([b"\x1b]weft;out;4096;77\x07\x1b]weft;exit;5\x07" + held], True)[0]
    assert (console.manifest, console.status, console.held) == ((4096, 77), 5, 3)
    assert feed([held], True)[0].held is None, "held before its end"
