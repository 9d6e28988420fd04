"""weft cc: programs written for another system compile unchanged, and run in every model."""

import re
import shutil
import subprocess

import pytest
from conftest import MODELS, TOP

SOURCE = TOP / "tests/cc/linux_threads.c"
EXPECTED = """\
timed wait: timed out
items 2000, sum 2001000, fullest 32, once 1, destroyed 2000
done
"""


@pytest.fixture(scope="module")
def program(weft, tmp_path_factory):
    path = tmp_path_factory.mktemp("cc") / "linux_threads"
    done = weft("cc", "-O2", "-g", "-Wall", "-Werror", "-pthread", SOURCE, "-o", path)
    assert done.returncode == 0, done.stderr.decode()
    return path


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cpus", [1, 4])
def test_linux_program(guest, program, model, cpus):
    result = guest([program.name, "an argument"], files=[program], model=model, smp=cpus)
    assert (result.status, result.output) == (42, EXPECTED)


# Console programs of Windows NT's time: their arguments, status and output (a pattern).
WINDOWS = {
    "nt_crowd": [
        (["1", "2", "3", "6", "3", "2"], 0, "6 threads, critical section: 1200 of 1200\n"),
        (["2", "1", "0", "4", "0", "4"], 0, "4 threads, two critical sections: 800 of 800\n"),
        (["3", "2", "1", "5", "2", "3"], 0, "5 threads, mutex: 1000 of 1000\n"),
    ],
    "nt_buffer": [([], 0, r"produced 900, consumed 900, sum 405450, abandoned 1\n")],
    "nt_timep": [
        (["nt_timep", "quit", "9"], 9, r"quitting with 9\n"
         r"Real Time: \d\d:\d\d:\d\d:\d{3}\nUser Time: .*\nSys Time:  .*\n"),
    ],
}


