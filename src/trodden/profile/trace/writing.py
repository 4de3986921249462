"""Compressing the pieces of a trace into a file that has no name, one after another."""

from __future__ import annotations

import os
import tempfile

import zstandard

from trodden.errors import CannotWrite
from trodden.profile.trace.model import Piece, Pieces

_LEVEL = 3


class PieceWriter:
    """Collects pieces."""

    def __init__(self) -> None:
        self._stream = tempfile.TemporaryFile()  # noqa: SIM115 - its descriptor is handed on
        self._packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, write_content_size=True)
        self._size = 0

    def add(self, data: bytes) -> Piece:
        """Compress and write a piece."""
        packed = self._packer.compress(data)
        try:
            self._stream.write(packed)
        except OSError as error:
            raise CannotWrite(
                f"{tempfile.gettempdir()}: the trace cannot be written there: {error.strerror}; set TMPDIR"
            ) from error
        piece = Piece(self._size, len(packed), len(data))
        self._size += len(packed)
        return piece

    def done(self) -> Pieces:
        """All pieces; none can be added afterwards."""
        self._stream.flush()
        pieces = Pieces(os.dup(self._stream.fileno()), 0, "the trace")
        self._stream.close()
        return pieces
