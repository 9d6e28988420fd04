"""weft trace of what the threads library does: it changes no byte either, and tells the states of threads."""

import collections
import subprocess

import pytest
from conftest import MODELS
from traces import guest, same_bytes
from weft_host.paths import BUILD, TOP
from weft_trace import events, programs
from weft_trace.displaced import Displaced
from weft_trace.elf import Elf
from weft_trace.patch import NOP

WEFT = TOP / "tools/weft"
PROGRAMS = BUILD / "bin"


def traced(raw, *words):
    done = guest("trace", "--raw", str(raw), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return list(events.read(raw))


def test_all_points_can_be_patched():
    """Of all programs, also of the second copies of sync/, which count."""
    displaced, names, functions = Displaced(), set(), set()
    for path in sorted(PROGRAMS.iterdir()):
        elf = Elf(path.read_bytes(), path.name)
        for point, stub in programs.stubs(elf, path, displaced):
            assert isinstance(stub, programs.Stub), stub
            names.add(point.name)
            functions.add(elf.function_at(point.address).name)
            for exact in (False, True):
                assert len(stub.displaced(programs.USER, exact)) <= programs.SLOT - len(programs.RECORD)
    assert names >= {"thread_first", "thread_new", "thread_begin", "thread_exit", "thread_join", "thread_name",
                     "thread_state", "thread_switch", "thread_leave", "thread_wake", "thread_woken",
                     "thread_dispatchable", "thread_stop", "thread_continue", "lock_wait", "lock_own", "lock_free",
                     "lock_move", "rwlock_wait", "cond_signal", "cond_broadcast", "pool_lwp", "pool_gone",
                     "pool_look", "pool_begin"}
    assert functions >= {"__mutex_lock_slow", "__counted_mutex_lock_slow", "__mxn_switch", "lwp_sleep"}


# The papers' programs, and what signals, suspends and counts.
RUNS = [
    (2, "--model mxn", "pp -v -i 200"),
    (4, "--model mxn", "barrier -i 2 -n 3"),
    (4, "--model mxn --quantum 200 --seed 3", "ntsol cl shared global 20 200"),
    (4, "--model mxn --quantum 71 --seed 4 --engine processors", "ntsol unbound create 100"),
    (4, "--quantum 100 --seed 5", "timemutex -n 200 1 1 0 4"),
    (4, "--model mxn --quantum 100 --seed 5", "oscmp -n 1 -i 2000 -e 20 -f 2 -t 20 cl stress"),
    (2, "--quantum 53 --seed 11 --model mxn", "thr_waits"),
    (2, "--model n1 --seed 2", "thr_cancel"),
    (4, "--model sa --quantum 71 --seed 7", "thr_life 5"),
    (2, "--model sa --quantum 53 --seed 11", "thr_waits"),
    (2, "--seed 5 --options lockstat=exit", "lock_load spin"),
]


@pytest.mark.parametrize("smp, options, command", RUNS)
def test_a_trace_changes_no_byte(smp, options, command, tmp_path):
    found = collections.Counter(record.name for record in same_bytes(smp, options, command, tmp_path / "raw"))
    assert found["thread_first"] >= 2 and found["thread_new"] > 0
    assert found["lock_wait"] > 0 or "timemutex" in command  # whose locks are Win32's, and wait in the kernel


def test_one_instruction_too_many_is_seen(tmp_path):
    """The copies of the displaced instructions get a NOP that the program does not have."""
    words = ["--timing", "exact", "--smp", "2", "--verbose", "--model", "mxn", "--", "pp", "-i", "200"]
    plain = guest("run", *words)
    code = tmp_path / "wrong.py"
    code.write_text("import sys\n"
                    f"sys.path.insert(0, {str(TOP / 'tools')!r})\n"
                    "from weft_host import cli\n"
                    "from weft_trace.programs import Stub\n"
                    "right = Stub.displaced\n"
                    f"Stub.displaced = lambda stub, at, exact: {NOP!r} + right(stub, at + 1, exact)\n"
                    f"words = ['trace', '--no-build', '--raw', {str(tmp_path / 'raw')!r}, *{words!r}]\n"
                    "sys.exit(cli.main(words))\n")
    wrong = subprocess.run([BUILD / "venv/bin/python", code], capture_output=True, text=True, timeout=300)
    assert wrong.returncode == 0, wrong.stderr
    assert "ends at" in plain.stderr + plain.stdout
    assert wrong.stdout + wrong.stderr != plain.stdout + plain.stderr


# In exact timing CPUs see each other's stores up to a quantum early, so the times of two CPUs do not say what came
# first.
@pytest.mark.parametrize("timing, smp", [("exact", 1), ("fast", 2)])
@pytest.mark.parametrize("model", MODELS)
def test_states_follow_each_other(model, timing, smp, tmp_path):
    """Each thread has one LWP, and each LWP one thread; nothing runs that has not been made."""
    found = traced(tmp_path / "raw", "--timing", timing, "--smp", str(smp), "--model", model,
                   "--file", str(BUILD / "tests/bin/thr_waits"), "--", "thr_waits")
    state, on, runs, last, ended = {}, {}, {}, {}, set()
    changes = collections.Counter()

    def comes(thread, now, lwp):
        if now == "OnLWP" and lwp is not None:
            assert on.get(lwp, thread) == thread, f"{lwp} runs {on[lwp]} and {thread}"
            on[lwp] = thread
        elif now != "OnLWP":
            for key in [key for key, value in on.items() if value == thread]:
                del on[key]
        changes[state[thread], now] += 1
        state[thread] = now

    for record in found:
        assert record.time >= last.get(record.cpu, 0)
        last[record.cpu] = record.time
        values, lwp = record.values, runs.get(record.cpu)
        thread = values.get("thread", "context")
        if record.name == "on_cpu":
            runs[record.cpu] = values["lwp"]
        elif record.name in ("thread_first", "thread_new"):
            assert thread not in state
            state[thread] = "New"
            if record.name == "thread_first":
                comes(thread, "OnLWP", lwp)
        elif record.name == "thread_state" and "." in thread:
            comes(thread, values["state"], lwp if values["state"] == "OnLWP" else None)
        elif record.name == "thread_switch":
            if "." in thread:
                # An upcall says RunQueue before it switches: leave_preempted, leave_surplus.
                assert on.get(lwp) == thread or state[thread] == values["state"] != "OnLWP"
                comes(thread, values["state"], None)
            if "." in values["next"]:
                comes(values["next"], "OnLWP", lwp)
        elif record.name == "thread_leave" and "." in values["next"]:
            comes(values["next"], "OnLWP", lwp)
        elif record.name == "thread_woken":
            comes(thread, "RunQueue", None)
        elif record.name == "thread_dispatchable":
            comes(thread, "Dispatchable", None)
        elif record.name == "thread_exit":
            assert thread not in ended
            ended.add(thread)
            comes(thread, "Gone", None)
    assert changes["OnLWP", "Blocked"] > 20 and changes["Blocked", "Gone"] == 0
    assert (changes["Blocked", "RunQueue"] + changes["Blocked", "Dispatchable"] > 5) == (model != "lwp")
    assert changes["Blocked", "OnLWP"] > 20 or model != "lwp"
    assert len(ended) > 10


OWN = """
#include <pthread.h>
#include <unistd.h>

static struct { int other; pthread_mutex_t lock; } table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *waiter(void *unused)
{
	pthread_setname_np(pthread_self(), "the waiter");
	pthread_mutex_lock(&table.lock);
	pthread_mutex_unlock(&table.lock);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&table.lock);
	pthread_create(&thread, NULL, waiter, NULL);
	usleep(10000);
	pthread_mutex_unlock(&table.lock);
	return pthread_join(thread, NULL);
}
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A program that weft cc has made."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.c").write_text(OWN)
    subprocess.run([WEFT, "cc", "-O1", folder / "own.c", "-o", folder / "own"], check=True)
    return folder / "own"


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_a_program_of_ones_own(model, own, tmp_path):
    found = traced(tmp_path / "raw", "--timing", "exact", "--smp", "2", "--model", model, "--file", str(own),
                   "--events", "thread_name,thread_begin,lock_wait,lock_own,lock_free,thread_wake,thread_woken",
                   "--", "own")
    of_program = [record for record in found if "2.2" in record.values.values()
                  or "table+0x8" in record.values.get("lock", "")]
    said = [(record.name, record.values.get("thread", record.values.get("lock", "").partition(":")[2]))
            for record in of_program if record.values.get("kind") != "join"]
    wake = "thread_woken" if model == "mxn" else "thread_wake"
    assert said == [("thread_begin", "2.2"), ("thread_name", "2.2"), ("lock_wait", "table+0x8"),
                    ("lock_free", "table+0x8"), (wake, "2.2"), ("lock_own", "table+0x8")]
    name, = [record.values["name"] for record in of_program if record.name == "thread_name"]
    wait, = [record for record in of_program if record.name == "lock_wait" and record.values["kind"] == "mutex"]
    assert name == "the_waiter" and wait.values["owner"] == "2.1"


def test_a_stripped_program_is_told_of(own, tmp_path):
    tool = next(path for path in ("x86_64-elf-strip", "x86_64-linux-gnu-strip", "strip")
                if subprocess.run(["which", path], capture_output=True).returncode == 0)
    bare = tmp_path / "bare"
    subprocess.run([tool, "-o", bare, own], check=True)
    done = guest("trace", "--raw", str(tmp_path / "raw"), "--file", str(bare), "--", "bare")
    assert done.returncode == 0 and "bare is stripped: what its threads do is not recorded" in done.stderr
    assert not any(record.name == "lock_wait" for record in events.read(tmp_path / "raw"))


INTERRUPTS = """
#include <signal.h>
#include <stdio.h>
#include <setjmp.h>

static sigjmp_buf back;
static volatile int caught;

static void handler(int sig)
{
	caught = sig;
	siglongjmp(back, 1);
}

int main(void)
{
	signal(SIGSEGV, handler);
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("int $0xf0");
	printf("%d\\n", caught);
	caught = 0;
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("int $0xf1");
	printf("%d\\n", caught);
	return 0;
}
"""


def test_the_vectors_are_not_the_programs(tmp_path):
    """A program that executes INT by itself faults as without a trace."""
    (tmp_path / "ints.c").write_text(INTERRUPTS)
    subprocess.run([WEFT, "cc", tmp_path / "ints.c", "-o", tmp_path / "ints"], check=True)
    words = ["--file", str(tmp_path / "ints"), "--", "ints"]
    plain, with_trace = guest("run", *words), guest("trace", "--raw", str(tmp_path / "raw"), *words)
    assert plain.stdout == with_trace.stdout == "11\n11\n"
