"""weft monitor in a browser: a page draws what a recording holds, and follows a guest that runs.

Of the page is measured how long a core works for a frame, not how many frames a busy host shows.
"""

import bisect
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import recordings
from browser import launched
from conftest import WEFT
from recordings import read
from test_monitor import COMMAND, change, definitions, get, monitor, recorded  # noqa: F401 (recorded is a fixture)
from weft_monitor import changes
from weft_monitor.page import modules, page


def test_no_two_modules_use_one_name():
    assert "import " not in re.sub(r"//.*|\"[^\"]*\"", "", modules())


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


class Opened:
    """A page of a recording.  What it says on its console, and what it asks for, is in `said` and `asked`."""

    def __init__(self, browser, url, scheme="light"):
        self.page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.said == []
        self.page.close()

    def js(self, text):
        return self.page.evaluate(text)

    def until(self, text):
        """Asks again and again, since the page's policy lets Playwright put no function into it."""
        end = time.monotonic() + 60
        while not self.js(text):
            assert time.monotonic() < end, f"{text} does not come true; the page has said {self.said}"
            self.page.wait_for_timeout(20)

    def loaded(self):
        """The recording is whole, and has been drawn."""
        self.js("weftMonitor.ready")
        return self

    def frame(self):
        """Waits for the next frame that has something new."""
        before = self.js("(weftMonitor.changed(), weftMonitor.frame)")
        self.until(f"weftMonitor.frame > {before}")


def html_of(recording, path, **facts):
    facts = {"runs": [path.stem], "title": "a test", "opened": True} | facts
    path.write_text(page(facts, [recording.read_bytes()]))
    return path.as_uri()


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """(a machine of nine threads as it ends, the URL of its page)"""
    directory = tmp_path_factory.mktemp("few")
    machine = recordings.write(directory / "rec", 9, 4, 300)
    return machine, html_of(directory / "rec", directory / "few.html"), directory / "rec"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_draws(browser, recorded, scheme):  # noqa: F811 (the fixture)
    """Of a guest: all that it loads is itself, nothing overflows, and each canvas has colours of its states."""
    url = (recorded[0] / "page.html").as_uri()
    with Opened(browser, url, scheme).loaded() as opened:
        opened.frame()
        assert opened.asked == [url] or opened.asked == [url, "data:,"]
        root = "document.documentElement"
        assert opened.js(f"[{root}.scrollWidth, {root}.scrollHeight]") == [1280, 720]
        drawn = opened.js("""[...document.querySelectorAll("canvas")].filter(one => one.width).map(one => {
            const {data} = one.getContext("2d").getImageData(0, 0, one.width, one.height), found = new Set();
            for (let i = 0; i < data.length; i += 4)
                found.add((data[i] << 16 | data[i + 1] << 8 | data[i + 2]).toString(16).padStart(6, "0"));
            return [one.className || one.parentElement.parentElement.className, [...found]];
        })""")
        found = {name: set(colours) for name, colours in drawn}
        assert {"009e73", "9aa0a6"} <= found["rows cpu"] and {"009e73", "56b4e9"} <= found["rows lwp"]
        assert len(found["axis"]) > 1 and "009e73" in found["mapping"]
        ground = opened.js("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)")
        assert "taken out of exact time" in opened.page.locator("#cost").inner_text()
        assert "--timing exact" in opened.page.locator(".run h1").inner_text()


def test_the_page_agrees_with_the_recording(browser, recorded):  # noqa: F811 (the fixture)
    """States at many times, and shares, as this test reads them out of the file."""
    _, found = read(recorded[0] / "rec")
    history = {}
    for at, kind, state, cpu, a, _, _ in found:
        if kind in (changes.THREAD, changes.LWP, changes.CPU):
            key = {changes.THREAD: "threads", changes.LWP: "lwps", changes.CPU: "cpus"}[kind]
            history.setdefault((key, cpu if kind == changes.CPU else a), []).append((at, state))
    end = found[-1][0]
    times = [end * i / 97 for i in range(98)]

    def state_at(pieces, at):
        i = bisect.bisect_right(pieces, at, key=lambda one: one[0]) - 1
        return pieces[i][1] if i >= 0 else 0

    def spent(pieces, state):
        ends = [*[at for at, _ in pieces[1:]], end]
        return sum(until - at for (at, one), until in zip(pieces, ends) if one == state)

    with Opened(browser, (recorded[0] / "page.html").as_uri()).loaded() as opened:
        for (key, number), pieces in history.items():
            track = f"weftMonitor.runs[0].store.{key}[{number}].track"
            assert opened.js(f"{times}.map(t => {track}.stateAt(t))") == [state_at(pieces, at) for at in times]
            sums = opened.js(f"[...{track}.times(0, {end}, new Float64Array(8))]")
            assert sums == pytest.approx([spent(pieces, state) for state in range(8)], abs=1e-3)


