"""Lock statistics: each figure of a report against what the program knows of itself
(tests/guest/lock_load.c), in exact timing.

A hold is as long as the program finds it, and a fixed number of instructions more: those of the
lock and unlock around it, and of counting.
"""

import re

import pytest
from conftest import MODELS
from tap import failures

COUNTING = 160  # instructions, at most, that a hold is longer than what the program measures
TITLES = ["kind", "count", "contended", "turns", "spun", "blocks", "wakes", "wait-ns", "hold-ns",
          "longest-ns", "lock", "caller"]
MS = 1_000_000
ASLEEP = 20 * MS  # lock_load's wait_asleep, at least


class Report:
    """rows[lock, kind]: the figures by title, of all callers together; callers[lock, kind]: a list
    of them without offsets; notes: other lines."""

    def __init__(self, text):
        lines = text.splitlines()
        self.program = re.fullmatch(r"process \d+, (.*)", lines[0])[1]
        assert lines[1].split() == TITLES
        self.rows, self.callers, self.notes, self.order = {}, {}, [], []
        for line in lines[2:]:
            words = line.split()
            if len(words) != len(TITLES):
                self.notes.append(line)
                continue
            key = words[-2], words[0]
            row = self.rows.setdefault(key, dict.fromkeys(TITLES[1:-2], 0))
            figures = dict(zip(TITLES[1:-2], map(int, words[1:-2])))
            for title, value in figures.items():
                row[title] = max(row[title], value) if title == "longest-ns" else \
                    row[title] + value
            self.callers.setdefault(key, []).append(words[-1].split("+")[0])
            self.order.append((figures["wait-ns"], figures["hold-ns"]))

    def counts(self, lock, kind):
        """Without times."""
        return tuple(self.rows[lock, kind][title] for title in TITLES[1:7])


def plockstat(guest, *command, model="lwp", **options):
    """The reports, and what the program said."""
    result = guest(["plockstat", *command], model=model, timing="exact", **options)
    assert result.status == 0, result.output
    said, *reports = re.split(r"^lockstat: (?=process)", result.output, flags=re.MULTILINE)
    return [Report(text) for text in reports], said


@pytest.mark.parametrize("model", MODELS)
def test_uncontended(guest, model):
    (report,), said = plockstat(guest, "lock_load", "free", model=model, smp=1)
    held, longest = (int(re.search(rf"^{name} (\d+)$", said, re.MULTILINE)[1])
                     for name in ("held", "longest"))
    row = report.rows["plain_mutex", "mutex"]
    assert report.counts("plain_mutex", "mutex") == (10, 0, 0, 0, 0, 0)
    assert held < row["hold-ns"] <= held + 10 * COUNTING
    assert longest < row["longest-ns"] <= longest + COUNTING
    assert report.callers["plain_mutex", "mutex"] == ["free_locks"]
    # Twice in each turn: recursively, which is one hold, and by trylock.
    assert report.counts("recursive_mutex", "mutex") == (20, 0, 0, 0, 0, 0)
    assert report.callers["recursive_mutex", "mutex"] == ["free_locks"] * 2
    assert report.counts("ui_mutexes+0x18", "mutex") == (10, 0, 0, 0, 0, 0)
    assert report.counts("free_rwlock", "read") == (20, 0, 0, 0, 0, 0)
    assert report.counts("free_rwlock", "write") == (10, 0, 0, 0, 0, 0)
    assert report.rows["free_rwlock", "read"]["longest-ns"] > 6000
    assert report.rows["free_rwlock", "write"]["longest-ns"] <= COUNTING
    assert report.order == sorted(report.order, reverse=True)
    assert report.program == "lock_load"


@pytest.mark.parametrize("smp", [1, 2, 4])
@pytest.mark.parametrize("model", MODELS)
def test_contended(guest, model, smp):
    """Two threads: each object makes the second one wait once."""
    (report,), _ = plockstat(guest, "lock_load", "contended", model=model, smp=smp)
    #                              count contended turns spun blocks wakes
    turns = report.rows["hot_mutex", "mutex"]["turns"]
    assert report.counts("hot_mutex", "mutex") == (2, 1, turns, 0, 1, 1)
    if model == "lwp":
        assert (turns > 0) == (smp > 1)
    assert report.counts("hot_rwlock", "read") == (1, 1, 0, 0, 1, 0)
    assert report.counts("hot_rwlock", "write") == (1, 0, 0, 0, 0, 1)
    assert report.counts("cond", "cond") == (1, 1, 0, 0, 1, 1)
    assert report.counts("sema", "sema") == (1, 1, 0, 0, 1, 1)
    # Signalled while it is held, so the waiter comes to the mutex's queue, and to its hold.
    assert report.counts("cond_mutex", "mutex") == (3, 0, 0, 0, 0, 1)
    for lock, kind in [("hot_mutex", "mutex"), ("hot_rwlock", "read"), ("cond", "cond"),
                       ("sema", "sema")]:
        assert ASLEEP <= report.rows[lock, kind]["wait-ns"] < ASLEEP + 2 * MS
    assert ASLEEP <= report.rows["hot_mutex", "mutex"]["longest-ns"] < ASLEEP + 2 * MS
    assert 2 * ASLEEP <= report.rows["hot_rwlock", "write"]["longest-ns"] < 2 * ASLEEP + 4 * MS
    schedlock = [line for line in report.notes if line.startswith("_schedlock: count ")]
    assert len(schedlock) == (model != "lwp")


