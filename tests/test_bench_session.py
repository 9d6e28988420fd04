"""weft bench, from its start to its last line: what it refuses before it measures anything, what it
says on the way, what an interruption leaves."""

import csv
import json
import re
import signal
import threading
from dataclasses import replace
from unittest import mock

import pytest
from weft_host import baseline, beforehand, build, claims, cli, documents, experiment, progress, results, runner
from weft_host.guest import Result
from weft_host.machine import ENGINES

ONE = """
title = "A title"
program = "prog"
arguments = "-n {threads}"
figure = "real_ns"
[parameters]
threads = [1, 2, 3, 4]
[configurations.lwp]
model = "lwp"
[[claims]]
id = "grows"
text = "More threads take longer."
kind = "ratio"
over = { threads = 4 }
under = { threads = 1 }
at_least = 2
"""
OTHER = """
title = "Another title"
program = "prog"
arguments = "-n {threads}"
figure = "real_ns"
[parameters]
threads = [1]
[[claims]]
id = "first"
text = "One thread takes as long here as there."
kind = "expression"
let = { here = { threads = 1 }, there = { experiment = "one", threads = 1, configuration = "lwp" } }
check = "here == there"
"""


# --- before the first run ------------------------------------------------------------------------

REFUSED = """
title = "Refused"
program = "pp"
arguments = "-vu -i {iterations}"
patterns = ['^1 games completed in (?P<real_us>\\d+)us']
figure = "real_us"
[parameters]
iterations = [50]
[configurations.good]
model = "mxn"
options = "spin=never"
[configurations.bad]
"""


@pytest.mark.parametrize("old, new, why", [
    ("[configurations.bad]", '[configurations.bad]\nmodel = "mx"',
     'configuration bad: libthread: unknown model "mx"; LIBTHREAD is one of: lwp mxn n1'),
    ("[configurations.bad]", '[configurations.bad]\nmodel = "n1"\noptions = "spin=never"',
     'configuration bad: libthread: option "spin=never"'),
    ("[configurations.bad]", '[configurations.bad]\nclass = "a b"',
     "configuration bad: priocntl: a b: no such class"),
    ('"pp"', '"ppp"', "program: the guest has no 'ppp'"),
    ("[parameters]", '[[tables]]\nrows = "iterations"\npaper = { file = "nt-solaris-table4.csv", rows = '
     '"threads", columns = { bad = "nowhere" } }\n[parameters]', "tables[0].paper: nt-solaris-table4"),
], ids=["model", "option", "class", "program", "paper"])
def test_what_the_guest_would_refuse(weft, tmp_path, old, new, why):
    (tmp_path / "mine.toml").write_text(REFUSED.replace(old, new))
    done = weft("bench", "--no-build", "--results", tmp_path / "there", tmp_path / "mine.toml")
    assert done.returncode == 2 and f"mine.toml: {why}" in done.stderr.decode()
    assert done.stdout == b"" and not (tmp_path / "there").exists()


def test_results_that_cannot_be_written(weft, tmp_path):
    (tmp_path / "mine.toml").write_text(REFUSED)
    done = weft("bench", "--no-build", "--results", tmp_path / "mine.toml/x", tmp_path / "mine.toml")
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"weft bench: --results: {tmp_path}/mine.toml/x: Not a directory\n")


COMPILED = """
title = "Compiled"
program = "prog"
build = ["prog.c", "-I.", "-pthread", "-lpthread"]
figure = "real_ns"
"""


def test_sources_are_compiled(weft, tmp_path):
    """By each call, so that the program is of today's libraries; what does not compile is refused."""
    def call():
        return weft("bench", "--no-build", "--results", tmp_path / "there", tmp_path / "mine.toml")

    (tmp_path / "mine.toml").write_text(COMPILED)
    (tmp_path / "prog.c").write_text(
        '#include <stdio.h>\n#include <number.h>\n'
        'int main(void) { printf("result real_ns=%d\\n", NUMBER); }\n')
    for number in (41, 42):
        (tmp_path / "number.h").write_text(f"#define NUMBER {number}\n")
        done = call()
        assert done.returncode == 0, done.stderr
        row, = csv.DictReader((tmp_path / "there/mine.csv").read_text().splitlines())
        assert row["real_ns"] == str(number)
    (tmp_path / "number.h").unlink()
    done = call()
    assert done.returncode == 2 and b"number.h" in done.stderr
    assert b"mine.toml: build: the compiler failed" in done.stderr


