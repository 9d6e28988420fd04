"""The server between GDB and a guest: GDB sees the kernel and each process as an inferior, with their threads.

    server = Server(served)
    with serving(server, path or port): ...

What the packets mean is in the appendix "GDB Remote Serial Protocol" of GDB's manual.
"""

import asyncio
import contextlib
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from weft_host.machine import HostError
from weft_host.packets import Closed

from .debugger import Debugger, Served
from .protocol import Wire
from .qemu import Ended
from .session import Session

JOIN_SECONDS = 5


class Server:
    """Serves one GDB after another.  busy: there is one."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._waiting: Debugger | None = None
        self.busy = False
        self.failure: HostError | None = None

    async def begin(self) -> None:
        """Takes the machine, and runs it to the first instruction of its program.  Raises HostError."""
        try:
            self._waiting = Debugger(self._served, lambda text: print(text, end="", file=sys.stderr))
            await self._waiting.begin(asyncio.Event())
        except Ended as error:
            raise HostError("the guest has ended before its program began") from error

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if self.busy:  # a machine has one debugger
            writer.close()
            return
        self.busy = True
        wire = Wire(reader, writer)
        session = Session(wire, self._served, self._waiting)
        waiting, self._waiting = self._waiting, None
        try:
            await session.serve()
        except Closed:
            pass
        except HostError as error:
            self.failure = error
        except asyncio.CancelledError:
            pass  # the server ends
        except Exception:
            traceback.print_exc()  # a mistake of ours, which asyncio would keep to itself
        finally:
            if waiting is not None and not session.used:  # it was no GDB that came
                self._waiting = waiting
            else:
                session.leave()
            await wire.close()
            self.busy = False


@contextlib.contextmanager
def serving(server: Server, path: Path | None = None, port: int | None = None,
            begin: bool = False) -> Iterator[int | None]:
    """Serves on a Unix socket, or on a port of localhost (0: any), in a thread of its own, while this lasts.
    The port.  begin: first the machine comes to its program.  Raises OSError, HostError."""
    loop = asyncio.new_event_loop()

    async def listen() -> asyncio.Server:
        if path is not None:
            return await asyncio.start_unix_server(server.serve, path)
        return await asyncio.start_server(server.serve, "localhost", port)

    if begin:
        loop.run_until_complete(server.begin())
    listener = loop.run_until_complete(listen())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield None if path is not None else listener.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_end(listener), loop).result(JOIN_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(JOIN_SECONDS)
        if not thread.is_alive():
            loop.close()


async def _end(listener: asyncio.Server) -> None:
    listener.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
