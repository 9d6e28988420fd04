"""The console's line discipline, compiled for the host and driven byte by byte."""

import ctypes
import random

import pytest
from hostcc import compile_c

RING = 4096
ICANON, ECHO, ISIG, OPOST, ICRNL, CRTSCTS = 0x2, 0x8, 0x1, 0x1, 0x100, 0x80000000
VMIN, VTIME, VERASE, VINTR = 6, 5, 2, 0
SIGINT, SIGQUIT, SIGTSTP = 2, 3, 18


class Termios(ctypes.Structure):
    _fields_ = [("iflag", ctypes.c_uint32), ("oflag", ctypes.c_uint32),
                ("cflag", ctypes.c_uint32), ("lflag", ctypes.c_uint32),
                ("cc", ctypes.c_uint8 * 16)]


class Ldisc(ctypes.Structure):
    _fields_ = [("tio", Termios), ("ring", ctypes.c_uint16 * RING), ("first", ctypes.c_uint),
                ("count", ctypes.c_uint), ("lines", ctypes.c_uint)]


Echo = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    so = compile_c(tmp_path_factory.mktemp("ldisc") / "ldisc.so", "kernel/dev/ldisc.c", shared=True)
    lib = ctypes.CDLL(str(so))
    lib.ldisc_ready.restype = lib.ldisc_stop.restype = ctypes.c_bool
    lib.ldisc_read.restype = lib.ldisc_output.restype = ctypes.c_size_t
    return lib


class Terminal:
    def __init__(self, lib):
        self.lib, self.d, self.screen = lib, Ldisc(), b""
        self.echo = Echo(self.show)
        lib.ldisc_init(ctypes.byref(self.d))

    def show(self, text, n):
        self.screen += text[:n]

    def type(self, text):
        """Types bytes; returns the signals that they sent."""
        text = text.encode() if isinstance(text, str) else text
        sigs = [self.lib.ldisc_input(ctypes.byref(self.d), c, self.echo) for c in text]
        return [s for s in sigs if s]

    def ready(self, n=RING):
        return self.lib.ldisc_ready(ctypes.byref(self.d), ctypes.c_size_t(n))

    def read(self, n=RING):
        assert self.ready(n), "the read would wait"
        buf = ctypes.create_string_buffer(n + 8)
        buf.raw = b"\xaa" * (n + 8)
        got = self.lib.ldisc_read(ctypes.byref(self.d), buf, ctypes.c_size_t(n))
        assert got <= n and buf.raw[got:] == b"\xaa" * (n + 8 - got)
        return buf.raw[:got]

    def shown(self):
        text, self.screen = self.screen, b""
        return text

    def stops(self):
        return self.lib.ldisc_stop(ctypes.byref(self.d))

    def set(self, clear=0, lflag=0, cc=None, iflag=None, oflag=None, cflag=None):
        t = Termios.from_buffer_copy(self.d.tio)
        t.lflag = (t.lflag & ~clear) | lflag
        t.iflag = t.iflag if iflag is None else iflag
        t.oflag = t.oflag if oflag is None else oflag
        t.cflag = t.cflag if cflag is None else cflag
        for i, v in (cc or {}).items():
            t.cc[i] = v
        self.lib.ldisc_set(ctypes.byref(self.d), ctypes.byref(t))


@pytest.fixture
def term(lib):
    return Terminal(lib)


def test_a_line(term):
    term.type("hello")
    assert not term.ready() and term.shown() == b"hello"
    term.type("\r")
    assert term.shown() == b"\r\n"
    assert term.read() == b"hello\n"
    assert not term.ready()


def test_lines_come_one_by_one(term):
    term.type("one\ntwo\n\nthr")
    assert [term.read(), term.read(), term.read()] == [b"one\n", b"two\n", b"\n"]
    assert not term.ready()
    term.type("ee\n")
    assert term.read() == b"three\n"


def test_a_line_in_parts(term):
    term.type("abcdef\nx\n")
    assert [term.read(4), term.read(1), term.read(4), term.read(4)] == [b"abcd", b"e", b"f\n", b"x\n"]


