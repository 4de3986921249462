"""Opening files whose names stood in other files."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import BinaryIO


def open_regular(path: str) -> BinaryIO:
    """Open a file to read it; :class:`OSError` if it is no regular one, or no file can have such a name.

    A name out of a file may lead anywhere: a pipe that nobody writes to would make the reader wait for ever,
    a device might never end.
    """
    try:
        kind = os.stat(path).st_mode
    except ValueError:
        raise OSError(errno.ENOENT, "no file can have such a name") from None
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is not a regular file")
    # Another file may have come into its place since.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return _Ready(io.FileIO(descriptor))


class _Ready(io.BufferedReader):
    """What looks like a regular file may still have nothing to say for now: some do in ``/proc``."""

    def read(self, size: int | None = -1, /) -> bytes:
        found: bytes | None = super().read(size)
        if found is None:
            raise OSError(errno.EAGAIN, "it is not a regular file")
        return found
