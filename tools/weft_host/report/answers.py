"""The page on what it all comes to: docs/what-it-comes-to.md with the figures of the results at hand.

Experiments that were not measured have the figures of the quick set that the repository holds.  Where a figure
of the page cannot be made of the results, as when runs failed, all figures are those.
"""

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

from .. import baseline, documents
from ..machine import UsageError
from ..paths import TOP
from . import plots

DOCUMENT = TOP / "docs/what-it-comes-to.md"
IMAGE = re.compile(r'<p><img src="pictures/break-even-([\w-]+)\.svg" alt="[^"]*" /></p>')
CODE = re.compile(r"<code>([\w-]+)</code>")


def page(known, at_hand, sets, where):
    """{html, own}: the text with its drawings, and whether its figures are those of the results.  known: all
    experiments; at_hand: results, as of claims.Judge; where: {claim or experiment: address on the pages}."""
    def rows_of(name):
        return at_hand[name][1] if name in at_hand else baseline.read_rows(name)

    text, own = DOCUMENT.read_text(), bool(at_hand)
    source = documents.Source(rows_of, sets, known)
    try:
        text = documents.renew(text, source)
    except UsageError:
        own = False
    pictures = (source if own else documents.Source(known=known)).pictures
    html = MarkdownIt().render(re.sub(r"<!--.*?-->", "", text))
    html = IMAGE.sub(lambda match: _figure(pictures[match[1]]), html)
    html = CODE.sub(lambda match: f'<a href="{where[match[1]]}">{match[0]}</a>' if match[1] in where else match[0],
                    html)
    return {"html": Markup(html.replace('href="coverage.md"', 'href="coverage.html"')), "own": own}


def _figure(picture):
    drawn = plots.draw_break_even(picture)
    return f"<figure><figcaption>{drawn['title']}</figcaption>{drawn['svg']}</figure>"