def test_what_the_monitor_takes(browser, recorded):  # noqa: F811 (the fixture)
    """Its row has the instructions of all records of the command, of which each takes 48 or 57."""
    what, _ = read(recorded[0] / "rec")
    numbers = re.findall(r"(\d+) (?:record|instruction)s", what["facts"]["cost"])
    records, spent = (int(number) for number in numbers)
    assert 48 * records < spent < 57 * records
    assert what["costs"] == sorted(what["costs"]) and what["costs"][-1][1] == spent
    end = what["costs"][-1][0]
    with Opened(browser, (recorded[0] / "page.html").as_uri()).loaded() as opened:
        share = opened.js(f"weftMonitor.runs[0].store.monitorShare(0, {end})")
        assert share == pytest.approx(100 * spent / (end / 10))  # --mips 100: an instruction takes 10 ns
        assert f"would be {share:.2g} % of a CPU" in what["facts"]["cost"]
        half = opened.js(f"[0, {end / 2}].map(t => weftMonitor.runs[0].store.monitorShare(t, t + {end / 2}))")
        assert sum(half) / 2 == pytest.approx(share)


def test_a_recording_says_how_to_get_a_backtrace(browser, recorded, few):  # noqa: F811 (the fixture)
    """In exact timing the run repeats; the line changes with the cursor.  In fast timing there is none."""
    with Opened(browser, (recorded[0] / "page.html").as_uri()).loaded() as opened:
        what, found = read(recorded[0] / "rec")
        opened.js("weftMonitor.choose(weftMonitor.runs[0], 'thread', weftMonitor.runs[0].store.threads[1])")
        opened.frame()
        opened.page.keyboard.press("b")
        for at in (found[100][0], found[-1][0]):
            opened.js(f"weftMonitor.go({at})")
            opened.frame()
            line = opened.page.locator(".details pre").inner_text()
            assert f"tools/weft gdb --reverse --at {what['facts']['begin'] + at:.0f} --smp 4 --model mxn" in line
            assert "-- barrier -s 2 -i 5 -n 20" in line
    with Opened(browser, few[1]).loaded() as opened:
        opened.js("weftMonitor.choose(weftMonitor.runs[0], 'thread', weftMonitor.runs[0].store.threads[1])")
        opened.frame()
        opened.page.keyboard.press("b")
        assert opened.page.locator(".details button").is_hidden()
        assert opened.page.locator(".details pre").is_hidden()


def test_steps(browser, few):
    """Each step goes to the time of the next change, and back to the one before."""
    times = sorted({one[0] for one in read(few[2])[1]})
    with Opened(browser, few[1]).loaded() as opened:
        opened.page.keyboard.press("Home")
        went = []
        for _ in range(12):
            opened.page.keyboard.press("ArrowRight")
            went.append(opened.js("weftMonitor.time.now"))
        assert went == times[1:13]
        for at in reversed(times[1:12]):
            opened.page.keyboard.press("ArrowLeft")
            assert opened.js("weftMonitor.time.now") == at
        opened.frame()
        assert opened.page.locator("#clock").inner_text().replace("\u202f", "") == f"{times[1]:.0f} ns"
        said = opened.page.locator(".details ol li.last").first.inner_text()
        assert said.replace("\u202f", "").startswith(f"{times[1]:.0f} ns ")