@pytest.mark.parametrize("key", ["\x7f", "\b"])
def test_erase(term, key):
    term.type("abx" + key)
    assert term.shown() == b"abx\b \b"
    term.type("c" + key * 10 + "d\n")
    assert term.shown() == b"c" + b"\b \b" * 3 + b"d\r\n"  # not beyond the start of the line
    assert term.read() == b"d\n"


def test_erase_stops_at_the_line_before(term):
    term.type("one\n\x7f\x7f\x15two\n")
    assert [term.read(), term.read()] == [b"one\n", b"two\n"]
    term.type("x\x04\x7f\x7fy\n")
    assert [term.read(), term.read()] == [b"x", b"y\n"]


def test_erase_takes_whole_characters(term):
    term.type("aé€\x01")
    term.shown()
    term.type("\x7f" * 3)
    assert term.shown() == b"\b \b\b \b" + b"\b \b" * 2  # ^A takes two columns
    term.type("\n")
    assert term.read() == b"a\n"


def test_kill(term):
    term.type("wrong\x15")
    assert term.shown() == b"wrong" + b"\b \b" * 5
    term.type("right\n")
    assert term.read() == b"right\n"


def test_end_of_file(term):
    term.type("\x04")
    assert term.shown() == b"" and term.read() == b"" and not term.ready()
    term.type("abc\x04")  # pushes what is there, without an end
    assert term.read() == b"abc" and not term.ready()
    term.type("abc\x04d\n")  # also when it just fits the buffer
    assert term.read(3) == b"abc"
    assert term.read() == b"d\n"
    term.type("\x04\x04")
    assert term.read() == b"" and term.ready() and term.read() == b"" and not term.ready()


def test_signals(term):
    term.type("line\nhalf")
    assert term.type("\x03") == [SIGINT]
    assert term.shown().endswith(b"half^C\r\n") and not term.ready()
    assert term.type("\x1c") == [SIGQUIT]
    assert term.type("\x1a") == [SIGTSTP]
    term.set(clear=ISIG)
    assert term.type("\x03\n") == [] and term.read() == b"\x03\n"
    term.set(lflag=ISIG, cc={VINTR: 0})  # switched off
    assert term.type(b"\x00\x03\n") == [] and term.read() == b"\x00\x03\n"


def test_no_echo(term):
    term.set(clear=ECHO)
    term.type("secret\x7f\x15\x03abc\n")
    assert term.shown() == b"" and term.read() == b"abc\n"


def test_translations(term):
    term.set(iflag=0, oflag=0)
    term.type("a\rb\n")
    assert term.shown() == b"a^Mb\n" and term.read() == b"a\rb\n"


def test_raw(term):
    term.set(clear=ICANON | ECHO | ISIG)
    assert not term.ready()
    text = b"\x03\x04\x15\x7fa\x1b[A\n"
    assert term.type(text) == [] and term.shown() == b""
    assert term.read(1) == text[:1] and term.read() == text[1:]


def test_raw_minimum(term):
    term.set(clear=ICANON, cc={VMIN: 3})
    term.type("ab")
    assert not term.ready(10) and term.ready(2)
    term.type("c")
    assert term.read(10) == b"abc"
    term.set(cc={VMIN: 0})
    assert term.read(10) == b""
    term.set(cc={VMIN: 0, VTIME: 1})
    assert not term.ready()
    term.type("d")
    assert term.read(10) == b"d"


def test_switch_to_raw(term):
    term.type("typed\nahead\x04more")
    term.set(clear=ICANON)
    assert term.read() == b"typed\naheadmore"


def test_switch_to_canonical(term):
    term.set(clear=ICANON)
    term.type("one\ntwo\x04")
    term.set(lflag=ICANON)
    assert term.read() == b"one\n" and not term.ready()
    term.type("\x7f\x7f")  # what was typed raw is the line that is being typed
    term.type("p\n")
    assert term.read() == b"twp\n"


def test_full_ring(term):
    term.type("x" * (RING + 10))
    assert term.shown() == b"x" * (RING - 1) + b"\a" * 11
    assert not term.ready()
    term.type("\n")  # the line can be ended
    assert term.read() == b"x" * (RING - 1) + b"\n"
    term.type("ab\n" * 2000)
    lines = []
    while term.ready():
        lines.append(term.read())
    assert lines[:1365] == [b"ab\n"] * 1365 and len(lines) <= 1366


