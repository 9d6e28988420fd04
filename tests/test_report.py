"""weft report: the pages, as text and in a real browser.

The results are made up: a figure for each run of the quick sets, so that every table, plot and claim
has something to show.  What the browser sees: no overflow on a phone, nothing on its console, no
request, and text that can be read on light and on dark ground.
"""

import html.parser
import os
import shutil
import subprocess
import sys

import pytest
from conftest import TOP
from test_pingpong import Recorded
from weft_host import cli, experiment, report, results, runner, venv
from weft_host.experiments import pingpong

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


def made_up(one):
    """Rows for an experiment: figures that rise with the number of the run; one run failed."""
    rows, views = [], [*one.tables, *one.plots]
    figures = {one.figure, *(view["value"] for view in views if "value" in view),
               *(name for view in views for name in view.get("values", {}))}
    for number, run in enumerate(one.runs(False)):
        row = run.row()
        rows.append(row | ({"status": "exit status 1"} if number == 1 else
                           {"status": runner.OK} | dict.fromkeys(
                               sorted(figures), 1_000_000 * (number + 1))))
    return rows, [{"command": one.runs(False)[1].command(), "status": "exit status 1",
                   "output": "<b>&"}]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A directory of results."""
    directory = tmp_path_factory.mktemp("results")
    for one in experiment.all_experiments().values():
        if one.name == "pingpong":
            rows, failures = pingpong.run(Recorded(lambda model, smp: 50)), []
        elif one.module:
            continue
        else:
            rows, failures = made_up(one)
        results.save(one, rows, full=False, timing="exact", failures=failures, directory=directory,
                     made_from="0123456789ab")
    return directory


@pytest.fixture(scope="module")
def pages(source, tmp_path_factory):
    """The directory of the report."""
    return report.write(source, tmp_path_factory.mktemp("report")).parent


class Page(html.parser.HTMLParser):
    """What a page refers to, and the names in it."""

    VOID = {"meta", "link", "br", "img", "path", "use"}

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self._open = [], [], [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        self.loads += [value for name, value in attributes.items()
                       if name in ("src", "srcset", "data") or name == "href" and tag == "link"]
        if tag == "use":
            self.links.append(attributes["xlink:href"])
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self._open.pop() == tag


@pytest.fixture(scope="module")
def parsed(pages):
    return {path.name: Page(path.read_text()) for path in sorted(pages.glob("*.html"))}


def test_there_is_a_page_for_each_paper(parsed):
    assert set(parsed) == {"index.html"} | {f"{key}.html" for key in experiment.papers()}


def test_links_lead_somewhere(pages, parsed):
    for name, page in parsed.items():
        for link in page.links:
            file, _, fragment = link.partition("#")
            assert (pages / (file or name)).is_file(), (name, link)
            if fragment:
                assert fragment in parsed[file or name].ids, (name, link)


def test_nothing_is_loaded(parsed):
    for page in parsed.values():
        assert [one for one in page.loads if not one.startswith("data:")] == []


def test_names_are_unique(parsed):
    for name, page in parsed.items():
        assert len(page.ids) == len(set(page.ids)), name


def test_each_claim_is_in_the_summary(parsed):
    known = experiment.all_experiments().values()
    for one in known:
        for claim in one.claims:
            assert f"{one.paper}.html#{claim['id']}" in parsed["index.html"].links
            assert claim["id"] in parsed[f"{one.paper}.html"].ids


def test_the_same_results_make_the_same_bytes(source, tmp_path):
    """Of two experiments, written twice."""
    (tmp_path / "in").mkdir()
    for name in ("pingpong-latency", "nt-compute"):
        for suffix in (".csv", ".json"):
            shutil.copyfile(source / (name + suffix), tmp_path / "in" / (name + suffix))
    for name in ("one", "two"):
        report.write(tmp_path / "in", tmp_path / name)
    for path in sorted((tmp_path / "one").rglob("*")):
        if path.is_file():
            again = tmp_path / "two" / path.relative_to(tmp_path / "one")
            assert path.read_bytes() == again.read_bytes()
    assert (tmp_path / "one/ping-pong.html").read_text().count("<svg") == 1


def test_what_is_said(pages):
    text = (pages / "ping-pong.html").read_text()
    assert "tools/weft run --timing exact --smp 2 --model lwp --quantum 100" in text
    assert "exit status 1" in text and "runs failed" in text
    assert "Scaled down by a factor of" in text
    assert "tools/weft bench checks" in text  # not measured
    assert "currentColor" in text and "var(--series-2)" in text
    assert "<b>&</b>" not in text


def test_results_of_another_version_are_not_shown(source, tmp_path):
    (tmp_path / "in").mkdir()
    text = (source / "pingpong-sleep.json").read_text().replace('"sleep_ms"', '"sleep"')
    (tmp_path / "in/pingpong-sleep.json").write_text(text)
    report.write(tmp_path / "in", tmp_path / "out")
    assert "measured with other parameters" in (tmp_path / "out/ping-pong.html").read_text()


def test_pages_that_cannot_be_written(source, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert cli.main(["report", "--results", str(source), "--output", str(tmp_path / "file")]) == 69
    assert capsys.readouterr().err == f"weft report: {tmp_path}/file/data: Not a directory\n"


def test_without_results(tmp_path, capsys):
    assert cli.main(["report", "--results", str(tmp_path / "none")]) == 2
    assert "measure first" in capsys.readouterr().err


# --- in a browser --------------------------------------------------------------------------------

def find_browser():
    """The system's, or $WEFT_BROWSER; None: the one that Playwright brings."""
    for name in (os.environ.get("WEFT_BROWSER"), *BROWSERS):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


