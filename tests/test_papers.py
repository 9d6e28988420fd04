"""The programs of the papers: what follows from the thread models holds, in exact timing.

Each program prints lines `result key=value ...`; times are virtual, the same on every host.  The
units of work are the smallest that still show it.
"""

import statistics

import pytest


@pytest.fixture(scope="module")
def results(guest):
    """results(command, smp=..., ...) runs a command of the guest's shell in exact timing: its lines
    of results, as dicts in which what is a number is one."""

    def value(text):
        return int(text) if text.lstrip("-").isdigit() else text

    def run(command, **options):
        result = guest(["sh", "-e", "-c", command], timing="exact", timeout=300, **options)
        assert result.status == 0, result.output
        return [{key: value(text) for key, text in
                 (pair.split("=", 1) for pair in line.split()[1:])}
                for line in result.output.splitlines() if line.startswith("result ")]

    return run


# The library's own in mxn: ASLWP, reaper, and the one that waits for the upcall.
OWN_LWPS = 3


def column(results, name, *tests, **options):
    """The lines of ntsol's tests in one column, on four CPUs."""
    command = "; ".join(f"ntsol {name} {test}" for test in tests)
    model = "lwp" if name == "nt" else "mxn"
    return results(command, smp=4, model=model, **options)


# --- time-share starves none --------------------------------------------------------------------


@pytest.mark.parametrize("neighbour", ["sleep", "alarm", "pingpong"])
def test_half_of_a_fair_share(results, neighbour):
    line, = results(f"shares TS {neighbour} 1 5000", smp=1, mips=20)
    assert line["least"] >= 500


# --- Windows NT and Solaris --------------------------------------------------------------------


def test_suspended_threads_are_counted(results):
    for name, more in (("nt", 0), ("bound", OWN_LWPS)):
        line, = column(results, name, "max 300")
        assert (line["threads"], line["ended_by"], line["lwps"]) == (300, "limit", 301 + more)
        assert line["memory_bytes"] > 300 * 4096


def test_threads_end_with_the_memory(results):
    line, = column(results, "bound", "max 100000", mem="64M")
    assert line["ended_by"] in ("memory", "system")
    assert line["threads"] > 100


def test_unbound_threads_are_created_fastest(results):
    took = [column(results, name, "create 200")[0]["create_ns"]
            for name in ("unbound", "cl", "bound")]
    assert took == sorted(took)


def test_unbound_threads_compute_one_after_the_other(results):
    """N units of work take N on one LWP, N/4 on four CPUs."""
    unit = 2_000_000
    for name in ("nt", "bound", "cl", "unbound"):
        lines = column(results, name, f"compute 4 {unit}", f"compute 8 {unit}")
        for n, line in zip((4, 8), lines, strict=True):
            units = n if name == "unbound" else n / 4
            assert line["real_ns"] == pytest.approx(units * unit, rel=0.05), (name, n)


@pytest.mark.parametrize("threads", [5, 9])
def test_four_cpus_are_shared_evenly(results, threads):
    """Five and nine LWPs that compute for many slices: none has a CPU for itself."""
    unit = 4_000_000  # a second, 33 slices
    line, = column(results, "nt", f"compute {threads} {unit}", mips=4)
    assert line["real_ns"] == pytest.approx(threads * unit * 250 / 4, rel=0.05)


@pytest.mark.parametrize("kind", ["local", "global"])
def test_shared_data_is_whole(results, kind):
    """The program checks the sum."""
    for name in ("nt", "bound", "cl", "unbound"):
        line, = column(results, name, f"shared {kind} 20 100")
        assert line["lock"] == kind


def test_search_is_four_times_as_fast(results):
    for name in ("nt", "bound", "cl"):
        one, four = column(results, name, "search 1 14", "search 4 14")
        assert one["length"] == four["length"] == 1872
        assert one["nodes"] == four["nodes"]
        assert one["real_ns"] / four["real_ns"] >= 3.9, name


