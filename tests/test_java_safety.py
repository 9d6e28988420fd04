"""What a hostile program could do to the Java machine: class files that no compiler makes, jars that are damaged, and
threads that race. Each gets an exception at most, and the machine lives."""

import struct
import zipfile

import pytest
from test_java import PROGRAMS, expected, java  # noqa: F401 (java: a fixture)

GETSTATIC, INVOKESTATIC = b"\xb2", b"\xb8"


def index(number):
    return struct.pack(">H", number)


@pytest.fixture
def hostile(guest, tmp_path):
    """hostile(classes, CLASS, ARG...) runs CLASS with these class files, {name: bytes}, in a jar."""

    def run(classes, *argv, options=(), **how):
        jar = tmp_path / "hostile.jar"
        with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in classes.items():
                archive.writestr(f"{name}.class", data)
            archive.write(PROGRAMS / "Again.class", "Again.class")
        return guest(["java", *options, "-cp", "/host/hostile.jar", *argv], files=[str(jar)],
                     **{"timing": "exact", **how})

    return run


def test_no_half_of_an_address(java, seeds):  # noqa: F811
    """A copy of references, while another thread reads them."""
    for seed in range(1, seeds + 1):
        result = java("Tear", 150, smp=2, seed=seed, quantum=100)
        assert (result.status, result.output) == (0, "whole\n"), f"seed {seed}"
