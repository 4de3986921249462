"""Files that are mostly holes, as bytes: the size of the file, and what was written into it, and where."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.envelopes import Envelope

MAGIC = b"SPARSE!\n"
_HEAD = struct.Struct("<8sQ")
_PIECE = struct.Struct("<QI")
_LARGEST = 1 << 40


def pack(path: Path) -> bytes:
    """The content of a file without its holes, nor zeros that fill a page."""
    found = [_HEAD.pack(MAGIC, path.stat().st_size)]
    with path.open("rb") as stream:
        at = 0
        while True:
            try:
                at = os.lseek(stream.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return b"".join(found)
                raise
            page = os.pread(stream.fileno(), 4096 - at % 4096, at)
            if any(page):
                kept = page.rstrip(b"\0")
                found += [_PIECE.pack(at, len(kept)), kept]
            at += len(page)


def unpack(data: bytes, path: Path) -> None:
    """Make the file; places that no file system has are left out."""
    with path.open("wb") as stream:
        if len(data) >= _HEAD.size:
            os.truncate(stream.fileno(), _HEAD.unpack_from(data)[1] % _LARGEST)
        for at, start, end in _pieces(data):
            if at < _LARGEST:
                os.pwrite(stream.fileno(), data[start:end], at)


def _pieces(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The place of each piece in the file, and where its bytes are in ``data``."""
    position = _HEAD.size
    while position + _PIECE.size <= len(data):
        at, length = _PIECE.unpack_from(data, position)
        position += _PIECE.size
        yield at, position, min(position + length, len(data))
        position += length


def sparse_content() -> Envelope:
    """What was written, while the places stay as they are."""

    def take(data: bytes) -> bytes:
        return b"".join(data[start:end] for _, start, end in _pieces(data))

    def wrap(data: bytes, content: bytes) -> bytes:
        changed, taken = bytearray(data), 0
        for _, start, end in _pieces(data):
            changed[start:end] = content[taken : taken + end - start].ljust(end - start, b"\0")
            taken += end - start
        return bytes(changed)

    return Envelope("sparse content", take, wrap)
