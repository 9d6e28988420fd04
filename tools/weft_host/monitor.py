"""QEMU's monitor, of a machine that was made with the socket QMP_SOCKET."""

import contextlib
import json
import os
import socket

from .machine import HostError


class Monitor:
    """QEMU's, by QMP: one JSON text a line."""

    def __init__(self, path, timeout=None):
        """timeout: seconds after which an answer has not come (OSError); None: it is waited for."""
        self._link = path.with_name("saved")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self._socket.connect(os.fspath(path))
        self._lines = self._socket.makefile("rw", encoding="utf-8")
        self._lines.readline()  # the greeting
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """What the command returns.  Raises HostError, OSError."""
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._lines.flush()
        while line := self._lines.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise HostError(answer["error"]["desc"])
            if "return" in answer:  # else an event
                return answer["return"]
        raise HostError("QEMU has ended")

    def save(self, cpu, address, size, path):
        """The guest's memory at a virtual address of that CPU, as a file."""
        self._save("memsave", address, size, path, **{"cpu-index": cpu})

    def save_physical(self, address, size, path):
        """The guest's memory at a physical address, as a file."""
        self._save("pmemsave", address, size, path)

    def _save(self, command, address, size, path, **more):
        with open(path, "wb"):
            pass
        if size > 0:
            self._link.symlink_to(path.absolute())  # whose name may be no UTF-8, as JSON needs it
            try:
                self.ask(command, **{"val": address, "size": size, "filename": os.fspath(self._link), **more})
            finally:
                self._link.unlink()
        if path.stat().st_size != size:  # QEMU does not look whether all could be written
            raise HostError("no room for it on the host")

    def nmi(self):
        """Interrupts every CPU of the guest."""
        self.ask("inject-nmi")

    def close(self):
        # A command that an ended QEMU has not taken is still in the buffer: it is lost.
        with contextlib.suppress(OSError):
            self._lines.close()
        self._socket.close()
