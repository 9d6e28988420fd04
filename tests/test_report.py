"""weft report: the pages, as text and in a real browser.

The results are made up: a figure for each run of the quick sets, so that every table, plot and claim
has something to show.  What the browser sees: no overflow on a phone, nothing on its console, no
request, and text that can be read on light and on dark ground.
"""

import html
import html.parser
import json
import re
import shutil

import pytest
from browser import launched
from test_pingpong import Recorded
from weft_host import baseline, claimwords, cli, coverage, experiment, report, results, runner, words
from weft_host.experiments import pingpong
from weft_monitor import scenes

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
    return rows, [{"command": run.command(), "status": "exit status 1", "output": "<b>&"}
                  for run in one.runs(False)[1:2]]


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

    VOID = frozenset({"meta", "link", "br", "img", "path", "use"})

    def __init__(self, text, path=None):
        super().__init__()
        self.path = path
        self.links, self.loads, self.ids, self._open = [], [], [], []
        self.texts = []  # (innermost element, text)
        self.feed(text)
        assert self._open == []

    def handle_data(self, data):
        if self._open and data.strip():
            self.texts.append((self._open[-1], data.strip()))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        self.loads += [value for name, value in attributes.items()
                       if name in ("src", "srcset", "data") or (name == "href" and tag == "link")]
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
    return {path.name: Page(path.read_text(), path) for path in sorted(pages.glob("*.html"))}


def test_there_is_a_page_for_each_paper(parsed):
    assert set(parsed) == {"index.html", "coverage.html", "what-it-comes-to.html"} | {
        f"{key}.html" for key in experiment.papers()}


def test_the_pictures_of_the_monitor(pages):
    """Each scene of papers.toml has its picture and its caption, in the page itself."""
    for key, paper in experiment.papers().items():
        text = html.unescape((pages / f"{key}.html").read_text())
        shown = paper.get("scenes", [])
        assert text.count('<img src="data:image/png;base64,') == len(shown)
        assert all(scenes.scene(name).caption in text for name in shown)
    assert "five-lwps" in experiment.papers()["m-to-n"]["scenes"]


def test_what_it_comes_to(pages, parsed):
    """Made-up figures cannot make the page, so its figures are the baseline's, as it says."""
    text = (pages / "what-it-comes-to.html").read_text()
    assert 'id="not-own"' in text and text.count("<svg") == 5 and "<!--" not in text and ".md" not in text
    from weft_host.report import answers  # `pages` has brought the packages that it needs

    known = experiment.all_experiments()
    found = answers.page(known, baseline.quick_results(), dict.fromkeys(known, "quick"),
                         {"pp-5": "ping-pong.html#pp-5", "micro-create": "weft.html#micro-create"})
    assert found["own"] and found["html"].count("<svg") == 5
    assert '<a href="weft.html#micro-create"><code>micro-create</code></a>: holds' in found["html"]
    assert "coverage.html" in parsed["what-it-comes-to.html"].links


def test_what_the_papers_have(pages, parsed):
    """Each item with what shows it; the verdicts are those of the results."""
    page = parsed["coverage.html"]
    assert {item.id for items in coverage.papers().values() for item in items} <= set(page.ids)
    assert "nt-vs-solaris.html#nt-max" in page.links and "nt-vs-solaris.html#nt-max-many" in page.links
    assert "to come" in (pages / "coverage.html").read_text()


def test_both_sets_stand_beside_a_claim(tmp_path, monkeypatch):
    """What each says, and what it makes of the verdict."""
    monkeypatch.setattr(baseline, "FULL", tmp_path / "full.csv")
    saved("pingpong-latency", tmp_path / "in", False)  # all the same: the user-level switch is no slower
    baseline.store_full({"pp-latency-cross": "holds", "pp-latency-spin": "holds"}, whole=True)
    report.write(tmp_path / "in", tmp_path / "out")
    text = (tmp_path / "out/ping-pong.html").read_text()
    claims = {part.partition('"')[0]: part for part in text.split('<div class="claim ')[1:]
              for part in [part.partition('id="')[2]]}
    assert "<dt>sets</dt><dd>quick: does not hold; full: holds</dd>" in claims["pp-latency-cross"]
    assert '<p class="verdict">not decided</p>' in claims["pp-latency-cross"]
    assert "<dt>sets</dt>" not in claims["pp-latency-paper"]
    index = " ".join((tmp_path / "out/index.html").read_text().split())
    said = re.search(r'<p id="sets">(.*?)</p>', index)[1]
    assert "a verdict on 2 claims, and agree on 1." in said
    assert '>pp-latency-cross</a> (quick: does not hold; full: holds).' in said


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
    assert "“This begins to demonstrate the cost of synchronization via the kernel.”" in text
    assert "weft's own claim: the paper does not say it." in text
    assert "tools/weft bench checks" in text  # not measured
    assert "currentColor" in text and "var(--series-2)" in text
    assert "<b>&</b>" not in text


