"""What a hostile program could do to the Java machine: class files that no compiler makes, jars that are damaged, and
threads that race. Each gets an exception at most, and the machine lives."""

import struct
import zipfile

import pytest
from classfile import ABSTRACT, INTERFACE, PUBLIC, ClassFile
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


def test_guards(java):  # noqa: F811
    """What native methods must refuse."""
    result = java("Guards")
    assert (result.status, result.output) == (0, expected("Guards"))


def test_no_half_of_an_address(java, seeds):  # noqa: F811
    """A copy of references, while another thread reads them."""
    for seed in range(1, seeds + 1):
        result = java("Tear", 150, smp=2, seed=seed, quantum=100)
        assert (result.status, result.output) == (0, "whole\n"), f"seed {seed}"


def test_a_number_that_is_none_in_decimal(hostile):
    """The library's own Double.fixed is public, and its Formatter alone gives it finite numbers."""
    c = ClassFile("Fixed")
    out = c.member(9, "java/lang/System", "out", "Ljava/io/PrintStream;")
    fixed = c.member(10, "java/lang/Double", "fixed", "(DIZ)Ljava/lang/String;")
    show = c.member(10, "java/io/PrintStream", "println", "(Ljava/lang/String;)V")
    code = b""
    for a, b in ((b"\x0e", b"\x0e"), (b"\x0f", b"\x0e")):  # 0.0 / 0.0 and 1.0 / 0.0
        code += GETSTATIC + index(out) + a + b + b"\x6f\x05\x03" + INVOKESTATIC + index(fixed) + b"\xb6" + index(show)
    c.method("main", "([Ljava/lang/String;)V", code + b"\xb1")
    result = hostile({"Fixed": c.bytes()}, "Fixed")
    assert (result.status, result.output) == (0, "NaN\nInfinity\n")


def test_a_class_that_fails_to_link_for_ever(hostile):
    """Each attempt costs time, and no memory."""
    c = ClassFile("Wrong")
    c.method("wrong", "()V", b"\x57\xb1")  # pop of nothing
    c.constructor()
    for i in range(5000):
        c.method(f"m{i}", "()V", b"\xb1", PUBLIC)
    result = hostile({"Wrong": c.bytes()}, "Again", 800, "Wrong", mem="32M", options=["-Xmx2m"])
    assert (result.status, result.output) == \
        (0, "Wrong: java.lang.VerifyError: Wrong.wrong()V at 0: half of a long or double\n")


def test_ways_up_that_double_with_each_level(hostile):
    """A field that is nowhere, looked for in 40 levels of two interfaces each."""
    classes, above = {}, []
    for level in range(40):
        names = [f"A{level}", f"B{level}"]
        for name in names:
            classes[name] = ClassFile(name, interfaces=above, access=PUBLIC | INTERFACE | ABSTRACT).bytes()
        above = names
    c = ClassFile("Low", interfaces=above)
    c.constructor()
    nowhere = c.member(9, "Low", "nowhere", "I")
    c.method("<clinit>", "()V", GETSTATIC + index(nowhere) + b"\x57\xb1", 8)
    result = hostile(classes | {"Low": c.bytes()}, "Again", 1, "Low")
    assert (result.status, result.output) == (0, "Low: java.lang.NoSuchFieldError: Low.nowhere (I)\n")


def test_a_main_class_with_a_name_that_is_too_long(guest, tmp_path):
    with zipfile.ZipFile(tmp_path / "long.jar", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Main-Class: " + 70000 * "x" + "\n")
    result = guest(["java", "-jar", "/host/long.jar"], files=[str(tmp_path / "long.jar")], timing="exact")
    assert result.status == 1
    assert "NoClassDefFoundError: a name of more than 65535 bytes" in result.output
