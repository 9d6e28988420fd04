"""weft site: every document is a page, and every link leads somewhere on the site."""

import html.parser
import re
from urllib.parse import unquote, urlsplit

import pytest
from conftest import TOP
from weft_host import site
from weft_host.machine import UsageError


class Page(html.parser.HTMLParser):
    """The links of a page, what it loads, and the names in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loads = {"script": "src", "img": "src", "link": "href"}.get(tag)
        if loads in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(given[loads])


@pytest.fixture(scope="module")
def pages(weft, tmp_path_factory):
    """{path: Page} of a site that has just been made."""
    folder = tmp_path_factory.mktemp("site")
    done = weft("site", "--output", folder)
    assert done.returncode == 0, done.stderr.decode()
    return {path: Page(path.read_text()) for path in folder.rglob("*.html")}


def test_every_document_is_a_page(pages):
    names = {path.name for path in pages}
    for path in [*(TOP / "docs").glob("*.md"), *map(TOP.joinpath, site.PAGES)]:
        page = site.pages()[str(path.relative_to(TOP))]
        assert page.replace(".md", ".html") in names, path
    assert {"index.html", "mutex-lock.html", "reading.html", "contributing.html"} <= names


def test_every_handout_is_a_page(pages):
    """And all pages lead to it."""
    handouts = sorted((TOP / "labs").glob("*/handout.md"))
    assert len(handouts) >= 5
    for path in handouts:
        page = f"lab-{path.parent.name}.html"
        assert page in {path.name for path in pages}
        assert all(page in shown.links for path, shown in pages.items()
                   if path.suffix == ".html" and path.name != "404.html" and path.parent.name != "bugs")


def test_links_resolve(pages):
    seen = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":  # 404.html is meant for any place
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if target.suffix == ".patch":
                assert target.is_file(), f"{path.name}: {link}"
                continue
            assert target in pages, f"{path.name}: {link}"
            assert parts.fragment in ("", "__skip", *pages[target].names), f"{path.name}: {link}"
            seen += 1
    assert seen > 100


def test_nothing_comes_from_the_network(pages):
    for path, page in pages.items():
        for load in page.loads:
            parts = urlsplit(load)
            assert not parts.scheme and not parts.netloc, f"{path.name}: {load}"
            if path.name != "404.html":
                assert (path.parent / parts.path).is_file(), f"{path.name}: {load}"


def test_links_between_documents_become_links_between_pages():
    known = {"README.md": "index.md", "kernel/README.md": "kernel.md", "docs/a.md": "a.md"}
    text = "[a](docs/a.md#part) [b](kernel/README.md) [c](https://x.org/y.md) [d](#part)"
    assert site.relinked("README.md", text, known) == (
        "[a](a.md#part) [b](kernel.md) [c](https://x.org/y.md) [d](#part)")
    assert site.relinked("docs/a.md", "[k](../kernel/README.md)", known) == "[k](kernel.md)"
    with pytest.raises(UsageError, match="docs/a.md: b.md: no page of the site is made of docs/b.md"):
        site.relinked("docs/a.md", "[b](b.md)", known)


FILE = re.compile(r"`((?:kernel|libthread|java|user|tests|tools|docs)/[\w./-]+\.\w+)`")


def test_files_that_documents_name_are_there():
    """CONTRIBUTING's recipes and the reading list among them; a handout names files of its lab, too.
    NAME stands for any."""
    seen = 0
    for document in site.pages():
        for name in FILE.findall((TOP / document).read_text()):
            if "NAME" not in name:
                assert any((folder / name).is_file() for folder in (TOP, (TOP / document).parent)), \
                    f"{document}: {name}"
                seen += 1
    assert seen > 40
