"""Backwards under GDB: a server between GDB and the replay of a recorded run.

GDB sends what it wants by its remote protocol, and the server sends on to QEMU's stub what only looks at the
machine.  What runs the machine it does itself:

    s, c, vCont   forward; at the end of the recording GDB is told so (replaylog:end)
    bs            back by one instruction
    bc            back to the last point that was hit before this place, else to the start
    Z, z          points are kept here, and are in QEMU only while the machine runs
    G, P, M, X    refused: what has happened cannot be changed

A point whose packet Z has the field `;weft-cr3:CR3` belongs to this address space; the same address is another
place in another process, and no hit there.  A watchpoint in a program's memory without it belongs to the
address space that is current when it is set.  A store through another address of
the same memory (of a second process that shares it, or of the kernel) is not seen.

The commands of tools/gdb/weft_gdb/travel.py come as words for the monitor (qRcmd), see _monitor_words.
"""

import socket
import sys
from contextlib import suppress

from .machine import HostError
from .packets import Closed, Packets
from .recording import AT, NONE, REACHED, Interrupted, Point, Points, Replay
from .search import USER_END, Search, Spaces, watched
from .trail import Trail

START, END = AT + b"replaylog:begin;", AT + b"replaylog:end;"
ERROR = b"E.interrupted"
REFUSED = b"E.a recorded run cannot be changed"
# Answers to these are the same at any place.
PLACELESS = (b"H", b"T", b"q", b"?", b"!", b"v")


