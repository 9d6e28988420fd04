"""What libthread says when LIBTHREAD or LIBTHREAD_OPTIONS are wrong: everything that is known; and
how much memory many threads need.

What the options do is tested in the guest (tests/guest/thr_options.c).
"""

import re

import pytest
from conftest import MODELS, TOP
from tap import failures

KNOWN = {
    "lwp": "spin=adaptive|always|never queue=lifo|fifo unlock=plain|adaptive schedctl=off|on"
           " sleep=park|kernel unpark=combined|separate malloc=newlib|mt"
           " lockstat=off|exit|SIGNAL lockstat-fd=FD sample=MS",
    "mxn": "spin=adaptive|always|never queue=lifo|fifo unlock=plain|adaptive schedctl=off|on "
           "concurrency=N waiting=upcall|signal|none|early aging=SECONDS malloc=newlib|mt "
           "lockstat=off|exit|SIGNAL lockstat-fd=FD sample=MS",
    "n1": "queue=lifo|fifo schedctl=off|on malloc=newlib|mt lockstat=off|exit|SIGNAL lockstat-fd=FD sample=MS",
    "sa": "spin=adaptive|always|never queue=lifo|fifo unlock=plain|adaptive schedctl=off|on "
          "concurrency=N aging=SECONDS idle=sleep|spin|leave slices=off|on preempted=stay|handover "
          "unblocked=stay|leave runqueue=common|own sleepq=common|own lone=off|on signals=pool|aslwp "
          "malloc=newlib|mt lockstat=off|exit|SIGNAL lockstat-fd=FD sample=MS",
}


def env(guest, model, options):
    return guest(["env", f"LIBTHREAD={model}", f"LIBTHREAD_OPTIONS={options}", "pp", "-i", "1"])


def test_unknown_model(guest):
    result = env(guest, "nm", "")
    assert result.status == 2
    assert result.output.strip() == \
        'libthread: unknown model "nm"; LIBTHREAD is one of: lwp mxn n1 sa'


BAD = [
    ("lwp", "spin=often", "spin=often", "has an unknown value"),
    ("lwp", "queue=fifo,colour=red", "colour=red", "is unknown"),
    ("lwp", "concurrency=2", "concurrency=2", "makes no sense in this model"),
    ("mxn", "unlock", "unlock", "is not NAME=VALUE"),
    ("mxn", "concurrency=0", "concurrency=0", "has an unknown value"),
    ("mxn", "concurrency=1025", "concurrency=1025", "has an unknown value"),
    ("mxn", "waiting=never", "waiting=never", "has an unknown value"),
    ("n1", "lockstat=on", "lockstat=on", "has an unknown value"),
    ("lwp", "lockstat=0", "lockstat=0", "has an unknown value"),
    ("mxn", "aging=0", "aging=0", "has an unknown value"),
    ("lwp", "waiting=upcall", "waiting=upcall", "makes no sense in this model"),
    ("n1", "aging=5", "aging=5", "makes no sense in this model"),
    ("mxn", "idle=spin", "idle=spin", "makes no sense in this model"),
    ("sa", "idle=park", "idle=park", "has an unknown value"),
    ("lwp", "sleep=user", "sleep=user", "has an unknown value"),
    ("mxn", "sleep=kernel", "sleep=kernel", "makes no sense in this model"),
    ("n1", "sleep=park", "sleep=park", "makes no sense in this model"),
    ("n1", "spin=never", "spin=never", "makes no sense in this model"),
    ("mxn", "slices=off", "slices=off", "makes no sense in this model"),
    ("sa", "waiting=none", "waiting=none", "makes no sense in this model"),
]


def test_bad_options(guest):
    script = "; ".join(f"LIBTHREAD={model} LIBTHREAD_OPTIONS={options} pp -i 1; echo $?"
                       for model, options, _, _ in BAD)
    lines = guest(["sh", "-c", script]).output.splitlines()
    assert len(lines) == 2 * len(BAD), lines
    for (model, _, wrong, why), message, status in zip(BAD, lines[::2], lines[1::2]):
        assert message == (f'libthread: option "{wrong}" {why}; '
                           f"LIBTHREAD_OPTIONS of model {model}: {KNOWN[model]}")
        assert status == "2", message