@pytest.fixture(scope="module")
def browser():
    venv.add("browser")
    from playwright.sync_api import Error, sync_playwright

    if find_browser() is None:  # `make test PYTEST=...` has not set it up
        subprocess.run([TOP / "tools/setup.sh", "test"])
    path = find_browser()
    if path is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=path)
        except Error as error:
            pytest.fail("no browser for the report's test: install Chromium (Debian: chromium; "
                        "elsewhere: build/venv/bin/playwright install --with-deps chromium), or set "
                        f"WEFT_BROWSER to the path of Chrome\n{error}", pytrace=False)
        yield opened
        opened.close()


# Contrast as WCAG 2 defines it, of all text, and of what plots draw, against what is behind it.
CONTRAST = """() => {
	const rgb = text => text.match(/[\\d.]+/g).map(Number);
	const light = ([r, g, b]) => {
		const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
		return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	};
	const known = new Map();
	const behind = node => {
		if (!node)
			return [255, 255, 255];
		if (!known.has(node)) {
			const color = rgb(getComputedStyle(node).backgroundColor);
			known.set(node, color.length == 3 || color[3] > 0 ? color : behind(node.parentElement));
		}
		return known.get(node);
	};
	const ratio = (a, b) => {
		const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
		return (x + 0.05) / (y + 0.05);
	};
	const grid = rgb(getComputedStyle(document.documentElement).getPropertyValue("--grid")
		.replace(/#(..)(..)(..)/, (_, r, g, b) => [r, g, b].map(x => parseInt(x, 16)).join(" ")));
	const poor = [];
	for (const node of document.querySelectorAll("body *")) {
		const style = getComputedStyle(node), own = [...node.childNodes].some(
			one => one.nodeType == Node.TEXT_NODE && one.textContent.trim());
		const drawn = node.ownerSVGElement && node.tagName == "path" ? style.stroke : null;
		const color = own ? (node.ownerSVGElement ? style.fill : style.color) : null;
		const isGrid = drawn && drawn != "none" && String(rgb(drawn)) == String(grid);
		if (own && node.tagName != "STYLE" && ratio(rgb(color), behind(node)) < 4.5)
			poor.push(`${node.tagName} ${node.textContent.trim().slice(0, 40)} ${color}`);
		if (drawn && drawn != "none" && !isGrid && ratio(rgb(drawn), behind(node)) < 3)
			poor.push(`${node.tagName} ${drawn}`);
	}
	return poor;
}"""


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(browser, pages, scheme, viewport):
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    grounds = set()
    for path in sorted(pages.glob("*.html")):
        page, said, requests = context.new_page(), [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        assert said == [], path.name
        assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], f"{path.name}: {width} wide"
        outside = page.evaluate("""() => [...document.querySelectorAll("main *")].filter(one =>
            !one.closest(".scroll, pre, svg") && one.getBoundingClientRect().right > innerWidth + 1)
            .map(one => one.outerHTML.slice(0, 80))""")
        assert outside == [], path.name
        assert page.evaluate(CONTRAST) == [], path.name
        for box in page.locator("figure svg").all():
            assert box.bounding_box()["height"] > 100
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert grounds == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)"}
    context.close()


def test_following_links(browser, pages):
    """From the summary to a claim, and on by the bar."""
    page = browser.new_page()
    page.goto((pages / "index.html").as_uri())
    page.locator(".summary a").first.click()
    target = page.url.partition("#")[2]
    assert page.locator(f"[id='{target}']").is_visible()
    page.get_by_role("link", name="Summary").click()
    assert page.url.endswith("/index.html")
    page.close()
