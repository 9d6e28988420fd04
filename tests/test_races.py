"""The races that comments of the library, and of the kernel below it, claim to close: each of
these planted bugs (tests/bugs) takes out what closes one, and then some seeds of exact timing see
it happen, in a program that brings its threads to that place (tests/guest/races*.c).

Where the place is too narrow for that, another patch (*.wide.patch, perhaps of several bugs) widens it,
by a delay say, and the bug is put into that.  The seed that finds it must find nothing in what is only
widened, nor in the tree as it is.

docs/races.md is the table of them.  Those of the kernel: test_races_kernel.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import kept_seeds
import pytest
from tap import failures
from test_seeds import quantum


@dataclass
class Race:
    bug: str
    argv: list
    # Seeds.  Every second one finds most of them, but which ones changes with any change of code:
    # the rarer, the more are tried.  Those behind the first that finds it cost nothing.
    enough: int = 16
    machine: dict = field(default_factory=dict)
    wide: str = ""  # a patch that goes below that of the bug
    wrong: Callable = failures  # what is wrong with a run's Result

    @property
    def patches(self):
        return [f"{self.wide}.wide", self.bug] if self.wide else [self.bug]

    @property
    def program(self):
        words = [word for word in map(str, self.argv) if word[0] not in "-/"]  # without the options of java
        return " ".join(words[:2])

    def run(self, guest, seed, build=None):
        options = {"smp": 4, "model": "lwp", "quantum": quantum(seed), **self.machine}
        if build:
            # It is to fail; and what its memory tells would take longer than the run.
            files = [*options.get("files", ()), build / self.argv[0]]
            options |= {"build": build, "files": files, "picture": False}
        return guest(self.argv, timing="exact", seed=seed, may_fail=True, **options)


def measured_nothing(result):
    """As failures, of a benchmark."""
    return [] if "\nresult " in f"\n{result.output}" else ["no result"]


SLEEPING = {"options": "spin=never"}
MALLOC = {"options": "malloc=mt"}
MXN = {"model": "mxn"}
SA_ONE = {"model": "sa", "options": "concurrency=1"}
TWO_LWPS = {"model": "sa", "options": "concurrency=2,spin=never"}
# The few last instructions of one CPU against some hundreds of another.
LONG_WINDOWS = {"quantum": 1000}
RACES = [
    Race("moved-meanwhile", ["races_sync", "deadline", 100], 24),
    Race("old-place", ["races_sync", "place", 60], wide="slow-place"),
    Race("another-queue", ["races_sync", "place", 150], wide="slow-place"),
    Race("old-place", ["races_sync", "place", 60], machine={"model": "sa"}, wide="slow-place"),
    Race("priority-moved", ["races_sync", "deadline", 100], 24),
    Race("signal-between", ["races_sync", "signal", 100], 24),
    Race("gone-sem", ["races_sync", "gone-sem", 50]),
    Race("gone-mutex", ["races_sync", "gone-mutex", 100], 48, SLEEPING, "slow-waker"),
    Race("readers-left", ["races_sync", "rwlock-in-time", 20]),
    Race("gone-cond", ["races_sync", "gone-cond", 30]),
    Race("blind-wait", ["races_sync", "units", 20]),
    Race("believed-park", ["races_sync", "units", 100], 24),
    Race("cancel-told-first", ["races_life", "cancel", 50], 24),
    Race("cancel-unseen-by-kernel", ["races_life", "cancel", 50]),
    Race("cancelled-with-unit", ["races_life", "unit-or-end", 30]),
    Race("chosen-too-late", ["races_sync", "shared-unit-in-time", 30]),
    Race("post-unlooked", ["races_sync", "units-at-once", 60], 24),
    Race("marked-free", ["races_sync", "mutex", 20], machine=SLEEPING),
    Race("timed-out-woken", ["races_sync", "mutex-in-time", 30], machine=SLEEPING),
    Race("rwlock-marked-free", ["races_sync", "rwlock", 20]),
    Race("gone-rwlock", ["races_sync", "gone-rwlock", 30]),
    Race("cancel-seen-late", ["races_life", "cancel", 120], 40, SLEEPING),
    Race("handler-owing", ["races_life", "handler", 200], 24),
    Race("early-join", ["races_life", "own-stack", 100], 40),
    Race("kernel-signal-between", ["races_sync", "signal", 30], machine={"options": "sleep=kernel"}),
    Race("cancelled-before-block", ["races_life", "cancel", 30], machine=MXN),
    Race("idle-believed-park", ["races_mxn", "idle", 200], 24, MXN),
    Race("stack-in-use", ["races_life", "ends", 100], 24, MXN),
    Race("switch-unlocked", ["races_mxn", "crowd", 60], machine=MXN),
    Race("deadline-overwritten", ["races_mxn", "deadlines", 30], machine=MXN),
    Race("dispatchable-stopped", ["races_mxn", "stopped", 30], machine=MXN),
    Race("resumed-unborn", ["races_mxn", "newborn", 100], machine=MXN),
    Race("signal-slept-on", ["races_signal", "signal", 30], machine=MXN),
    Race("signalled-before-block", ["races_mxn", "robust", 200], 24, MXN),
    Race("not-taken-back", ["races_signal", "signal-crowd", 30], machine=MXN),
    Race("kill-unlocked", ["races_signal", "signal-crowd", 20], 16, MXN, "slow-kill"),
    Race("idle-takes", ["races_signal", "process-signal", 20], machine=MXN),
    Race("not-to-look", ["races_signal", "process-signal-woken", 40], machine=MXN),
    Race("awaited-blindly", ["races_signal", "two-signals", 20], 16, MXN, "slow-await"),
    Race("left-to-none", ["races_signal", "two-signals", 40], 16, MXN, "slow-kill"),
    Race("books-behind", ["races_signal", "nested", 20], 16, MXN, "slow-return"),
    Race("stale-section", ["races_signal", "section", 150], 32, MXN),
    Race("stack-left-behind", ["races_signal", "altstack", 30], 24, MXN),
    Race("call-of-another-lwp", ["races_signal", "call", 5], machine=MXN),
    Race("services-open", ["races_signal", "services", 3], 16, MXN, "slow-begin"),
    Race("before-the-aslwp", ["races_signal", "aslwp", 3], 16, MXN, "slow-begin"),
    Race("signal-blocked-late", ["races_signal", "two-suspend", 20], machine=MXN),
    Race("joined-takes", ["races_signal", "joined", 50], machine=LONG_WINDOWS),
    Race("joined-takes", ["races_signal", "joined", 50], machine=MXN | LONG_WINDOWS),
    Race("busy-too-soon", ["races_signal", "blocked", 1], 24, MXN, "slow-arrival"),
    Race("busy-too-soon", ["races_masks", "idle", 20], 16, {"model": "sa"}, "slow-arrival"),
    Race("aged-and-chosen", ["races_mxn", "aging", 10], 16, MXN | {"options": "aging=1"}, "young"),
    Race("partner-kept", ["races_mxn", "silent", 20], machine={"model": "sa", "options": "concurrency=2"}),
    Race("taken-unlocked", ["races_mxn", "stopped", 60], machine={"model": "sa"}, wide="slow-partner"),
    Race("unsaved-partner", ["barrier", "-t", 3, "-i", 120, "-s", 40, "-n", 2, "-l", 2],
         machine={"model": "sa", "mips": 1}, wide="slow-handed", wrong=measured_nothing),
    Race("asked-leaves", ["thr_urgent", "pipe", 150],
         machine={"model": "sa", "options": "concurrency=2", "mips": 100}),
    Race("stopped-unlooked", ["thr_hand_on", "handlers", 30], machine={"model": "sa", "smp": 2}),
    Race("cancelled-unlooked", ["thr_hand_on", "cancel", 12], 24, {"model": "sa", "smp": 2}),
    Race("self-suspended-unlooked", ["thr_hand_on", "self", 12], 24, {"model": "sa", "smp": 2}),
    Race("waiting-unlooked", ["thr_hand_on", "nap", 12], 24, {"model": "sa", "smp": 2}),
    Race("settled-after-age", ["thr_aged", 3],
         machine={"model": "sa", "smp": 2, "mips": 20, "options": "aging=1"}),
    Race("workers-at-fork", ["thr_fork_aio", 100], machine={"smp": 2}),
    Race("workers-at-fork", ["thr_fork_aio", 100], machine={"model": "sa", "smp": 2}),
    Race("timed-forgotten", ["thr_fork_wait", 40], machine={"model": "sa", "smp": 2}),
    Race("above-unlooked", ["thr_urgent", "idle", 300], machine={"model": "sa", "smp": 2}),
    Race("again-unlooked", ["races_claim", "again", 60], 24, TWO_LWPS),
    Race("unlisted-unlooked", ["races_claim", "again", 600], 48, TWO_LWPS),
    Race("open-unlooked", ["races_claim", "told", 60], 24, TWO_LWPS, "slow-told"),
    Race("claimed-unawaited", ["races_claim", "awake", 60], 24,
         {"model": "sa", "options": "concurrency=3,idle=spin"}, "slow-claim"),
    Race("spin-over-unlooked", ["races_mxn", "idle-spin", 100], 24, {"model": "sa", "options": "idle=spin"}),
    Race("yield-unlocked", ["races_mxn", "yield", 40], 16, TWO_LWPS, "slow-yield"),
    Race("told-too-late", ["races_look", "at-once", 20], 24, SA_ONE),
    Race("cleared-late", ["races_look", "at-once", 20], 24, SA_ONE),
    Race("ran-first", ["races_look", "computes", 10], machine=SA_ONE),
    Race("chosen-idle", ["races_look", "blocks", 30], machine=SA_ONE | LONG_WINDOWS),
    Race("yields-with-signal", ["races_signal", "signal-yield", 30], 16, TWO_LWPS, "slow-plain"),
    Race("forgets-unlocked", ["races_lone", "two-posters", 40], 16, TWO_LWPS, "slow-forget"),
    Race("looked-before-stored", ["races_masks", "unblock", 20], machine={"model": "sa"}, wide="slow-store"),
    Race("lone-unlocked", ["races_lone", "bound", 30], 16, TWO_LWPS, "slow-yield"),
    Race("lone-unlooked", ["races_lone", "cancel", 30], 16, TWO_LWPS, "slow-lone"),
    Race("lone-in-closed-list", ["races_lone", "idle", 30], 16, TWO_LWPS),
    Race("lone-unsettled", ["races_lone", "cancel", 30], 16, TWO_LWPS),
    Race("lone-at-fork", ["races_lone", "fork", 20], 16, TWO_LWPS),
    Race("apart-unlooked", ["races_queue", "mutex", 30], 16, TWO_LWPS, "slow-save"),
    Race("apart-looked-at-early", ["races_queue", "kick", 100], 24,
         {"model": "sa", "options": "concurrency=3,spin=never"}, "slow-waking"),
    Race("settled-while-closed", ["races_lone", "settle", 60], 24, TWO_LWPS),
    Race("taken-unsaid", ["races_queue", "in-time", 30], 16, TWO_LWPS, "slow-instead"),
    Race("blocks-elsewhere", ["races_queue", "signal", 30], 16, TWO_LWPS, "slow-change"),
    Race("queue-read-once", ["races_queue", "priority", 30], 16, TWO_LWPS, "slow-look"),
    Race("woken-in-closed-list", ["races_queue", "idle", 30], 16, TWO_LWPS, wide="slow-waking"),
    Race("half-a-semaphore", ["races_more", "name", 40]),
    Race("opened-twice", ["races_more", "name", 10], wide="slow-map"),
    Race("opened-once", ["races_more", "name", 10]),
    Race("key-for-two", ["races_more", "key", 10], wide="slow-key"),
    Race("join-unlooked", ["races_lone", "join", 30], 16, TWO_LWPS, "slow-join"),
    Race("join-each-other", ["races_lone", "each-other", 100], 24, TWO_LWPS, "slow-claim"),
    Race("list-at-fork", ["races_more", "fork-threads", 5], wide="slow-delist"),
    Race("handler-nowhere", ["races_more", "first-handler", 3], wide="slow-begin"),
    Race("policy-too-late", ["races_more", "policy", 3]),
    Race("keys-at-fork", ["races_more", "fork-keys", 5]),
    Race("timers-at-fork", ["races_more", "fork-timers", 5]),
    Race("callout-at-fork", ["races_more", "fork-deadline", 1], machine=MXN),
    Race("heap-at-fork", ["races_more", "fork-malloc", 5]),
    Race("streams-at-fork", ["races_more", "fork-streams", 5]),
    Race("arenas-at-fork", ["races_more", "fork-arenas", 5], 16, MALLOC, "slow-last"),
    Race("freed-unlocked", ["races_more", "arena", 20], machine=MALLOC),
    Race("span-for-two", ["races_more", "pool", 40], machine=MALLOC),
    Race("notice-of-another", ["races_more", "notify", 10]),
    Race("fiber-still-active", ["races_win", "fibers", 30], 24),
    Race("section-kept", ["races_win", "section", 20], wide="slow-leave"),
    Race("disowned", ["races_win", "section", 20], wide="slow-leave"),
    Race("two-events", ["races_win", "section", 10]),
    Race("closed-in-halves", ["races_win", "closed", 30]),
    Race("closed-first", ["races_win", "handles", 10], wide="slow-books"),
    Race("books-interrupted", ["races_win", "lower", 3], machine={"smp": 1}),
    Race("books-interrupted", ["races_win", "suspend", 10]),
    Race("books-interrupted", ["races_win", "handler", 10]),
    Race("books-interrupted", ["races_win", "real-time", 5], machine={"model": "n1", "smp": 1}),
    Race("suspended-uncounted", ["races_win", "suspend-both", 30]),
    Race("forker-waited-for", ["races_win", "fork-suspended", 10]),
    Race("yielder-waited-for", ["races_win", "owning", 5], machine={"model": "n1", "smp": 1}),
    Race("handles-at-fork", ["races_win", "fork", 5], machine={"model": "sa"}),
    Race("key-at-fork", ["races_win", "fork", 1], machine={"model": "sa"}),
    Race("resumed-too-soon", ["races_win", "suspend-self", 10]),
    Race("terminated-unbegun", ["races_win", "terminate", 20]),
    Race("ends-unheard", ["races_win", "terminate", 60]),
    Race("runs-too-soon", ["races_win", "begin-thread", 10], wide="slow-creator"),
    Race("stopped-in-critical", ["races_life", "stop", 100], 32),
    Race("stopped-owing", ["races_life", "stop", 40], wide="slow-owed"),
    Race("stale-sign", ["races_sync", "mutex", 20], wide="spinner-gone"),
    Race("stopped-releasing", ["races_suspend", "mutex", 60], wide="spinner-gone"),
    Race("stopped-yielding", ["races_mxn", "owning", 5], 16, MXN),
    Race("cancelled-owning", ["races_mxn", "owning-cancelled", 100], 16, MXN),
    Race("asked-stopped", ["thr_urgent", "suspend", 6],
         machine={"model": "mxn", "options": "concurrency=2", "smp": 1}),
    Race("asked-raised", ["thr_urgent", "ceiling", 400],
         machine={"model": "sa", "options": "concurrency=2", "smp": 3, "mips": 50}),
    Race("asked-raised", ["thr_urgent", "ceiling", 400],
         machine={"model": "mxn", "options": "concurrency=2", "smp": 3, "mips": 50}),
    Race("stopped-waking", ["races_suspend", "many", 20], wide="slow-unpark"),
    Race("stopped-waking-mxn", ["races_suspend", "many", 20], 16, MXN, "slow-unpark"),
    Race("itself-stopped-waking", ["races_suspend", "many-itself", 20], wide="slow-unpark"),
    Race("itself-stopped-waking", ["races_suspend", "many-itself", 20], 16, MXN, "slow-unpark"),
    Race("no-record", ["races_life", "has-and-ends", 30], 24, wide="slow-spinner"),
    Race("stopped-unbegun", ["races_life", "begin", 10]),
    Race("suspended-unseen", ["races_suspend", "newborn", 60], machine={"model": "sa"}),
    Race("each-other-suspended", ["races_suspend", "each-other", 20], machine={"model": "sa"}),
    Race("killed-unbegun", ["races_life", "begin", 10]),
    Race("uncounted", ["races_life", "any", 10]),
    Race("async-too-late", ["races_life", "async", 20]),
    Race("async-in-queue", ["races_life", "async-wait", 10], machine={"until": 100}),
    Race("cancelled-with-wake-up", ["races_life", "async-lock", 60], 48, SLEEPING),
    Race("cancelled-in-malloc", ["races_more", "cancel-in-malloc", 10]),
    Race("caught-too-soon", ["races_life", "async-first", 1], wide="slow-sigaction"),
    Race("trimmed-twice", ["races_life", "ends", 10], wide="stacks-kept"),
    Race("owed-forgotten", ["races_sync", "signal-at-once", 30], machine=SLEEPING),
    Race("late-list", ["races_sync", "broadcast", 20], wide="slow-waker"),
    Race("late-id", ["races_life", "id", 10], wide="slow-maker"),
    Race("marked-unheld", ["races_mxn", "inherit", 20], 16, MXN, "slow-marker"),
    Race("settled-with-nobody", ["races_mxn", "inherit-in-time", 30], machine=MXN),
    Race("enlarged-twice", ["races_more", "table", 1], machine=MXN),
    Race("variables-unmade", ["races_more", "variables", 40]),
    Race("row-for-each", ["races_more", "row", 30], machine={"options": "lockstat=exit"}),
    Race("flag-left", ["mutex_stopped"]),
    Race("cycle-of-others", ["races_sync", "barrier", 30]),
    Race("list-let-go", ["races_sync", "broadcast-in-time", 10], wide="slow-waker"),
    Race("message-slept-on", ["races_aio", "message", 30], 16, MXN, "slow-sleeper"),
    Race("queue-unlooked", ["races_aio", "message-elsewhere", 30], 16, MXN, "slow-worker"),
    Race("half-a-queue", ["races_aio", "queue", 30]),
    Race("queue-opened-once", ["races_aio", "queue", 30]),
    Race("closed-number", ["races_aio", "number", 30], wide="slow-closer"),
    Race("stopped-with-queues", ["races_aio", "suspended", 60]),
    Race("starter-stopped", ["races_aio", "starter", 20], machine=MXN),
    Race("request-of-the-program", ["races_aio", "reuse", 30]),
    Race("list-half-made", ["races_aio", "list", 20]),
    Race("done-unlooked", ["races_aio", "suspend", 60], 24),
    Race("next-of-the-past", ["races_aio", "cancel", 30], 24),
]


def show(guest, workshop, race, config):
    """Shows that the bug is found, and that it is the bug's fault.  (That a seed finds it again:
    test_seeds.py.  What is said of the seed: kept_seeds.py.)"""
    *widened, broken_build = workshop.make(race.patches, race.argv[0])
    for seed in range(1, race.enough + 1):
        if race.wrong(race.run(guest, seed, broken_build)):
            break
    else:
        pytest.fail(f"{race.enough} seeds do not find it")
    print(f"{race.bug}: found by seed {seed}")

    for build in (*widened, None):
        assert race.wrong(race.run(guest, seed, build)) == []
    assert kept_seeds.check(config, race.bug, race.program, seed, race.enough) == ""


@pytest.mark.parametrize("race", RACES, ids=[race.bug for race in RACES])
def test_race(guest, workshop, race, request):
    show(guest, workshop, race, request.config)
