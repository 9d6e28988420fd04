"""What an LWP sleeps for in the kernel is in a trace, with its owner: locks in memory that processes share, locks
with sleep=kernel, objects of NT."""

import json
import subprocess

import pytest
from recordings import read
from traces import guest
from weft_host.paths import TOP
from weft_monitor import changes
from weft_trace import events
from weft_trace.model import Model, Watcher
from weft_trace.objects import Thread

SOURCE = """
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <windows.h>

static pthread_mutex_t door, plain = PTHREAD_MUTEX_INITIALIZER;
static sem_t bell;
static HANDLE gate;

static void *waiter(void *unused)
{
	pthread_mutex_lock(&door);
	pthread_mutex_unlock(&door);
	sem_wait(&bell);
	WaitForSingleObject(gate, INFINITE);
	ReleaseMutex(gate);
	pthread_mutex_lock(&plain);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t shared;
	pthread_t thread;

	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&door, &shared);
	sem_init(&bell, 1, 0);
	gate = CreateMutex(NULL, TRUE, NULL);
	pthread_mutex_lock(&door);
	pthread_mutex_lock(&plain);
	pthread_create(&thread, NULL, waiter, NULL);
	usleep(10000);
	pthread_mutex_unlock(&door);
	usleep(10000);
	sem_post(&bell);
	usleep(10000);
	ReleaseMutex(gate);
	usleep(10000);
	pthread_mutex_unlock(&plain);
	return pthread_join(thread, NULL);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    (folder / "objects.c").write_text(SOURCE)
    subprocess.run([TOP / "tools/weft", "cc", "-O1", folder / "objects.c", "-o", folder / "objects"], check=True)
    return folder / "objects"


class Waited(Watcher):
    """What each thread has waited for in the kernel, and the thread that owned it then."""

    def __init__(self, model):
        self.found = []
        model.watch(self)

    def thread(self, time, thread: Thread, before, since, lwp):
        if thread.state == "OnLWP" and thread.lwp is not None and thread.lwp.waits is not None:
            owner = thread.waits.owner
            self.found.append((thread.key, str(thread.waits), owner.key if owner is not None else None))


# A thread is OnLWP in such a wait.  A thread that waits for a mutex of the process alone sleeps in the library.  A
# mutex of NT belongs to an LWP: in mxn the two threads are on one, so none waits.  In sa the LWPs of both depend on
# the time.
@pytest.mark.parametrize("options", ["--model lwp", "--model mxn", "--options sleep=kernel"])
def test_waits_in_the_kernel(options, program, tmp_path):
    raw = tmp_path / "raw"
    done = guest("trace", "--raw", str(raw), "--timing", "exact", "--smp", "2", *options.split(), "--file",
                 str(program), "--", "objects")
    assert done.returncode == 0, done.stdout + done.stderr
    model = Model()
    waited = Waited(model)
    for record in events.read(raw):
        model.feed(record)
    assert all(lwp.waits is None for lwp in model.lwps.values())
    assert all(thread.waits is None for thread in model.threads.values())
    found = [one for one in waited.found if one[0] == "2.2"]
    assert found[0] == ("2.2", "mutex door", "2.1")
    assert found[1][1] == "sema bell"
    if "mxn" not in options:
        _, gate, owner = found.pop(2)
        assert gate.startswith("mutex 0xffff8") and owner == "2.1"
    assert [one[1:] for one in found[2:]] == ([("mutex plain", "2.1")] if "kernel" in options else [])
    done = guest("stats", "--json", str(raw))
    waits = {wait["for"]: wait["owner"] for wait in json.loads(done.stdout)["longest_waits"]
             if wait["waiter"].startswith("2/") and wait["state"] in ("lock", "sleep")}
    assert waits["mutex door"] == "2.1" and "sema bell" in waits


def test_the_monitor_says_it(program, tmp_path):
    """The texts of the LWP and of the thread, and the owner."""
    done = guest("monitor", "--batch", "--record", str(tmp_path / "rec"), "--timing", "exact", "--smp", "2",
                 "--model", "lwp", "--file", str(program), "--", "objects")
    assert done.returncode == 0, done.stdout + done.stderr
    what, found = read(tmp_path / "rec")
    texts, threads = dict(what["texts"]), {row[0]: row[2] for row in what["threads"] if row[1] == 2}
    on_lwp = changes.THREAD_STATES.index("On LWP")
    waits = {texts[text] for _, kind, state, _, thread, _, text in found
             if kind == changes.THREAD and state == on_lwp and text != changes.NONE and threads[thread] == "2"}
    sleeps = {texts[text] for _, kind, _, _, _, _, text in found if kind == changes.LWP and text != changes.NONE}
    assert {"mutex door", "semaphore bell"} <= waits <= sleeps and len(waits) == 3
    assert any(kind == changes.OWNER and texts[text] == "mutex door" and threads.get(owner) == "1"
               for _, kind, _, _, text, owner, _ in found)
