"""The output of a verb: a file if one is named, or else standard output."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

from trodden.errors import CannotWrite
from trodden.visible_text import visible_text

_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that stand for no byte of a file name (PEP 383), so that they cannot be encoded."""


def put(text: str, path: str | None = None) -> None:
    """Write ``text`` to the file ``path``, whole or not at all, or to standard output.

    Control characters are made visible at a terminal.
    """
    if path is None or path == "-":
        flush(visible_text(text) if sys.stdout.isatty() else text)
    else:
        from trodden.profile.store.files import write_whole

        printable = _NO_BYTES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        write_whole(path, printable.encode("utf-8", errors="surrogateescape"))


def put_parts(parts: Iterable[bytes], path: str | None = None) -> None:
    """The same of text that is made piece by piece."""
    if path is None or path == "-":
        for part in parts:
            flush(part.decode("utf-8"))
    else:
        from trodden.profile.store.files import write_parts

        write_parts(path, parts)


def flush(text: str = "") -> None:
    """Write ``text`` to standard output and flush it; a full disk is an error like any other."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise CannotWrite(f"standard output: cannot be written: {error.strerror}") from error


def silence() -> None:
    """Redirect standard output to nowhere, so that flushing its buffer at exit causes no second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