def test_the_table_of_options():
    """libthread/README.md has the options that the messages list, for each model."""
    text = (TOP / "libthread/README.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)=` \|(.*?)\|(.*?)\|(.*?)\|(.*?)\|", text, re.MULTILINE)
    for column, model in enumerate(MODELS, 1):
        known = {item.split("=")[0]: item.split("=")[1] for item in KNOWN[model].split()}
        listed = {row[0]: row[column].replace("*", "") for row in rows if row[column].strip()}
        assert set(known) - {"lockstat-fd"} == set(listed), model  # that stands beside lockstat
        for name, values in known.items():
            if "|" in values:
                assert set(values.split("|")) == set(listed[name].split()), f"{model}: {name}"


@pytest.mark.parametrize("model, cpus", [("lwp", 1), ("lwp", 4), ("mxn", 4), ("n1", 2), ("sa", 4)])
def test_malloc_of_many_threads(guest, model, cpus):
    for program in (["libc_malloc"], ["thr_malloc", 60]):
        result = guest(program, model=model, smp=cpus, options="malloc=mt", timeout=240)
        assert failures(result) == []


@pytest.mark.parametrize("cpus", [1, 4])
@pytest.mark.parametrize("program", [["thr_mutex", 50], ["thr_cond", 10], ["thr_sema", 20],
                                     ["thr_rwlock", 20], ["thr_cancel"], ["thr_cancel_race", 20],
                                     ["thr_protocol", 20], ["thr_inversion"]])
def test_kernel_sleep(guest, program, cpus):
    """Every object does all that it does with queues in the library."""
    result = guest(program, smp=cpus, options="sleep=kernel", timing="exact", timeout=120)
    assert result.status == 0
    assert failures(result) == []


@pytest.mark.parametrize("sleep, calls", [("kernel", "lwp_mutex_lock"), ("park", "lwp_park")])
def test_where_threads_sleep(guest, sleep, calls):
    """On one CPU, the players of ping-pong wait once in each turn."""
    result = guest(["truss", "-c", "pp", "-i", "100"], options=f"sleep={sleep}", timing="exact")
    assert result.status == 0
    made = dict(re.findall(r"^(lwp_\w+) +[\d.]+ +(\d+)", result.output, re.MULTILINE))
    for call in "lwp_mutex_lock", "lwp_park":
        if call == calls:
            assert int(made[call]) >= 100, result.output
        else: # at most to be joined
            assert int(made.get(call, 0)) <= 4, result.output


def test_good_options(guest):
    for model, options in [("lwp", "spin=never,schedctl=off"), ("mxn", "concurrency=1024"),
                           ("n1", "queue=lifo"), ("sa", "concurrency=2,lone=off")]:
        assert env(guest, model, options).status == 0


@pytest.mark.parametrize("model", ["mxn", "sa"])
@pytest.mark.parametrize("args, most", [(["-n", "30000"], 5400), (["-b", "-n", "5000"], 15100)])
def test_memory_of_many_threads(guest, model, args, most):
    """A twentieth or less of what 8 GiB and 2 GiB are to hold; exact timing, so that it is quick."""
    result = guest(["many", *args], model=model, timing="exact")
    assert result.status == 0, result.output
    alive = re.search(r"^(\d+) threads alive at once: (\d+) bytes each", result.output, re.MULTILINE)
    assert alive[1] == args[-1]
    assert int(alive[2]) <= most
    assert f"{alive[1]} threads ended" in result.output


@pytest.mark.parametrize("model, options", [
    ("lwp", None), ("mxn", "concurrency=4,unlock=adaptive"), ("sa", "unlock=adaptive")])
