"""Where a verb's result goes: a file if one is named, or else standard output."""

from __future__ import annotations

import sys

from trodden.profile.files import write_whole


def put(text: str, path: str | None) -> None:
    """Write ``text`` to the file ``path``, whole or not at all, or to standard output."""
    if path is None or path == "-":
        sys.stdout.write(text)
    else:
        write_whole(path, text.encode("utf-8", errors="surrogateescape"))
