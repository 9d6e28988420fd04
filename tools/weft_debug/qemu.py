"""The connection to the stub behind the server: QEMU's own, or that of a recorded run (weft_host/reverse.py).

The machine stands still between any two calls of run(), so that questions need not be asynchronous: each
is answered within some microseconds, in a recorded run perhaps only after some seconds of seeking.
"""

import asyncio
from dataclasses import dataclass

from weft_host.machine import HostError
from weft_host.packets import Closed, Packets

from .guest import Registers
from .memory import MemoryFault, StubMemory
from .stub import Description

ANSWER_SECONDS = 120.0
SIGTRAP = 5
SUPPORTED = b"qSupported:multiprocess+;vContSupported+;xmlRegisters=i386"


class Ended(Exception):
    """QEMU has ended, and its stub with it."""


@dataclass(frozen=True)
class Stop:
    """Why the machine has stopped.  processor: of QEMU, from 0.  watch: the kind and the address of a
    watchpoint that was hit.  log: the end of a recording that was reached."""

    signal: int
    processor: int
    watch: tuple[str, int] | None = None
    log: str | None = None


class Stub:
    """The connection.  All raise Ended when QEMU has gone, HostError when it hangs."""

    def __init__(self, packets: Packets) -> None:
        self._packets = packets
        self._processor: int | None = None  # that of which g and m tell
        self._physical = False  # m and M have physical addresses
        answer = self.ask(SUPPORTED)
        while answer.startswith(b"T"):  # a machine that ran is stopped by the connection, and QEMU 7.2 tells so
            answer = self._receive()
        self.recorded = b"ReverseStep+" in answer
        self.ask(b"?")  # the stub forgets what a debugger before has left
        self.description = Description.of(self.ask)

    def close(self) -> None:
        self._packets.close()

    def _send(self, packet: bytes) -> None:
        try:
            self._packets.send(packet)
        except Closed as error:
            raise Ended from error

    def ask(self, packet: bytes) -> bytes:
        """The answer to a packet that does not run the machine."""
        self._send(packet)
        return self._receive()

    def _receive(self) -> bytes:
        try:
            answer = self._packets.receive(ANSWER_SECONDS)
        except Closed as error:
            raise Ended from error
        if answer is None:
            raise HostError("QEMU hangs: no answer from its stub")
        return answer

    # --- memory ---------------------------------------------------------------------------------------

    def _address(self, physical: bool) -> None:
        if self._physical != physical:
            self.ask(b"Qqemu.PhyMemMode:%d" % physical)
            self._physical = physical

    def ask_physical(self, packet: bytes) -> bytes:
        """The answer to a packet m or M with a physical address."""
        if packet.startswith(b"Qqemu"):
            return b"OK"
        self._address(True)
        return self.ask(packet)

    def ask_virtual(self, processor: int, packet: bytes) -> bytes:
        """The answer to a packet m or M with an address as this processor has it."""
        self._address(False)
        self.select(processor)
        return self.ask(packet)

    # --- processors --------------------------------------------------------------------------------

    def select(self, processor: int) -> None:
        """g, G, P, m and M are about this processor."""
        if self._processor != processor:
            self.ask(b"Hgp1.%x" % (processor + 1))
            self._processor = processor

    def processors(self) -> list[int]:
        """Their numbers."""
        found = []
        answer = self.ask(b"qfThreadInfo")
        while answer.startswith(b"m"):
            found += [int(word.rpartition(b".")[2], 16) - 1 for word in answer[1:].split(b",")]
            answer = self.ask(b"qsThreadInfo")
        return found

    def g(self, processor: int) -> bytes:
        self.select(processor)
        return self.ask(b"g")

    def write(self, processor: int, name: str, value: int) -> None:
        """A register."""
        register = self.description.by_name[name]
        self.select(processor)
        self.ask(b"P%x=%s" % (register.number, value.to_bytes(register.size, "little").hex().encode()))

    def monitor(self, words: str) -> str:
        """What QEMU's monitor, or a recorded run, says to a command."""
        self._send(b"qRcmd," + words.encode().hex().encode())
        said = b""
        while True:
            answer = self._receive()
            if answer[:1] == b"E":
                return f"{answer[2:].decode(errors='replace') if answer[1:2] == b'.' else 'this fails'}\n"
            if answer in (b"OK", b""):
                return said.decode(errors="replace")
            # Texts on the way have the letter O; a recorded run sends its text as the answer.
            if answer[:1] != b"O":
                return bytes.fromhex(answer.decode()).decode(errors="replace")
            said += bytes.fromhex(answer[1:].decode())

    # --- motion --------------------------------------------------------------------------------------

    async def run(self, packet: bytes, stop: asyncio.Event, seconds: float | None = None) -> Stop | None:
        """Sends a packet that runs the machine, and waits until it stands again: for one of the reasons that
        the packet has, since `stop` is set, or (None) since so many seconds have passed."""
        self._send(packet)
        answer, hurried = await self._until(stop, seconds)
        timed_out = False
        if answer is None:
            timed_out = not hurried
            try:
                self._packets.interrupt()
            except Closed as error:
                raise Ended from error
            answer, _ = await self._until(None, ANSWER_SECONDS)
            if answer is None:
                raise HostError("QEMU hangs: the machine does not stop")
        told = self._stop_of(answer)
        return None if timed_out and told.signal == 2 else told

    async def _until(self, stop: asyncio.Event | None, seconds: float | None) -> tuple[bytes | None, bool]:
        """The stub's answer; or None, and whether `stop` is set."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self._packets.fileno(), readable.set)
        ends = None if seconds is None else loop.time() + seconds
        hurry = asyncio.ensure_future(stop.wait()) if stop is not None else None
        try:
            while True:
                readable.clear()
                try:
                    answer = self._packets.receive(0)
                except Closed as error:
                    raise Ended from error
                if answer is not None:
                    return answer, False
                if stop is not None and stop.is_set():
                    return None, True
                left = None if ends is None else ends - loop.time()
                if left is not None and left <= 0:
                    return None, False
                waits = asyncio.ensure_future(readable.wait())
                await asyncio.wait([waits, *([hurry] if hurry else [])], timeout=left,
                                   return_when=asyncio.FIRST_COMPLETED)
                waits.cancel()
        finally:
            loop.remove_reader(self._packets.fileno())
            if hurry is not None:
                hurry.cancel()

    def _stop_of(self, answer: bytes) -> Stop:
        if answer[:1] != b"T":  # W or X: QEMU ends
            raise Ended
        processor, watch, log = 0, None, None
        for field in answer[3:].decode().split(";"):
            name, _, value = field.partition(":")
            if name == "thread":
                processor = int(value.rpartition(".")[2], 16) - 1
            elif name in ("watch", "rwatch", "awatch"):
                watch = name, int(value, 16)
            elif name == "replaylog":
                log = value
        signal = int(answer[1:3], 16)
        # QEMU selects the processor that has come to a point; one that the user stops, it only names.
        self._processor = processor if signal == SIGTRAP and not self.recorded else None
        return Stop(signal, processor, watch, log)


class LiveMachine:
    """What guest.py reads of the machine behind a stub."""

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        try:
            self.physical = StubMemory(stub.ask_physical)
        except MemoryFault as error:
            raise HostError("QEMU's stub does not read physical memory") from error
        self._known: dict[int, Registers] = {}

    def forget(self) -> None:
        """The machine has run, or something was written."""
        self.physical.forget()
        self._known.clear()

    def registers(self, processor: int) -> Registers:
        if processor not in self._known:
            self._known[processor] = self._stub.description.decode(self._stub.g(processor))
        return self._known[processor]

    def processors(self) -> dict[int, Registers]:
        return {number: self.registers(number) for number in self._stub.processors()}
