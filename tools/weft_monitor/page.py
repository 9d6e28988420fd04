"""The page, as one text that loads nothing: the modules of page/ in one script, and perhaps recordings.

The modules are ECMAScript modules.  Here, where one follows the other, `import` and `export` fall away.  So no
two of them may use one name for two things; `modules` says so if they do.  The policy of the page's contents
(CSP) lets this script and this style run, by their hashes, and nothing else.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent / "page"
# In the order of their dependence.
MODULES = ("states", "columns", "store", "load", "time", "rows", "section", "mapping", "run", "details", "theme",
           "main")
NAME = re.compile(r"^(?:export )?(?:async )?(?:function|class) (\w+)", re.MULTILINE)
CONSTANTS = re.compile(r"^(?:export )?(?:const|let) (.*)$", re.MULTILINE)
CONSTANT = re.compile(r"(?:^|, )(\w+) = ")


def modules() -> str:
    """The script.  Raises ValueError: two modules have one name, which is a mistake in page/."""
    known: dict[str, str] = {}
    parts = []
    for module in MODULES:
        text = (HERE / f"{module}.js").read_text()
        constants = [name for line in CONSTANTS.findall(text) for name in CONSTANT.findall(line)]
        for name in [*NAME.findall(text), *constants]:
            if known.setdefault(name, module) != module:
                raise ValueError(f"page/{module}.js: {name} is in {known[name]}.js, too")
        text = re.sub(r"^import .*?;\n", "", text, flags=re.MULTILINE | re.DOTALL)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\"use strict\";\n" + "\n".join(parts)


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(script: str, style: str, served: bool) -> str:
    """The page of a server may ask it; a file asks nobody."""
    parts = ["default-src 'none'", f"script-src {_hash(script)}", f"style-src {_hash(style)}",
             "img-src data:", "base-uri 'none'", "form-action 'none'"]
    return "; ".join([*parts, "connect-src 'self'"] if served else parts)


def page(facts: Mapping[str, object], recordings: Sequence[bytes] = (), served: bool = False) -> str:
    """facts: what page/main.js gets: runs (their titles), a scene (title, caption), where the server is."""
    script, style = modules(), (HERE / "style.css").read_text()
    data = json.dumps(facts).replace("<", "\\u003c")
    inside = "".join(f'<script type="application/octet-stream" class="recording">{base64.b64encode(one).decode()}'
                     "</script>\n" for one in recordings)
    body = (HERE / "body.html").read_text()
    title = html.escape(str(facts.get("title", "weft monitor")))
    return ("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy(script, style, served)}\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n"
            f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}"
            f"<script type=\"application/json\" id=\"facts\">{data}</script>\n{inside}"
            f"<script type=\"module\">{script}</script>\n</body>\n</html>\n")
