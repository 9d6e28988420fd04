"""Code that documents quote: it is made again as it stands in the sources, or the marker is refused.  (That
the documents of weft are up to date: test_documents.py.)"""

import pytest
from weft_host import quotes
from weft_host.machine import UsageError

C = """\
/* Calls other(x). */
static int other(int x);

struct thing *
first(struct thing *t,
      int n)
{
	if (n)
		return other(n);
}

static int other(int x)
{
	int y = 0;

	x++;
	return x + y;
}

const struct table the_table = {
	.first = first,
};
"""
S = "early:\n\tret\nlate:\n\tpushq %rbp\n\tcall f\n\tret\n\tnop\n"


@pytest.fixture
def top(tmp_path):
    (tmp_path / "a.c").write_text(C)
    (tmp_path / "b.S").write_text(S)
    return tmp_path


def quote(top, marker, kind="c"):
    """The lines that come into the block."""
    text = f"Before.\n\n<!-- code {marker} -->\n```{kind}\nold\n```\nAfter.\n"
    made = quotes.renew(text, top)
    assert made.startswith(f"Before.\n\n<!-- code {marker} -->\n```{kind}\n")
    assert made.endswith("\n```\nAfter.\n")
    assert quotes.renew(made, top) == made
    return made.split("\n")[4:-3]


@pytest.mark.parametrize("marker, lines", [
    ("a.c: first", (3, 10)), ("a.c: other", (11, 18)), ("a.c: the_table", (19, 22)),
    ('a.c: other from "x++"', (15, 18)), ('a.c: other to "int y"', (11, 14)),
    ('a.c: other from "int y" to "x++"', (13, 16)),
])
def test_a_function_is_quoted(top, marker, lines):
    assert quote(top, marker) == C.splitlines()[slice(*lines)]


def test_assembly_is_quoted(top):
    assert quote(top, 'b.S: late to "ret"', "asm") == S.splitlines()[2:6]


@pytest.mark.parametrize("marker, why", [
    ("a.c: none", "a.c has no function none"), ("none.c: f", "none.c: No such file"),
    ('a.c: other from "z"', "other has no line with 'z'"),
    ('a.c: other to "z"', "other has no line with 'z'"),
    ('a.c: other from "x\\+\\+" to "int y"', "has no line with"),
    ("b.S: late", 'assembly needs `to "TEXT"`'), ('b.S: none to "ret"', "b.S has no label none"),
])
def test_what_cannot_be_quoted(top, marker, why):
    with pytest.raises(UsageError, match=why):
        quote(top, marker)


def test_a_marker_without_a_block(top):
    with pytest.raises(UsageError, match="has to follow each"):
        quotes.renew("<!-- code a.c: first -->\nText.\n", top)
