"""A directory for the temporary files of one guest, removed with it, or by a later start of weft.

SIGKILL lets the owner remove nothing.  So each directory's owner holds a lock on it (flock), which
ends with the process, however it ends: a directory that nobody has locked has no owner.  A process
number would not tell, because it may be another process's by now, or count in another container that
shares the directory.

Race: the owner has made its directory, and not yet locked it; a second weft finds it without a lock,
and removes it.  Without this: the first weft's files are gone.  Closed by: only the holder of the lock
removes, and a directory is the owner's only if it still stands when the owner has the lock.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from .machine import HostError

PREFIX = "weft.run."


def explained(error, path):
    """The HostError for an OSError in the directory for temporary files."""
    return HostError(f"{path}: {error.strerror or error}: it is for temporary files; the environment "
                     "variable TMPDIR names another directory")


def _lock(path):
    """The descriptor that holds the lock; None: another has it, or the directory is gone.  Does not
    wait."""
    fd = None
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), os.lstat(path)):
            return fd
    if fd is not None:
        os.close(fd)
    return None


def clear_abandoned():
    """Removes the directories of owners that are gone."""
    with contextlib.suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
            if path.lstat().st_uid == os.geteuid() and (fd := _lock(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(fd)


class WorkDirectory:
    """name: its path.  Raises HostError where there is no room for it."""

    def __init__(self):
        clear_abandoned()
        fd = None
        try:
            while fd is None:
                self.name = tempfile.mkdtemp(prefix=PREFIX)
                fd = _lock(self.name)
        except FileNotFoundError as error:  # of tempfile: its text names all that it has tried
            raise HostError(f"{error.strerror}; the environment variable TMPDIR names a directory "
                            "for temporary files") from error
        except OSError as error:
            raise explained(error, tempfile.gettempdir()) from error
        self._fd = fd

    def cleanup(self):
        shutil.rmtree(self.name, ignore_errors=True)
        os.close(self._fd)

    def __enter__(self):
        return self.name

    def __exit__(self, *exc):
        self.cleanup()
