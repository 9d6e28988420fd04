"""The races that comments of the kernel claim to close, shown as those of the library are
(test_races.py): a planted bug, and a seed that sees what it does.

docs/races.md is the table of them.
"""

import pytest
from tap import failures
from test_races import Race, show


def races_of(program):
    return lambda bug, *argv, **options: Race(bug, [program, *argv], **options)


def in_two_modes(result):
    """And what of races_console's writes went out under two modes: the host takes a CR before the
    end of each line off, so that those which the console has put there are what differs."""
    writes = result.output.split("ok ")
    return failures(result) + [text for text in writes if "-\r\n" in text and "-\n" in text]


sched, wait, space, console, activation, stay = map(
    races_of, ("races_sched", "races_wait", "races_space", "races_console", "races_activation", "races_stay"))


def masks(bug, *argv, **options):
    return Race(bug, ["races_masks", *argv], machine={"model": "sa"}, **options)


# A TLB for each CPU, which may hold what has been changed until the shoot-down.
TLBS = {"engine": "processors", "append": "stale-tlb=1"}

RACES = [
    sched("idle-not-looked-again", "idle", 80, enough=24, machine={"smp": 2}, wide="placement"),
    sched("idle-claimed-twice", "pair", 10),
    sched("hand-over-forgotten", "hand-over", 10),
    sched("closed-queue", "offline", 60, enough=24, wide="placement"),
    sched("taken-from-no-queue", "steal", 10, wide="steal", machine={"until": 100}),
    sched("taken-from-another-queue", "offline", 20, wide="placement"),
    sched("stale-timeout", "timeout", 6, wide="timer-function"),
    sched("woken-too-early", "park", 20, wide="leave-cpu"),
    sched("interrupt-before-ast", "told", 10, wide="kick"),
    sched("interrupt-before-resched", "room", 5, wide="kick"),
    Race("changed-unnoticed", ["races_sets", "turns", 20], wide="change"),
    sched("both-suspended", "suspend", 5),
    Race("suspended-unlooked", ["thr_hand_on", "handlers", 20]),
    Race("seen-suspended", ["thr_hand_on", "handlers", 20]),
    Race("redirected-suspended", ["thr_hand_on", "handlers", 20], machine={"model": "sa", "smp": 2}),
    Race("ended-for-nothing", ["thr_hand_on", "handlers", 20]),
    Race("moved-in-walk", ["proc_exec", "signals"], machine={"until": 200}),
    sched("another-by-its-id", "lookup", 5, wide="lookup"),
    Race("second-for-ever", ["races_share", 4], wide="slow-choice", machine={"mips": 100}),
    Race("blocked-unlooked", ["sig_waiting", 10]),
    sched("lent-to-the-dead", "lend", 10, wide="disown"),
    sched("due-too-late", "blocked", 10, wide="leave"),
    sched("check-unasked", "blocked", 10, wide="report"),
    activation("spare-of-the-past", "spare", 20, wide="slow-spare"),
    activation("nothing-made-up", "stopped", 60),
    activation("idle-hands-nothing-over", "idle", 20, wide="slow-idle"),
    activation("both-leave", "surplus", 20, wide="slow-surplus"),
    activation("slices-forgotten", "slices", 3, wide="slow-slices", machine={"mips": 10}),
    activation("unblocked-unlooked", "slices-blocked", 3, wide="slow-limit", machine={"mips": 10}),
    Race("clock-back", ["races_clock", "clock", 60], wide="slow-clock", machine={"quantum": 2000}),
    stay("left-while-woken", "both", 40, wide="slow-given"),
    stay("queue-left-behind", "both", 40),
    stay("claim-forgotten", "claimed", 40),
    stay("told-before-woken", "sleep", 40, wide="slow-stored"),
    stay("bound-unnoticed", "bound", 2),
    stay("space-dropped", "unmapped", 2),
    stay("numbers-of-another", "numbers", 2),
    wait("signal-unseen", "sigsuspend", 20),
    wait("signal-blocked-late", "mask", 20),
    wait("signal-left-behind", "exit", 20),
    wait("signal-of-another", "sigwait", 60),
    masks("mask-read-once", "unblock", 40, wide="slow-mask"),
    masks("chosen-in-vain", "block", 20),
    masks("blocked-unsaid", "change", 20),
    masks("mask-before-idle", "idle", 20, wide="slow-mask"),
    wait("timer-in-flight", "timer", 20, wide="withdraw"),
    wait("one-handle-for-two", "table", 4),
    wait("object-slept-on", "event", 20),
    wait("settled-twice", "any", 40, wide="settle"),
    wait("name-of-the-dead", "name", 30),
    wait("read-together", "pipe", 20),
    wait("freed-by-both", "ends", 5),
    wait("wake-up-passed-up", "reader", 20),
    wait("poll-forgets", "poll", 20),
    wait("into-the-grave", "sema-grave", 2),
    wait("into-the-grave", "rwlock-grave", 2),
    wait("into-the-grave", "inherit-grave", 2),
    wait("into-the-grave", "mutex-grave", 2),
    wait("into-the-grave", "cond-grave", 2),
    space("fork-escapes", "fork", 3),
    space("exec-goes-on", "exit-in-exec", 6),
    space("born-too-late", "born-at-exit", 20),
    space("born-too-late", "born-at-exec", 3),
    space("stopped-at-birth", "suspended-at-exit", 120, enough=32),
    space("stopped-unasked", "stop", 20, wide="stop"),
    space("page-entered-twice", "touch", 10),
    space("page-made-twice", "file", 10),
    space("page-copied-twice", "copy", 10),
    space("copy-seen-early", "see", 60, machine=TLBS),
    space("not-shot-down", "replace-page", 5, machine=TLBS),
    Race("freed-before-shot-down", ["races_memory", "pages", 2], wide="release", machine=TLBS),
    Race("stack-of-another", ["races_memory", "stacks", 2], wide="stacks-given-back"),
    space("written-after-fork", "snapshot", 2, machine=TLBS),
    space("file-of-the-dead", "dead", 40),
    space("moved-in-a-circle", "circle", 40),
    space("name-between", "replace", 40),
    space("link-lost", "link", 5, wide="link"),
    space("made-by-another", "create", 20),
    space("lines-mixed", "write", 3),
    console("background-slept-on", "foreground", 20),
    console("modes-told-first", "modes", 30),
    console("modes-mid-write", "write", 10, wrong=in_two_modes),
    Race("tracer-twice", ["races_trace", "two-tracers", 2]),
    Race("events-read-twice", ["races_trace", "two-readers", 2]),
    Race("events-let-go", ["races_trace", "full-queue", 2]),
    Race("tracer-gone", ["races_trace", "free", 1], wide="poison"),
    Race("lock-of-the-closed", ["races_locks", "close", 20]),
    Race("given-back-unseen", ["races_locks", "give-back", 10], wide="slow-request"),
    Race("deadlock-unseen", ["races_locks", "cross", 20], 24),
    space("held-too-late", "close", 10, wide="file-hold"),
]


@pytest.mark.parametrize("race", RACES, ids=[f"{race.bug}-{race.argv[1]}" for race in RACES])
def test_race(guest, workshop, race, request):
    show(guest, workshop, race, request.config)
