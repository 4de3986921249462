"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file; until the new one is complete the one that was there before stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(path)
