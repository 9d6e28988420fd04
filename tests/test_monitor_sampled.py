"""weft monitor --sample: what the program's own LWP sees every few milliseconds, and what that costs.

In exact timing the events of a trace are the truth, and cost nothing.  So one traced run has both.
"""

import re
import subprocess
from collections import Counter
from math import sqrt

import pytest
from conftest import MODELS, WEFT
from recordings import read
from weft_monitor import changes
from weft_trace import events
from weft_trace.model import Model, Watcher
from weft_trace.objects import GONE
from weft_trace.sampling import EVENTS, Sampled

FINE = ["barrier", "-c", "4", "-s", "20", "-i", "20", "-n", "3000"]
STRAYS = 0.01  # of all samples: one moment of a sample is some hundred instructions long


def weft(*words):
    return subprocess.run([*WEFT, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300)


class Truth(Watcher):
    """The time that threads and CPUs of a trace spend in each state, from the first sample to the last."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.threads, self.cpus = Counter(), Counter()

    def _spent(self, since, until):
        return max(0, min(until, self.end) - max(since, self.begin))

    def thread(self, time, thread, before, since, lwp):
        if thread.key.startswith("2."):
            self.threads[before] += self._spent(since, time)

    def cpu(self, time, cpu, before, since):
        self.cpus["idle" if before is None else "busy"] += self._spent(since, time)


class Seen(Sampled):
    """The states in the samples, counted."""

    def __init__(self):
        super().__init__()
        self.times, self.at, self.on = [], Counter(), Counter()

    def _show(self, sample):
        super()._show(sample)
        self.times.append(self.now)
        for cpu in self.cpus.values():
            self.on["idle" if cpu.lwp is None else "busy"] += 1

    def _on_sample_thread(self, cpu, values):
        super()._on_sample_thread(cpu, values)
        self.at[values["state"]] += 1


@pytest.mark.parametrize("model", MODELS)
# In sa the monitor's LWP takes the CPU of a thread, which enters the run queue, and the sample finds it there.
def test_samples_agree_with_events(model, tmp_path):
    """The shares of states, within what chance does to so many samples.  The threads of a sample are in step with
    each other, so that it counts as one observation."""
    done = weft("trace", "--no-build", "--raw", tmp_path / "raw", "--timing", "exact", "--smp", "4",
                "--model", model, "--options", "sample=1" + ",preempted=stay" * (model == "sa"), "--", *FINE)
    assert done.returncode == 0, done.stderr
    records = [*events.read(tmp_path / "raw")]
    seen = Seen()
    for record in records:
        if record.name in EVENTS:
            seen.feed(record)
    assert seen.count >= 100
    truth, whole = Truth(seen.times[0], seen.times[-1]), Model()
    whole.watch(truth)
    for record in records:
        whole.feed(record)
    whole.end()
    for told, true in ((seen.at, truth.threads), (seen.on, truth.cpus)):
        for state in {*told, *true} - {GONE}:
            share = true[state] / sum(true[one] for one in true if one != GONE)
            error = abs(told[state] / told.total() - share)
            assert error <= 4 * sqrt(share * (1 - share) / seen.count) + STRAYS, (state, share, told, true)
    assert seen.torn <= STRAYS * 10 * seen.count


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run of some samples: its definitions, its changes, and what the page says of the cost."""
    path = tmp_path_factory.mktemp("sampled") / "rec"
    done = weft("monitor", "--no-build", "--batch", "--record", path, "--sample", "10", "--timing", "exact",
                "--smp", "4", "--model", "mxn", "--mips", "100",
                "--", "barrier", "-s", "2", "-i", "1", "-n", "3000")
    assert (done.stderr, done.returncode) == ("", 0)
    return read(path)


def test_the_monitor_is_in_the_picture(recorded):
    """Its LWP has a row, and sleeps at every sample.  What it costs is less than 1 % of a CPU, and no record of
    events is made."""
    what, found = recorded
    said = re.fullmatch(r"monitor: every 10 ms a sample, (\d+) samples; its LWP took (\S+) ms, its records (\d+) "
                        r"instructions that exact time leaves out: (\S+) % of a CPU(; \d+ torn.*)?",
                        what["facts"]["cost"])
    assert said is not None, what["facts"]["cost"]
    samples, took, share = int(said[1]), float(said[2]), float(said[4])
    assert samples >= 5
    assert 0 < share < 1 and took < 0.01 * what["now"] / 1e6
    # No more changes than samples make: each has some for every thread, LWP and CPU at most.
    rows = len(what["threads"]) + len(what["lwps"]) + 4
    assert len(found) <= (samples + 2) * 3 * rows
    names = {number: name for number, _, _, name in what["lwps"]}
    states = {changes.LWP_STATES[state] for _, kind, state, _, a, *_ in found
              if kind == changes.LWP and names[a] == "monitor"}
    assert states == {"gone", "Asleep"}


def test_the_title_says_how(recorded):
    """And GDB gets the option of the library that makes the same run without a monitor."""
    what, _ = recorded
    assert " --sample 10 -- barrier " in what["title"]
    assert " --options sample=10 " in what["facts"]["again"] and "--sample" not in what["facts"]["again"]


def test_too_few_samples_are_told(tmp_path):
    done = weft("monitor", "--no-build", "--batch", "--record", tmp_path / "rec", "--sample", "10", "--timing",
                "exact", "--", "true")
    assert done.returncode == 0
    said = read(tmp_path / "rec")[0]["facts"]["cost"]
    assert re.search(r" 0 samples; .*; TOO FEW: the program took [\d.]+ ms$", said)


def test_no_two_threads_on_one_lwp(recorded):
    """At the end of each moment, no LWP has two threads, and no CPU has two LWPs."""
    _, found = recorded
    on, runs, last = {}, {}, None
    moments = 0
    for at, kind, state, cpu, a, b, _ in found:
        if last is not None and at > last:
            moments += 1
            assert len(set(on.values())) == len(on), (last, on)
            assert len(set(runs.values())) == len(runs), (last, runs)
        last = at
        if kind == changes.THREAD:
            on.pop(a, None)
            if changes.THREAD_STATES[state] == "On LWP":
                on[a] = b
        elif kind == changes.CPU:
            runs.pop(cpu, None)
            if a != changes.NONE:
                runs[cpu] = a
    assert moments > 5 and on == runs == {}


@pytest.mark.parametrize("period", ["0", "1001", "-1"])
def test_a_period_that_cannot_be(period):
    done = weft("monitor", "--no-build", "--batch", "--record", "/dev/null", "--sample", period, "--", "true")
    assert done.returncode == 2 and f"--sample: 1 to 1000 milliseconds, not {period}" in done.stderr
