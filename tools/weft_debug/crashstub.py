"""A gdbstub over a crash file: what QEMU's stub answers for a machine that stands still.

Nothing runs any more, and nothing can be changed.  Whatever would run the machine ends at once, at the end of
the recorded time (replaylog:end), as in a recorded run that is at its end.
"""

import socket
import threading
from contextlib import suppress

from weft_host.packets import Closed, Packets

from .crash import CrashFile
from .memory import MemoryFault, Space
from .stub import Description

SUPPORTED = b"PacketSize=1000;multiprocess+;vContSupported+;qXfer:features:read+;ReverseStep+;ReverseContinue+"
AT, END = b"T05thread:p01.%02x;", b"T05thread:p01.%02x;replaylog:end;"
REFUSED = b"E.a crash file cannot be changed"
RUNS = (b"c", b"C", b"s", b"S", b"vCont;", b"bc", b"bs")
CHANGES = (b"G", b"P", b"M", b"X")
MOST_BYTES = 0x800  # in one answer


class CrashStub:
    """connect(): one more connection, served by a thread of its own until it is closed."""

    def __init__(self, crash: CrashFile) -> None:
        """Raises StubError."""
        self._crash = crash
        self._description = Description(crash.features)
        self._lock = threading.Lock()  # of the archive, for threads of several connections

    def connect(self) -> Packets:
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(Packets(ours, acknowledges=False),), daemon=True).start()
        return Packets(theirs, acknowledges=False)

    def _serve(self, link: Packets) -> None:
        session = _Session(self._crash, self._description)
        with suppress(Closed):
            while True:
                packet = link.receive()
                assert packet is not None  # there is no time limit
                if packet == b"k":
                    break
                with self._lock:
                    try:
                        answer = session.answer(packet)
                    except (ValueError, IndexError):
                        answer = b"E16"
                link.send(answer)
        link.close()


class _Session:
    """What one connection has chosen."""

    def __init__(self, crash: CrashFile, description: Description) -> None:
        self._machine = crash.machine
        self._description = description
        self._physical = False
        self._processor = min(crash.machine.processors(), default=0)

    def answer(self, packet: bytes) -> bytes:
        name, _, rest = packet.partition(b":")
        match name:
            case b"?":
                return AT % (self._processor + 1)
            case b"qSupported":
                return SUPPORTED
            case b"Qqemu.PhyMemMode":
                self._physical = rest == b"1"
                return b"OK"
            case b"qXfer" if rest.startswith(b"features:read:"):
                return self._feature(rest.removeprefix(b"features:read:"))
            case b"qfThreadInfo":
                return b"m" + b",".join(b"p01.%02x" % (n + 1) for n in sorted(self._machine.processors()))
            case b"qsThreadInfo":
                return b"l"
            case b"vCont?":
                return b"vCont;c;C;s;S"
            case b"qAttached":
                return b"1"
        return self._of_letter(packet)

    def _of_letter(self, packet: bytes) -> bytes:
        if packet.startswith(RUNS):
            return END % (self._processor + 1)
        if packet.startswith(CHANGES):
            return REFUSED
        if packet.startswith(b"qRcmd,"):
            return b"a crash file has no monitor of QEMU's\n".hex().encode()
        match packet[:1]:
            case b"m":
                return self._memory(packet[1:])
            case b"g":
                return self._description.encode(self._machine.processors()[self._processor])
            case b"H" if packet[1:2] == b"g":
                number = int(packet[2:].rpartition(b".")[2], 16) - 1
                if number >= 0:
                    if number not in self._machine.processors():
                        return b"E16"
                    self._processor = number
                return b"OK"
            case b"H" | b"T" | b"D" | b"z" | b"Z" | b"!":
                return b"OK"
        return b""

    def _feature(self, words: bytes) -> bytes:
        annex, _, where = words.partition(b":")
        offset, size = (int(word, 16) for word in where.split(b","))
        text = self._description.texts.get(annex.decode(errors="replace"))
        if text is None:
            return b"E00"
        data = text.encode()
        return (b"m" if offset + size < len(data) else b"l") + data[offset:offset + size]

    def _memory(self, words: bytes) -> bytes:
        address, size = (int(word, 16) for word in words.split(b","))
        try:
            if self._physical:
                data = self._machine.physical.read(address, min(size, MOST_BYTES))
            else:
                registers = self._machine.processors()[self._processor]
                data = Space(self._machine.physical, registers["cr3"]).read(address, min(size, MOST_BYTES))
        except MemoryFault:
            return b"E14"
        return data.hex().encode()
