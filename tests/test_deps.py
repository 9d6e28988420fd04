"""Which part may include which: the rules of dependence, read from the #include lines.

- kernel/include/weft/ is all that user space shares with the kernel, and needs nothing else.
- libthread's core/ and sync/ know no model, and a model knows no other model.
- The kernel includes nothing of user space.
"""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FREESTANDING = {"stdarg.h", "stdbool.h", "stddef.h", "stdint.h"}
SOURCES = ("kernel", "libthread", "user", "tests/guest", "tests/cc")


def includes(text):
    """Pairs of '<' or '"' and the name."""
    return INCLUDE.findall(text)


def resolve(file, name):
    """The path, from the top, of a header in quotes."""
    path = (TOP / file).parent / name
    try:
        return path.resolve().relative_to(TOP).as_posix()
    except ValueError:
        return path.as_posix()


def model_of(path):
    """The model whose folder holds this path, or None."""
    match = re.match(r"libthread/model/([^/]+)/", path)
    return match[1] if match else None


def forbidden(file, quote, name):
    """Why this file (a path from the top) may not include this, or None."""
    target = resolve(file, name) if quote == '"' else name
    if file.startswith("kernel/include/weft/"):
        own = quote == '"' and target.startswith("kernel/include/weft/")
        return None if own or name == "stdint.h" or name.startswith("weft/") else \
            "shared headers need only each other and <stdint.h>"
    if file.startswith("kernel/"):
        if quote == "<":
            return None if name.startswith(("kern/", "weft/")) or name in FREESTANDING else \
                "the kernel has only <kern/...>, <weft/...> and the freestanding headers"
        return None if target.startswith("kernel/") else "the kernel includes only the kernel"
    if target.startswith(("kern/", "kernel/")) and not target.startswith("kernel/include/weft/"):
        return "user space shares only <weft/...> with the kernel"
    if quote == "<" and name.startswith("weft/"):
        known = (TOP / "kernel/include" / name, TOP / "user/libc/include" / name)
        return None if any(path.is_file() for path in known) else "there is no such shared header"
    if file.startswith(("libthread/core/", "libthread/sync/")) and model_of(target):
        return "core/ and sync/ know no model"
    if model_of(file) and model_of(target) not in (None, model_of(file)):
        return "a model knows no other model"
    return None


def source_files():
    return [path for top in SOURCES for suffix in ("*.c", "*.h", "*.S")
            for path in sorted((TOP / top).rglob(suffix))]


def test_no_forbidden_include():
    files = source_files()
    assert len(files) > 50
    bad = []
    for path in files:
        name = path.relative_to(TOP).as_posix()
        for quote, header in includes(path.read_text()):
            why = forbidden(name, quote, header)
            if why:
                bad.append(f"{name} includes {header}: {why}")
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("file, line", [
    ("kernel/include/weft/abi.h", "#include <kern/types.h>"),
    ("kernel/include/weft/abi.h", '#include "../kern/types.h"'),
    ("kernel/sched/disp.c", "#include <stdio.h>"),
    ("kernel/sched/disp.c", '#include "../../libthread/core/tcb.h"'),
    ("user/bin/threads/ps.c", "#include <kern/proc.h>"),
    ("user/bin/threads/ps.c", '#include "../../../kernel/include/kern/proc.h"'),
    ("user/bin/threads/ps.c", "#include <weft/nothing.h>"),
    ("libthread/core/thread.c", '#include "../model/mxn/mxn.h"'),
    ("libthread/sync/mutex.c", '#  include "../model/lwp/lwp.h"'),
    ("libthread/model/n1/n1.c", '#include "../mxn/mxn.h"'),
])
def test_a_forbidden_include_is_found(file, line):
    (quote, name), = includes(line)
    assert forbidden(file, quote, name)


@pytest.mark.parametrize("file, line", [
    ("kernel/include/weft/lwp.h", '#include "abi.h"'),
    ("kernel/sched/disp.c", '#include "disp.h"'),
    ("user/bin/threads/ps.c", "#include <weft/proc.h>"),
    ("libthread/core/thread.c", '#include "model.h"'),
    ("libthread/model/mxn/mxn.c", '#include "../../core/tcb.h"'),
    ("libthread/model/mxn/mxn.c", '#include "mxn.h"'),
])
def test_an_allowed_include_is_allowed(file, line):
    (quote, name), = includes(line)
    assert forbidden(file, quote, name) is None


def test_only_a_model_and_the_choice_name_a_model():
    """core/ and sync/ do not even test which model runs: they have the table of operations."""
    comparison = re.compile(r'strcmp\s*\(\s*__model->name|__model\s*==\s*&')
    bad = [path.relative_to(TOP) for part in ("core", "sync")
           for path in (TOP / "libthread" / part).rglob("*.c")
           if comparison.search(path.read_text())]
    assert not bad
