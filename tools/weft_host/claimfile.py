"""The [[claims]] of an experiment's file: what a claim says, and what is wrong with one.

docs/experiments.md describes them for their author.  A check that the paper's own figures fail is no check of
what the paper says, and one that no figures fail checks nothing: claims.py and power.py find both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .reading import NUMBER, Reader, Shape, check_pair, check_selection

if TYPE_CHECKING:
    from .experiment import Experiment

CLAIM: Shape = {
    "id": str, "text": str, "kind": str, "value": str, "where": dict, "each": (str, dict),
    "over": dict, "under": dict, "of": dict, "let": dict, "check": str, "order": list,
    "x": str, "step": int, "tolerance": NUMBER, "factor": NUMBER, "at_least": NUMBER,
    "at_most": NUMBER, "pair": list, "share": str, "differ": bool, "hardware": str,
    "not_measured": str, "explanation": str, "evidence": list, "paper": str, "quote": str,
    "section": str, "own": bool, "by_construction": bool, "paper_figure": NUMBER,
}
# What each kind of claim needs; bounds: at_least or at_most.
KINDS = {"ratio": ("over", "under", "bounds"), "range": ("of", "bounds"),
         "spread": ("of", "bounds"), "linear": ("x", "tolerance"),
         "staircase": ("x", "step", "tolerance"), "order": ("order",),
         "sets": ("pair", "share", "bounds"), "chi-square": ("pair", "differ"),
         "expression": ("let", "check")}
SHARES = ("faster", "equal", "slower")
MARK = re.compile("<!-- .*? -->", re.DOTALL)  # where a number of an explanation comes from: documents.py


def _check_origin(read: Reader, experiment: Experiment, where: str, claim: Any) -> None:
    """A claim of a paper quotes it, and says where; one that is weft's own says that."""
    if claim.get("own") and "quote" in claim:
        read.fail(where, "'own' and 'quote': a claim is weft's own, or of a paper")
    if ("quote" in claim) != ("section" in claim):
        read.fail(where, "'quote' and 'section' go together")
    if experiment.paper != "weft" and not {"own", "quote"} & set(claim):
        read.fail(where, "'quote' is missing, the paper's sentence with its 'section'; a claim that stems from no "
                  "paper says own = true")
    if "paper_figure" in claim and claim.get("kind") not in ("ratio", "range", "spread"):
        read.fail(where, "paper_figure: of a ratio, a range or a spread")


def check(read: Reader, experiment: Experiment, where: str, claim: Any) -> None:
    read.shape(where, claim, CLAIM)
    read.need(where, claim, "id", "text")
    where = read.claim(claim)
    _check_origin(read, experiment, where, claim)
    if "kind" not in claim:
        if not ({"hardware", "not_measured"} & set(claim)):
            read.fail(where, "needs a 'kind', or says why nothing is checked: 'hardware' or "
                      "'not_measured'")
        return
    if claim["kind"] not in KINDS:
        read.fail(where, f"kind: one of {', '.join(KINDS)}, not {claim['kind']!r}")
    for need in KINDS[claim["kind"]]:
        if need == "bounds":
            if not ({"at_least", "at_most"} & set(claim)):
                read.fail(where, "'at_least' or 'at_most' is missing")
        else:
            read.need(where, claim, need)
    each = claim.get("each", {})
    for name in [each] if isinstance(each, str) else each:
        if name not in experiment.axes:
            read.fail(where, f"each: there is no {name!r}")
    for key in ("where", "over", "under", "of"):
        check_selection(read, experiment, f"{where}: {key}", claim.get(key, {}))
    for one in claim.get("order", []):
        check_selection(read, experiment, f"{where}: order", one)
    if "pair" in claim:
        check_pair(read, experiment, f"{where}: pair", claim["pair"])
    if claim.get("share", "equal") not in SHARES:
        read.fail(where, f"share: one of {', '.join(SHARES)}, not {claim['share']!r}")
    if claim["kind"] in ("linear", "staircase") and claim["x"] not in experiment.axes:
        read.fail(where, f"x: there is no {claim['x']!r}")
    if claim["kind"] == "expression":
        for name, one in claim["let"].items():
            check_selection(read, experiment, f"{where}: let.{name}", one)
        unknown = read.formula(where, claim["check"]).names - set(claim["let"])
        if unknown:
            read.fail(where, f"check: there is no {sorted(unknown)[0]!r} in 'let'")