@pytest.mark.parametrize("burst", [0.5, 1, 4])
def test_bursts(results, burst):
    """An LWP a CPU is as good as one a thread, and the pool's growth no match for either: from 16
    threads on, unbound ones take half as long again at least."""
    unit = 500_000  # instructions; 20 ms at 25 million a second
    test = f"burst 16 20 {int(burst * unit)} 3"
    took = {name: column(results, name, test, mips=25)[0] for name in ("bound", "cl", "unbound")}
    assert took["cl"]["real_ns"] <= 1.03 * took["bound"]["real_ns"]
    assert took["unbound"]["real_ns"] >= 1.5 * took["bound"]["real_ns"]
    beside_the_pool = OWN_LWPS + 1  # that for time-outs
    assert took["cl"]["lwps"] == 4 + beside_the_pool
    assert 1 + beside_the_pool <= took["unbound"]["lwps"] <= took["cl"]["lwps"]


@pytest.mark.parametrize("test", ["compute 16 200000", "burst 16 2 100000 3"])
def test_a_block_in_the_kernel_adds_an_lwp(results, test):
    """That all LWPs are blocked while threads can run adds one to the pool, for good."""
    none, one = (column(results, f"-r {reads} unbound", test, mips=100)[0] for reads in (0, 1))
    assert one["lwps"] == none["lwps"] + 1
    assert one["real_ns"] < 0.65 * none["real_ns"]


def test_idle_until_a_whole_unit(results):
    """One thread that computes for half a unit has half a unit to wait, not a whole one."""
    wait, whole = (column(results, f"-i {idle} cl", "burst 1 20 1000000 4", mips=100)[0]
                   for idle in ("wait", "whole"))
    assert wait["real_ns"] == pytest.approx(4 * 30e6, rel=0.02)
    assert 3 * 20e6 <= whole["real_ns"] <= 4.1 * 20e6


def test_idle_in_the_kernel_grows_the_pool(results):
    line, = column(results, "-i read unbound", "burst 8 5 100000 2", mips=100)
    assert line["lwps"] > OWN_LWPS + 4


# --- critical sections and mutexes ---------------------------------------------------------------


def timemutex(results, *commands, **options):
    return results("; ".join(f"timemutex -n 500 {args}" for args in commands), **options)


def test_critical_section_is_three_times_as_fast(results):
    """On one CPU, where nobody is in the way."""
    section, mutex, semaphore, event = timemutex(results, "1", "3", "4", "5", smp=1)
    for kernel_object in (mutex, semaphore, event):
        assert kernel_object["real_ns"] >= 3 * section["real_ns"]
        assert kernel_object["sys_ns"] >= 10 * section["sys_ns"]


@pytest.mark.parametrize("which", [1, 2, 3])
def test_time_is_linear_in_depth_and_delay(results, which):
    for form in ("{} 0", "1 {}"):
        one, four, seven = (line["real_ns"] for line in timemutex(
            results, *(f"{which} {form.format(n)}" for n in (1, 4, 7)), smp=1))
        assert four - one > 0
        assert seven - four == pytest.approx(four - one, rel=0.02), form


def test_two_critical_sections_cost_twice_one(results):
    nothing, one, two = (line["real_ns"] for line in timemutex(
        results, "0 10", "1 10", "2 10", smp=1))
    assert two - nothing == pytest.approx(2 * (one - nothing), rel=0.15)


def test_a_slice_that_ends_inside_makes_a_convoy(results):
    """From then on each turn is handed over.  Of two threads one overtakes the other again; of eight
    nobody does.  A thread that raises its priority inside is not preempted there; the call by which it
    does so takes long enough at this speed for a few slices to end in it."""
    two, eight, raised = results("timemutex -n 3000 1 1 0 2; timemutex -n 3000 1 1 0 8;"
                                 "timemutex -n 1000 -p 1 1 0 4", smp=1, mips=1)
    assert two["blocks"] < 0.02 * 2 * 3000
    assert eight["blocks"] > 0.5 * 8 * 3000
    assert eight["real_ns"] > 5 * 4 * two["real_ns"]
    assert raised["blocks"] < 0.05 * 4 * 1000


def test_phases_differ(results):
    """One turn of one thread takes a random time; so does what main computes before it, which ends somewhere in a
    slice.  Of ten phases the shortest turn takes a third of the longest at most."""
    phases = results("timemutex -r 10 -n 1 1 1 1000 1", smp=1)
    took = sorted(line["user_ns"] for line in phases)
    assert len(took) == 10 and 3 * took[0] < took[-1]
    assert all(1.02 * one < other for one, other in zip(took, took[1:]))


