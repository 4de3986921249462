"""The directory that a run's counts go to, and who still counts there.

It lies in shared memory where there is some: what is counted stays there whatever happens to the program,
or to us, and nothing is ever written to a disk for it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from trodden.errors import CannotWrite

SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "trodden-run-"
_LEAST_ROOM = 64 << 20
_HEAD = struct.Struct("<8sIIQQQQ")
_LIVE = b"TRODLIVE"
_TICKS = 22


def make_directory() -> Path:
    """A new directory for the counts of one run."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getuid()}-{os.getpid()}-", dir=_shared_memory()))
    except OSError as error:
        raise CannotWrite(f"no room for the raw counts ({error}); set TMPDIR to a writable place") from error


def _shared_memory() -> Path | None:
    with contextlib.suppress(OSError):
        if os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free >= _LEAST_ROOM:
            return SHARED_MEMORY
    return None


def raw_files(directory: Path) -> list[Path]:
    """The raw files in a directory: one a process, or one for each program that a process has been.

    A process that has saved its counts on the way has two files, of which the one that lives knows more.
    """
    found = sorted(path for path in directory.iterdir() if ".raw" in path.name and path.name[0] != ".")
    names = {path.name for path in found}
    return [path for path in found if f"{path.name}.live" not in names]


def still_counting(raws: Sequence[Path], patience: float) -> list[Path]:
    """Those of the raw files whose process is still at work, after waiting for it a little."""
    end = time.monotonic() + patience
    while True:
        found = [path for path in raws if _is_counting(path)]
        if not found or time.monotonic() >= end:
            return found
        time.sleep(0.01)


def process_of(raw: Path) -> int:
    """The process that a raw file belongs to."""
    return _head(raw)[3]


def _head(raw: Path) -> tuple[bytes, int, int, int, int, int, int]:
    with raw.open("rb") as stream:
        data = stream.read(_HEAD.size).ljust(_HEAD.size, b"\0")
    magic, version, more, pid, parent, start, ticks = _HEAD.unpack(data)
    return magic, version, more, pid, parent, start, ticks


def _is_counting(raw: Path) -> bool:
    try:
        magic, _, _, pid, _, _, ticks = _head(raw)
        return magic == _LIVE and ticks != 0 and _ticks_of(pid) == ticks
    except OSError:
        return False


def _ticks_of(pid: int) -> int:
    """When a process was made, on the kernel's clock; 0 if it is gone, or only waits to be noticed."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return 0
    fields = text[text.rfind(")") + 2 :].split()
    if len(fields) <= _TICKS - 3 or fields[0] in "ZX":
        return 0
    return int(fields[_TICKS - 3])


def abandoned() -> list[Path]:
    """Directories of earlier runs that nobody came back for, with counts in them."""
    found = []
    for directory in SHARED_MEMORY.glob(f"{_PREFIX}{os.getuid()}-*"):
        with contextlib.suppress(OSError, ValueError):
            owner = int(directory.name.split("-")[3])
            if not _ticks_of(owner) and raw_files(directory):
                found.append(directory)
    return found
