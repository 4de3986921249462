"""One at a time: two that want the same build or inputs wait for each other, across processes too."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of this file, which is made if need be and stays; it is let go when the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def held_or_not(path: Path) -> Iterator[bool]:
    """Hold the lock of this file, or answer with ``False`` at once if somebody else does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
