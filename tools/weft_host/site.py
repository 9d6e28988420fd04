"""weft site: the documents as web pages, build/site/index.html.

The pages are docs/ and the READMEs.  mkdocs (mkdocs.yml) has all of them in one folder, so their links to
each other are written again on the way there.  Nothing on a page comes from the network.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import documents, venv
from .machine import HostError, UsageError
from .paths import BUILD, TOP

SITE = BUILD / "site"
STAGE = BUILD / "site-pages"  # mkdocs.yml names it
# {document: page}, beside docs/NAME.md, which is NAME.md.
PAGES = {"README.md": "index.md", "kernel/README.md": "kernel.md", "libthread/README.md": "libthread.md",
         "java/README.md": "java.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(?=[)#])")


def add_options(parser):
    parser.add_argument("--update", action="store_true",
                        help="first makes the figures and the quoted code in the documents again")
    parser.add_argument("--output", type=Path, default=SITE, metavar="DIR", help="in place of build/site")


def pages():
    """{document: page} of all; a planted bug is shown as it is.  Of a lab there is its handout, and no test."""
    bugs = {f"tests/bugs/{path.name}": f"bugs/{path.name}"
            for path in sorted((TOP / "tests/bugs").glob("*.patch"))}
    labs = {f"labs/{path.parent.name}/handout.md": f"lab-{path.parent.name}.md"
            for path in sorted((TOP / "labs").glob("*/handout.md"))}
    return PAGES | bugs | labs | {f"docs/{path.name}": path.name for path in sorted((TOP / "docs").glob("*.md"))}


def pictures():
    """{picture: its file} of all that documents show."""
    return {f"docs/pictures/{path.name}": f"pictures/{path.name}"
            for path in sorted((TOP / "docs/pictures").glob("*.[ps][nv]g"))}


def relinked(document, text, known):
    """The text with links to pages in place of links to documents."""
    def link(match):
        path = os.path.normpath(os.path.join(os.path.dirname(document), match[1]))
        if path not in known:
            raise UsageError(f"{document}: {match[1]}: no page of the site is made of {path}")
        return known[path]

    return LINK.sub(link, text)


def stage():
    """Fills STAGE."""
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    known = pages()
    for document, page in known.items():
        text = (TOP / document).read_text()
        if page.endswith(".md"):
            text = relinked(document, text, known | pictures())
        (STAGE / page).parent.mkdir(exist_ok=True)
        (STAGE / page).write_text(text)
    for picture, file in pictures().items():
        (STAGE / file).parent.mkdir(exist_ok=True)
        shutil.copyfile(TOP / picture, STAGE / file)


def main(args):
    """weft site: 0, or an error."""
    venv.add("docs")
    if args.update:
        for path in documents.update():
            print(f"weft: {path}", file=sys.stderr)
    stage()
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean",
                           "--config-file", TOP / "mkdocs.yml", "--site-dir", args.output.resolve()],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise HostError(f"mkdocs failed:\n{done.stdout}{done.stderr}".rstrip())
    print(args.output / "index.html")
    return 0