@pytest.mark.parametrize("model, kind, options", [
    *((model, kind, None) for kind in ("shared", "inherit", "protect") for model in ("lwp", "mxn", "sa")),
    ("lwp", "contended", "sleep=kernel")])
def test_contended_elsewhere(guest, model, kind, options):
    """The same where the queue is the kernel's, or the mutex has a protocol."""
    (report,), _ = plockstat(guest, "lock_load", kind, model=model, smp=2, options=options)
    turns = report.rows["hot_mutex", "mutex"]["turns"]
    assert report.counts("hot_mutex", "mutex") == (2, 1, turns, 0, 1, 1)
    assert report.counts("hot_rwlock", "read") == (1, 1, 0, 0, 1, 0)
    assert report.counts("hot_rwlock", "write") == (1, 0, 0, 0, 0, 1)
    assert report.counts("sema", "sema") == (1, 1, 0, 0, 1, 1)
    # One that processes share counts the wait for its mutex, too.
    count, contended, _, _, blocks, wakes = report.counts("cond", "cond")
    assert (count, contended, wakes) == (1, 1, 1)
    assert blocks == 1 or (kind == "shared" and blocks == 2)


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_spinning(guest, model):
    """A thread that spins until the owner is through gets the mutex without sleep or wake-up."""
    # In sa the other LWPs begin meanwhile: on two CPUs one may take the owner's, and a turn may be a long one.
    (report,), _ = plockstat(guest, "lock_load", "spin", model=model, smp=4 if model == "sa" else 2)
    row = report.rows["hot_mutex", "mutex"]
    assert report.counts("hot_mutex", "mutex") == (2, 1, row["turns"], 1, 0, 0)
    assert (0 if model == "sa" else 50) < row["turns"] < 1000  # LOCK_SPINS (sync/mutex.c)
    assert 0 < row["wait-ns"] <= row["longest-ns"]


def test_more_than_are_timed(guest):
    (report,), _ = plockstat(guest, "lock_load", "many", smp=1)
    held = [row for (lock, _), row in report.rows.items() if lock.startswith("many_mutexes")]
    assert len(held) == 20 and all(row["count"] == 1 for row in held)
    assert sum(row["hold-ns"] > 0 for row in held) == 16
    assert report.notes[-1].endswith("for want of memory: 4")


def test_child_of_fork(guest):
    """Child and parent each report what they did themselves."""
    (child, parent), _ = plockstat(guest, "lock_load", "fork", smp=1)
    assert ("plain_mutex", "mutex") not in child.rows
    assert ("many_mutexes", "mutex") in child.rows
    assert ("many_mutexes", "mutex") not in parent.rows
    assert parent.counts("plain_mutex", "mutex")[0] == 10


def test_on_a_signal(guest):
    """At each signal, and not at the end; -n cuts the table."""
    reports, _ = plockstat(guest, "-s", "USR1", "lock_load", "signal", "USR1", "3", smp=1)
    assert [report.counts("plain_mutex", "mutex")[0] for report in reports] == [10, 20, 30]
    reports, _ = plockstat(guest, "-s", "SIGUSR2", "-n", "2", "lock_load", "signal", "USR2", "1",
                           smp=1)
    assert [len(report.order) for report in reports] == [2]


def test_without_plockstat(guest):
    """The option alone: addresses, on standard error."""
    result = guest(["lock_load", "free"], options="lockstat=exit", timing="exact", smp=1)
    assert result.status == 0
    assert re.search(r"^lockstat: process \d+, lock_load$", result.output, re.MULTILINE)
    assert re.search(r"^mutex +10 .* 0x[0-9a-f]+ 0x[0-9a-f]+$", result.output, re.MULTILINE)
    result = guest(["lock_load", "free"], options="lockstat=9", timing="exact", smp=1)
    assert result.status == 2
    assert "libthread: lockstat: no handler can be set for this signal" in result.output


def test_refusals(guest):
    for argv, status, message in [([], 2, "usage: plockstat"),
                                  (["-n", "0", "true"], 2, "usage: plockstat"),
                                  (["-s", "NONE", "true"], 2, "NONE: no such signal"),
                                  (["no_such_command"], 127, "no_such_command: ")]:
        result = guest(["plockstat", *argv], timing="exact", smp=1)
        assert result.status == status
        assert message in result.output


@pytest.mark.parametrize("program, rounds", [
    ("thr_mutex", 100), ("thr_cond", 40), ("thr_rwlock", 40), ("thr_sema", 40), ("thr_cancel", None),
    ("if_sync", None), ("if_ui", None)])
@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_counting_changes_nothing(guest, model, program, rounds):
    """The functions that count behave as the others do, errors and cancellation included."""
    argv = [program] + ([rounds] if rounds else [])
    result = guest(argv, model=model, smp=2, options="lockstat=30")
    assert not failures(result), result.output
