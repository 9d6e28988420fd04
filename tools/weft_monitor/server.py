"""Gives the page and the recordings to browsers of this host, the recordings while they grow.

Only the loopback interface is listened at.  Every address begins with a token that the page's URL has: a page
of another origin in the same browser, and another user of the host, do not know it.
"""

import contextlib
import http.server
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

HOST = "127.0.0.1"
PIECE = 1 << 16


class Growing:
    """A file that is written to until it is closed; readers wait for more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open(path, "wb")
        self._size = 0
        self._more = threading.Condition()
        self.closed = False

    @classmethod
    def of(cls, path: Path) -> "Growing":
        """A file that is whole already."""
        one = cls.__new__(cls)
        one.path, one._size, one._more, one.closed = path, path.stat().st_size, threading.Condition(), True
        return one

    def write(self, data: bytes) -> int:
        with self._more:
            self._file.write(data)
            self._file.flush()
            self._size += len(data)
            self._more.notify_all()
        return len(data)

    def flush(self) -> None:
        """write() does it."""

    def close(self) -> None:
        with self._more:
            self._file.close()
            self.closed = True
            self._more.notify_all()

    def pieces(self) -> Iterator[bytes]:
        """All of it, up to where it is closed.  Blocks."""
        with open(self.path, "rb") as file:
            while True:
                with self._more:
                    while file.tell() == self._size and not self.closed:
                        self._more.wait()
                    done = self.closed and file.tell() == self._size
                if done:
                    return
                yield file.read(PIECE)

    def reader(self) -> "Reader":
        return Reader(self)


class Reader:
    """Reads a growing file as if it were whole: read() waits for what is to come."""

    def __init__(self, file: Growing) -> None:
        self._pieces = file.pieces()
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Fewer bytes only at the end."""
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


Ask = Callable[[int, int], str]  # (number of a run, number of a thread): its backtrace; raises HostError


class Server:
    """In a thread of its own from `with` on; .url is the page's address."""

    def __init__(self, page: Callable[[str], str], recordings: Sequence[Growing], ask: Ask, port: int = 0) -> None:
        """page: the text, given the path that the server's addresses begin with.  Raises OSError: the port is
        taken."""
        self.path = f"/{secrets.token_urlsafe(16)}/"
        handler = type("Handler", (_Handler,), {
            "text": page(self.path).encode(), "path_begin": self.path, "recordings": recordings,
            "ask": staticmethod(ask)})
        self._server = _Threading((HOST, port), handler)
        self.url = f"http://{HOST}:{self._server.server_address[1]}{self.path}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Threading(http.server.ThreadingHTTPServer):
    daemon_threads = True  # one that sends a recording waits for its end

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that has gone away is no trouble; all else is seen in its answer."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    text: bytes
    path_begin: str
    recordings: Sequence[Growing]
    ask: Ask

    def _rest(self) -> str | None:
        """What follows the token, or None."""
        given, begin = self.path.encode(), self.path_begin.encode()
        right = secrets.compare_digest(given[:len(begin)], begin)
        return self.path[len(self.path_begin):] if right else None

    def do_GET(self) -> None:
        rest = self._rest()
        if rest == "":
            self._send(200, "text/html; charset=utf-8", self.text)
        elif rest is not None and (number := self._number(rest, "recording/")) is not None:
            self._stream(self.recordings[number])
        else:
            self._send(404, "text/plain", b"there is nothing here\n")

    def _number(self, rest: str, begin: str) -> int | None:
        digits = rest.removeprefix(begin)
        known = rest.startswith(begin) and digits.isdecimal() and int(digits) < len(self.recordings)
        return int(digits) if known else None

    def do_POST(self) -> None:
        from weft_host.machine import HostError

        rest = self._rest() or ""
        begin, _, thread = rest.rpartition("/")
        number = self._number(begin, "backtrace/")
        if number is None or not thread.isdecimal():
            self._send(404, "text/plain", b"there is nothing here\n")
            return
        try:
            self._send(200, "text/plain; charset=utf-8", self.ask(number, int(thread)).encode())
        except HostError as error:
            self._send(409, "text/plain; charset=utf-8", str(error).encode())

    def _head(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self._head(status, kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(data)

    def _stream(self, recording: Growing) -> None:
        """In chunks, since nobody knows how much it will be."""
        self._head(200, "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for piece in recording.pieces():
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal is the guest's."""