def test_stop_the_sender(term):
    """With CRTSCTS a fast sender loses nothing, whatever it sends."""
    def send(data, line):
        sent, got = 0, b""
        while len(got) < len(data):
            while sent < len(data) and not term.stops():
                term.type(data[sent:sent + 16])  # what the receiver may still hold
                sent += 16
            assert term.d.count < RING
            got += term.read(line)
        assert got == data and not term.stops()

    term.type("x\n" * 3000)
    assert not term.stops()
    term.read(), term.set(cflag=CRTSCTS)
    assert term.stops()
    while term.ready():
        term.read()
    send(b"".join(b"line %d\n" % i for i in range(3000)), RING)
    term.set(clear=ICANON | ECHO | ISIG, iflag=0)
    send(random.Random(1).randbytes(20000), 1000)
    term.set(lflag=ICANON)
    term.type("x" * RING)  # only its end can help a line that is too long
    assert not term.stops()


def test_unknown_flags_are_dropped(term):
    term.set(lflag=0xFFFF0000, iflag=0xFFFFFFFF, oflag=0xFFFFFFFF)
    t = term.d.tio
    assert (t.iflag, t.oflag, t.lflag) == (ICRNL, OPOST, ICANON | ECHO | ISIG)


def test_output(lib):
    used, out = ctypes.c_size_t(), ctypes.create_string_buffer(4)

    def put(text, crlf):
        n = lib.ldisc_output(out, ctypes.c_size_t(4), text, ctypes.c_size_t(len(text)), crlf,
                             ctypes.byref(used))
        return out.raw[:n], used.value

    assert put(b"a\nb", True) == (b"a\r\nb", 3)
    assert put(b"abc\n", True) == (b"abc", 3)  # CR and LF are not parted
    assert put(b"abc\n", False) == (b"abc\n", 4)
    assert put(b"\n\n\n", True) == (b"\r\n\r\n", 2)
    assert put(b"", True) == (b"", 0)


class Model:
    """What canonical and raw mode mean, in the plainest words."""

    def __init__(self):
        self.done, self.line, self.raw = [], [], False  # done: lines, as (bytes, ended by EOF)

    def size(self):
        return sum(len(text) + eof for text, eof in self.done) + len(self.line)

    def type(self, c):
        if self.raw:
            if self.size() < RING:
                self.line.append(c)
        elif c in (8, 127):
            self.line = self.line[:-1]
        elif c == 0x15:
            self.line = []
        elif c in (4, 10) and self.size() < RING:
            self.done.append((bytes(self.line) + (b"\n" if c == 10 else b""), c == 4))
            self.line = []
        elif c not in (4, 10) and self.size() < RING - 1:
            self.line.append(c)

    def ready(self):
        return bool(self.line if self.raw else self.done)

    def read(self, n):
        if self.raw:
            text, self.line = bytes(self.line[:n]), self.line[n:]
            return text
        text, eof = self.done.pop(0)
        if len(text) > n:
            self.done.insert(0, (text[n:], eof))
        return text[:n]

    def switch(self):
        everything = b"".join(text for text, _ in self.done) + bytes(self.line)
        self.raw, self.done, self.line = not self.raw, [], list(everything)
        if not self.raw:
            *lines, last = everything.split(b"\n")
            self.done, self.line = [(text + b"\n", False) for text in lines], list(last)


@pytest.mark.parametrize("seed", range(4))
def test_against_model(term, seed):
    rng, model = random.Random(seed), Model()
    term.set(clear=ISIG | ECHO)
    for _ in range(20000):
        what = rng.random()
        if what < 0.90:
            c = rng.choice([8, 127, 4, 10, 0x15, *b"abcdefghijklmnopqrstuvwxyz" * 3])
            for _ in range(rng.choice([1, 1, 1, 50])):
                term.type(bytes([c]))
                model.type(c)
        elif what < 0.997:
            n = rng.choice([1, 2, 3, 10, 100, 5000])
            term.set(cc={VMIN: 1})
            assert term.ready(n) == model.ready()
            if model.ready():
                assert term.read(n) == model.read(n)
        else:
            term.set(clear=0 if model.raw else ICANON, lflag=ICANON if model.raw else 0)
            model.switch()
        assert term.d.count == model.size()
        assert term.d.lines == len(model.done)
