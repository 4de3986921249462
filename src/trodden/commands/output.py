"""Where a verb's result goes: a file if one is named, or else standard output."""

from __future__ import annotations

import os
import sys

from trodden.errors import CannotWrite


def put(text: str, path: str | None = None) -> None:
    """Write ``text`` to the file ``path``, whole or not at all, or to standard output."""
    if path is None or path == "-":
        flush(text)
    else:
        from trodden.profile.files import write_whole

        write_whole(path, text.encode("utf-8", errors="surrogateescape"))


def flush(text: str = "") -> None:
    """Bring out what standard output still holds, then ``text``; a full disk is told like any other."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise CannotWrite(f"standard output: cannot be written: {error.strerror}") from error


def silence() -> None:
    """Let go of standard output, so that what is still buffered makes no complaint at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
