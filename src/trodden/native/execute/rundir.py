"""The directory for the raw files of a run, and which of its processes still run.

It is in shared memory where that is possible: the counts survive whatever happens to the program or to this
process, and nothing is written to a disk for them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from trodden import temporary
from trodden.errors import CannotWrite
from trodden.native.execute.counting import counting_processes, start_ticks_of
from trodden.program.trace_chunk import PACKED, SPOOL

SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "trodden-run-"
_MENTIONED = ".mentioned"
_MINIMUM_FREE = 64 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_directory() -> Path:
    """A new directory for the raw files of one run."""
    try:
        return temporary.make_directory(f"{_PREFIX}{os.getuid()}-{os.getpid()}-", _shared_memory())
    except OSError as error:
        reason = f"no space for the raw files ({error}); set TMPDIR to a writable directory"
        raise CannotWrite(reason) from error


def _shared_memory() -> Path | None:
    with contextlib.suppress(OSError):
        if os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free >= _MINIMUM_FREE:
            return SHARED_MEMORY
    return None


def raw_files(directory: Path) -> list[Path]:
    """The raw files in a directory: one for each process and each program that it has executed.

    A process that has called ``trodden_dump`` has two files, of which the live file is newer.
    """
    found = sorted(
        path
        for path in directory.iterdir()
        if ".raw" in path.name and path.name[0] != "." and not path.name.endswith((SPOOL, PACKED))
    )
    names = {path.name for path in found}
    return [path for path in found if f"{path.name}.live" not in names]


def still_counting(raws: Sequence[Path], patience: float) -> list[Path]:
    """The raw files whose process still runs after ``patience`` seconds."""
    end = time.monotonic() + patience
    while True:
        found = [path for path in raws if counting_processes(path)]
        if not found or time.monotonic() >= end:
            return found
        time.sleep(0.01)


def abandoned() -> list[Path]:
    """Directories of earlier runs that were killed, with raw files in them."""
    found = []
    for directory in SHARED_MEMORY.glob(f"{_PREFIX}{os.getuid()}-*"):
        with contextlib.suppress(OSError, ValueError):
            owner = int(directory.name.split("-")[3])
            if _is_private(directory) and not start_ticks_of(owner) and raw_files(directory):
                found.append(directory)
    return found


def _is_private(directory: Path) -> bool:
    """Whether a directory is this user's alone: anybody may make one of its name in shared memory."""
    found = directory.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & _OTHERS_WRITE


def unmentioned(directories: Sequence[Path]) -> list[Path]:
    """Those of the directories that were not asked about before; the answer is different the next time."""
    found = []
    for directory in directories:
        with contextlib.suppress(OSError):
            (directory / _MENTIONED).touch(exist_ok=False)
            found.append(directory)
    return found