def test_programs_that_the_shell_calls_are_compiled(weft, tmp_path):
    """Two of them, each from its own source."""
    (tmp_path / "mine.toml").write_text("""
title = "Two"
program = "sh"
arguments = '-c "/host/one; /host/two"'
programs = { one = ["one.c"], two = ["two.c"] }
keys = ["of"]
figure = "real_ns"
""")
    for name, number in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.c").write_text(
            f'#include <stdio.h>\nint main(void) {{ printf("result of={name} real_ns={number}\\n"); }}\n')
    done = weft("bench", "--no-build", "--results", tmp_path / "there", tmp_path / "mine.toml")
    assert done.returncode == 0, done.stderr
    rows = csv.DictReader((tmp_path / "there/mine.csv").read_text().splitlines())
    assert {row["of"]: row["real_ns"] for row in rows} == {"one": "1", "two": "2"}


@pytest.mark.parametrize("old, new, why", [
    ("-I.", "-fopenmp", "build: -fopenmp: weft has no library of OpenMP"),
    ("-I.", "-c", "build: with -c GCC makes no program"),
    ('program = "prog"', 'program = ""', "build: makes 'program', which has to be a name")])
def test_sources_that_make_no_program(weft, tmp_path, old, new, why):
    """Refused before a guest is started."""
    (tmp_path / "mine.toml").write_text(COMPILED.replace(old, new))
    (tmp_path / "prog.c").write_text("int main(void) { return 0; }\n")
    done = weft("bench", "--no-build", "--results", tmp_path / "there", tmp_path / "mine.toml")
    assert done.returncode == 2 and f"mine.toml: {why}" in done.stderr.decode()
    assert not (tmp_path / "there").exists()


def test_a_file_that_is_not_there(weft, tmp_path):
    done = weft("bench", "--no-build", tmp_path / "none.toml")
    assert (done.returncode, done.stderr.decode()) == (
        2, f"weft bench: {tmp_path}/none.toml: No such file or directory\n")


# --- on the way ----------------------------------------------------------------------------------

@pytest.fixture
def bench(monkeypatch, tmp_path, capsys):
    """bench(answer, ...) measures one and other with guests whose run(machine, started) is answer:
    (exit status, standard output, lines of standard error)."""
    for name, text in (("one", ONE), ("other", OTHER)):
        (tmp_path / f"{name}.toml").write_text(text)
    monkeypatch.setattr(beforehand, "look", lambda chosen, full, directory: None)
    monkeypatch.setattr(build, "make", lambda: None)

    def call(answer, *names, options=()):
        monkeypatch.setattr(runner, "run_guest", answer)
        status = cli.main(["bench", "--jobs", "1", "--results", str(tmp_path / "results"), *options,
                           *(str(tmp_path / f"{name}.toml") for name in names)])
        said = capsys.readouterr()
        return status, said.out, said.err.splitlines()

    return call


def good(machine, started=None):
    threads = int(machine.argv[-1])
    return Result(0, f"result threads={threads} real_ns={threads * 1000}\n")


def test_a_claim_stands_by_its_table(bench, tmp_path):
    """And one about two experiments when both are there.  A title is printed once."""
    status, out, err = bench(good, "other", "one")
    assert status == 0
    assert out.count("A title") == 1 and out.count("Another title") == 1
    assert re.findall(r"^(\w.*?)  +(\w+): ", out, re.MULTILINE) == [
        ("holds", "first"), ("holds", "grows")]
    assert out.index("first: ") > out.index("A title")
    assert "weft: verdicts on claims: holds: 2" in err
    assert err[-1].startswith("weft: no run failed")
    facts = json.loads((tmp_path / "results/one.json").read_text())
    assert facts["set"] == "quick" and facts["when"] and facts["runs"] == 4 and not facts["failures"]


def test_another_experiment_that_is_not_measured(bench):
    _, out, _ = bench(good, "other")
    assert re.search(r"^not measured +first: .*", out, re.MULTILINE)


