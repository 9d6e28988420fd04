"""The places just before one, all seen by one visit.

To go back over a line of the source, GDB goes back by one instruction again and again.  At each place it looks
at the registers, at the code there and at the top of the stack.  Each step would cost the load of a snapshot.
So the replay goes back by many instructions at once, and forward again one by one, and notes what GDB will
look at.
"""

from .recording import AT, NONE, Points, Replay
from .search import Search, watched

LENGTH = 64  # places
LINE = 64  # bytes: GDB reads memory in pieces of this size
STACK_LINES = 6
CODE_LINES = 2


class Trail:
    """What is known of places, by their numbers."""

    def __init__(self, replay: Replay, search: Search) -> None:
        self._replay = replay
        self._search = search
        self._watches: Points = NONE
        self._seen: dict[int, dict[bytes, bytes]] = {}  # {place: {packet: its answer}}
        self._hits: dict[int, bytes] = {}  # {place before an access to watched memory: the stop}

    def step_to(self, place: int, watches: Points) -> bytes:
        """The stop that GDB is told, where it comes to a place by a step back.  The replay ends up anywhere.
        Raises Interrupted."""
        if place not in self._seen or watches != self._watches:
            self._walk(place, watches)
        return self._hits.get(place, AT)

    def _walk(self, place: int, watches: Points) -> None:
        """Sees this place and those before it, and forgets all others."""
        self._seen, self._hits, self._watches = {}, {}, watches
        at = max(0, place + 1 - LENGTH)
        self._replay.seek(at)
        seen = {}
        while at <= place:
            seen[at] = self._look()
            answer = self._replay.resume(watches, place, step=True)
            if watched(answer) is not None and self._search.is_hit(watches, answer):
                self._hits[at] = answer
            at += 1
        self._seen = seen

    def _look(self) -> dict[bytes, bytes]:
        ask = self._replay.ask
        known = {b"g": ask(b"g")}
        for register, before, lines in (("rsp", LINE, STACK_LINES), ("rip", 0, CODE_LINES)):
            start = (self._replay.register(register) - before) & -LINE
            for line in range(start, start + lines * LINE, LINE):
                packet = b"m%x,%x" % (line, LINE)
                known[packet] = ask(packet)
        return known

    def answer(self, place: int, packet: bytes) -> bytes | None:
        """To a packet that looks at the machine at this place; None: it is not known."""
        seen = self._seen.get(place, {})
        if packet in seen or not packet.startswith(b"m"):
            return seen.get(packet)
        address, length = (int(word, 16) for word in packet[1:].split(b","))
        line = address & -LINE
        known = seen.get(b"m%x,%x" % (line, LINE))
        if known is None or known.startswith(b"E") or address + length > line + LINE:
            return None
        return known[2 * (address - line):2 * (address - line + length)]
