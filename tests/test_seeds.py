"""Seeds as a test tool: each picks one interleaving of the CPUs, and repeats it.

The racing programs of tests/guest run here in exact timing under several seeds (--seeds N
for more).  A failure prints the command that repeats it, and the one that goes back from its end
under GDB.  That this finds bugs is shown by classic ones, which are put into a copy of weft
(tests/bugs, broken.py).
"""

import re
import subprocess

import broken
import kept_seeds
import pytest
from tap import failures
from weft_host import torture
from weft_host.machine import Machine
from weft_host.seeds import repeat

# Program, rounds, models, CPU counts.  Short runs under many seeds find more than long ones
# under a few.  (On 2 CPUs, thr_rwlock waits for the ends of time slices: long runs.)
PROGRAMS = [("lwp_park", 10, ["lwp"], [2, 4, 8]), ("disp_stress", 3, ["lwp"], [2, 4, 8]),
            ("file_pipe", 3, ["lwp"], [1, 4]), ("file_races", 40, ["lwp"], [4]),
            ("lwp_sync", 12, ["lwp"], [2, 4]), ("kobj", 10, ["lwp"], [2, 4]),
            ("thr_mutex", 12, ["lwp", "mxn"], [2, 4]), ("thr_cond", 5, ["lwp", "mxn"], [2, 4]),
            ("thr_sema", 10, ["lwp", "mxn"], [2, 4]),
            ("thr_shared", 10, ["lwp", "mxn"], [4]), ("proc_shared", 6, ["lwp"], [4]),
            ("thr_rwlock", 10, ["lwp", "mxn"], [4]),
            ("sig_waiting", 6, ["lwp"], [2, 4]), ("sig_races", 3, ["lwp"], [2, 4]),
            ("sig_timers", 1, ["lwp"], [1, 4]),
            ("thr_signal", 5, ["lwp", "mxn"], [2, 4]),
            ("thr_mutex", 12, ["sa"], [4]), ("thr_cond", 5, ["sa"], [4]), ("thr_signal", 5, ["sa"], [4]),
            ("thr_suspend", 2, ["sa"], [4]), ("thr_sema", 10, ["sa"], [4]), ("thr_shared", 10, ["sa"], [4]),
            ("proc_shared", 6, ["sa"], [4]), ("thr_rwlock", 10, ["sa"], [4])]
CASES = [(name, rounds, model, count) for name, rounds, models, counts in PROGRAMS
         for model in models for count in counts]

TIMEOUT = 120

CHECK = "tap_not_ok"  # where a check that fails ends


def quantum(seed):
    """Small: CPUs take turns within the critical stretches of code, which are short."""
    return 100 * (1 + seed % 3)


def options(cpus, model, seed):
    return ["--timing", "exact", "--smp", str(cpus), "--model", model,
            "--quantum", str(quantum(seed)), "--seed", str(seed)]


def replay(words, argv, status):
    """The two lines that repeat a run with this exit status."""
    return repeat(words, Machine(argv=[str(word) for word in argv], timing="exact"), CHECK, reached=status == 1)


def under_seeds(guest, seeds, argv, model, cpus, mechanisms=None):
    for seed in range(1, seeds + 1):
        result = guest(argv, smp=cpus, model=model, options=mechanisms, timing="exact", seed=seed,
                       quantum=quantum(seed), timeout=TIMEOUT, may_fail=True)
        wrong = failures(result)
        if wrong:
            end = "\n".join(result.output.splitlines()[-20:])
            words = options(cpus, model, seed) + (["--options", mechanisms] if mechanisms else [])
            pytest.fail(f"seed {seed}: {'; '.join(wrong)}\n"
                        f"{replay(words, argv, result.status)}\n"
                        f"--- the end of its output ---\n{end}\n{result.error}\n{result.panic}",
                        pytrace=False)


@pytest.mark.parametrize("name, rounds, model, cpus", CASES)
def test_seeds(guest, seeds, name, rounds, model, cpus):
    under_seeds(guest, seeds, [name, rounds], model, cpus)


# The mechanisms of sa that its presets leave unused, some of them together; and programs that create, block, wake,
# time out, suspend and signal.
OF_SA = ("runqueue=common", "sleepq=common,preempted=stay", "lone=off,unblocked=stay", "idle=leave,signals=aslwp")
KINDS = [["thr_life", 5], ["thr_sema", 4], ["thr_cond", 3], ["thr_sleep"], ["thr_signal", 3], ["thr_sigwait"],
         ["thr_suspend", 2]]