def test_the_last_lines_say_what_failed(bench, tmp_path):
    def answer(machine, started=None):
        threads = int(machine.argv[-1])
        return Result(threads, "some output\n") if threads > 2 else good(machine)

    status, _, err = bench(answer, "one", "other")
    assert status == 1
    at = err.index("weft: 1 of 2 experiments FAILED, each with its first reason:")
    assert err[at - 1] == "weft: verdicts on claims: holds: 1, not measured: 1"
    assert err[at + 1:] == [
        "  one: 2 of 4 runs: exit status 3",
        f"The other runs are in {tmp_path}/results. Of each that failed, NAME.json has the command "
        'and its output under "failures".',
        "What to do: `tools/weft doctor` says whether this host is the cause. If not, repeat the "
        "first:",
        "  tools/weft run --timing exact --model lwp -- prog -n 3",
        "and measure again what failed:",
        f"  tools/weft bench --results {tmp_path}/results {tmp_path}/one.toml"]
    facts = json.loads((tmp_path / "results/one.json").read_text())
    assert [failure["status"] for failure in facts["failures"]] == ["exit status 3", "exit status 4"]


def test_an_interruption_leaves_what_is_measured(bench, tmp_path):
    """Experiments that are complete, and of others what there is, beside earlier results."""
    bench(good, "one")
    before = (tmp_path / "results/one.csv").read_bytes()
    killed = threading.Event()
    running = mock.Mock()
    running.qemu.kill = killed.set

    def answer(machine, started):
        if machine.argv[-1] == "3":
            started(running)
            # A signal wakes the main thread where it waits; _thread.interrupt_main() does not.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            killed.wait(60)
            return Result(70, error="killed")
        return good(machine)

    status, _, err = bench(answer, "other", "one")
    assert status == 130 and killed.is_set()
    there = tmp_path / "results"
    assert f"weft: interrupted. 1 of 2 experiments complete, in {there}" in err
    assert f"weft: 2 of 4 runs of one are in {there}/interrupted/one.csv and .json" in err
    assert err[-1] == f"  tools/weft bench --results {there} {tmp_path}/one.toml"
    assert (there / "one.csv").read_bytes() == before and (there / "other.csv").is_file()
    found = list(csv.DictReader((there / "interrupted/one.csv").read_text().splitlines()))
    assert [row["status"] for row in found] == ["ok", "ok", "interrupted", "interrupted"]
    assert results.load_set(there).keys() == {"one", "other"}
    bench(good, "one")
    assert list((there / "interrupted").iterdir()) == []


@pytest.mark.parametrize("stored, measured", [
    ({}, ["one"]), ({"revision": "b"}, ["other", "one"]), ({"set": "full"}, ["other", "one"]),
    ({"failures": [{"status": "exit status 3"}]}, ["other", "one"])])
def test_resumed(bench, tmp_path, monkeypatch, stored, measured):
    """What is there of the same revision and set is not measured again; claims over both are judged."""
    monkeypatch.setattr(results, "revision", lambda: "a")
    bench(good, "other")
    file = tmp_path / "results/other.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | stored))
    met = []

    def answer(machine, started=None):
        met.append(machine.model or "other")
        return good(machine)

    status, out, err = bench(answer, "other", "one", options=["--resume"])
    assert status == 0 and list(dict.fromkeys({"lwp": "one"}.get(one, one) for one in met)) == measured
    assert "weft: verdicts on claims: holds: 2" in err and "Another title" in out
    assert json.loads(file.read_text())["revision"] == "a"


def test_resumed_with_changed_files(bench, monkeypatch):
    monkeypatch.setattr(results, "revision", lambda: "a-dirty")
    status, _, err = bench(good, "one", options=["--resume"])
    assert status == 2 and "some files have changed since the revision a-dirty" in err[-1]


def test_output_that_cannot_be_written_loses_nothing(bench, tmp_path, monkeypatch):
    """What has ended is stored; there is nothing to measure again, and no command says so."""
    monkeypatch.setattr(cli, "_print_nowhere", lambda: None)  # standard output is pytest's
    monkeypatch.setattr("weft_host.tables.plain",
                        mock.Mock(side_effect=OSError(28, "No space left on device")))
    status, _, err = bench(good, "one")
    assert status == 69 and (tmp_path / "results/one.csv").is_file()
    assert f"weft: interrupted. 1 of 1 experiment complete, in {tmp_path}/results" in err
    assert not any("tools/weft bench" in line for line in err)


def test_an_error_of_the_host_is_that_runs(bench):
    def answer(machine, started=None):
        if machine.argv[-1] == "2":
            raise OSError(28, "No space left on device")
        return good(machine)

    status, _, err = bench(answer, "one")
    assert status == 1
    assert "  one: 1 of 4 runs: [Errno 28] No space left on device" in err


