"""Packets of GDB's remote protocol ("GDB Remote Serial Protocol" in GDB's manual) over a stream socket.

A packet is $DATA#SUM; between packets stand acknowledgements, + and -, and the byte 3, which interrupts
the machine.  A stream socket loses nothing, so nothing is ever sent a second time.
"""

import re
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path

from .machine import HostError

INTERRUPT = b"\x03"
PACKET = re.compile(rb"\$([^#]*)#[0-9a-fA-F]{2}", re.DOTALL)


class Closed(Exception):
    """The other side has closed the connection."""


class StubError(HostError):
    """The stub does not answer as QEMU's does."""


LISTEN_SECONDS = 10.0


def connect(path: str | Path) -> socket.socket:
    """Raises OSError.

    *Race:* the server has made its socket, and does not listen yet; *without this:* the connection is
    refused, and the caller gives up; *closed by:* the next try."""
    deadline = time.monotonic() + LISTEN_SECONDS
    while True:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(str(path))
            return link
        except ConnectionRefusedError:
            link.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        except OSError:
            link.close()
            raise


class Packets:
    """One side of a connection.  acknowledges: QEMU can do without, GDB cannot."""

    def __init__(self, link: socket.socket, acknowledges: bool) -> None:
        self._link = link
        self._acknowledges = acknowledges
        self._data = b""
        self._interrupted = False

    def fileno(self) -> int:
        return self._link.fileno()

    def send(self, data: bytes) -> None:
        """Raises Closed."""
        self._write(b"$%s#%02x" % (data, sum(data) & 0xff))

    def interrupt(self) -> None:
        """Asks the other side to stop the machine.  Raises Closed."""
        self._write(INTERRUPT)

    def _write(self, data: bytes) -> None:
        try:
            self._link.sendall(data)
        except OSError as error:
            raise Closed from error

    def _fill(self, seconds: float | None) -> bool:
        """False: nothing has come in this time.  Raises Closed."""
        if not select.select([self._link], [], [], seconds)[0]:
            return False
        try:
            data = self._link.recv(65536)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        self._data += data
        return True

    def receive(self, seconds: float | None = None) -> bytes | None:
        """The data of the next packet; None: none has come in this time.  An interrupt before it is
        forgotten.  Blocks.  Raises Closed."""
        while (match := PACKET.search(self._data)) is None:
            if not self._fill(seconds):
                return None
        self._data = self._data[match.end():]
        self._interrupted = False
        if self._acknowledges:
            self._write(b"+")
        return match[1]

    def interrupted(self) -> bool:
        """Whether the other side has asked to stop the machine since its last packet.  Does not block.
        Raises Closed."""
        while self._fill(0):
            pass
        if INTERRUPT in self._data.partition(b"$")[0]:
            self._data = self._data.replace(INTERRUPT, b"", 1)
            self._interrupted = True
        return self._interrupted

    def close(self) -> None:
        self._link.close()


def read_annex(ask: Callable[[bytes], bytes], annex: str) -> str:
    """A document of the description of the stub's target.  ask: sends a packet, and returns the answer.  Raises
    StubError."""
    text = b""
    while True:
        piece = ask(f"qXfer:features:read:{annex}:{len(text):x},7f0".encode())
        if piece[:1] not in (b"m", b"l"):
            raise StubError("QEMU does not describe its registers")
        text += piece[1:]
        if piece[:1] == b"l":
            return text.decode()