class Server:
    """Serves one GDB after another on a socket, until stop()."""

    def __init__(self, replay: Replay, listener: socket.socket) -> None:
        self._replay = replay
        self._listener = listener
        self._points: Points = NONE  # GDB's
        self._spaces: Spaces = {}
        self._physical = False  # QEMU's m and M have physical addresses
        self._keeps_spaces = False
        self._goal: int | None = None  # where the next packet that runs the machine goes
        self._search = Search(replay, self._spaces)
        self._trail = Trail(replay, self._search)
        self._back: int | None = None  # the place that GDB has been told, if QEMU is at another
        self._gdb: Packets | None = None
        self.failure: HostError | None = None

    def serve(self) -> None:
        """Blocks until stop(), or until the replay fails; then it says why, and keeps the failure."""
        try:
            while True:
                link, _ = self._listener.accept()
                self._gdb = Packets(link, acknowledges=True)
                self._replay.impatient = self._is_impatient
                with suppress(Closed):
                    self._serve_gdb(self._gdb)
                self._gdb.close()
        except HostError as error:
            self.failure = error
            print(f"weft: {error}", file=sys.stderr)
            if self._gdb is not None:
                self._gdb.close()
        except OSError:
            pass  # the listener is closed

    def stop(self) -> None:
        """Called in another thread."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _is_impatient(self) -> bool:
        try:
            return self._gdb is None or self._gdb.interrupted()
        except Closed:
            return True

    def _serve_gdb(self, gdb: Packets) -> None:
        self._points = NONE
        self._spaces.clear()
        while True:
            packet = gdb.receive()
            assert packet is not None  # it has no time limit
            if packet == b"k":
                return
            try:
                gdb.send(self._answer(packet))
            except Interrupted:
                gdb.send(ERROR if packet.startswith(b"qRcmd") else REACHED)
            except (ValueError, IndexError):
                gdb.send(b"E.weft does not understand this packet")

    def _answer(self, packet: bytes) -> bytes:
        if packet in (b"bs", b"bc") or packet.startswith((b"s", b"c", b"S", b"C", b"vCont;")):
            return self._run(packet)
        if packet.startswith((b"Z", b"z")):
            return self._change_points(packet)
        if packet.startswith(b"qRcmd,"):
            return self._monitor(bytes.fromhex(packet[6:].decode()).decode(errors="replace"))
        if packet.startswith((b"G", b"P", b"M", b"X")):
            # An empty X only asks whether there is such a packet.
            return b"" if packet.startswith(b"X") and packet.endswith(b",0:") else REFUSED
        if packet.startswith((b"D", b"vKill")):
            return b"OK"
        if packet.startswith(b"Qqemu.PhyMemMode:"):
            self._physical = not packet.endswith(b"0")
        elif not packet.startswith(PLACELESS):
            if self._back is not None and not (self._physical and packet.startswith(b"m")):
                known = self._trail.answer(self._back, packet)
                if known is not None:
                    return known
            self._arrive()
        return self._replay.ask(packet)

    # --- places ----------------------------------------------------------------------------------

    @property
    def _place(self) -> int:
        return self._replay.place if self._back is None else self._back

    def _arrive(self) -> None:
        """Brings QEMU to the place that GDB has been told."""
        if self._back is not None:
            with self._replay.patience():
                self._replay.seek(self._back)
            self._back = None

    # --- points ----------------------------------------------------------------------------------

    def _change_points(self, packet: bytes) -> bytes:
        """Z or z, KIND,ADDRESS,LENGTH."""
        fields = packet[1:].split(b";")
        words = fields[0].split(b",")
        point = Point(int(words[0]), int(words[1], 16), int(words[2], 16))
        space = next((int(field[9:], 16) for field in fields[1:] if field.startswith(b"weft-cr3:")), None)
        return self._add_point(point, space) if packet[:1] == b"Z" else self._remove_point(point, space)

    def _add_point(self, point: Point, space: int | None) -> bytes:
        answer = self._replay.try_point(point)
        if answer != b"OK":
            return answer
        self._points |= {point}
        if space is None and point.watches and point.address < USER_END:
            self._arrive()
            if self._spaces.get(point):
                return b"OK"
            space = self._search.space()
        self._spaces.setdefault(point, set()).add(space)
        return b"OK"

    def _remove_point(self, point: Point, space: int | None) -> bytes:
        spaces = self._spaces.get(point, set())
        spaces.discard(space)
        if space is None and point.watches and not self._keeps_spaces:
            spaces.clear()
        if space is None or not spaces:
            self._points -= {point}
            if not self._keeps_spaces:
                self._spaces.pop(point, None)
        return b"OK"

    # --- motion ----------------------------------------------------------------------------------

    def _run(self, packet: bytes) -> bytes:
        """The stop that GDB is told."""
        if packet in (b"bs", b"bc") or self._goal is not None:
            origin = self._place
            try:
                return self._jump(packet)
            except Interrupted:
                self._back = origin
                raise
        self._arrive()
        words = packet.decode()
        if words.startswith("vCont;"):
            words = words[6:].partition(";")[0]
        return self._forward(step=words[:1] in ("s", "S"))

    def _jump(self, packet: bytes) -> bytes:
        if self._goal is not None:
            goal, self._goal = self._goal, None
            self._go(goal)
            return AT
        if packet == b"bs":
            return self._step_back()
        hit = self._search.last_hit(self._points, self._place)
        if hit is None:
            self._go(0)
            return START
        self._go(hit.place, hit.pc)
        return hit.answer

    def _go(self, place: int, pc: int | None = None) -> None:
        self._replay.seek(place, pc)
        self._back = None

    def _step_back(self) -> bytes:
        place = self._place
        if place == 0:
            return START
        answer = self._trail.step_to(place - 1, frozenset(point for point in self._points if point.watches))
        self._back = place - 1
        return answer

    def _forward(self, step: bool) -> bytes:
        off = False  # it stands at a breakpoint of another process
        while self._replay.place < self._replay.end:
            answer = self._replay.resume(self._points, self._replay.end, step or off)
            hit = self._search.is_hit(self._points, answer)
            if step:
                return answer if hit or watched(answer) is None else AT
            stopped = self._replay.place < self._replay.end or answer.startswith(b"T05")
            if hit and stopped and not (off and watched(answer) is None):
                return answer
            off = not off and not hit and watched(answer) is None
        if self._replay.place > self._replay.end:
            self._replay.seek(self._replay.end)
        return END

    # --- commands of weft ------------------------------------------------------------------------

    def _monitor(self, words: str) -> bytes:
        """The answer to `monitor WORDS` of GDB."""
        try:
            said = self._monitor_words(words.split())
        except (ValueError, IndexError):
            said = "?"
        return said.encode().hex().encode() if said else b"OK"

    def _monitor_words(self, words: list[str]) -> str:
        """weft-place            the place, and the last place
        weft-goal PLACE       the next packet that runs the machine goes there
        weft-write ADDR LEN CR3   the place of the last write before here, or none; the machine stays here
        weft-keep yes|no      whether watchpoints that go and come again keep their address spaces
        info ...              QEMU's own"""
        replay = self._replay
        match words:
            case ["weft-place"]:
                return f"{self._place} {replay.end}"
            case ["weft-goal", place]:
                self._goal = min(max(int(place), 0), replay.end)
                return ""
            case ["weft-write", address, length, space]:
                return self._last_write(int(address), int(length), int(space))
            case ["weft-keep", word]:
                self._keeps_spaces = word == "yes"
                return ""
            case ["info", *_]:
                self._arrive()
                return replay.monitor(" ".join(words))
        return "only info ... can be asked of QEMU's monitor in a recorded run\n"

    def _last_write(self, address: int, length: int, space: int) -> str:
        self._back = self._place
        point = Point(2, address, length)
        spaces: Spaces = {point: {space}} if address < USER_END else {}
        hit = Search(self._replay, spaces).last_hit(frozenset({point}), self._back)
        return "none" if hit is None else str(hit.place)
