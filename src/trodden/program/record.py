"""A sealed record: the envelope that unit facts and profiles share.

A header with a magic number of eight bytes, a version, a checksum and a length is followed by a compressed
JSON text.  A record may come from anywhere, so that everything is checked before it is used, and a small
record can never be decompressed into a large amount of memory.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from typing import Any

from trodden.errors import BadFile, LaterVersion

VERSION = 1
_HEAD = struct.Struct("<8sIIQ")
HEAD_SIZE = _HEAD.size

_ALWAYS_ALLOWED = 4 << 20
_GROWTH_ALLOWED = 16
BEHIND = "behind"
"""The first field of a document behind whose record other bytes follow: how many."""
_BEHIND = re.compile(rb'\{(?:"behind":(\d{1,18})[,}])?')
_START = 64
_NOTHING = b"\x00\x00\x00\xff\xff"
"""An empty block of a deflate stream."""


def ceiling(packed: int) -> int:
    """How large the texts may become, all together, that take ``packed`` bytes compressed."""
    return _ALWAYS_ALLOWED + _GROWTH_ALLOWED * packed


def to_text(document: Any) -> bytes:
    """The canonical text of a document, so that its hash is stable."""
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def seal(magic: bytes, document: Any) -> bytes:
    """Make a record.  One that compresses better than readers accept is padded with empty blocks.

    So any number of consecutive records is within what their reader allows.
    """
    text = to_text(document)
    packer = zlib.compressobj(6)
    body = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
    end = packer.flush()
    missing = -(-len(text) // _GROWTH_ALLOWED) - len(body) - len(end)
    payload = body + _NOTHING * max(-(-missing // len(_NOTHING)), 0) + end
    return _HEAD.pack(magic, VERSION, zlib.crc32(payload), len(payload)) + payload


def length_in(magic: bytes, head: bytes) -> int | None:
    """How many bytes follow the header of a record; ``None`` if that is none of a version that is known."""
    if len(head) < HEAD_SIZE:
        return None
    found, version, _, length = _HEAD.unpack_from(head)
    return int(length) if found == magic and 1 <= version <= VERSION else None


def unseal(magic: bytes, data: bytes | memoryview, where: str) -> tuple[Any, int]:
    """The document at the start of ``data``, and how many bytes its record takes."""
    text, size = unpack(magic, data, where)
    return parse(text, where), size


def unpack(
    magic: bytes, data: bytes | memoryview, where: str, allowed: int | None = None
) -> tuple[bytes, int]:
    """The text at the start of ``data``, of at most ``allowed`` bytes, and how many its record takes."""
    if len(data) < HEAD_SIZE:
        raise BadFile(f"{where}: truncated: a record starts but its header is incomplete")
    found, version, checksum, length = _HEAD.unpack_from(data)
    if found != magic:
        raise BadFile(f"{where}: not a trodden record (it should start with {magic.decode('ascii').strip()})")
    if version > VERSION:
        raise LaterVersion(f"{where}: written by a later trodden (format {version}); update to read it")
    if version < 1:
        raise BadFile(f"{where}: corrupt: format version {version} does not exist")
    if length > len(data) - HEAD_SIZE:
        raise BadFile(f"{where}: truncated: {_missing(data, length)} missing at its end")
    payload = memoryview(data)[HEAD_SIZE : HEAD_SIZE + length]
    if zlib.crc32(payload) != checksum:
        raise BadFile(f"{where}: corrupt: the checksum does not match")
    return _inflate(payload, where, ceiling(length) if allowed is None else allowed), HEAD_SIZE + length


def _missing(data: bytes | memoryview, length: int) -> str:
    """How many bytes are missing of a truncated record, and behind it."""
    missing = length - (len(data) - HEAD_SIZE)
    try:
        text = zlib.decompressobj().decompress(memoryview(data)[HEAD_SIZE:], _START)
    except zlib.error:
        text = b""
    match = _BEHIND.match(text) if len(text) == _START else None
    if match is None:
        return f"at least {missing:,} bytes are"
    return f"{missing + int(match[1] or 0):,} bytes are"


def _inflate(payload: memoryview, where: str, allowed: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(payload, max(allowed, 1))
    except zlib.error as error:
        raise BadFile(f"{where}: corrupt: it cannot be decompressed") from error
    if not inflater.eof or inflater.unused_data:
        raise BadFile(f"{where}: corrupt: its compressed part does not end where it should")
    return text


def parse(text: bytes, where: str) -> Any:
    """The document of a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{where}: corrupt: its content is not JSON") from error
