"""How a guest ends, as QEMU tells it (QMP's event SHUTDOWN).

With -action shutdown=pause a guest that resets itself stands still with its memory, and QEMU stays.  But so does,
since QEMU 9.1, a guest that ends by the device isa-debug-exit.  Such a guest has ended well: QEMU is to end, with
the status that the device has given.
"""

import json
import socket


class Events:
    """reset: the guest has reset itself.  QEMU inherits `theirs`, which is closed when QEMU has been started."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._data = b""
        self.reset = False
        self._ask("qmp_capabilities")  # without it, there are no events

    def fileno(self) -> int:
        return self._ours.fileno()

    def _ask(self, command: str) -> None:
        self._ours.send(json.dumps({"execute": command}).encode() + b"\n")

    def take(self) -> bool:
        """What there is.  False: QEMU has ended."""
        try:
            data = self._ours.recv(65536)
        except ConnectionError:
            return False
        *lines, self._data = (self._data + data).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if told.get("event") == "SHUTDOWN":
                self._ended(told["data"]["reason"])
        return data != b""

    def _ended(self, reason: str) -> None:
        if reason == "guest-reset":
            self.reset = True
        elif reason == "guest-shutdown":
            self._ask("quit")

    def close(self) -> None:
        self._ours.close()
        self.theirs.close()
