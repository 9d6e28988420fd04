"""The Java machine: what programs print in it, its errors, and its safety from class files of any content.

Needs no JDK: class files lie beside their sources. Where there is the javac that has made them, it compiles the
sources, and the files must be equal; its java must print what the tests of here expect."""

import re
import shutil
import struct
import subprocess
import sys
import zipfile

import pytest
from conftest import MODELS, TOP

PROGRAMS, BENCH, LIBRARY = TOP / "java/tests", TOP / "java/bench", TOP / "java/lib"
NT = {"model": "lwp", "options": ["-Xnt"]}
JDK = "17."  # that of the kept class files (java/classes.py)


def jdk_version():
    if not (shutil.which("javac") and shutil.which("java")):
        return ""
    done = subprocess.run(["javac", "-version"], capture_output=True, text=True)
    return done.stdout.removeprefix("javac ")


WITH_JDK = pytest.mark.skipif(not jdk_version().startswith(JDK), reason=f"needs javac and java {JDK}x")


@pytest.fixture(scope="module")
def tests_jar(tmp_path_factory):
    jar = tmp_path_factory.mktemp("java") / "tests.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in PROGRAMS.glob("*.class"):
            archive.write(path, path.name)
    return str(jar)


@pytest.fixture(scope="module")
def java(guest, tests_jar):
    """java(CLASS, ARG...) runs a class of java/tests, out of a jar that is deflated."""

    def run(name, *args, options=(), files=(), **how):
        return guest(["java", *options, "-cp", "/host/tests.jar", name, *args], files=[tests_jar, *files],
                     **{"timing": "exact", **how})

    return run


def expected(name):
    return (PROGRAMS / f"{name}.out").read_text()


HOWS = pytest.mark.parametrize("how", [*({"model": model} for model in MODELS), NT], ids=[*MODELS, "nt"])
SINGLE = ["Bytecode", "Errors", "Library", "Functional", "Lambdas", "References", "Sites", "Views"]


@pytest.mark.parametrize("name", SINGLE)
def test_programs(java, name):
    result = java(name)
    assert (result.status, result.output) == (0, expected(name))


@HOWS
def test_threads(java, how):
    """synchronized, wait, notify, interrupt, join, sleep, daemons: the same class files in each model and NT."""
    result = java("Threads", smp=2, **how)
    assert (result.status, result.output) == (0, expected("Threads"))


@HOWS
def test_priorities(java, how):
    """Each thread model, and NT: on one CPU, threads of a higher priority end first."""
    result = java("Priority", smp=1, **how)
    assert (result.status, result.output) == (0, "10 5 1 \n10 5 1 \n7\n3\n")


