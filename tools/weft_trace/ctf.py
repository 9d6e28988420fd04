"""A trace in the Common Trace Format, version 1.8, for babeltrace2 and Trace Compass.

A directory: `metadata`, which describes all, and for each CPU a stream of packets.  An event's values are texts, as
in the raw form.  An event that a later record gives other values than the first has these alone that the first has.
"""

import struct
import uuid
from pathlib import Path
from typing import IO

from weft_host.machine import HostError

from .events import Record

MAGIC = 0xc1fc1fc1
# Of a packet: magic, the trace's UUID, stream; first and last time, bits with and without what follows the content,
# records lost so far, CPU.
PACKET = struct.Struct("<I16sIQQQQQI")
EVENT = struct.Struct("<HQ")  # number, time
FULL = 1 << 16  # bytes of events that become a packet

METADATA = """/* CTF 1.8 */

typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;

trace {
	major = 1;
	minor = 8;
	uuid = "%(uuid)s";
	byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};

env { domain = "kernel"; tracer_name = "weft"; };

clock { name = "monotonic"; freq = 1000000000; description = "CLOCK_MONOTONIC of the guest"; };

typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;

stream {
	id = 0;
	packet.context := struct {
		time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;
		uint64_t events_discarded; uint32_t cpu_id;
	};
	event.header := struct { uint16_t id; time_t timestamp; };
};
"""


class _Stream:
    """The records of a CPU."""

    def __init__(self, file: IO[bytes], cpu: int, trace: uuid.UUID) -> None:
        self._file, self._cpu, self._trace = file, cpu, trace
        self._events = bytearray()
        self._begin = self._end = 0
        self.lost = self._told = 0

    def add(self, time: int, event: bytes) -> None:
        if not self._events:
            self._begin = time
        self._end = time
        self._events += event
        if len(self._events) >= FULL:
            self.flush()

    def flush(self) -> None:
        """A packet without events tells of what is lost at the end."""
        if self._events or self.lost > self._told:
            bits = 8 * (PACKET.size + len(self._events))
            self._file.write(PACKET.pack(MAGIC, self._trace.bytes, 0, self._begin, self._end, bits, bits, self.lost,
                                         self._cpu) + self._events)
            self._begin, self._told = self._end, self.lost
            self._events.clear()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._file.close()


class CommonTrace:
    """Writes DIRECTORY.  close() completes it."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise HostError(f"{directory}: is not empty; two traces would mix")
        self._directory = directory
        self._uuid = uuid.uuid4()
        self._streams: dict[int, _Stream] = {}
        self._events: dict[str, tuple[int, list[str]]] = {}  # name: its number, its values

    def feed(self, record: Record) -> None:
        stream = self._streams.get(record.cpu)
        if stream is None:
            file = open(self._directory / f"cpu_{record.cpu}", "wb")
            stream = self._streams[record.cpu] = _Stream(file, record.cpu, self._uuid)
        if record.name == "lost":
            stream.lost += int(record.values["count"])
            return
        number, names = self._events.setdefault(record.name, (len(self._events), list(record.values)))
        texts = "".join(f"{record.values.get(name, '')}\0" for name in names)
        stream.add(record.time, EVENT.pack(number, record.time) + texts.encode())

    def close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        parts = [METADATA % {"uuid": self._uuid}]
        for name, (number, names) in self._events.items():
            # An underscore before the name of a field, which readers take away: no field is a word of the format.
            fields = "".join(f" string _{field};" for field in names)
            parts.append(f'event {{ name = "{name}"; id = {number}; stream_id = 0; '
                         f"fields := struct {{{fields} }}; }};\n")
        (self._directory / "metadata").write_text("".join(parts))