KEY = re.compile(r"[a-z]+_[a-z_]+")


def test_words_stand_where_keys_were(parsed):
    """In tables' headings, along axes, in legends, and in what is said of claims."""
    for name, page in parsed.items():
        for tag, text in page.texts:
            if tag in ("th", "h4", "text", "figcaption", "dd"):
                assert not KEY.search(text), (name, tag, text)


def test_no_claim_shows_a_quotient_of_the_same():
    """Two figures of one selection differ by their names."""
    known = experiment.all_experiments().values()
    for one, claim in [(owner, claim) for owner in known for claim in owner.claims]:
        said = claimwords.expectation(one, claim)
        assert not KEY.search(said), claim["id"]
        if claim.get("kind") == "ratio":
            over, under = said.partition(" is at ")[0].split(": ")[-1].split(" / ")
            assert over != under, said


@pytest.fixture(scope="module")
def drawn(pages):
    """{experiment-number: a plot's SVG}"""
    text = "".join(path.read_text() for path in sorted(pages.glob("*.html")))
    return {part.partition('-figure_1"')[0]: part.partition("</svg>")[0]
            for part in re.split(r'<g id="(?=[^"]*-figure_1")', text)[1:]}


def test_the_unit_stands_along_the_axis(drawn):
    """Of each plot of times, as the file says or the figure's name."""
    seen = 0
    for one in experiment.all_experiments().values():
        for number, view in enumerate(one.plots):
            unit = view.get("unit") or words.unit(one, view.get("value", one.figure))
            titled = unit not in words.TIMES or {"y_title", "relative", "over"} & set(view)
            if not titled and f"{one.name}-{number}" in drawn:
                assert f", {words.sign(unit)}<" in drawn[f"{one.name}-{number}"], one.name
                seen += 1
    assert seen > 40


def test_bars_have_one_scale_or_it_is_said(parsed):
    """Each drawing with the paper's panel; on one scale both have the same ticks."""
    seen = []
    for one in experiment.all_experiments().values():
        texts = [text for _, text in parsed[f"{one.paper}.html"].texts]
        for view in one.plots:
            if view.get("paper") and one.name != "oscmp-fast":
                at = texts.index(view.get("title") or one.title, texts.index("To repeat it"))
                note = next(text for text in texts[at:] if "one scale" in text)
                seen.append(note.startswith("Both"))
                # Bursts take the paper's seconds.
                assert ("over" in view or one.name.startswith("nt-burst-")) == seen[-1], (one.name, note)
    assert True in seen and False in seen


def test_one_scale_is_one(drawn):
    """The ticks along both vertical axes."""
    for one in experiment.all_experiments().values():
        for number, view in enumerate(one.plots):
            if "over" in view:
                ours, theirs = (re.findall(r"<text[^>]*>([\d.,]+)</text>", part.partition("<g id=")[2])
                                for part in re.split(r'-matplotlib\.axis_[24]"',
                                                     drawn[f"{one.name}-{number}"])[1:])
                assert ours == theirs and len(ours) > 1, one.name


def test_the_paper_stands_beside_weft(parsed):
    """From its tables, from what its text says, and from columns beside weft's."""
    def beside(page, claim):
        source = (parsed[page].path).read_text()
        return re.search(rf'id="{claim}".*?<dt>the paper</dt><dd>([^<]*)</dd>', source, re.DOTALL)[1]

    assert beside("nt-vs-solaris.html", "nt-compute-unbound") == "3.98 (160.7 s / 40.35 s)"
    assert beside("nt-vs-solaris.html", "nt-max-many") == "free memory 512 MB: 4.28 (9,817 / 2,294)"
    assert beside("ping-pong.html", "pp-1") == "2.04 (2.04 / 1.00)"
    assert beside("timemutex.html", "tm-priority") == "10.96 (63 s / 5.75 s)"