def test_an_error_of_ours_loses_nothing(bench, tmp_path):
    def answer(machine, started=None):
        if machine.argv[-1] == "3":
            raise ZeroDivisionError
        return good(machine)

    with pytest.raises(ZeroDivisionError):
        bench(answer, "other", "one")
    assert (tmp_path / "results/other.csv").is_file()
    found = list(csv.DictReader((tmp_path / "results/interrupted/one.csv").read_text().splitlines()))
    assert [row["status"] for row in found][:3] == ["ok", "ok", "interrupted"]


# --- two engines of exact timing -----------------------------------------------------------------

@pytest.fixture
def checks(bench, monkeypatch, capsys, tmp_path):
    """checks(us, *options) measures `checks`, whose players take us(machine) an iteration: (exit status,
    standard output, standard error, the machines)."""
    def call(us, *options):
        machines = []

        def answer(machine, started=None):
            machines.append(machine)
            ms = us(machine) * int(machine.argv[-1]) // 1000
            return Result(0, f"2 threads initialised in 0ms\n1 games completed in {ms}ms\n"
                          "real 1.0\nuser 1.0\nsys 0.0\n")

        monkeypatch.setattr("weft_host.bench.run_guest", answer)
        status = cli.main(["bench", "--results", str(tmp_path / "results"), *options, "checks"])
        said = capsys.readouterr()
        return status, said.out, said.err, machines

    return call


def test_both_engines_agree(checks):
    status, out, _, machines = checks(lambda machine: 10 * machine.smp)
    assert status == 0
    assert "Both engines of exact timing print the same bytes: 1 command." in out
    assert [(m.model, m.smp, m.engine) for m in machines] == [
        ("lwp", 1, "one"), ("lwp", 2, "one"), ("lwp", 2, "processors"), ("mxn", 1, "one")]
    assert machines[1] == replace(machines[2], engine="one")


def test_the_full_set_compares_the_engines_on_any_number_of_cpus(checks):
    status, out, _, machines = checks(lambda machine: 10 * machine.smp, "--full")
    assert status == 0
    assert "Both engines of exact timing print the same bytes: 3 commands." in out
    assert [machine.engine for machine in machines] == ["one", "processors"] * 3
    assert all(a == replace(b, engine="one") for a, b in zip(machines[::2], machines[1::2]))


def test_engines_that_differ_are_an_error(checks):
    status, out, err, _ = checks(lambda machine: 11 if machine.engine == "processors" else 10)
    assert status == 1 and "Both engines" not in out
    assert "ptime pp -v -i 20000: engine processors prints other bytes" in err
    assert "completed in 220ms" in err and "completed in 200ms" in err


@pytest.mark.parametrize("engine", ENGINES)
def test_one_engine_alone(checks, engine):
    status, out, _, machines = checks(lambda machine: 10, "--engine", engine)
    assert status == 0 and "Both engines" not in out
    assert [machine.engine for machine in machines] == [engine] * 3


def test_fast_timing_has_no_engine(checks):
    status, out, _, machines = checks(lambda machine: 10, "--timing", "fast")
    assert status == 0 and "Both engines" not in out and len(machines) == 9
    assert checks(lambda machine: 10, "--timing", "fast", "--engine", "one")[0] == 2


def test_the_engine_of_runs(bench):
    """Of all in exact timing, and of the command that repeats one."""
    engines = []

    def answer(machine, started=None):
        engines.append(machine.engine)
        return Result(3)

    status, _, err = bench(answer, "one", options=["--engine", "processors"])
    assert status == 1 and set(engines) == {"processors"}
    assert "  tools/weft run --timing exact --model lwp --engine processors -- prog -n 1" in err
    assert any(line.startswith("  tools/weft bench --engine processors ") for line in err)


# --- the baseline --------------------------------------------------------------------------------

@pytest.fixture
def stored(monkeypatch, tmp_path):
    """An empty directory for the baseline, and no documents."""
    monkeypatch.setattr(baseline, "QUICK", tmp_path / "stored")
    monkeypatch.setattr(baseline, "FULL", tmp_path / "verdicts.csv")
    monkeypatch.setattr(documents, "marked", list)
    monkeypatch.setattr(progress, "SECONDS", tmp_path / "seconds.csv")
    monkeypatch.setattr(experiment, "EXPERIMENTS", tmp_path)
    return tmp_path / "stored"


