"""weft monitor: the stacks of threads and LWPs that have left, in a recording, and a click that shows them."""

import re
import subprocess
from collections import defaultdict

import pytest
from browser import launched
from conftest import TOP, WEFT
from recordings import read
from test_monitor import COMMAND, monitor
from test_monitor_page import Opened
from weft_debug.unwind import PUSH_RBP
from weft_host.paths import BUILD
from weft_monitor import changes
from weft_trace import ring, stacks
from weft_trace.elf import Elf

BARRIER = BUILD / "bin/barrier"
ROUND = ["--timing", "exact", "--smp", "4", "--", "barrier", "-t", "5", "-s", "20", "-n", "2"]


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The page of two runs, by --compare."""
    path = tmp_path_factory.mktemp("both") / "both.html"
    done = monitor("--batch", "--html", path, "--compare", "--model mxn", "--model lwp", *ROUND)
    assert done.returncode == 0
    return path


def functions(text):
    """Of a stack, the innermost first."""
    return [line.partition("+")[0] for line in text.split("\n")]


def is_part(some, whole):
    """Do these come one after another, in this order, perhaps with others between?"""
    rest = iter(whole)
    return all(one in rest for one in some)


@pytest.mark.parametrize(("model", "leaves"), [
    ("mxn", ["__mxn_switch"]), ("lwp", ["__sys_lwp_park"]), ("sa", ["__mxn_switch", "__local_switch"])])
def test_each_thread_that_blocks_has_its_stack(model, leaves, tmp_path):
    """At the time at which it is Blocked, from the wait down to the thread's first function."""
    # A thread of sa can run on another CPU, and end, before its waker's record.  With a short quantum it cannot.
    quantum = ["--quantum", "50"] if model == "sa" else []
    done = monitor("--batch", "--record", tmp_path / "rec", "--model", model, *quantum, *ROUND)
    assert done.returncode == 0
    what, found = read(tmp_path / "rec")
    texts, workers = dict(what["texts"]), {row[0] for row in what["threads"] if row[1] == 2 and row[2] != "1"}
    told = defaultdict(list)  # thread: (time, functions)
    blocked, states = [], {}
    for at, kind, state, _, a, _, c in found:
        if kind == changes.STACK and state == 1:
            told[a].append((at, functions(texts[c])))
        elif kind == changes.THREAD and a in workers:
            before, states[a] = states.get(a), changes.THREAD_STATES[state]
            if (before, states[a]) == ("On LWP", "Blocked"):
                blocked.append((at, a))
    assert len(workers) == 5 and len(blocked) >= 10
    ends = 0
    for at, thread in blocked:
        # In the model lwp it leaves a little later, in the kernel; if its wait is over by then, it stays.
        stack = next((stack for when, stack in told[thread] if at <= when <= at + 1000), None)
        if stack is None:
            assert model == "lwp"
            continue
        ends += 1
        assert stack[0] in leaves and is_part(["work", "__thread_main"], stack)
    assert ends >= 8
    main = next(row[0] for row in what["threads"] if row[1:3] == [2, "1"])
    # In sa, __thread_join jumps to join_apart.
    assert any(is_part([join, "thr_join", "main", "__libc_start"], stack)
               for join in ("__thread_join", "join_apart") for _, stack in told[main])


@pytest.mark.parametrize(("model", "stack"), [
    ("mxn", ["__sys_lwp_park", "__pool_scheduler"]), ("sa", ["__sys_upcall_idle", "activation_scheduler"])])
def test_an_lwp_without_a_thread_has_a_stack(model, stack, tmp_path):
    """It sleeps because the pool has no thread for it."""
    assert monitor("--batch", "--record", tmp_path / "rec", "--model", model, *ROUND).returncode == 0
    what, found = read(tmp_path / "rec")
    texts = dict(what["texts"])
    mine = [functions(texts[c]) for _, kind, state, *_, c in found if kind == changes.STACK and state == 0]
    assert any(is_part(stack, one) for one in mine)


@pytest.fixture(scope="module")
def no_frames(tmp_path_factory):
    path = tmp_path_factory.mktemp("no_frames") / "no_frames"
    subprocess.run([*WEFT, "cc", "--no-build", "-O2", TOP / "tests/cc/no_frames.c", "-o", path], check=True)
    return path


