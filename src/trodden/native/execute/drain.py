"""Drain traces while the program runs: chunks are compressed, and the spool file gives its space back.

A traced program appends the chunks of its threads to a spool file in shared memory and does nothing else
about them.  Whoever has started it reads them from there, compresses them into a packed file on disk, and
punches holes into what has been read.  The program sees how much is waiting by the space that its spool file
takes, so neither has to tell the other anything (``native/runtime/trace/spool.c``).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trodden import temporary
from trodden.errors import BadFile
from trodden.program.trace_chunk import (
    HEADER_SIZE,
    PACKED,
    PACKED_MAGIC,
    SPOOL,
    SPOOL_HEADER_SIZE,
    chunk_extent,
    packed_entry,
)

if TYPE_CHECKING:
    from zstandard import ZstdCompressor

_IDLE, _BUSY = 0.1, 0.005
"""Seconds between two looks at the spool files: as long as there are none, and afterwards."""

_HOLE = 1 << 20
"""Space is given back in pieces of this size."""

_BEHIND = 64 << 20
"""From this backlog on, compression is fast rather than thorough."""

_FAST, _THOROUGH = 1, 5
_KEEP_SIZE, _PUNCH_HOLE = 1, 2


@dataclass
class _Spool:
    """One spool file: how far it has been read, and the packed file that it goes to."""

    source: Path
    descriptor: int
    packed: Path
    position: int = 0
    freed: int = 0
    damaged: bool = False

    def waiting(self) -> int:
        """How many bytes have not been read."""
        return os.fstat(self.descriptor).st_size - self.position

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of what is waiting."""
        return os.pread(self.descriptor, size, self.position + offset)


@dataclass
class Drain:
    """Drains all spool files that appear in a directory, into packed files in another one.

    Symbolic links beside the spool files lead to them.  That directory (``packed``) is made when the first
    spool file appears.  ``messages`` say which spool could not be drained, and why; it is left as it is.
    """

    directory: Path
    packed: Path | None = None
    messages: list[str] = field(default_factory=list)
    _spools: dict[str, _Spool] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; the program may start now."""
        self._thread = threading.Thread(target=self._run, name="trodden-drain", daemon=True)
        self._thread.start()

    def finish(self) -> Path | None:
        """Read what is left when the processes have ended.  Returns the directory of packed files, if any."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._find()
        while any(self._drain(spool) for spool in self._spools.values()):
            pass
        for spool in self._spools.values():
            os.close(spool.descriptor)
        return self.packed

    def _run(self) -> None:
        while not self._stop.wait(_BUSY if self._spools else _IDLE):
            self._find()
            for spool in self._spools.values():
                while self._drain(spool) and not self._stop.is_set():
                    pass

    def _find(self) -> None:
        """Look for new spool files."""
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                if entry.name.endswith(SPOOL) and entry.name not in self._spools:
                    with contextlib.suppress(OSError):
                        descriptor = os.open(entry.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                        packed = self._home() / f"{entry.name[: -len(SPOOL)]}{PACKED}"
                        self._spools[entry.name] = _Spool(Path(entry.path), descriptor, packed)
                        os.symlink(packed, Path(entry.path).with_name(packed.name))

    def _home(self) -> Path:
        """The directory of packed files."""
        if self.packed is None:
            self.packed = temporary.make_directory("trodden-trace-")
            temporary.keep(self.packed)
        return self.packed

    def _drain(self, spool: _Spool) -> bool:
        """Compress a chunk; False if none has arrived completely."""
        if spool.damaged:
            return False
        try:
            return self._compress(spool)
        except (BadFile, OSError) as error:
            spool.damaged = True
            self.messages.append(f"{spool.source.name}: the rest of its trace was not compressed ({error})")
            return False

    def _compress(self, spool: _Spool) -> bool:
        """Compress the next chunk, if it is complete."""
        if spool.position == 0:
            spool.position = SPOOL_HEADER_SIZE
        waiting = spool.waiting()
        if waiting < HEADER_SIZE:
            return False
        extent = chunk_extent(spool.read(0, HEADER_SIZE), spool.source.name, spool.position)
        if not extent.finished or waiting < extent.size:
            return False
        compressor = _compressor(_FAST if waiting > _BEHIND else _THOROUGH)
        records = compressor.compress(spool.read(extent.head, extent.records))
        entry = packed_entry(spool.read(0, extent.head), records)
        with spool.packed.open("ab") as stream:
            stream.write(entry if stream.tell() else PACKED_MAGIC + entry)
        spool.position += extent.size
        _free(spool)
        return True


def _compressor(level: int) -> ZstdCompressor:
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=level)


def _free(spool: _Spool) -> None:
    """Punch a hole into what has been read; on a file system without holes, the space is not given back."""
    end = spool.position - spool.position % _HOLE
    if end > spool.freed:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.fallocate(
            spool.descriptor,
            _KEEP_SIZE | _PUNCH_HOLE,
            ctypes.c_int64(spool.freed),
            ctypes.c_int64(end - spool.freed),
        )
        spool.freed = end
