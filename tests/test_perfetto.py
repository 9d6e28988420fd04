"""weft trace -o: what the Perfetto viewer reads out of it, by the viewer's own trace processor."""

import json
import subprocess

import pytest
from browser import launched
from test_stats import TRACE, trace_of
from weft_host import venv
from weft_host.cli import main
from weft_host.paths import TOP
from weft_trace.protobuf import data, fields, fixed, number, packed, text, varint

START = 1000000000
RECORDS = TRACE + """\
201 0 thread_first thread=2.1 id=1 bound=0
202 0 lock_own lock=0x4c8 kind=mutex
203 0 thread_new thread=2.2 id=2 bound=0
204 0 thread_state thread=2.2 state=RunQueue
205 0 thread_name thread=2.2 name=worker
206 0 lock_wait lock=0x4c0 kind=cond
207 0 lock_free lock=0x4c8 kind=mutex
208 0 thread_switch thread=2.1 state=Blocked next=2.2
218 0 thread_wake thread=2.1
220 0 thread_wake thread=2.1
221 0 thread_state thread=2.1 state=RunQueue
230 0 thread_exit thread=2.2
233 0 thread_leave thread=2.2 next=2.1
240 0 syscall number=exit
"""


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


def processor(browser, path):
    venv.add("perfetto")
    from trace_processor import TraceProcessor

    return TraceProcessor(browser, path)


@pytest.fixture(scope="module")
def known(browser, tmp_path_factory):
    """A trace whose times are known; in microseconds since its start."""
    place = tmp_path_factory.mktemp("known")
    (place / "raw").write_text(trace_of(RECORDS))
    assert main(["trace", "--from", str(place / "raw"), "-o", str(place / "trace")]) == 0
    opened = processor(browser, place / "trace")
    yield opened
    opened.close()


def test_no_fault_is_found(known):
    assert known.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0") == []


def test_the_table_sched(known):
    assert known.query(f"select (ts - {START}) / 1000, dur / 1000, cpu, thread.name, end_state from sched "
                       "join thread using (utid) where dur >= 0 order by ts, cpu") == [
        (0, 12, 0, "swapper", "R"), (0, 40, 1, "swapper", "R"),
        (12, 104, 0, "LWP 1", "S"), (40, 21, 1, "LWP 3", "S"), (61, 44, 1, "swapper", "R"),
        (105, 41, 1, "LWP 3", "R"), (116, 40, 0, "LWP 2", "X")]


def test_thread_states(known):
    found = known.query(f"select (ts - {START}) / 1000, iif(dur < 0, -1, dur / 1000), state, waker.name "
                        "from thread_state join thread using (utid) left join thread waker "
                        "on waker_utid = waker.utid "
                        "where thread.name = 'LWP 1' order by ts")
    assert found == [(10, 2, "R", "swapper"), (12, 104, "Running", None), (116, 27, "S", None),
                     (143, 3, "R", "LWP 3"), (146, -1, "Running", None)]
    assert known.query("select sum(dur) / 1000 from thread_state join thread using (utid) "
                       "where thread.name = 'LWP 2' and state = 'R'") == [(91,)]


def test_processes_and_lwps(known):
    assert known.query("select pid, process.name, tid, thread.name from thread join process using (upid) "
                       "where pid = 20000 and thread.name is not null order by tid") == [
        (20000, "prog", 20001, "LWP 1"), (20000, "prog", 20002, "LWP 2"), (20000, "prog", 20003, "LWP 3")]


def test_system_calls_and_faults(known):
    assert known.query(f"select (slice.ts - {START}) / 1000, slice.dur / 1000, slice.name from slice "
                       "join thread_track on slice.track_id = thread_track.id join thread using (utid) "
                       "where thread.name = 'LWP 1' and slice.dur > 0 order by slice.ts") == [
        (20, 6, "lwp_create"), (30, 6, "lwp_create"), (110, 2, "dfault"), (115, 32, "lwp_park")]


TRACKS = (f"select (slice.ts - {START}) / 1000, iif(slice.dur < 0, -1, slice.dur / 1000), slice.name from slice "
          "join track on slice.track_id = track.id where track.name = '{}' and slice.dur != 0 order by slice.ts")


