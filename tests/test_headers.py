"""Each header of the sysroot compiles alone, and of each two the second compiles after the first."""

import subprocess

import pytest
from conftest import TOP
from weft_host.ccmd import compiler, options_of

SYSROOT = TOP / "build/sysroot"
# These say what to use instead, and nothing else.
REFUSED = {"sys/ipc.h", "sys/msg.h", "sys/sem.h", "sys/shm.h"}
# What only other headers include.
INNER = ("machine/", "ssp/", "bits/", "rpc/")


def headers():
    found = set()
    for folder in (SYSROOT / "include", SYSROOT / "newlib/include"):
        found |= {path.relative_to(folder).as_posix() for path in folder.rglob("*.h")}
    return sorted(name for name in found - REFUSED
                  if not name.startswith(INNER) and not name.split("/")[-1].startswith("_"))


def compile_each(folder, programs, *options):
    """Of each program, a list of headers, the compiler's messages, all at once."""
    for name, included in programs.items():
        text = "".join(f"#include <{header}>\n" for header in included)
        (folder / f"{name.replace('/', '-')}.c").write_text(text + "int main(void) { return 0; }\n")
    done = subprocess.run([compiler(), *options_of(SYSROOT / "cflags"), *options, "-Wall", "-Werror",
                           "-fsyntax-only", *sorted(folder.glob("*.c"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_alone(tmp_path):
    compile_each(tmp_path, {name: [name] for name in headers()})


@pytest.mark.parametrize("options", [["-std=gnu11"], ["-std=c99", "-D_POSIX_C_SOURCE=200809L"]],
                         ids=["gnu11", "posix"])
def test_in_every_order_of_two(tmp_path, options):
    """One program has them all in their order, another in the opposite one."""
    names = headers()
    assert {"regex.h", "libgen.h", "ucontext.h", "pthread.h", "elf.h", "weft/abi.h"} <= set(names)
    compile_each(tmp_path, {"forwards": names, "backwards": names[::-1]}, *options)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_there_is_not(name):
    text = (SYSROOT / "include" / name).read_text()
    assert "#error" in text, f"{name} is one that compiles: let it be tested"