def test_a_stopped_spinner_delays_nobody(guest, model, options):
    """After the last sleeper has been woken a mutex costs what it did before, though a thread counts
    as a spinner and never comes."""
    result = guest(["mutex_stopped"], timing="exact", smp=4, model=model, options=options)
    assert not failures(result), result.output


@pytest.mark.parametrize("model", MODELS)
def test_a_library_on_contexts(guest, model):
    """user/demo/uthreads: its read() stops every uthread, its uthread_read() one."""
    result = guest(["uthreads"], model=model, timing="exact")
    assert result.status == 0, result.output
    read, own = result.output.splitlines()
    assert read == "read():         has got its input; rounds of the counters meanwhile: 0"
    rounds = re.fullmatch(r"uthread_read\(\): has got its input; "
                          r"rounds of the counters meanwhile: (\d+)", own)
    assert int(rounds[1]) > 10000, own


@pytest.mark.parametrize("model, smp", [("sa", 1), ("sa", 2), ("sa", 4), ("mxn", 2), ("lwp", 2)])
def test_no_lwp_is_worth_the_process(guest, model, smp):
    """There are two free pages in the machine, and the library wants LWPs."""
    result = guest(["thr_no_memory", 2], model=model, smp=smp, timing="exact", seed=7, mem="48M")
    assert failures(result) == [], result.output


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_the_first_thread_without_memory(guest, model):
    result = guest(["thr_nospare"], model=model, smp=2, timing="exact", seed=7)
    assert failures(result) == [], result.output


@pytest.mark.parametrize("model, what, options, machine", [
    ("mxn", ["mq", 300], "concurrency=2", {"smp": 3, "mips": 50}),
    ("sa", ["mq", 300], "concurrency=2", {"smp": 3, "mips": 50}),
    ("sa", ["mq", 300], "concurrency=2,slices=off", {"smp": 3, "mips": 50}),
    ("sa", ["pipe", 300], "concurrency=2", {"smp": 4, "mips": 100}),
    ("sa", ["idle", 300], "", {"smp": 2}),
    ("mxn", ["suspend", 20], "concurrency=2", {"smp": 1}),
    ("mxn", ["ceiling", 400], "concurrency=2", {"smp": 3, "seed": 2}),
    ("sa", ["ceiling", 400], "concurrency=2", {"smp": 3, "seed": 2}),
    ("lwp", ["slices", 2000], "", {"smp": 1, "mips": 20}),
    ("sa", ["slices", 2000], "", {"smp": 1, "mips": 20}),
])
def test_a_thread_that_is_to_run_before_others(guest, model, what, options, machine):
    """Also while one of the others is not to be stopped."""
    result = guest(["thr_urgent", *what], model=model, options=options, timing="exact", **{"seed": 1, **machine})
    assert failures(result) == [], result.output


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_threads_take_turns_if_no_slice_ends_on_a_cpu_of_theirs(guest, seed):
    result = guest(["thr_phase", 3000], model="sa", smp=2, timing="exact", seed=seed, mips=5)
    assert failures(result) == [], result.output


TURNS = [("higher", 0, 1), ("higher", 20, 1), ("fifo", 5, 1), ("fifo", 30, 1), ("fifo", 90, 1), ("both", 85, 1),
         ("post", 85, 1), ("inherits", 60, 1), ("fork", 50, 1), ("rr", 5, 2), ("rr", 12, 2)]
BESIDE_PROCESSES = [("processes", 4, 2), ("processes", 3, 2), ("rr-processes", 6, 2)]


@pytest.mark.parametrize("mode, n, smp, options", [
    *((*turns, "") for turns in TURNS + BESIDE_PROCESSES), *((*turns, "preempted=stay") for turns in TURNS)])
def test_threads_take_turns_beside_others(guest, mode, n, smp, options):
    result = guest(["thr_turns", mode, n], model="sa", smp=smp, options=options, timing="exact", seed=1, mips=50)
    assert failures(result) == [], result.output
