"""
A static function's name says what it works on, so `break NAME` in GDB stops in one place.

The kernel, the library and the C library are one space of names: a debugger knows the symbols of all
three at once.
"""
import collections
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PLACES = ("kernel", "libthread", "user/libc")

# From `static` at a line's begin to the name, the parameters, and the body's bracket.
FUNCTION = re.compile(
    r"^static\b[^;={}()]*?(?:__attribute__\(\([^)]*\)\)[^;={}()]*?)*\b([A-Za-z_]\w*)\([^;{}]*?\)\s*\{",
    re.MULTILINE)
# Words of C++, around which the formatter breaks lines.
FOREIGN = re.compile(r"\b(?:new|delete|not|and|or)\b")
COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^\s*#\s*include.*?$",
                               re.DOTALL | re.MULTILINE)


def sources(places):
    return [(str(path.relative_to(TOP)), path.read_text())
            for place in places for path in sorted((TOP / place).rglob("*.[ch]"))]


def static_functions(files):
    """The files in which each static function stands."""
    where = collections.defaultdict(set)
    for name, text in files:
        for function in FUNCTION.findall(text):
            where[function].add(name)
    return where


def repeated(files):
    return {function: sorted(names) for function, names in static_functions(files).items()
            if len(names) > 1}


def test_a_static_function_has_a_name_of_its_own():
    functions = static_functions(sources(PLACES))
    assert len(functions) > 1000  # the pattern still finds them
    assert repeated(sources(PLACES)) == {}


def test_a_name_that_stands_twice_is_found():
    one = "static int take(struct lock *l)\n{\n\treturn 0;\n}\n"
    two = "static __attribute__((noinline)) bool\ntake(void)\n{\n}\n"
    assert repeated([("a.c", one), ("b.c", two)]) == {"take": ["a.c", "b.c"]}
    assert repeated([("a.c", one), ("b.c", "static int take(struct lock *l);\n")]) == {}


def test_no_word_of_cplusplus_is_a_name():
    found = [f"{name}: {line.strip()}" for name, text in sources((*PLACES, "user"))
             for line in COMMENT_OR_STRING.sub(" ", text).splitlines() if FOREIGN.search(line)]
    assert found == []
