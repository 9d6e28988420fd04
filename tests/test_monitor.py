"""weft monitor: the recording says what the trace says, and a browser and a terminal show it.

Recordings of guests come from exact timing; recordings.py makes others.  Of the page is measured how long a core
works for a frame, not how many frames a busy host shows.
"""

import bisect
import io
import json
import math
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import recordings
from browser import launched
from conftest import WEFT
from recordings import read
from rich.console import Console
from weft_host import cli
from weft_host.machine import HostError, Machine, UsageError
from weft_host.watched import Watched
from weft_monitor import changes, live, scenes, terminal
from weft_monitor.check import check
from weft_monitor.page import modules, page
from weft_monitor.server import Growing, Server
from weft_trace import ring

COMMAND = ["--timing", "exact", "--smp", "4", "--model", "mxn", "--mips", "100",
           "--", "barrier", "-s", "2", "-i", "5", "-n", "20"]


def monitor(*words, **options):
    done = subprocess.run([*WEFT, "monitor", "--no-build", *map(str, words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, **options)
    return done


# --- recordings ---------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Of a guest: its files, and how the command ended."""
    directory = tmp_path_factory.mktemp("recorded")
    done = monitor("--batch", "--record", directory / "rec", "--html", directory / "page.html", *COMMAND)
    return directory, done


def test_a_recording_changes_no_byte(recorded):
    plain = subprocess.run([*WEFT, "run", "--no-build", *COMMAND], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=120)
    assert (recorded[1].stdout, recorded[1].stderr, recorded[1].returncode) == (plain.stdout, "", 0)
    assert "barrier_ns" in plain.stdout


def test_the_recording_agrees_with_the_trace(recorded, tmp_path):
    """Which LWP each CPU runs, and states of LWPs and threads, from the raw records, by this test's own rules."""
    done = subprocess.run([*WEFT, "trace", "--no-build", "--raw", tmp_path / "raw", *COMMAND],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert done.returncode == 0
    what, found = read(recorded[0] / "rec")
    names = {number: f"{pid}/{own}" for number, pid, own, _ in what["lwps"]} | {changes.NONE: "idle"}
    threads = {number: f"{pid}.{own}" for number, pid, own, _ in what["threads"] if pid == 2}
    told = {}  # (time, CPU): LWP
    parked, states = set(), set()
    for at, kind, state, cpu, a, _, _ in found:
        if kind == changes.CPU:
            told[at, cpu] = names[a]
        elif kind == changes.LWP and changes.LWP_STATES[state] == "Parked":
            parked.add((at, names[a]))
        elif kind == changes.THREAD and a in threads:
            states.add((at, threads[a], changes.THREAD_STATES[state].replace(" ", "")))
    begin = None
    expected, expected_parked, expected_states = {}, set(), set()
    for line in (tmp_path / "raw").read_text().splitlines():
        when, cpu, event, *values = line.split(" ")
        values = dict(value.split("=", 1) for value in values)
        if event == "process_new" and values["pid"] == "2":
            begin = int(when)
        if begin is None:
            continue
        if event == "on_cpu":
            expected[int(when) - begin, int(cpu)] = values["lwp"]
        if event == "off_cpu" and values["mstate"] == "lock":
            expected_parked.add((int(when) - begin, values["lwp"]))
        for name, state in (("thread", values.get("state", "Dispatchable")), ("next", "OnLWP")):
            if event in ("thread_switch", "thread_dispatchable") and values.get(name, "").startswith("2."):
                expected_states.add((int(when) - begin, values[name], state))
    assert len(expected) > 100 and len(expected_parked) > 30
    assert {key: lwp for key, lwp in told.items() if key in expected} == expected
    assert parked == expected_parked
    assert len(expected_states) > 100 and states >= expected_states
    assert {state for _, _, state in expected_states} >= {"Blocked", "Dispatchable", "OnLWP"}
    assert what["facts"]["status"] == 0 and what["over"] and what["cpus"] == 4


def test_times_of_states(recorded):
    """Of each CPU, the pieces of its states have no gap and add up to the whole."""
    what, found = read(recorded[0] / "rec")
    for cpu in range(4):
        mine = [(at, state) for at, kind, state, where, *_ in found if kind == changes.CPU and where == cpu]
        assert mine[0][0] == 0 and mine == sorted(mine, key=lambda one: one[0])
        assert all(one[1] in (1, 3, 4) for one in mine)
    times = [one[0] for one in found]
    assert times == sorted(times) and times[-1] <= what["now"]


def damaged(data, how):
    match how:
        case "no magic":
            return b"weft crash 1\n" + data[13:]
        case "half a head":
            return data[:len(changes.MAGIC) + 3]
        case "half a block":
            return data[:-7]
        case "wrong bytes":
            at = len(changes.MAGIC) + changes.HEAD.size + 30
            return data[:at] + b"\xff\xfe\xfd" + data[at + 3:]
        case "a huge block":
            return changes.MAGIC + changes.HEAD.pack(0xfffffff0, b"C") + b"x"
        case "an unknown block":
            return changes.MAGIC + changes.block(b"Q", b"")
        case "changes of no number":
            return changes.MAGIC + changes.block(b"C", bytes(25))


@pytest.mark.parametrize("how", ["no magic", "half a head", "half a block", "wrong bytes", "a huge block",
                                 "an unknown block", "changes of no number"])
def test_a_damaged_recording(recorded, how, tmp_path, capsys):
    path = tmp_path / "damaged"
    path.write_bytes(damaged((recorded[0] / "rec").read_bytes(), how))
    assert cli.main(["monitor", "--batch", "--open", str(path), "--html", str(tmp_path / "page")]) == 69
    said = capsys.readouterr().err
    assert said.startswith(f"weft monitor: {path}: ") and said.count("\n") == 1
    assert not (tmp_path / "page").exists()


def definitions(**what):
    known = {"cpus": 1, "threads": [[0, 2, "1", "x"]], "texts": [[0, "x"]]}
    return changes.block(b"J", json.dumps(known | what).encode())


def change(at, kind, state=0, cpu=0, a=0, b=-1, c=-1):
    return changes.block(b"C", changes.CHANGE.pack(at, kind, state, cpu, a, b, c))


@pytest.mark.parametrize("blocks, said", [
    ([changes.block(b"J", b"[]")], "definitions that are none"),
    ([changes.block(b"J", b"[" * 100_000)], "recursion"),
    ([definitions(cpus="1")], "cpus is no int"),
    ([definitions(cpus=10 ** 9)], "1000000000 CPUs"),
    ([definitions(now=math.nan)], "now is no float"),
    ([definitions(threads="x")], "threads is no list"),
    ([definitions(threads=[[0, 2, "1"]])], "threads has a row of another form"),
    ([definitions(threads=[[0, 2, "1", 5]])], "threads has a row of another form"),
    ([definitions(threads=[[10 ** 9, 2, "1", "x"]])], "threads has the number 1000000000 out of turn"),
    ([definitions(), change(5, changes.QUEUE), change(4, changes.QUEUE)], "time goes from 5.0 to 4.0"),
    ([definitions(), change(math.nan, changes.THREAD)], "time goes from 0.0 to nan"),
    ([definitions(), change(0, 99)], "a change of kind 99"),
    ([definitions(), change(0, changes.THREAD, a=1)], "a change of kind 1"),
    ([definitions(), change(0, changes.THREAD, state=6)], "a change of kind 1"),
    ([definitions(), change(0, changes.LWP)], "a change of kind 2"),
    ([definitions(), change(0, changes.CPU, cpu=1, a=-1)], "a change of kind 3"),
    ([definitions(), change(0, changes.QUEUE, a=-1)], "a change of kind 4"),
    ([definitions(), change(0, changes.WOKEN, a=0)], "a change of kind 5"),
    ([definitions(), change(0, changes.NOTE, a=-1)], "a change of kind 6"),
    ([definitions(), change(0, changes.OWNER, a=1)], "a change of kind 7"),
    ([definitions(), change(0, changes.STACK, state=1, c=1)], "a change of kind 8"),
    ([changes.block(b"C", bytes(changes.MOST + 1))], "a block has too many bytes"),
])
def test_what_a_recording_cannot_say(blocks, said, tmp_path):
    """The page and the terminal rely on it."""
    (tmp_path / "rec").write_bytes(changes.MAGIC + b"".join(blocks))
    with pytest.raises(HostError, match=said):
        check(tmp_path / "rec")
    (tmp_path / "rec").write_bytes(changes.MAGIC + definitions() + change(0, changes.THREAD, 5, c=0))
    assert check(tmp_path / "rec") == ("rec", 0)


@pytest.mark.parametrize("words, said", [
    ([], "needs a command"),
    (["--batch", "--", "true"], "--batch has no meaning"),
    (["--open", "x", "--", "true"], "no command"),
    (["--open", "x", "--scene", "fine"], "no command"),
    (["--scene", "moon"], "there is no 'moon'; there are adaptive, coarse,"),
    (["--scene", "fine", "--", "true"], "a command of its own"),
    (["--compare", "--smp 2", "--wrong x", "--", "true"], "--wrong is no option of a guest"),
    (["--compare", "--smp 2", "--smp x", "--", "true"], "--compare: '--smp x'"),
    (["--compare", "", "", "--record", "x", "--", "true"], "--record keeps one run"),
    (["--tui", "--batch", "--", "true"], "--tui shows one run"),
])
def test_what_cannot_be(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["monitor", "--no-build", *words]) == 2
    assert said in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(capsys):
    """Said before a guest runs."""
    assert cli.main(["monitor", "--no-build", "--batch", "--record", "/nowhere/rec", "--", "true"]) == 69
    assert capsys.readouterr().err == "weft monitor: /nowhere/rec: No such file or directory\n"


def test_a_port_that_cannot_be_had(recorded, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (str(taken.getsockname()[1]), "70000"):
            assert cli.main(["monitor", "--open", str(recorded[0] / "rec"), "--port", port]) == 69
            assert capsys.readouterr().err.startswith(f"weft monitor: --port {port}: ")


def test_scenes_are_complete():
    for name in scenes.names():
        scene = scenes.scene(name)
        assert scene.title and scene.figures and len(scene.caption) > 100 and scene.argv
        assert all("--timing exact" in options for options in scene.options)
    with pytest.raises(UsageError):
        scenes.scene("../fine")


class Rings:
    """Of two CPUs, which a test fills."""

    def __init__(self):
        self.new = []

    def drain(self):
        taken, self.new = self.new, []
        return iter(taken)


def record(when, cpu):
    return ring.Record(when, cpu, 0, (0, 0, 0))


def test_records_come_in_order():
    """In exact timing: a record waits until no clock can be before it."""
    rings = Rings()
    order = live.InOrder(rings, margin=100)
    rings.new = [record(1000, 0), record(2000, 0), record(1500, 1)]
    assert list(order.drain()) == []
    rings.new = [record(1950, 1), record(2500, 1)]
    assert [one.time for one in order.drain()] == [1000, 1500]
    assert [one.time for one in order.drain()] == [1950, 2000]
    rings.new = [record(1900, 0)]  # two rounds late: no CPU of exact timing is
    assert [one.time for one in order.drain(all=True)] == [2000, 2500] and order.late == 1
    assert order.count == 6


def test_a_late_record_of_fast_timing(monkeypatch):
    """A quiet machine's records are told, and its time goes on."""
    clock = [50.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    rings = Rings()
    order = live.InOrder(rings, margin=None)
    rings.new = [record(2000, 0)]
    assert list(order.drain()) == []
    clock[0] += live.LATE / 2
    rings.new = [record(1000, 1)]
    assert list(order.drain()) == []
    clock[0] += live.LATE / 2
    assert [one.time for one in order.drain()] == [1000, 2000] and order.late == 0
    clock[0] += 1
    assert order.now() == pytest.approx(1e9 + 2000, abs=10)


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_lost_records_are_told(timing, tmp_path):
    """The recording goes on behind them."""
    machine = Machine(argv=["pp", "-i", "3000"], model="mxn", smp=2, timing=timing)
    one = Watched(machine, tmp_path, Growing(tmp_path / "rec"), "a test", records=64)
    assert one.run(lambda _: None, None).status == 0
    what, found = read(tmp_path / "rec")
    assert re.search(r"\d+ records LOST: states may be wrong", what["facts"]["cost"])
    assert len(found) > 50 and what["over"]


def test_a_guest_that_is_to_end_before_it_begins(tmp_path):
    """Ctrl-C comes while two guests are prepared: the threads that run them ask nobody again."""
    machine = Machine(argv=["sleep", "1000"], timing="fast", timeout=60)
    one = Watched(machine, tmp_path, Growing(tmp_path / "rec"), "a test")
    one.stop()
    begun = time.monotonic()
    assert one.run(lambda _: None, None).status != 0 and time.monotonic() - begun < 50
    check(tmp_path / "rec")


# --- a terminal ---------------------------------------------------------------------------------------

def shown(path):
    picture = terminal.Picture()
    with open(path, "rb") as file:
        for letter, data in changes.blocks(file, str(path)):
            picture.block(letter, data)
    console = Console(file=io.StringIO(), width=160, height=40)
    console.print(picture.show(40))
    return console.file.getvalue()


def test_a_terminal(tmp_path):
    machine = recordings.write(tmp_path / "rec", 9, 4, 300)
    said = shown(tmp_path / "rec")
    for number, (state, lwp) in machine.states.items():
        line, = [line for line in said.splitlines() if line.startswith(f"{number + 1} worker{number + 1} ")]
        assert changes.THREAD_STATES[state] in line and (lwp < 0 or f"2/{lwp + 1}" in line)
        assert 99 <= sum(int(one) for one in re.findall(r"(\d+) %", line)) <= 101


def test_a_terminal_has_room_for_some(tmp_path):
    recordings.write(tmp_path / "rec", 5000, 4, 100)
    said = shown(tmp_path / "rec")
    assert (len(said.splitlines()) <= 40 and "4996 Blocked" in said) or "Blocked" in said
    assert re.search(r"and \d+ more", said)


def test_a_guest_in_a_terminal():
    done = monitor("--tui", *COMMAND)
    assert done.returncode == 0 and "barrier_ns" in done.stdout and "CPU 3" in done.stdout


# --- the server ---------------------------------------------------------------------------------------

def get(url, **options):
    return urllib.request.urlopen(urllib.request.Request(url, **options), timeout=20)


def test_only_the_token_opens(tmp_path):
    recording = Growing(tmp_path / "rec")
    recording.write(b"some")
    asked = []

    def ask(*what):
        asked.append(what)
        return "a stack"

    with Server(lambda begin: f"page at {begin}", [recording], ask) as server:
        assert get(server.url).read().decode() == f"page at {server.path}"
        base = server.url.removesuffix(server.path)
        for path in ("/", "/x", server.path[:-1], server.path + "recording/1", server.path + "recording/x",
                     server.path + "../", server.path + "backtrace/0"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(base + path)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(base + "/backtrace/0/1", method="POST")
        assert asked == []
        assert get(server.url + "backtrace/0/1", method="POST").read() == b"a stack" and asked == [(0, 1)]
        growing = get(server.url + "recording/0")
        assert growing.read(4) == b"some"
        recording.write(b" more")
        assert growing.read(5) == b" more"
        recording.close()
        assert growing.read() == b""


def test_a_question_without_an_answer(tmp_path):
    def ask(run, thread):
        raise HostError("the guest has ended")

    with Server(lambda begin: "", [Growing(tmp_path / "rec")], ask) as server:
        with pytest.raises(urllib.error.HTTPError) as raised:
            get(server.url + "backtrace/0/0", method="POST")
        assert raised.value.code == 409 and raised.value.read() == b"the guest has ended"


# --- the page -----------------------------------------------------------------------------------------

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
def test_a_page_draws(browser, recorded, scheme):
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


def test_the_page_agrees_with_the_recording(browser, recorded):
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


def test_what_the_monitor_takes(browser, recorded):
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


def test_a_recording_says_how_to_get_a_backtrace(browser, recorded, few):
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


def test_a_recording_is_served(browser, recorded, living):
    process, url = living("--open", str(recorded[0] / "rec"))
    with Opened(browser, url).loaded() as opened:
        assert opened.js("weftMonitor.runs[0].store.n") == len(read(recorded[0] / "rec")[1])
        assert not opened.js("weftMonitor.time.playing")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