def test_the_baseline(bench, stored):
    """Of the experiments that are named; nothing if a run fails."""
    status, _, err = bench(good, "one", options=["--update-baseline"])
    assert status == 0 and f"weft: {stored}/one.csv" in err
    assert "revision" not in (stored / "one.csv").read_text()
    (stored / "one.csv").write_text("as before")
    status, _, _ = bench(good, "other", options=["--update-baseline"])
    assert sorted(path.name for path in stored.iterdir()) == ["one.csv", "other.csv"]
    status, _, _ = bench(lambda machine, started: Result(1), "one", options=["--update-baseline"])
    assert status == 1 and (stored / "one.csv").read_text() == "as before"


def test_verdicts_of_the_full_set(bench, stored):
    """Those of the experiments that are named, in place of figures; the quick set is to agree with them."""
    status, _, err = bench(good, "one", options=["--full", "--update-baseline"])
    assert status == 0 and f"weft: {baseline.FULL}" in err and not stored.exists()
    known = baseline.full_verdicts()
    assert known and set(known.values()) <= set(claims.VERDICTS)
    turned = {claim: {"holds": "does not hold", "does not hold": "holds"}.get(said, said)
              for claim, said in known.items()}
    baseline.store_full(turned, whole=True)
    _, out, _ = bench(good, "one")
    assert out.count("not decided") == sum(known[claim] != said for claim, said in turned.items()) > 0


def test_what_the_full_set_says_by_itself_is_stored(bench, stored):
    """Although the quick set says otherwise, and the verdict is not decided."""
    bench(good, "one", options=["--update-baseline"])
    path = stored / "one.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"real_ns": 1000} for row in rows)
    _, out, _ = bench(good, "one", options=["--full", "--update-baseline"])
    assert "the quick set: does not hold; the full set: holds" in " ".join(out.split())
    assert "not decided" in out and baseline.full_verdicts() == {"grows": "holds"}
    baseline.FULL.unlink()
    status, _, err = bench(good, "one", options=["--full", "--update-docs"])
    assert status == 0 and f"weft: {baseline.FULL}" in err
    assert baseline.full_verdicts() == {"grows": "holds"}


def test_an_experiment_that_is_not_wefts_has_no_baseline(bench):
    status, _, err = bench(good, "one", options=["--update-baseline"])
    assert status == 2 and "one.toml is not one of weft's experiments" in err[0]


# --- how long it takes ---------------------------------------------------------------------------

def test_time_left():
    now = [0.0]
    left = progress.TimeLeft({"a": 3, "b": 1}, {"a": 10.0, "b": 30.0}, 2, lambda: now[0])
    assert left.seconds() == (3 * 10 + 30) / 2
    left.begins("a1", "a")
    left.begins("b1", "b")
    now[0] = 5.0
    assert left.seconds() == (60 - 5 - 5) / 2
    now[0] = 20.0  # this host takes twice as long
    left.ended("a1", "a")
    assert left.seconds() == (2 * (2 * 10 + 30) - 20) / 2
    for key in ("a2", "a3"):
        left.begins(key, "a")
        now[0] += 20
        left.ended(key, "a")
    assert left.seconds() == 30  # of one run alone, which has outlasted its 60: no core helps it
    now[0] = 40.0
    assert left.seconds() == 20


def test_time_left_of_what_is_not_known():
    now = [0.0]
    left = progress.TimeLeft({"a": 2, "new": 2}, {"a": 10.0}, 1, lambda: now[0])
    assert left.seconds() == 4 * 10  # as the others
    left.begins("n1", "new")
    now[0] = 3.0
    left.ended("n1", "new")
    assert left.seconds() == 2 * 10 + 3  # as its own
    left = progress.TimeLeft({"a": 1, "new": 2}, {"a": 10.0}, 1, lambda: now[0])
    assert left.seconds() is None and progress.about(None) == "time not known yet"


def test_costs_come_from_earlier_results(bench, tmp_path):
    assert progress.costs(tmp_path / "results", "quick") == progress.costs(tmp_path, "quick")
    bench(good, "one")
    path = tmp_path / "results/one.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 8.0}))
    assert progress.costs(tmp_path / "results", "quick")["one"] == 2.0
    assert "one" not in progress.costs(tmp_path / "results", "full")
    _, _, err = bench(good, "one")
    assert err[0] == "weft: 1 experiment, 4 runs: about 10 s"


@pytest.mark.parametrize("seconds, text", [(1, "about 10 s"), (94, "about 90 s"),
                                           (100, "about 2 min"), (5400, "about 1.5 h")])
def test_durations(seconds, text):
    assert progress.about(seconds) == text