@pytest.mark.parametrize("argv", KINDS, ids=[argv[0] for argv in KINDS])
@pytest.mark.parametrize("mechanisms", OF_SA)
def test_options_of_sa(guest, seeds, mechanisms, argv):
    """Under fewer seeds: the torture has these mechanisms too."""
    under_seeds(guest, max(1, seeds // 4), argv, "sa", 4, mechanisms)


# --- bugs that seeds find ---------------------------------------------------------------

def played(move, workers, moves):
    return ["torture", "-m", move, "-t", workers, "-n", moves, "-w", 1]


# The bug, model, CPUs, how many seeds must be enough, a program with its arguments.  As written,
# about every third seed finds the first and the third, two of three find the second and the fourth, and
# all the others.
PLANTED = [("lost-wakeup", "lwp", 4, 30, ["lwp_park", 20]),
           ("forgotten-waiter", "lwp", 2, 30, ["thr_mutex", 60]),
           ("forgotten-waiter", "sa", 2, 30, ["thr_mutex", 60]),
           ("once-sleep", "lwp", 4, 30, played("once", 4, 30)),
           ("no-recheck", "lwp", 2, 10, ["thr_mutex", 40]),
           ("barrier-late-reset", "lwp", 4, 3, played("barrier", 3, 20)),
           ("death-in-silence", "lwp", 2, 3, played("share with a child", 2, 6))]


class Tree:
    """A copy of weft that has a bug."""

    def __init__(self, path, bug, model, cpus, argv):
        self._path = path
        self._argv = [str(word) for word in argv]
        self._machine = cpus, model
        broken.make(path, bug, argv[0])

    def _call(self, command, seed, *words):
        argv = [self._path / "tools/weft", command, "--no-build",
                *options(*self._machine, seed), "--file", f"build/bin/{self._argv[0]}", *words,
                "--", *self._argv]
        return subprocess.run(argv, cwd=self._path, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT)

    def run(self, seed):
        return self._call("run", seed, "--timeout", str(TIMEOUT))

    def gdb(self, seed, script):
        return self._call("gdb", seed, "--reverse", "--batch-commands", script)


@pytest.mark.parametrize("bug, model, cpus, enough, argv", PLANTED,
                         ids=[f"{planted[0]}-{planted[1]}" for planted in PLANTED])
def test_seeds_find_a_bug(guest, tmp_path, request, bug, model, cpus, enough, argv):
    (tmp_path / "tree").mkdir()
    tree = Tree(tmp_path / "tree", bug, model, cpus, argv)
    for seed in range(1, enough + 1):
        found = tree.run(seed)
        if found.returncode != 0:
            break
    else:
        pytest.fail(f"{enough} seeds do not find it")
    assert kept_seeds.check(request.config, bug, argv[0], seed, enough) == ""

    # It is there again, to the byte; a standstill at the same virtual time.
    again = tree.run(seed)
    assert (found.returncode, found.stdout, found.stderr) == \
        (again.returncode, again.stdout, again.stderr)

    # Not the test's fault: without the bug the same seed finds nothing.
    sound = guest(argv, smp=cpus, model=model, timing="exact", seed=seed,
                  quantum=quantum(seed), timeout=TIMEOUT, may_fail=True)
    if argv[0] == "torture":
        assert torture.failure(sound) == ""
    else:
        assert failures(sound) == []

    # GDB goes back to where it happened, and knows when.
    check = torture.CHECK if argv[0] == "torture" else CHECK
    script = tmp_path / "commands"
    back = f"break {check}\nreverse-continue\n" if found.returncode == 1 else "thread apply all backtrace 3\n"
    script.write_text(f"set width 0\n{back}inferior 1\nprint ls[lockstep_token].now\n")
    seen = tree.gdb(seed, script).stdout.decode(errors="replace")
    if found.returncode == 1:
        assert b"not ok " in found.stdout or b"torture: " in found.stdout
        assert re.search(rf"Breakpoint \d+, {check} \(", seen), seen
    else:
        assert found.returncode == 124
        when = re.search(rb"standstill at (\d+) ns", found.stderr)[1].decode()
        assert re.search(r"^#\d .*lockstep_standstill \(", seen, re.MULTILINE), seen
        assert f"$1 = {when}\n" in seen, seen


def test_the_lines_that_repeat_a_failure():
    words = "--timing exact --smp 4 --model mxn --quantum 300 --seed 17"
    for status, back in (1, " --ex 'break tap_not_ok' --ex reverse-continue"), (124, ""):
        assert replay(options(4, "mxn", 17), ["thr_cond", 8], status).splitlines() == [
            f"tools/weft run {words} -- thr_cond 8",
            f"tools/weft gdb --reverse {words}{back} -- thr_cond 8"]
