"""Where a verb's result goes: a file if one is named, or else standard output."""

from __future__ import annotations

import os
import re
import sys

from trodden.errors import CannotWrite
from trodden.visible_text import visible_text

_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters that stand for no byte of a name, and cannot be written as any."""


def put(text: str, path: str | None = None, coloured: bool = False) -> None:
    """Write ``text`` to the file ``path``, whole or not at all, or to standard output.

    A terminal gets nothing that it could take for an order, except from those who have seen to that.
    """
    if path is None or path == "-":
        flush(visible_text(text) if sys.stdout.isatty() and not coloured else text)
    else:
        from trodden.profile.store.files import write_whole

        printable = _NO_BYTES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
        write_whole(path, printable.encode("utf-8", errors="surrogateescape"))


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
