"""GDB's side of its remote protocol ("GDB Remote Serial Protocol" in GDB's manual), with the multiprocess
extension: packets on an asyncio stream, and the words that they are made of.

A packet is $DATA#SUM.  Between packets stand acknowledgements, + and -, until QStartNoAckMode, and the byte 3,
which is to stop the machine.  A stream loses nothing, so nothing is ever sent a second time.
"""

import asyncio
import contextlib
import re
from dataclasses import dataclass

from weft_host.packets import Closed

INTERRUPT = b"\x03"
PIECE = re.compile(rb"\$([^#]*)#[0-9a-fA-F]{2}|\x03", re.DOTALL)
PACKET_SIZE = 0x4000  # bytes: the longest packet that GDB may send

ALL, ANY = -1, 0  # in place of a number of a process or thread


@dataclass(frozen=True)
class Id:
    """A thread of a process, or all or any of them."""

    pid: int
    tid: int

    def __str__(self) -> str:
        return f"p{_number(self.pid)}.{_number(self.tid)}"

    @classmethod
    def parse(cls, text: str) -> "Id":
        """Of pPID.TID or pPID.  Raises ValueError."""
        if not text.startswith("p"):
            # GDB without the multiprocess extension, or its -1 and 0 for all and any.
            return cls(ALL if text.startswith("-") else ANY, _parse(text))
        pid, dot, tid = text[1:].partition(".")
        return cls(_parse(pid), _parse(tid) if dot else ALL)


def _number(value: int) -> str:
    return "-1" if value == ALL else f"{value:x}"


def _parse(text: str) -> int:
    return ALL if text == "-1" else int(text, 16)


def unescape(data: bytes) -> bytes:
    """Binary data of a packet."""
    return re.sub(rb"}(.)", lambda match: bytes([match[1][0] ^ 0x20]), data, flags=re.DOTALL)


def escape(data: bytes) -> bytes:
    return re.sub(rb"[}$#*]", lambda match: b"}" + bytes([match[0][0] ^ 0x20]), data)


def piece(whole: bytes, offset: int, length: int) -> bytes:
    """The answer to a qXfer:...:read packet."""
    part = whole[offset:offset + min(length, PACKET_SIZE // 2)]
    return (b"l" if offset + len(part) >= len(whole) else b"m") + escape(part)


class Wire:
    """A connection of GDB's.  stop: GDB has asked to stop the machine since its last packet, or has gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._acknowledges = True
        self._packets: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.stop = asyncio.Event()
        self.closed = False
        self._pump = asyncio.create_task(self._take())

    async def _take(self) -> None:
        data = b""
        try:
            while more := await self._reader.read(65536):
                data += more
                while match := PIECE.search(data):
                    data = data[match.end():]
                    if match[1] is None:
                        self.stop.set()
                    else:
                        self._acknowledge()
                        # *Race:* the interrupt comes right behind the packet that runs the machine, and the
                        # session takes the packet.  *Without this:* taking it would forget the interrupt.
                        # *Closed by:* the packet itself, as it comes, ends what was before.
                        self.stop.clear()
                        self._packets.put_nowait(match[1])
        except OSError:
            pass  # as if it had closed the connection
        finally:
            self.closed = True
            self.stop.set()
            self._packets.put_nowait(None)

    def _acknowledge(self) -> None:
        if self._acknowledges:
            self._writer.write(b"+")

    def end_acknowledging(self) -> None:
        """After the answer to QStartNoAckMode."""
        self._acknowledges = False

    async def receive(self) -> bytes:
        """The data of the next packet.  Raises Closed."""
        data = await self._packets.get()
        if data is None:
            raise Closed
        return data

    def send(self, data: bytes) -> None:
        self._writer.write(b"$%s#%02x" % (data, sum(data) & 0xff))

    def say(self, text: str) -> None:
        """Has GDB print a text, while the machine runs in its eyes."""
        self.send(b"O" + text.encode().hex().encode())

    async def close(self) -> None:
        self._pump.cancel()
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._writer.wait_closed()
