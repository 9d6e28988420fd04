"""Queues, timers and single objects of a guest that stands still: weft-queues, weft-timers, weft-mutex and its
like."""

import random
import re

import pytest
from conftest import MODELS, brought
from test_debug_model import Changed, Damaged, Watched
from test_proc_tools import KERNEL, KINDS
from weft_debug import objects, queues, timers
from weft_debug.crash import CrashFile
from weft_debug.guest import Guest
from weft_debug.memory import PAGE
from weft_host.guest import run
from weft_host.machine import Machine

# The words of plocks for a kind of object, and the word of weft-object.
WORDS = {"mutex": "mutex", "reader-writer lock": "rwlock", "condition variable": "cond", "semaphore": "sema",
         "barrier": "barrier"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """kept(argv, **options): the guest at the end of a run that fails, as its memory tells.  Each runs once."""
    made = {}

    def keep(*argv, **options):
        key = argv, *options.items()
        if key not in made:
            folder = tmp_path_factory.mktemp("kept")
            result = run(Machine(argv=list(argv), smp=2, files=brought("held_locks", "transfers", "at_rest"),
                                 keep=folder / "crashes", background=True,
                                 **{"timing": "exact", "timeout": 60, **options}))
            made[key] = CrashFile(result.kept).guest(folder)
        guest = made[key]
        guest.forget()
        return guest

    return keep


def held(kept, what, model):
    """held_locks, which is process 3, until a limit of virtual time: the shell computes meanwhile."""
    return kept("sh", "-c", f"held_locks {what} & sleep 0.2; while :; do :; done", model=model, until=600,
                mips=50)


def place(guest, name, pid=3):
    """The address of a variable of a process."""
    return next(at for at, _, found in guest.process(pid).symbols._objects if found == name)


def untimed(text):
    return re.sub(r", for \d+\.\d{3} s\b", "", text)


# --- single objects ---------------------------------------------------------------------------------


CASES = [*((model, "kinds", KINDS) for model in MODELS),
         *((model, "kernel", KERNEL) for model in ("lwp", "mxn", "sa"))]


@pytest.mark.parametrize("model, what, wanted", CASES)
def test_each_kind(kept, model, what, wanted):
    """Its owner and its waiters are those that plocks tells in the guest."""
    guest = held(kept, what, model)
    seen = 0
    for line, waiters in wanted.items():
        words, name, state = re.fullmatch(r"(.*?) (\w+)(?:, (.*))?", line).groups()
        if words not in WORDS:
            continue
        address = next(t.wait.object for t in guest.process(3).threads if t.name == waiters[0][0])
        head, *lines = untimed(objects.show(guest, WORDS[words], address, 3)).splitlines()
        said = f"{words} {name} of process 3 (held_locks)"
        if state:
            assert head.startswith(f"{said}, {state}"), head
        else:
            assert head in (said, f"{said}, value 0"), head
        assert sorted(lines) == sorted(f"    thread {number(guest, thread)} ({thread}) waits{how}"
                                       for thread, how in waiters), (line, lines)
        seen += 1
    assert seen >= 5
    for name, protocol in (("inherit", "PTHREAD_PRIO_INHERIT"), ("protect", "PTHREAD_PRIO_PROTECT")):
        if what == "kinds":
            assert objects.show(guest, "mutex", place(guest, name), 3).splitlines()[0].endswith(f", {protocol}")


def number(guest, name):
    return next(t.id for t in guest.process(3).threads if t.name == name)


@pytest.mark.parametrize("model", MODELS)
def test_a_deadlock(kept, model):
    """It is told with each object that is a part of it, and with no other."""
    guest = kept("transfers", model=model)
    deadlock = "deadlock: thread 2 (alice pays) waits for mutex bob held by thread 3 (bob pays), which waits for " \
               "mutex alice held by thread 2 (alice pays)\n"
    for name, owner, waiter in (("alice", "thread 2 (alice pays)", "thread 3 (bob pays)"),
                                ("bob", "thread 3 (bob pays)", "thread 2 (alice pays)")):
        assert untimed(objects.show(guest, "mutex", place(guest, name, 2), 2)) == \
            f"mutex {name} of process 2 (transfers), held by {owner}\n    {waiter} waits\n{deadlock}"
    assert objects.show(guest, "barrier", place(guest, "both_hold", 2), 2) == \
        "barrier both_hold of process 2 (transfers), 0 of 2 threads have arrived\n"


def test_free_objects(kept):
    guest = held(kept, "kinds", "lwp")
    for kind, name, says in (("mutex", "guard", "free"), ("mutex", "robust", "free"),
                             ("rwlock", "kernel_rwlock", "free"), ("sema", "kernel_tokens", "value 0"),
                             ("cond", "tokens", "no thread waits")):
        words = next(words for words, word in WORDS.items() if word == kind)
        assert objects.show(guest, kind, place(guest, name), 3) == \
            f"{words} {name} of process 3 (held_locks), {says}\n"


def test_locks_of_the_kernel(kept):
    guest = held(kept, "kinds", "lwp")
    address = guest.layout.variable("clock_setting", "sched/clock.c")[0]
    assert objects.show(guest, "mutex", address, None) == "kernel mutex clock_setting (clock_settime), free\n"
    space = guest.process(3).object["as"].pointed()["lock"].address
    assert objects.show(guest, "rwlock", space, 2) == \
        f"kernel reader-writer lock {space:#x} (address space), free\n"


@pytest.mark.parametrize("kind, address, pid, says", [
    ("mutex", 0x1000, 3, "process 3: cannot access memory at address 0x1000"),
    ("mutex", 0x1000, None, "0x1000 is an address of a process: select one"),
    ("mutex", 0x1000, 77, "there is no process 77"),
    ("lock", 0x1000, 3, "there is no kind lock of object; there are: mutex, cond, rwlock, sema, barrier"),
    ("sema", (1 << 64) - 8, None, "the kernel has no objects of kind sema; it has: mutex, rwlock"),
    ("mutex", 0xffffa00000000000, None, "cannot access memory at address 0xffffa00000000018")])
def test_refused(kept, kind, address, pid, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        objects.show(held(kept, "kinds", "lwp"), kind, address, pid)


# --- queues -------------------------------------------------------------------------------------------


def test_dispatch_queues(kept):
    """Four LWPs that compute on two CPUs."""
    loop = "while :; do :; done"
    guest = kept("sh", "-c", f"{loop} & {loop} & {loop} & {loop}", timeout=6)
    said = queues.queues(guest)
    runs = re.findall(r"^CPU (\d) runs (\d)/1 \(sh\), priority \d+$", said, re.MULTILINE)
    waits = re.findall(r"^    priority \d+: (.*)$", said, re.MULTILINE)
    assert [cpu for cpu, _ in runs] == ["0", "1"], said
    names = sorted([pid for _, pid in runs] + re.findall(r"(\d)/1 \(sh\)", " ".join(waits)))
    assert names == ["2", "3", "4", "5"], said
    assert "\n    wait: 1/1 (init)\n" in said and "\nqueues for locks in user memory\n    no LWP waits\n" in said
    assert len(re.findall(r"in 0\.\d+ s: the slice of \d/1 \(sh\) ends$", timers.timers(guest), re.MULTILINE)) == 2


@pytest.mark.parametrize("model", MODELS)
def test_queues_of_the_library(kept, model):
    """Each waiter for each object; the newest first, except at a barrier."""
    said = queues.queues(held(kept, "kinds", model)).partition("threads library of process 3")[2]
    for line, waiters in KINDS.items():
        name = line.partition(", ")[0]
        rest = re.search(rf"^    {re.escape(name)}: (.*)$", said, re.MULTILINE)
        if rest is None:  # in model lwp the kernel has the queue of an inheriting mutex
            assert model == "lwp" and name == "mutex inherit", said
            continue
        assert sorted(re.findall(r"\((.*?)\)", rest[1])) == sorted(thread for thread, _ in waiters), said


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_queues_for_shared_locks(kept, model):
    said = queues.queues(held(kept, "kernel", model))
    part = said.partition("queues for locks in user memory\n")[2].partition("threads library")[0]
    found = re.findall(r"^    (.*) of process 3\n        3/\d+ \(held_locks\) waits(.*), priority \d+$", part,
                       re.MULTILINE)
    assert sorted(found) == sorted((name.partition(", ")[0], " to write" if "rwlock" in name else "")
                                   for name in KERNEL), part


# --- timers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timing", ["exact", "fast"])
def test_timers(kept, timing):
    """Of a sleep, of a program's timer, and of a time-out in the library."""
    guest = kept("sh", "-c", "sleep 1000 & LIBTHREAD=mxn held_locks kinds & while :; do :; done",
                 timing=timing, timeout=6)
    said = timers.timers(guest)
    assert said.startswith("now "), said
    left = r", in \d+\.\d{6} s"
    sleep = re.search(rf"^    (\d+)\.\d{{6}} s{left}: the sleep of (\d)/1 \(sleep\) ends: sleep in lwp_sleep$",
                      said, re.MULTILINE)
    assert sleep and 1000 <= int(sleep[1]) < 1010, said
    assert re.search(rf"^    \d+\.\d{{6}} s{left}: the sleep of \d/\d \(held_locks/callout\) ends: park in "
                     r"lwp_park$", said, re.MULTILINE), said
    library = said.partition("threads library of process")[2]
    ends = re.findall(r"^    (\d+)\.\d{6} s(.*): the wait of thread (\d+).* for (.*) ends$", library, re.MULTILINE)
    assert ends[-1][1:] == (" of CLOCK_REALTIME", "3", "mutex timed"), said
    for cpu in (0, 1):  # each CPU's in order
        part = re.split(r"^(?:CPU \d|threads .*)$", said, flags=re.MULTILINE)[cpu + 1]
        times = [float(t) for t in re.findall(r"^    (\d+\.\d+) s.*: the sleep", part, re.MULTILINE)]
        assert times == sorted(times)


def test_a_timer_of_a_program(kept, weft, tmp_path):
    source = tmp_path / "ticks.c"
    source.write_text("#include <signal.h>\n#include <sys/time.h>\n#include <unistd.h>\n"
                      "static void tick(int s) { (void)s; }\n"
                      "int main(void)\n{\n\tstruct itimerval v = {{7, 0}, {7, 0}};\n\tsignal(SIGALRM, tick);\n"
                      "\tsetitimer(ITIMER_REAL, &v, 0);\n\tfor (;;)\n\t\t;\n}\n")
    assert weft("cc", source, "-o", tmp_path / "ticks").returncode == 0
    result = run(Machine(argv=["ticks"], timing="exact", timeout=5, keep=tmp_path / "k", background=True,
                         files=[tmp_path / "ticks"]))
    said = timers.timers(CrashFile(result.kept).guest(tmp_path))
    assert re.search(r"^    \d+\.\d{6} s, in \d\.\d{6} s: timer \d+: signal 14 to process 2 \(ticks\), "
                     r"each 7\.000000 s$", said, re.MULTILINE), said


# --- damage -------------------------------------------------------------------------------------------


def everything(guest):
    said = [queues.queues(guest), timers.timers(guest)]
    for kind, name in (("mutex", "plain"), ("rwlock", "written"), ("cond", "news"), ("sema", "tokens"),
                       ("barrier", "three")):
        try:
            said.append(objects.show(guest, kind, place(guest, name) if guest.process(3) else 0, 3))
        except (ValueError, StopIteration) as error:
            said.append(str(error))
    return "\n".join(said)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model, what", [("mxn", "kinds"), ("lwp", "kernel")])
def test_damaged_memory(kept, model, what, seed):
    """There is always an answer, soon, and never an exception."""
    sound = held(kept, what, model)
    watched = Watched(sound.machine.physical)
    usual = everything(Guest(Changed(sound.machine, watched), sound.layout.elf, sound.programs))
    words, chance, other = sorted(watched.words), random.Random(seed), 0
    for _ in range(25):
        changes = {}
        for at in chance.sample(words, chance.choice((1, 3, 30, 300))):
            near = sound.machine.physical.read(chance.choice(words), 8)
            value = chance.choice((near, near, chance.randbytes(8), bytes(8), b"\xff" * 8))
            changes.setdefault(at & -PAGE, []).append((at % PAGE, value))
        damaged = Changed(sound.machine, Damaged(sound.machine.physical, changes))
        other += everything(Guest(damaged, sound.layout.elf, sound.programs)) != usual
    assert other > 5