def test_timemutex_excludes(results):
    """It checks that by itself: more CPUs, threads that wait their turn to be active, priorities,
    sleeping inside and outside."""
    lines = timemutex(results, "1 1 1 6 3 2", "2 2 1 4 1", "3 3 1 4 0 1", "4 1 1 5 2", "5 1 1 3 1",
                      "-p 1 1 1 3", "-w 3 1 2 3", smp=4)
    assert [line["active"] for line in lines] == [2, 4, 1, 5, 3, 3, 3]


# --- responses, and fibers ----------------------------------------------------------------------


def test_a_thread_that_sleeps_answers(results):
    """At once in time-share; in a pool of LWPs when a thread that computes has ended."""
    at_once, pool = (results(f"respond {name} 8 10000000", smp=4, mips=10, model="mxn")[0]
                     for name in ("bound", "cl"))
    # Before its first sleep the thread has the priority of those that compute, so one response may be late.
    others = at_once["responses"] - 1
    usual = (at_once["responses"] * at_once["response_ns"] - at_once["response_most_ns"]) / max(others, 1)
    assert others > 0 and usual < 1e6
    assert pool["response_most_ns"] > 100 * usual


def test_fibers_make_all_turns(results):
    """fibers checks by itself that no turn is lost, on one CPU and where threads share the queue."""
    for smp in (1, 4):
        lines = results("fibers fiber create 50; fibers fiber compute 8 10000; fibers fiber yield 20 50;"
                        "fibers thread yield 20 50", smp=smp)
        assert [line["number"] for line in lines] == [50, 8, 20, 20]


# --- turns at a lock ----------------------------------------------------------------------------


def test_turns_are_counted(results):
    """turns checks by itself that no two threads are inside at once, and that no turn is lost."""
    commands = "; ".join(f"turns nt {kind} 4 200 100 100" for kind in ("local", "global", "none"))
    section, mutex, nothing = results(commands, smp=4)
    for line in (section, mutex):
        assert line["wait_most_ns"] >= line["wait_ns"] > 0 <= line["least"] <= line["most"] == 200
    assert section["real_ns"] > nothing["real_ns"] and nothing["wait_ns"] == 0


def test_turns_in_order_vary_less(results):
    """Of sleepers in the order in which they came none waits as long as the last of a stack does."""
    lifo, fifo = (results("turns bound local 16 250 1000 2000", smp=4, model="lwp", mips=10,
                          options=f"spin=never,queue={queue}")[0] for queue in ("lifo", "fifo"))
    assert lifo["wait_sd_ns"] > 1.5 * fifo["wait_sd_ns"]
    assert lifo["wait_most_ns"] > fifo["wait_most_ns"]


# --- barriers --------------------------------------------------------------------------------------


KINDS = ("-b", "")  # bound, unbound


def barrier(results, *commands, **options):
    """In mxn on four CPUs, with a pool of four LWPs.  Under the NT class, which has all LWPs that compute
    in turn: in time-share a priority that was lost at one barrier counts for half a second
    of the next, which is long beside the work here."""
    command = "; ".join(f"priocntl -e -c NT barrier {args}" for args in commands)
    return results(command, smp=4, model="mxn", **options)


def test_fine_barrier_is_dearer_unbound(results):
    """And the less so the more is done between two barriers; what a thread needs to come back onto an
    LWP is what makes the difference."""
    penalty = []
    for iterations in (1, 2000):
        unbound, bound = barrier(results, f"-s 2 -n 120 -i {iterations}",
                                 f"-b -s 2 -n 120 -i {iterations}", mips=100)
        penalty.append(unbound["barrier_ns"] / bound["barrier_ns"] - 1)
    assert penalty[0] > 0.02
    assert abs(penalty[1]) < 0.01


def test_pool_grows_when_all_report_at_once(results):
    """Ten threads on four LWPs: while the first four are in a read that blocks, others can run."""
    quiet, reports = barrier(results, "-t 10 -s 40 -i 40 -n 2", "-t 10 -s 40 -i 40 -n 2 -r 20000",
                             mips=1)
    assert quiet["lwps"] == quiet["lwps_first"]
    assert reports["lwps"] > quiet["lwps"]