def saved(name, directory, full, made_from="0123456789ab"):
    """Results of one experiment, none failed."""
    one = experiment.all_experiments()[name]
    rows = [run.row() | {"status": runner.OK, one.figure: 1000} for run in one.runs(full)]
    results.save(one, rows, full=full, timing="exact", directory=directory, made_from=made_from)


@pytest.mark.parametrize("full", [False, True])
def test_the_scale_is_of_the_set_that_is_shown(tmp_path, full):
    saved("nt-max", tmp_path / "in", full)
    report.write(tmp_path / "in", tmp_path / "out")
    page = Page((tmp_path / "out/nt-vs-solaris.html").read_text())
    said = [text for _, text in page.texts if "512 MB of free memory." in text]
    assert said[0].startswith("As large as in the paper" if full else "The full set is as large")
    quick = "The quick set, shown here, has free memory: 64 MB, 128 MB (full: 64 MB, 128 MB, 512 MB)."
    assert (quick in [text for _, text in page.texts]) != full
    headings = [text for tag, text in page.texts if tag == "th"]
    assert ("elapsed time, ms" in headings) == full and "free memory" in headings
    assert not [text for tag, text in page.texts if tag in ("th", "h4") and text.endswith("ns")]


def test_the_summary_begins_with_pictures(pages):
    """Five, one a paper, with the verdicts on what they show; tables come after them."""
    text = (pages / "index.html").read_text()
    assert text.index("<h1") < text.index("<svg") < text.index("<table")
    assert text.partition("<table")[0].count("<svg") == 5 == text.count("<svg")
    chosen = [one.paper for one in experiment.all_experiments().values()
              for view in one.plots if "summary" in view]
    assert sorted(chosen) == sorted(set(experiment.papers()) - {"since-then", "weft"})


def test_the_summary_says_what_was_measured(pages, source):
    texts = Page((pages / "index.html").read_text()).texts
    measured = " ".join(" ".join(text for _, text in texts).split())
    day = report.written_on(source / "nt-compute.json")
    assert f"quick set , exact timing, revision 0123456789ab , {day} (UTC)" in measured


def test_the_summary_says_what_failed(pages):
    text = (pages / "index.html").read_text()
    failed = text[text.index('id="failed"'):text.index("Five results")]
    assert 'nt-compute</a>:\n1 of 20 runs; the first: exit status 1: &lt;b&gt;&amp;' in failed
    assert re.search(r"<pre>tools/weft bench .*nt-compute", failed)
    assert ">pingpong</a>" not in failed


def test_results_of_several_revisions_are_told(tmp_path):
    saved("nt-compute", tmp_path / "in", False)
    saved("nt-create", tmp_path / "in", False, "ba9876543210-dirty")
    report.write(tmp_path / "in", tmp_path / "out")
    text = (tmp_path / "out/index.html").read_text()
    assert "<code>0123456789ab</code>: nt-compute<" in text
    assert "<code>ba9876543210-dirty</code>: nt-create<" in text
    assert "Runs failed" not in text


def test_results_without_lists_of_failures(tmp_path):
    """What is not in a file is not missed: of other versions, and of a bench that was interrupted."""
    saved("nt-compute", tmp_path / "in", False)
    path = tmp_path / "in/nt-compute.json"
    facts = json.loads(path.read_text())
    for key in ("failures", "set", "timing", "revision"):
        del facts[key]
    facts["rows"][2]["status"] = "kernel panic"
    path.write_text(json.dumps(facts))
    report.write(tmp_path / "in", tmp_path / "out")
    text = (tmp_path / "out/index.html").read_text()
    assert "1 of 20 runs; the first: kernel panic" in text
    assert "tools/weft bench nt-compute" in (tmp_path / "out/nt-vs-solaris.html").read_text()


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

@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


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
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.on("request", lambda request, requests=requests: requests.append(request.url))
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
