"""Traces as the fuzzer changes and reads them: a raw file with the file of its records, in one piece."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from itertools import islice, zip_longest
from pathlib import Path

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from tests.fuzz.envelopes import Envelope
from tests.fuzz.sparse import MAGIC as SPARSE
from tests.fuzz.sparse import unpack
from tests.recover.trace.programs import library
from trodden.errors import BadFile
from trodden.profile.derived import derive
from trodden.profile.model import Profile
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.record import HEAD_SIZE
from trodden.program.trace_chunk import (
    HEADER_SIZE,
    PACKED,
    PACKED_MAGIC,
    SPOOL,
    SPOOL_HEADER_SIZE,
    chunk_extent,
    packed_chunks,
    packed_entry,
)

_LENGTH = struct.Struct("<I")
_MOST_EVENTS = 20000
"""Of a thread: a changed record may stand for a great many blocks."""


def both(raw: bytes, records: bytes) -> bytes:
    """A raw file and the file of its records as one input."""
    return _LENGTH.pack(len(raw)) + raw + records


def _apart(data: bytes) -> tuple[bytes, bytes]:
    if len(data) < _LENGTH.size:
        raise ValueError("no raw file")
    end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    return data[_LENGTH.size : end], data[end:]


def in_records(inner: Envelope) -> Envelope:
    """The file of the records, or what is in it."""

    def wrap(data: bytes, content: object) -> bytes:
        raw, records = _apart(data)
        return both(raw, inner.wrap(records, content))

    return Envelope(f"records {inner.name}", lambda data: inner.take(_apart(data)[1]), wrap)


def in_raw() -> Envelope:
    """The raw file."""
    return Envelope("raw file", lambda data: _apart(data)[0], lambda data, raw: both(raw, _apart(data)[1]))


def packed_records() -> Envelope:
    """The records of a packed file, without what is around each chunk of them."""

    def take(data: bytes) -> bytes:
        return b"".join(records for _, records in _unpacked(data))

    def wrap(data: bytes, content: bytes) -> bytes:
        chunks, start = [], 0
        for head, records in _unpacked(data):
            chunks.append((head, content[start : start + len(records)].ljust(len(records), b"\0")))
            start += len(records)
        return _packed(chunks)

    return Envelope("packed records", take, wrap)


def _unpacked(data: bytes) -> list[tuple[bytes, bytes]]:
    try:
        return [
            (
                each.head,
                ZstdDecompressor().decompress(
                    data[each.position : each.position + each.compressed], max_output_size=each.records
                ),
            )
            for each in packed_chunks(BytesIO(data), "x")
        ]
    except (BadFile, ZstdError) as error:
        raise ValueError("no packed file") from error


def _packed(chunks: Sequence[tuple[bytes, bytes]]) -> bytes:
    compressor = ZstdCompressor()
    entries = [packed_entry(head, compressor.compress(records)) for head, records in chunks]
    return PACKED_MAGIC + b"".join(entries)


def packed_of(spool: bytes) -> bytes:
    """What ``trodden run`` makes of a spool file."""
    chunks, position = [], SPOOL_HEADER_SIZE
    while position < len(spool):
        extent = chunk_extent(spool[position : position + HEADER_SIZE], "x", position)
        chunk = spool[position : position + extent.head + extent.records]
        chunks.append((chunk[: extent.head], chunk[extent.head :]))
        position += extent.size
    return _packed(chunks)


def behind_document() -> Envelope:
    """What follows the document in a profile: the pieces of its traces."""

    def start(data: bytes) -> int:
        if len(data) < HEAD_SIZE:
            raise ValueError("no profile")
        return HEAD_SIZE + int(struct.unpack_from("<Q", data, HEAD_SIZE - 8)[0])

    return Envelope(
        "behind the document",
        lambda data: data[start(data) :],
        lambda data, content: data[: start(data)] + content,
    )


def before_traces(inner: Envelope) -> Envelope:
    """The document of a profile that is followed by the pieces of its traces."""
    behind = behind_document()

    def wrap(data: bytes, content: object) -> bytes:
        return inner.wrap(data, content) + bytes(behind.take(data))

    return Envelope(f"{inner.name} with traces", inner.take, wrap, inner.document)


def lay_out(data: bytes, path: Path, packed: bool) -> None:
    """Make the raw file and the file of its records."""
    try:
        raw, records = _apart(data)
    except ValueError:
        raw, records = data, b""
    for suffix in (SPOOL, PACKED):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.with_name(path.name + (PACKED if packed else SPOOL)).write_bytes(records)
    if raw.startswith(SPARSE):
        unpack(raw, path)
    else:
        path.write_bytes(raw)


@cache
def checked_reader() -> Path:
    """The reader in C with traps for whatever C leaves undefined; compiled before anything is read."""
    return library(sanitized=True)


def differing_readers(profile: Profile) -> bool:
    """Whether the readers in Python and in C disagree about the traces of a profile."""
    for thread in profile.trace.threads:
        known = (profile.trace.traces, thread.process, thread.number, thread.program)
        one, other = (
            islice(ThreadTrace(*known, reader).events(), _MOST_EVENTS) for reader in (None, checked_reader())
        )
        if any(a != b for a, b in zip_longest(one, other)):
            return True
    return False


def use_traces(profile: Profile, choice: int) -> None:
    """What follows from traces."""
    derive(profile, ("edges", "paths")[choice % 2])