def test_coarse_barrier_is_a_staircase_unbound(results):
    """Four threads at a time, whatever their number; the time of bound ones is in proportion to it."""
    args = "-s 40 -i 120 -n 2"
    (one,), *lines = (barrier(results, *(f"{kind} -t {threads} {args}" for kind in kinds), mips=1)
                      for threads, kinds in ((4, ["-b"]), (5, KINDS), (8, KINDS), (9, KINDS)))
    for threads, (bound, unbound) in zip((5, 8, 9), lines, strict=True):
        steps = -(-threads // 4)
        assert unbound["barrier_ns"] == pytest.approx(steps * one["barrier_ns"], rel=0.03)
        assert bound["barrier_ns"] == pytest.approx(threads / 4 * one["barrier_ns"], rel=0.10)
        if threads % 4 != 0:
            assert bound["barrier_ns"] < 0.9 * unbound["barrier_ns"]


def test_bound_threads_keep_their_share_under_load(results):
    """Of the CPU time of four CPUs, beside two processes that compute: eight bound threads get 8/10
    (less what those wait at the barrier that are done a slice early), eight unbound ones on four
    LWPs no more than 4/6."""
    args = "-t 8 -s 40 -i 120 -n 2 -l 2"
    bound, unbound = barrier(results, f"-b {args}", args, mips=1)
    shares = [line["user_ns"] / (4 * line["real_ns"]) for line in (bound, unbound)]
    assert shares[0] == pytest.approx(8 / 10, rel=0.08)
    assert shares[1] <= 4 / 6 * 1.02


# --- Linux, OpenSolaris, Windows -------------------------------------------------------------------


def test_oscmp_takes_as_long_as_its_longest_part(results):
    """Or as all of them, one after the other.  The program checks what it has made."""
    for name, model in (("nt", "lwp"), ("bound", "lwp"), ("cl", "mxn")):
        size = "-n 2 -i 20000 -e 500 -f 5"
        lines = results("; ".join(f"oscmp {size} {name} {case}"
                                  for case in ("linear", "threads", "stress")), smp=4, model=model)
        assert [line["case"] for line in lines] == ["linear"] * 2 + ["threads"] * 2 + ["stress"] * 2
        linear, threads = lines[1], lines[3]  # the first of each meets cold pages
        parts = ("counter_ns", "equation_ns", "file_ns")
        assert linear["iteration_ns"] == pytest.approx(sum(linear[part] for part in parts), rel=0.02)
        assert threads["iteration_ns"] < 0.75 * linear["iteration_ns"]
        assert threads["iteration_ns"] >= max(threads[part] for part in parts)


def test_oscmp_by_a_clock_that_ticks(results):
    """A tick of 15.625 ms, shown in whole milliseconds: a time of some 22 is one tick or two."""
    lines = results("oscmp -n 12 -i 4000 -e 8000 -f 1 -k 15625 nt linear", smp=1, mips=71)
    shown = {line["equation_ns"] for line in lines}
    assert shown <= {15_000_000, 16_000_000, 31_000_000, 32_000_000} and len(shown) >= 2
    assert all(line["iteration_ns"] % 1_000_000 == 0 for line in lines)


def test_oscmp_hands_values_over(results):
    """By semaphores or conditions, in every column; a hundred threads that want a mutex meanwhile do
    not make that dearer.  The program checks that nothing is lost.

    With a seed, since CPUs that take turns of equal length can fall into a step that lasts."""
    for name, model in (("nt", "lwp"), ("bound", "lwp"), ("cl", "mxn")):
        n = 9  # one is up to 15 % from the next, by where the clock's ticks fall
        size = "-i 2000 -e 400 -f 1"
        lines = results("; ".join(f"oscmp {size} {more} {name} stress" for more in (
            f"-n {n}", f"-n {n} -t 0", "-n 1 -c -l 3")), smp=4, model=model, seed=1)
        crowd, alone = (statistics.median(line["equation_ns"] for line in lines[i:i + n])
                        for i in (0, n))
        assert all(line["counter_ns"] == 0 for line in lines[n:2 * n])
        assert crowd == pytest.approx(alone, rel=0.1), name