def test_controls(browser, few):
    _, url, _ = few
    with Opened(browser, url).loaded() as opened:
        tab, js = opened.page, opened.js
        tab.locator("#play").click()
        assert js("weftMonitor.time.playing")
        before = js("weftMonitor.time.now")
        opened.until(f"weftMonitor.time.now > {before}")
        tab.keyboard.press("Space")
        assert not js("weftMonitor.time.playing")
        tab.locator("#speed").select_option("1000000")
        assert js("weftMonitor.time.rate(0, 1)") == 1e6
        span = js("weftMonitor.time.b - weftMonitor.time.a")
        tab.locator("#in").click()
        assert js("weftMonitor.time.b - weftMonitor.time.a") == pytest.approx(span / 2)
        tab.keyboard.press("-")
        assert js("weftMonitor.time.b - weftMonitor.time.a") == pytest.approx(span)
        tab.keyboard.press("+")
        left = js("weftMonitor.time.a")
        tab.keyboard.press("Shift+ArrowRight")
        assert js("weftMonitor.time.a") > left
        tab.keyboard.press("0")
        assert js("weftMonitor.time.a <= weftMonitor.begin && weftMonitor.time.b >= weftMonitor.end")
        tab.locator("#dark").click()
        assert js("document.documentElement.dataset.theme") == "dark"
        tab.keyboard.press("?")
        assert tab.locator("#keys").is_visible()
        tab.keyboard.press("Escape")
        tab.keyboard.press("g")
        opened.frame()
        assert js("weftMonitor.runs[0].sections[0].isGrouped()")
        assert tab.locator("#group").get_attribute("aria-pressed") == "true"


def test_search_and_choice(browser, few):
    machine, url, _ = few
    with Opened(browser, url).loaded() as opened:
        tab, js = opened.page, opened.js
        tab.keyboard.press("End")
        tab.keyboard.press("/")
        tab.keyboard.type("run queue")
        found = set(js("weftMonitor.runs[0].sections[0].shown.map(one => one.id)"))
        assert found == {number for number, (state, _) in machine.states.items() if state == recordings.RUN_QUEUE}
        tab.locator("#search").fill("worker7")
        assert js("weftMonitor.runs[0].sections[0].shown.map(one => one.label)") == ["7"]
        tab.keyboard.press("Escape")
        assert len(js("weftMonitor.runs[0].sections[0].shown.map(one => one.label)")) == 9
        # And not the fifth, which has ended before.
        assert js("weftMonitor.runs[0].sections[1].shown.map(one => one.label)") == ["2/1", "2/2", "2/3", "2/4"]
        section = tab.locator(".rows.thread canvas").bounding_box()
        tab.mouse.click(section["x"] + 40, section["y"] + 2.5 * 17)
        opened.frame()
        details = tab.locator(".details dl").inner_text()
        assert "3 worker3" in details and changes.THREAD_STATES[machine.states[2][0]] in details
        box = js("weftMonitor.runs[0].mapping.boxes.find(one => one.kind == 'cpu')")
        mapping = tab.locator("canvas.mapping").bounding_box()
        tab.mouse.click(mapping["x"] + box["x"] + 5, mapping["y"] + box["y"] + 5)
        opened.frame()
        assert "run queue" in tab.locator(".details dl").inner_text()
        tab.keyboard.press("Escape")
        assert js("weftMonitor.chosen") is None


def test_dragging_and_the_wheel(browser, few):
    with Opened(browser, few[1]).loaded() as opened:
        tab, js = opened.page, opened.js
        box = tab.locator(".rows.thread canvas").bounding_box()
        x, y = box["x"] + 500, box["y"] + 40
        a, at = js("[weftMonitor.time.a, weftMonitor.runs[0].sections[0].sheet.t(500)]")
        tab.mouse.move(x, y)
        assert tab.locator("#tip").is_visible()
        tab.mouse.wheel(0, -300)
        opened.until(f"weftMonitor.time.a > {a}")
        opened.frame()
        assert js("weftMonitor.runs[0].sections[0].sheet.t(500)") == pytest.approx(at, rel=1e-6)
        a = js("weftMonitor.time.a")
        tab.mouse.down()
        tab.mouse.move(x - 120, y, steps=4)
        tab.mouse.up()
        assert js("weftMonitor.time.a") > a
        axis = tab.locator("canvas.axis").bounding_box()
        tab.mouse.click(axis["x"] + 600, axis["y"] + 8)
        assert js("weftMonitor.time.now") == pytest.approx(js("weftMonitor.runs[0].axisSheet.t(600)"))


