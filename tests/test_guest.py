"""Runs the test programs of tests/guest, at the CPU counts and models of guest.toml."""

from fnmatch import fnmatchcase

import conformance
import pytest
from conftest import GUEST_PROGRAMS, TOP
from tap import failures
from weft_host.guest import Result

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

TABLE = tomllib.loads((TOP / "tests/guest.toml").read_text())


def settings(name):
    """What the table says of a program: later sections that fit its name win."""
    how = {}
    for pattern, section in TABLE.items():
        if pattern == "default" or fnmatchcase(name, pattern):
            how |= section
    return how


def cases():
    for name in sorted(GUEST_PROGRAMS):
        how = settings(name)
        if how["tool"]:
            continue
        builds = [(cpus, False) for cpus in how["cpus"]]
        builds += [(cpus, True) for cpus in how["debug_cpus"]]
        for cpus, debug in builds:
            for model in how["models"]:
                label = f"{name}-{model}-{cpus}cpu" + ("-debug" if debug else "")
                marks = [pytest.mark.racing] if how["racing"] else []
                between = not debug and cpus not in (min(how["cpus"]), max(how["cpus"]))
                if model == "sa" and (how["sa_all"] or between):
                    marks.append(pytest.mark.sa_all)
                yield pytest.param(name, cpus, model, debug, id=label, marks=marks)


def test_the_table_names_programs():
    assert next(iter(TABLE)) == "default"
    for pattern, section in TABLE.items():
        assert pattern == "default" or any(fnmatchcase(name, pattern) for name in sorted(GUEST_PROGRAMS)), \
            f"guest.toml: no program {pattern}"
        assert set(section) <= set(TABLE["default"]), f"guest.toml: unknown word in [{pattern}]"


@pytest.mark.parametrize("name, cpus, model, debug", cases())
def test_guest(guest, soak, name, cpus, model, debug):
    how = settings(name)
    argv = [name, *how["args"]]
    repeat = soak if how["racing"] else 1
    if repeat > 1:
        argv = ["repeat", repeat, *argv]
    exact = {"timing": "exact", "mips": how["mips"]} if how["timing"] == "exact" else {}
    result = guest(argv, smp=cpus, model=model, debug=debug, mem=how["mem"],
                   timeout=how["timeout"] * repeat, **exact)
    if repeat > 1:  # it shows only a run that failed
        assert result.status == 0, result.output
        return
    wrong = failures(result)
    if wrong:
        pytest.fail("\n".join(wrong) + "\n--- the end of its output ---\n" +
                    "\n".join(result.output.splitlines()[-30:]), pytrace=False)
    if cpus == max(how["cpus"]):  # with fewer CPUs some leave out what they cannot show
        assert conformance.missing(name, model, result.output) == [], "named in tests/conformance"


@pytest.mark.parametrize("output, status, good", [
    ("ok a\nok b\n1..2\n", 0, True),
    ("ok a\nnot ok b: why\n1..2\n", 1, False),
    ("ok a\nnot ok b: why\n1..2\n", 0, False),
    ("ok a\nok b\n1..2\n", 3, False),
    ("ok a\n", 0, False),
    ("ok a\n1..2\n", 0, False),
    ("1..0\n", 0, False),
    ("", 0, False),
])
def test_the_reader_of_reports(output, status, good):
    assert (failures(Result(status, output)) == []) == good