@pytest.fixture(scope="module")
def windows_programs(weft, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nt")
    for name in WINDOWS:
        done = weft("cc", "-O2", "-Wall", "-Werror", TOP / f"tests/cc/{name}.c", "-o",
                    folder / name)
        assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
@pytest.mark.parametrize("cpus", [1, 4])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_program(guest, windows_programs, name, cpus, model):
    for argv, status, pattern in WINDOWS[name]:
        result = guest([name, *argv], files=[windows_programs / name], model=model, smp=cpus,
                       timing="exact")
        assert result.status == status, result.output
        assert re.fullmatch(pattern, result.output), result.output


def test_a_model_without_bound_threads_refuses_windows_threads(guest, windows_programs):
    result = guest(["nt_crowd", "1"], files=[windows_programs / "nt_crowd"], model="n1")
    assert (result.status, result.output) == (1, "CreateThread: error 50\n")


def test_the_program_is_plain_posix(tmp_path):
    """It compiles and does the same on the host itself."""
    path = tmp_path / "native"
    done = subprocess.run(["cc", "-O2", "-pthread", SOURCE, "-o", path], capture_output=True)
    if done.returncode != 0:
        pytest.skip("no compiler for the host itself")
    done = subprocess.run([path, "an argument"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, text=True)
    assert done.returncode == 42
    assert sorted(done.stdout.splitlines()) == sorted(EXPECTED.splitlines())


def test_several_files_and_options(weft, guest, tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/part.h").write_text("double part(double);\n")
    (tmp_path / "part.c").write_text(
        "#include <part.h>\n#include <math.h>\ndouble part(double x) { return sqrt(x); }\n")
    (tmp_path / "main.c").write_text(
        '#include <part.h>\n#include <stdio.h>\nint main(void) { printf("%g\\n", part(N)); }\n')
    inc = ["-I", tmp_path / "inc"]
    done = weft("cc", "-c", *inc, tmp_path / "part.c", "-o", tmp_path / "part.o")
    assert done.returncode == 0, done.stderr.decode()
    done = weft("cc", *inc, "-D", "N=144", tmp_path / "main.c", tmp_path / "part.o", "-lm",
                "-o", tmp_path / "root")
    assert done.returncode == 0, done.stderr.decode()
    result = guest(["root"], files=[tmp_path / "root"])
    assert (result.status, result.output) == (0, "12\n")


def test_an_error_is_the_compilers(weft, tmp_path):
    (tmp_path / "bad.c").write_text("int main(void) { return undeclared; }\n")
    done = weft("cc", tmp_path / "bad.c", "-o", tmp_path / "bad")
    assert done.returncode == 1
    assert b"undeclared" in done.stderr
    assert not (tmp_path / "bad").exists()


def test_no_output_named(weft):
    done = weft("cc", SOURCE)
    assert done.returncode == 2
    assert b"-o PROG" in done.stderr


@pytest.mark.parametrize("words, named, why", [
    (["-fopenmp", "prog.c"], "-fopenmp", "OpenMP"), (["prog.c", "-lgomp"], "-lgomp", "OpenMP"),
    (["prog.cc"], "prog.cc", "C++"), (["-I", "x", "prog.cpp"], "prog.cpp", "C++"),
    (["-x", "c++", "prog.c"], "-x c++", "C++")])
def test_another_language_than_c_is_one_sentence(weft, tmp_path, words, named, why):
    (tmp_path / words[-1]).write_text("int main(void) { return 0; }\n")
    done = weft("cc", *words, "-o", "prog", cwd=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "prog").exists()
    said, = done.stderr.decode().splitlines()
    assert said.startswith(f"weft cc: {named}: weft has no ") and why in said


@pytest.mark.parametrize("header, why", [("vector", "C++"), ("iostream", "C++"), ("omp.h", "OpenMP")])
def test_a_header_of_another_language_is_explained(weft, tmp_path, header, why):
    """The last line; a C program without such a header gets none."""
    (tmp_path / "prog.c").write_text(
        f"#include <{header}>\nint main(void) {{ return omp_get_max_threads(); }}\n")
    done = weft("cc", "prog.c", "-o", "prog", cwd=tmp_path)
    said = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 1
    assert said.startswith("weft cc: prog.c: ") and f"<{header}>" in said and why in said
    (tmp_path / "prog.c").write_text("#include <stdio.h>\nint main(void) { return none(); }\n")
    done = weft("cc", "prog.c", "-o", "prog", cwd=tmp_path)
    assert done.returncode == 1 and "weft cc:" not in done.stderr.decode()


HALF_AN_ALLOCATOR = """\
#include <stdio.h>
#include <stdlib.h>
static char arena[1 << 20];
static size_t used;
void *malloc(size_t n)
{
	void *p = &arena[used];
	for (size_t i = 0; i < n; i++)
		arena[used + i] = 7;
	used += (n + 15) / 16 * 16;
	return p;
}
void free(void *p)
{
}
int main(void)
{
	char *p = calloc(10, 10);
	printf("%d %d\\n", p >= arena && p < arena + sizeof(arena), p[99]);
	fflush(stdout);
	return realloc(p, 200) == NULL;
}
"""


def test_half_an_allocator(weft, guest, tmp_path):
    """calloc is made of the program's malloc; what cannot be made of it says so."""
    (tmp_path / "half.c").write_text(HALF_AN_ALLOCATOR)
    done = weft("cc", "--no-build", "-O1", tmp_path / "half.c", "-o", tmp_path / "half")
    assert done.returncode == 0, done.stderr
    result = guest(["half"], files=[tmp_path / "half"], timing="exact")
    assert "1 0\nlibthread: this program defines malloc, so it must define realloc\n" in result.output
    assert result.status == 128 + 6, result.output


def test_a_copied_tree_compiles_against_itself(tmp_path):
    tree = tmp_path / "copy"
    shutil.copytree(TOP / "tools", tree / "tools")
    shutil.copytree(TOP / "build/sysroot", tree / "build/sysroot")
    shutil.copy(TOP / "pyproject.toml", tree)
    (tree / "build/venv").symlink_to(TOP / "build/venv")
    (tree / "build/sysroot/include/only_here.h").write_text("#define STATUS 0\n")
    (tmp_path / "here.c").write_text(
        "#include <only_here.h>\n#include <stdio.h>\n"
        'int main(void) { puts("here"); return STATUS; }\n')
    done = subprocess.run([tree / "tools/weft", "cc", "--no-build", "-Wl,--trace",
                           tmp_path / "here.c", "-o", tmp_path / "here"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{tree}/build/sysroot/lib/libthread.a" in done.stdout
    assert f"{TOP}/" not in done.stdout


@pytest.mark.parametrize("header, instead", [
    ("ipc", "shm_open"), ("shm", "shm_open"), ("sem", "sem_open"), ("msg", "mq_open"),
])
def test_a_header_of_system_v_says_what_there_is_instead(weft, tmp_path, header, instead):
    source = tmp_path / "sysv.c"
    source.write_text(f"#include <sys/{header}.h>\nint main(void) {{ return 0; }}\n")
    done = weft("cc", source, "-o", tmp_path / "sysv")
    assert done.returncode == 1
    assert re.search(f"#error \"weft has no System V .*{instead}", done.stderr.decode())
