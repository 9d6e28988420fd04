"""What a hostile program could do to the Java machine: class files that no compiler makes, jars that are damaged,
and threads that race. Each gets an exception at most, and the machine lives."""

import io
import re
import struct
import zipfile
import zlib
from random import Random

import pytest
from classfile import ABSTRACT, INTERFACE, PUBLIC, ClassFile
from test_java import PROGRAMS, expected, java, tests_jar  # noqa: F401 (two are fixtures)

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
        code += GETSTATIC + index(out) + a + b + b"\x6f\x05\x03" + INVOKESTATIC + index(fixed)
        code += b"\xb6" + index(show)
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


def damaged(name, data, at, byte):
    """A jar with one member, stored, whose byte `at` is changed."""
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, data)
    data = bytearray(jar.getvalue())
    data[data.index(name.encode()) + len(name) + at] = byte
    return bytes(data)


def test_a_jar_with_a_wrong_checksum(guest, tmp_path):
    """It is said, and no file of that name behind it on the class path takes its place."""
    again = (PROGRAMS / "Again.class").read_bytes()
    (tmp_path / "x.jar").write_bytes(damaged("Again.class", again, 7, 51))
    (tmp_path / "m.jar").write_bytes(damaged("META-INF/MANIFEST.MF", b"Main-Class: Again\n", 12, ord("B")))
    script = "java -cp /host/x.jar:/host Again 1; java -jar /host/m.jar\n"
    output = guest(["sh", "-c", script], timing="exact",
                   files=[str(tmp_path / "x.jar"), str(tmp_path / "m.jar"), str(PROGRAMS / "Again.class")]).output
    crc = zlib.crc32(again)
    wrong = zlib.crc32(again[:7] + b"\x33" + again[8:])
    assert "NoClassDefFoundError: Again" in output
    assert f"ZipException: invalid entry CRC (expected {crc:#x} but got {wrong:#x})" in output
    assert "java: no main class in the manifest of /host/m.jar: invalid entry CRC (expected 0x" in output


def test_jars_changed_at_random(guest, tmp_path):
    """The whole way, where tests/host/test_zip.py has the reader alone, and many more jars."""
    random = Random(1)
    files = []
    for i in range(24):
        jar = io.BytesIO()
        with zipfile.ZipFile(jar, "w", (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)[i % 2]) as archive:
            archive.write(PROGRAMS / "Again.class", "Again.class")
        data = bytearray(jar.getvalue())
        for _ in range(random.randint(1, 3)):
            low = random.choice([0, len(data) - 90])
            data[random.randrange(low, len(data))] = random.randrange(256)
        files.append(tmp_path / f"{i}.jar")
        files[-1].write_bytes(data)
    script = "".join(f"java -cp /host/{path.name} Again 1 Again; echo ended $?\n" for path in files)
    (tmp_path / "all.sh").write_text(script)
    output = guest(["sh", "/host/all.sh", "java"], files=list(map(str, [*files, tmp_path / "all.sh"])),
                   timing="exact").output
    ended = re.findall(r"^ended (\d+)$", output, re.MULTILINE)
    assert len(ended) == len(files) and set(ended) == {"0", "1"}, output
    assert "invalid entry CRC" in output


def test_a_thread_that_ends_inside_of_a_monitor(hostile):
    """javac makes no such code. The monitor stays entered, and no later thread is taken for its owner."""

    def thread(name):
        c = ClassFile(name, "java/lang/Thread")
        parent = c.member(10, "java/lang/Thread", "<init>", "()V")
        c.method("<init>", "()V", b"\x2a\xb7" + index(parent) + b"\xb1", PUBLIC)
        return c, b"\x12" + bytes([c.class_("Again")])

    first, lock = thread("First")
    wait = first.member(10, "java/lang/Object", "wait", "(J)V")
    first.method("run", "()V", lock + b"\xc2" + lock + b"\x0a\xb6" + index(wait) + b"\xb1", PUBLIC)
    later, lock = thread("Later")
    code = GETSTATIC + index(later.member(9, "java/lang/System", "out", "Ljava/io/PrintStream;")) + lock
    code += INVOKESTATIC + index(later.member(10, "java/lang/Thread", "holdsLock", "(Ljava/lang/Object;)Z"))
    code += b"\xb6" + index(later.member(10, "java/io/PrintStream", "println", "(Z)V"))
    later.method("run", "()V", code + b"\xb1", PUBLIC)
    code = b""
    for name in ("First", "Later", "Later"):
        code += b"\xbb" + index(later.class_(name)) + b"\x59\xb7" + index(later.member(10, name, "<init>", "()V"))
        code += b"\x59\xb6" + index(later.member(10, "java/lang/Thread", "start", "()V"))
        code += b"\xb6" + index(later.member(10, "java/lang/Thread", "join", "()V"))
    later.method("main", "([Ljava/lang/String;)V", code + b"\xb1")
    result = hostile({"First": first.bytes(), "Later": later.bytes()}, "Later", model="n1")
    assert (result.status, result.output) == (0, "false\nfalse\n")


FACTORY = ("java/lang/invoke/LambdaMetafactory",
           "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;"
           "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)"
           "Ljava/lang/invoke/CallSite;")
