"""weft monitor: the recording says what the trace says, and a terminal and a server show it.

Recordings of guests come from exact timing; recordings.py makes others.  test_monitor_page.py has the browser.
"""

import io
import json
import math
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import recordings
from conftest import WEFT
from recordings import read
from rich.console import Console
from weft_host import cli
from weft_host.machine import HostError, Machine, UsageError
from weft_host.watched import Watched
from weft_monitor import changes, live, scenes, terminal
from weft_monitor.check import check
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
    """The recording goes on behind them, to the end."""
    machine = Machine(argv=["pp", "-i", "3000"], model="mxn", smp=2, timing=timing)
    one = Watched(machine, tmp_path, Growing(tmp_path / "rec"), "a test", records=64)
    assert one.run(lambda _: None, None).status == 0
    what, found = read(tmp_path / "rec")
    assert re.search(r"\d+ records LOST: states may be wrong", what["facts"]["cost"])
    texts = dict(what["texts"])
    notes = [texts[text] for _, kind, *_, text in found if kind == changes.NOTE]
    assert notes[0] == "new process" and notes[-1] == "end of a process" and what["over"]


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