EVIL = "<img src=x onerror=alert(1)></script>"


def test_names_are_only_names(browser, tmp_path):
    recordings.write(tmp_path / "rec", 5, 2, 20, name=EVIL)
    url = html_of(tmp_path / "rec", tmp_path / "evil.html", runs=[EVIL], caption=EVIL, title=EVIL)
    with Opened(browser, url).loaded() as opened:
        opened.page.keyboard.press("j")
        opened.frame()
        assert EVIL in opened.page.locator(".details").inner_text() and opened.page.locator("img").count() == 0
        assert opened.page.locator("#caption").inner_text() == EVIL and opened.page.title() == EVIL


def test_the_policy_forbids_the_rest(browser, few):
    """A script that is put into the page does not run, and nothing is fetched."""
    opened = Opened(browser, few[1]).loaded()
    opened.js("""() => { const one = document.createElement("script"); one.textContent = "globalThis.bad = 1";
        document.body.append(one); }""")
    assert opened.js("globalThis.bad") is None
    assert opened.js("fetch('data:,x').then(() => 'came', () => 'refused')") == "refused"
    assert opened.said and all("Content Security Policy" in text or "violates" in text for text in opened.said)
    opened.page.close()


def test_a_damaged_recording_is_told(browser, few, tmp_path):
    (tmp_path / "bad").write_bytes(b"this is something else, and long enough")
    opened = Opened(browser, html_of(tmp_path / "bad", tmp_path / "bad.html"))
    opened.page.locator("#trouble").wait_for(state="visible")
    assert "no recording" in opened.page.locator("#trouble").inner_text()
    opened.page.close()


def work_of_a_frame(opened, does, frames=10, rounds=3):
    """Milliseconds that the page's thread has a core for a frame: its script, layout and painting.  The other
    durations that Chromium tells, ScriptDuration among them, are of the wall's clock, whatever its time domain.
    Of some rounds the least counts, since other work of the host makes a core slower, and never faster."""
    metrics = opened.page.context.new_cdp_session(opened.page)
    metrics.send("Performance.enable")

    def spent():
        """(milliseconds, frames) since the page began."""
        found = metrics.send("Performance.getMetrics")["metrics"]
        work = next(one["value"] for one in found if one["name"] == "ThreadTime")
        return 1000 * work, opened.js("weftMonitor.frame")

    def draw(count):
        opened.js(f"""new Promise(done => {{
            const end = weftMonitor.frame + {count}, next = () => {{
                weftMonitor.changed();
                weftMonitor.frame >= end ? done() : requestAnimationFrame(next);
            }};
            next();
        }})""")

    opened.js(f"(() => {{ {does} }})()")
    draw(5)  # what is compiled at the first frames is not part of the others
    found = []
    for _ in range(rounds):
        before, first = spent()
        draw(frames)
        after, last = spent()
        assert after > before and last - first >= frames
        found.append((after - before) / (last - first))
    metrics.detach()
    return min(found)


def test_ten_thousand_threads(browser, tmp_path):
    """Each view of them takes the page's thread less than four times what it takes with ten.  On a laptop that is
    less than a frame has at 30 a second.  Most of it is painting, which takes longer on a slower host."""
    pages = []
    for threads in (10, 10_000):
        recordings.write(tmp_path / f"{threads}.rec", threads, 8, 12_000)
        pages.append(html_of(tmp_path / f"{threads}.rec", tmp_path / f"{threads}.html"))
    with Opened(browser, pages[0]).loaded() as few, Opened(browser, pages[1]).loaded() as many:
        assert many.js("weftMonitor.runs[0].sections[0].isGrouped()")
        for does in ("weftMonitor.go(0); weftMonitor.play()", "weftMonitor.group()", "weftMonitor.zoom(0.01)",
                     "weftMonitor.search('worker1')", "weftMonitor.search(''); weftMonitor.high(-15)"):
            assert work_of_a_frame(many, does) < 4 * work_of_a_frame(few, does), does
        count = many.js("[...weftMonitor.runs[0].store.counts.at(weftMonitor.end)].slice(1)")
        assert sum(count) == 10_000


