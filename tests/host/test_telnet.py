"""The size of the terminal's window among the bytes that are typed, compiled for the host."""

import ctypes

import pytest
from hostcc import compile_c
from weft_host.guest import Guest
from weft_host.machine import Machine


@pytest.fixture(scope="module")
def take(tmp_path_factory):
    """take(bytes): (those that are typed, the sizes that are told)."""
    so = compile_c(tmp_path_factory.mktemp("telnet") / "telnet.so", "tests/host/telnet_test.c",
                   shared=True)
    lib = ctypes.CDLL(str(so))
    lib.telnet_take.restype = ctypes.c_size_t

    def call(data):
        typed = ctypes.create_string_buffer(len(data) + 1)
        sizes, n = ((ctypes.c_uint16 * 2) * (len(data) + 1))(), ctypes.c_size_t()
        got = lib.telnet_take(data, ctypes.c_size_t(len(data)), typed, sizes, ctypes.byref(n))
        return typed.raw[:got], [tuple(sizes[i]) for i in range(n.value)]

    return call


def sent(*events):
    """What the host puts on the line for bytes that are typed, and for sizes."""
    guest = Guest(Machine(), terminal=True)
    for event in events:
        if isinstance(event, tuple):
            guest.resize(*event)
        else:
            for i in range(len(event)):
                guest._type(event[i:i + 1])
    return bytes(guest._to_guest)


def test_what_the_host_sends(take):
    every = bytes(c for c in range(256) if c != 1) * 2  # Ctrl-A is the host's own
    sizes = [(80, 24), (255, 255), (65535, 1), (0xff00, 0xff)]
    stream = sent(every, sizes[0], b"a\xff", sizes[1], sizes[2], b"\xff\xff", sizes[3], every)
    assert take(stream) == (every + b"a\xff\xff\xff" + every, sizes)


@pytest.mark.parametrize("stream, typed", [
    (b"a\xff\xf1b", b"ab"),  # a command that is none of ours
    (b"a\xff\xfa\x1f\0\x50\0\xff\xf0b", b"ab"),  # too short
    (b"a\xff\xfa\x18\0\x50\0\x18\xff\xf0b", b"ab"),  # another option
    (b"a\xff\xfa\x1f\0\x50\0\x18\xff\xf1b", b"ab"),  # another end
    (b"\xff\xfa" + b"x" * 100 + b"\n", b"x" * 94 + b"\n"),  # no end: typing goes on
])
def test_what_is_no_size(take, stream, typed):
    assert take(stream) == (typed, [])