@pytest.mark.parametrize("model", MODELS)
def test_torture(guest, tests_jar, java_seeds, model):
    """Threads that allocate, lock, wait, interrupt, throw and collect at random. Fifty seeds have one boot."""
    for boot in range((java_seeds + 49) // 50):
        seeds = range(50 * boot, min(50 * boot + 50, java_seeds))
        script = "".join(f"java -Xmx1m -cp /host/tests.jar Torture {seed} 8 8 || echo bad;" for seed in seeds)
        result = guest(["sh", "-c", script], files=[tests_jar], timing="exact", model=model, smp=4, seed=boot,
                       quantum=100 * (1 + boot % 3), timeout=600)
        assert result.output == "ended 8 failures 0 money 5000 permits 2\n" * len(seeds), f"boot {boot}"


def test_torture_over_nt(java):
    result = java("Torture", 1, 8, 8, smp=4, model="lwp", options=["-Xmx2m", "-Xnt"])
    assert (result.status, result.output) == (0, "ended 8 failures 0 money 5000 permits 2\n")


@pytest.mark.parametrize("how, case", [({"model": "n1"}, ["linear"]), (NT, ["threads"]), (NT, ["-t", 10, "stress"]),
                                       ({"model": "mxn"}, ["-t", 10, "-own", "stress"])],
                         ids=["linear", "threads", "stress", "own"])
def test_oscmp(guest, how, case):
    """The programs check their results; here, that they print what an experiment reads, and that times add up."""
    arguments = ["Oscmp", "-n", 1, "-i", 2000, "-e", 20, "-f", 1, *case]
    result = guest(["java", *how.get("options", []), "-cp", "/bin/bench.jar", *map(str, arguments)],
                   smp=4, timing="exact", model=how["model"])
    line = re.fullmatch(r"result case=(\w+) iteration=0 iteration_ns=(\d+) counter_ns=(\d+) equation_ns=(\d+) "
                        r"file_ns=(\d+)\n", result.output)
    assert line and line[1] == case[-1], result.output
    whole, *parts = map(int, line.groups()[1:])
    assert max(parts) < whole
    if case == ["linear"]:
        assert sum(parts) < whole < sum(parts) * 1.05


def test_collector_under_a_hundred_threads(java):
    result = java("Torture", 1, 100, 4, options=["-Xmx4m"], model="mxn", smp=4)
    assert (result.status, result.output) == (0, "ended 100 failures 0 money 5000 permits 2\n")


def test_the_library_verifies(java):
    """The machine trusts its own class files; here the verifier reads them all."""
    names = sorted(path.relative_to(LIBRARY).with_suffix("").as_posix().replace("/", ".")
                   for path in LIBRARY.rglob("*.class"))
    result = java("Every", *names, options=["-Xverify:all"])
    assert (result.status, result.output) == (0, f"{len(names)}\n")


def counted(result, total):
    """Files of many classes, changed at random, are refused or good, and nothing else."""
    line = re.fullmatch(r"good (\d+) format (\d+) verify (\d+) other (\d+)\n", result.output)
    assert line and result.status == 0, result.output
    counts = list(map(int, line.groups()))
    assert sum(counts) == total and min(counts) > 0, counts


def test_malformed_class_files(java, java_fuzz):
    """Files of many classes, which are changed at random, are refused or good, and nothing else."""
    kept = [path for folder in (PROGRAMS, BENCH, LIBRARY) for path in sorted(folder.rglob("*.class"))]
    for first in range(0, java_fuzz, 1000):
        count = min(1000, java_fuzz - first)
        counted(java("Fuzz", 1, first, count, *(f"/host/{path.name}" for path in kept), timing="fast",
                     files=list(map(str, kept))), count)


@pytest.mark.parametrize("sample", ["Sample", "Links"])
def test_malformed_class_files_run(java, java_fuzz, sample):
    """What is good runs, and does not crash the machine. Links has lambda expressions."""
    for first in range(0, java_fuzz, 1000):
        counted(java("Fuzz", "run", 1, first, 500, f"/host/{sample}.class", timing="fast",
                     files=[str(PROGRAMS / f"{sample}.class")]), 500)


def test_what_is_not_supported(java):
    result = java("Unsupported")
    assert (result.status, result.output.splitlines()) == (0, [
        "java.lang.UnsatisfiedLinkError: Unsupported.call()V: this machine runs no native code of programs",
        "java.lang.NoClassDefFoundError: java.util.Scanner: the class library of this machine does not have it"])


def test_files_that_are_no_classes(guest, tmp_path):
    """Of another version, cut off, with another name, and none."""
    good = (PROGRAMS / "Every.class").read_bytes()
    (tmp_path / "New.class").write_bytes(good[:4] + struct.pack(">HH", 0, 61) + good[8:])
    (tmp_path / "Cut.class").write_bytes(good[:100])
    (tmp_path / "Other.class").write_bytes(good)
    (tmp_path / "bad.jar").write_bytes(b"PK")
    files = list(map(str, tmp_path.iterdir()))
    script = "for c in New Cut Other None; do java -cp /host $c; done; java -jar /host/bad.jar; java -Xmx1z Every\n"
    output = guest(["sh", "-c", script], files=files, timing="exact").output
    for line in ("UnsupportedClassVersionError: class file version 61.0; this machine reads 50 to 52: compile with "
                 "javac --release 8", "ClassFormatError: ",
                 "NoClassDefFoundError: Other: the file has the class Every", "NoClassDefFoundError: None",
                 "/host/bad.jar is neither a directory nor a jar file", "a size that cannot be: -Xmx1z"):
        assert line in output


def test_it_comes_by_itself(weft):
    """The RAM disk does not have it; a command that names it does."""
    assert "\njava\n" not in weft("run", "--", "ls", "/bin").stdout.decode()
    done = weft("run", "--file", PROGRAMS / "Every.class", "--", "java", "-cp", "/host", "Every", "java.util.Date")
    assert (done.returncode, done.stdout) == (0, b"1\n"), done.stderr


@WITH_JDK
def test_kept_class_files_are_those_of_the_sources(tmp_path):
    subprocess.run([sys.executable, TOP / "java/classes.py", tmp_path / "made"], check=True)
    for part in ("lib", "bench", "tests"):
        kept, made = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.class")}
                      for folder in (TOP / "java" / part, tmp_path / "made" / part))
        assert kept.keys() == made.keys()
        assert not [path for path in kept if kept[path] != made[path]]


@WITH_JDK
@pytest.mark.parametrize("name", [*SINGLE, "Threads"])
def test_another_machine_prints_the_same(name):
    done = subprocess.run(["java", "-Xmx64m", "-cp", PROGRAMS, name], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, expected(name))


@WITH_JDK
def test_another_verifier_refuses_no_more(java):
    """Changed class files that do not verify in HotSpot are good in no case here."""
    kept = [path for folder in (PROGRAMS, BENCH, LIBRARY) for path in sorted(folder.rglob("*.class"))]
    here = java("Fuzz", "each", 2, 0, 1000, *(f"/host/{path.name}" for path in kept), timing="fast",
                files=list(map(str, kept))).output.splitlines()[:-1]
    done = subprocess.run(["java", "-Xverify:all", "-cp", PROGRAMS, "Fuzz", "each", "2", "0", "1000", *kept],
                          capture_output=True, text=True, timeout=120)
    there = [line for line in done.stdout.splitlines() if line[0].isdigit()]
    pairs = [(b.split()[-1], a.split()[-1]) for a, b in zip(here, there, strict=True)]
    assert pairs.count(("verify", "verify")) > 100
    assert ("verify", "good") not in pairs