@pytest.mark.parametrize("model", ["mxn", "lwp", "sa"])
def test_any_number_may_be_in_rbp(model, no_frames, tmp_path):
    """The run of exact timing is the same to the byte.  Both timings find the innermost functions."""
    options = ["--smp", "2", "--model", model, "--file", no_frames]
    plain = subprocess.run([*WEFT, "run", "--no-build", "--timing", "exact", *options, "--", "no_frames"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"16 turns at \S+\n", plain.stdout)
    for timing in (["--timing", "exact"], ["--timing", "fast", "--stacks"]):
        done = monitor("--batch", "--record", tmp_path / "rec", *timing, *options, "--", "no_frames")
        assert done.returncode == 0, done.stderr
        if timing[1] == "exact":
            assert done.stdout == plain.stdout
        what, found = read(tmp_path / "rec")
        texts = dict(what["texts"])
        said = {texts[c] for _, kind, *_, c in found if kind == changes.STACK}
        # turn_wait has a frame; where RBP leads from there, nobody can say.
        assert any(is_part(["cond_wait_here", "turn_wait", "without_frame"], functions(one)) for one in said)


def test_fast_timing_keeps_stacks_only_if_asked(tmp_path):
    options = ["--smp", "2", "--model", "mxn", "--", "barrier", "-n", "20"]
    found, records, spent = {}, {}, {}
    for how in ((), ("--stacks",)):
        assert monitor("--batch", "--record", tmp_path / "rec", *how, *options).returncode == 0
        what, told = read(tmp_path / "rec")
        found[how] = sum(one[1] == changes.STACK for one in told)
        records[how], spent[how] = map(int, re.findall(r"(\d+) (?:record|instruction)", what["facts"]["cost"]))
    assert found[()] == 0 and found["--stacks",] > 20
    # A record has at most 60 instructions.  What stacks take is told too: some hundred each.
    each = spent[()] / records[()]
    assert each <= 60
    assert (spent["--stacks",] - each * records["--stacks",]) / found["--stacks",] > 100


# --- the page -----------------------------------------------------------------------------------------

def click_row(opened, run, label):
    """On the row of a thread of the command."""
    row, high = opened.js(f"""(() => {{
        const [section] = weftMonitor.runs[{run}].sections;
        return [section.shown.findIndex(one => one.label == "{label}" && one.pid == 2), section.row];
    }})()""")
    box = opened.page.locator(".rows.thread canvas").nth(run).bounding_box()
    opened.page.mouse.click(box["x"] + 40, box["y"] + (row + 0.5) * high)
    opened.frame()


def test_a_click_in_a_recording_shows_the_stack(browser, both, tmp_path):
    """Of a file with --compare: in the run that is clicked, the stack and what is known of the thread; it follows
    the cursor."""
    with Opened(browser, both.as_uri()).loaded() as opened:
        for run, leaf in enumerate(("__mxn_switch", "__sys_lwp_park")):
            store = f"weftMonitor.runs[{run}].store"
            thread = f"{store}.threads.find(one => one && one.label == '3')"
            opened.js(f"(one => weftMonitor.go(one.track.stacks.t.a[one.track.stacks.t.n - 2]))({thread})")
            click_row(opened, run, "3")
            details = opened.page.locator(".details").nth(run)
            details.locator("pre", has_text=leaf).wait_for()
            assert "3 barrier" in details.locator("dl").inner_text()
            assert "work+0x" in details.locator("pre").inner_text()
            assert "Click on a row" in opened.page.locator(".details").nth(1 - run).inner_text()
            opened.js(f"(one => weftMonitor.go(one.track.t.a[0] + 1))({thread})")
            opened.frame()
            assert leaf not in details.locator("pre").inner_text()
        box = opened.page.locator(".details").first.bounding_box()
        assert box["width"] > 150 and opened.js("document.documentElement.scrollWidth") == 1280


def test_a_thread_that_runs_says_so(browser, tmp_path):
    assert monitor("--batch", "--html", tmp_path / "page.html", *COMMAND).returncode == 0
    with Opened(browser, (tmp_path / "page.html").as_uri()).loaded() as opened:
        store = "weftMonitor.runs[0].store"
        at = opened.js(f"""(() => {{
            const {{track}} = {store}.threads.find(one => one && one.label == "3");
            for (let i = track.t.n - 2; i > 0; i--)
                if (track.s.a[i] == 5 && track.t.a[i + 1] - track.t.a[i] > 100 &&
                        track.stacks.t.a[0] < track.t.a[i])
                    return track.t.a[i + 1] - 1;
        }})()""")
        opened.js(f"weftMonitor.go({at})")
        click_row(opened, 0, "3")
        said = opened.page.locator(".details pre").inner_text()
        assert said.startswith("It runs. Its stack ") and "#0 " in said


# --- what the words mean ------------------------------------------------------------------------------

def record(cpu, *words):
    halves = [*words, *[0] * (-len(words) % 6)]
    return [ring.Record(5, cpu, stacks.POINT, tuple(halves[i + j] | halves[i + j + 1] << 32 for j in (0, 2, 4)))
            for i in range(0, len(halves), 6)]


def test_parts_of_a_stack():
    parts = stacks.Parts()
    long = [*range(1, 19)]
    first, second, third = record(0, *long)
    assert parts.add(first) is None and parts.add(second) is None
    assert parts.add(record(1, 1, 2, 3)[0]) == [1, 2, 3, 0, 0, 0]  # another CPU
    assert parts.add(third) == long
    assert parts.add(first) is None
    parts.begin(0)  # the rest is lost
    assert parts.add(record(0, 7, 8)[0]) == [7, 8, 0, 0, 0, 0]


def address(name):
    elf = Elf(BARRIER.read_bytes(), "barrier")
    return next(one.start for one in elf._symbols[0] if one.name == name), elf


def calls(*words):
    words = [*words, *[0] * (18 - len(words))]
    return [one.partition("+")[0] for one in stacks.Program(BARRIER).calls(words).split(",")]


def test_a_function_without_a_frame_yet():
    """At its first instruction the return address is at RSP; behind PUSH RBP, eight bytes higher; then there is a
    frame."""
    join, elf = address("thr_join")
    work, main, begin = (address(name)[0] for name in ("work", "main", "__thread_main"))
    assert elf.read(join, 1) == PUSH_RBP and elf.read(join + 6, 4) == b"\x48\x89\xe5" + b"\x53"
    assert calls(join, main + 20, 0, begin + 20) == ["thr_join", "main", "__thread_main"]
    assert calls(join + 1, 0, main + 20, begin + 20) == ["thr_join", "main", "__thread_main"]
    assert calls(join + 9, main + 20, main + 20, begin + 20) == ["thr_join", "__thread_main"]
    switch, _ = address("__mxn_switch")  # of assembly
    assert calls(switch, work + 20, 0, begin + 20) == ["__mxn_switch", "work", "__thread_main"]