def test_two_runs_in_step(browser, tmp_path):
    done = monitor("--batch", "--html", tmp_path / "both.html", "--compare", "--model mxn", "--model lwp",
                   *COMMAND[:4], *COMMAND[6:])
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == ["1", "2"]
    with Opened(browser, (tmp_path / "both.html").as_uri()).loaded() as opened:
        assert opened.page.locator(".run").count() == 2
        titles = opened.page.locator(".run h1").all_inner_texts()
        assert "--model mxn" in titles[0] and "--model lwp" in titles[1]
        opened.page.keyboard.press("Home")
        opened.page.keyboard.press("ArrowRight")
        opened.frame()
        first = [read_time(opened, run) for run in (0, 1)]
        assert opened.js("weftMonitor.time.now") == min(first)
        assert opened.js("document.documentElement.scrollWidth") == 1280


def read_time(opened, run):
    return opened.js(f"weftMonitor.runs[{run}].store.nextTime(0)")


@pytest.fixture
def living():
    """living(*words): a weft monitor that runs, and its page's URL.  It is ended as by Ctrl-C."""
    begun = []

    def begin(*words):
        process = subprocess.Popen([*WEFT, "monitor", "--no-build", *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun.append(process)
        return process, re.search(r"http://\S+", process.stderr.readline())[0]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.parametrize("how", [(), ("--sample", "10")], ids=["events", "samples"])
def test_a_running_guest(browser, living, how):
    """Its rows grow while it runs, and a thread's stack is shown.  The guest goes on behind that."""
    process, url = living(*how, "--smp", "2", "--timing", "fast", "--", "states", "600")
    with Opened(browser, url) as opened:
        store = "weftMonitor.runs[0].store"
        opened.until(f"{store}.threads.filter(one => one && one.pid == 2).length > 4")
        number = opened.js(f"{store}.threads.findIndex(one => one && one.pid == 2 && one.label == '2')")
        opened.until(f"{store}.threads[{number}].track.stateAt({store}.end) == {recordings.BLOCKED}")
        assert opened.js("weftMonitor.time.live")
        opened.until("weftMonitor.runs[0].sections[0].shown.length > 4")
        row = opened.js(f"weftMonitor.runs[0].sections[0].shown.indexOf({store}.threads[{number}])")
        high = opened.js("weftMonitor.runs[0].sections[0].row")
        section = opened.page.locator(".rows.thread canvas").bounding_box()
        opened.page.mouse.click(section["x"] + 40, section["y"] + (row + 0.5) * high)
        for again in range(2):
            if again:
                opened.page.locator(".details button").click()
            opened.page.locator(".details pre", has_text="wait_for_mutex").wait_for(timeout=60_000)
            opened.js("document.querySelector('.details pre').textContent = ''")
        before = opened.js(f"{store}.end")
        opened.until(f"{store}.end > {before}")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        opened.until("weftMonitor.over")
        assert [text for text in opened.said if "ERR_" not in text] == []
        opened.said.clear()


def test_the_page_stays(browser, living):
    """When the guest has ended.  A question for a backtrace is answered with words."""
    process, url = living("--timing", "exact", "--", "true")
    with Opened(browser, url).loaded() as opened:
        assert opened.js("weftMonitor.runs[0].store.facts.status") == 0
        assert "has ended with status 0" in process.stderr.readline() and process.poll() is None
        with pytest.raises(urllib.error.HTTPError) as raised:
            get(url + "backtrace/0/0", method="POST")
        assert raised.value.read() == b"the guest has ended"
        opened.page.reload()
        opened.loaded()


def test_a_recording_is_served(browser, recorded, living):  # noqa: F811 (the fixture)
    process, url = living("--open", str(recorded[0] / "rec"))
    with Opened(browser, url).loaded() as opened:
        assert opened.js("weftMonitor.runs[0].store.n") == len(read(recorded[0] / "rec")[1])
        assert not opened.js("weftMonitor.time.playing")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