FIELD, VIRTUAL, STATIC_METHOD = 2, 5, 6  # kinds of handles


def linked(name, method="()V", given="()V", body=(STATIC_METHOD, 10, None, "body", "()V"),
           site="()Ljava/lang/Runnable;", factory=FACTORY[0], how="metafactory", more=(), text=None):
    """A class whose initialiser has an invokedynamic of these types, and then runs the object. text: captured."""
    c = ClassFile(name)
    kind, tag, owner, *member = body
    bootstrap = c.handle(STATIC_METHOD, c.member(10, factory, how, FACTORY[1]))
    body = c.handle(kind, c.member(tag, owner or name, *member))
    call = c.call_site("run", site, bootstrap, c.method_type(method), body, c.method_type(given),
                       *more(c) if more else ())
    run = c.member(11, "java/lang/Runnable", "run", "()V")
    c.constructor()
    c.method("body", "()V", b"\xb1")
    c.method("wants", "(I)V", b"\xb1")
    c.method("gives", "()Ljava/lang/Object;", b"\x01\xb0")
    code = (b"\x12" + bytes([c.text(text)]) if text else b"") + b"\xba" + index(call) + b"\0\0"
    if site.endswith("Runnable;"):
        code += b"\xb9" + index(run) + b"\1\0"
    else:
        code += b"\x57"
    c.method("<clinit>", "()V", code + b"\xb1", 8)
    return c.bytes()


def bridges(c):
    """altMetafactory: more methods than a class has room for."""
    return [c.number(4), c.number(30000), *30000 * [c.method_type("()Lx;")]]


def markers(c):
    return [c.number(2), c.number(99), *(c.class_(f"M{i}") for i in range(99))]


def twice(c):
    """Serializable three times, and a bridge that is the method itself."""
    return [c.number(7), c.number(2), *2 * [c.class_("java/io/Serializable")], c.number(1), c.method_type("()V")]


SHAPES = [
    ({}, "L0@"),
    ({"how": "altMetafactory", "more": lambda c: [c.number(1)]}, "L1@"),
    ({"how": "altMetafactory"},
     "BootstrapMethodError: L2: a lambda expression has a bootstrap method with another argument"),
    ({"how": "altMetafactory", "more": bridges, "body": (STATIC_METHOD, 10, None, "gives", "()Ljava/lang/Object;")},
     "BootstrapMethodError: L3: a lambda expression has too many parts"),
    ({"body": (STATIC_METHOD, 10, None, "wants", "(I)V")},
     "BootstrapMethodError: L4: a lambda expression has another number of arguments"),
    ({"given": "(I)V"}, "BootstrapMethodError: L5: a lambda expression has another number of arguments"),
    ({"body": (STATIC_METHOD, 10, None, "wants", "(I)V"), "method": "(J)V", "given": "(J)V"},
     "BootstrapMethodError: L6: a lambda expression has a value of another primitive type"),
    ({"method": "()I"}, "BootstrapMethodError: L7: a lambda expression has no result where there must be one"),
    ({"body": (FIELD, 9, "java/lang/System", "out", "Ljava/io/PrintStream;")},
     "BootstrapMethodError: L8: a lambda expression that calls no method"),
    ({"body": (STATIC_METHOD, 10, "java/lang/Thread", "none", "()V")},
     "NoSuchMethodError: java.lang.Thread.none()V"),
    ({"body": (STATIC_METHOD, 10, "java/util/Arrays", "sift", "([IIII)V")},
     "IllegalAccessError: L10 may not call java.util.Arrays.sift([IIII)V"),
    ({"body": (VIRTUAL, 10, None, "body", "()V")},
     "IncompatibleClassChangeError: a lambda expression cannot call L11.body"),
    ({"site": "()Ljava/lang/String;"}, "IncompatibleClassChangeError: java.lang.String is no interface"),
    ({"site": "()I"}, "BootstrapMethodError: L13: a lambda expression has no interface"),
    ({"factory": "java/lang/Object"}, "BootstrapMethodError: L14: an invokedynamic that is no lambda expression"),
    ({"body": (VIRTUAL, 9, None, "body", "I")}, "ClassFormatError: a handle of the wrong kind"),
    ({"how": "altMetafactory", "more": markers},
     "BootstrapMethodError: L16: a lambda expression has too many interfaces"),
    ({"how": "altMetafactory", "more": twice}, "L17@"),
    # clone() of a string: it is protected, and the class may call it of its own objects alone.
    ({"body": (VIRTUAL, 10, "java/lang/Object", "clone", "()Ljava/lang/Object;"), "text": "receiver",
      "site": "(Ljava/lang/Object;)Ljava/lang/Runnable;"}, "ExceptionInInitializerError"),
]


def test_lambda_expressions_that_no_compiler_makes(hostile):
    names = [f"L{i}" for i in range(len(SHAPES))]
    classes = {name: linked(name, **shape) for name, (shape, _) in zip(names, SHAPES, strict=True)}
    result = hostile(classes, "Again", 1, *names)
    assert result.status == 0
    lines = result.output.splitlines()
    assert [says in line for line, (_, says) in zip(lines, SHAPES, strict=True)] == len(SHAPES) * [True], lines