def test_threads_on_lwps(known):
    assert known.query(TRACKS.format("runs")) == [(201, 7, "thread 1"), (208, 22, "thread 2 worker"),
                                                     (233, -1, "thread 1")]


def test_states_of_threads(known):
    assert known.query(TRACKS.format("thread 1")) == [
        (201, 7, "OnLWP on LWP 3"), (208, 13, "Blocked on cond 0x4c0"), (221, 12, "RunQueue"),
        (233, -1, "OnLWP on LWP 3")]
    assert known.query(TRACKS.format("thread 2")) == [(204, 4, "RunQueue"), (208, 22, "OnLWP on LWP 3")]


def test_locks(known):
    assert known.query(TRACKS.format("mutex 0x4c8")) == [(202, 5, "thread 1")]
    assert known.query(f"select (ts - {START}) / 1000, value from counter join track on track_id = track.id "
                       "where track.name = 'waiters of cond 0x4c0' order by ts") == [(206, 1.0), (221, 0.0)]


def test_run_queues(known):
    assert known.query(f"select (ts - {START}) / 1000, value from counter join track on track_id = track.id "
                       "where track.name = 'CPU 0 run queue' order by ts") == [
        (10, 1.0), (12, 0.0), (25, 1.0), (116, 0.0)]


def test_an_arrow_for_each_wake_up(known):
    """Also if a second one comes before it runs, as the waiter of a mutex has when another thread was sooner."""
    assert known.query(f"select a.name, (a.ts - {START}) / 1000, b.name, (b.ts - {START}) / 1000 from flow "
                       "join slice a on slice_out = a.id join slice b on slice_in = b.id order by a.ts") == [
        ("wakes LWP 2/3 (sleep_over)", 103, "runs after a wake-up", 105),
        ("wakes LWP 2/1", 142, "runs after a wake-up", 146),
        ("wakes thread 2.1", 218, "RunQueue", 221), ("wakes thread 2.1", 220, "RunQueue", 221)]


def test_a_guest(browser, tmp_path):
    """The viewer's sums are those of weft stats."""
    def weft(*words):
        done = subprocess.run([TOP / "tools/weft", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    raw, trace = tmp_path / "raw", tmp_path / "trace"
    weft("trace", "--no-build", "-o", trace, "--raw", raw, "--timing", "exact", "--smp", "2", "--",
         "pp", "-i", "100", "-n", "3")
    found = json.loads(weft("stats", "--json", raw))
    opened = processor(browser, trace)
    try:
        assert opened.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0"
                    ) == []
        assert opened.query("select count(*) from flow") == [(found["wakes"],)]
        running = dict(opened.query("select tid, sum(thread_state.dur) from thread_state join thread using (utid) "
                                    "where state = 'Running' and thread_state.dur > 0 group by tid"))
        for lwp in ("2/2", "2/3", "2/4", "2/5", "2/6", "2/7"):
            ran = sum(found["lwps"][lwp].get(state, 0) for state in ("user", "system", "tfault", "dfault"))
            assert running[20000 + int(lwp[2:])] == pytest.approx(ran, abs=20 * found["switches"])
    finally:
        opened.close()


def test_an_empty_trace(browser, tmp_path):
    (tmp_path / "raw").write_text("")
    assert main(["trace", "--from", str(tmp_path / "raw"), "-o", str(tmp_path / "trace")]) == 0
    opened = processor(browser, tmp_path / "trace")
    try:
        assert opened.query("select count(*) from slice") == [(0,)]
    finally:
        opened.close()


@pytest.mark.parametrize("value, encoded", [
    (0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (1 << 63, "80808080808080808001"),
    (-1, "ffffffffffffffffff01")])
def test_varints(value, encoded):
    assert varint(value).hex() == encoded


def test_messages():
    message = number(1, 300) + text(2, "weft") + fixed(3, 5) + packed(4, [1, 128]) + data(5, b"")
    assert fields(message) == [(1, 300), (2, b"weft"), (3, (5).to_bytes(8, "little")), (4, b"\x01\x80\x01"),
                               (5, b"")]
    for end in range(1, len(message)):
        if end not in (3, 9, 18, 23):
            with pytest.raises(ValueError):
                fields(message[:end])
