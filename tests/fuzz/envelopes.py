"""What stands around the content of a file: taken off, so that the content can be changed, and put on again.

A change to a sealed file nearly always ends at its checksum.  With the envelope made anew the readers of the
content are reached.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.bytewise import change_bytes
from tests.fuzz.documents import change_document, write_document

_HEAD = struct.Struct("<8sIIQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")


@dataclass(frozen=True)
class Envelope:
    """``take`` gets the content out of a file (:class:`ValueError` if it cannot), ``wrap`` puts one into it.

    Content is bytes, or a document if ``document`` says so.
    """

    name: str
    take: Callable[[bytes], Any]
    wrap: Callable[[bytes, Any], bytes]
    document: bool = False

    def change(self, random: Random, data: bytes, others: Sequence[bytes]) -> bytes:
        """The file with other content."""
        content = self.take(data)
        known = [self._taken(other) for other in random.sample(others, min(2, len(others)))]
        donors = [other for other in known if other is not None]
        changer = change_document if self.document else change_bytes
        return self.wrap(data, changer(random, content, donors))

    def _taken(self, data: bytes) -> Any:
        try:
            return self.take(data)
        except ValueError:
            return None


def bare() -> Envelope:
    """No envelope at all."""
    return Envelope("bare", bytes, lambda _, content: content)


def raw_body() -> Envelope:
    """The raw file without its trailer: the size, the checksum and the last word."""

    def wrap(_: bytes, body: bytes) -> bytes:
        return body + struct.pack("<QI4s", len(body) + 16, zlib.crc32(body), b"DONE")

    return Envelope("raw body", lambda data: data[:-16], wrap)


def record_text() -> Envelope:
    """The text in a record, as bytes."""
    return Envelope("record text", _text_of, _sealed)


def record_document() -> Envelope:
    """The document in a record."""

    def take(data: bytes) -> Any:
        return json.loads(_text_of(data))

    return Envelope(
        "record document", take, lambda data, content: _sealed(data, write_document(content)), document=True
    )


def _text_of(data: bytes) -> bytes:
    if len(data) < _HEAD.size:
        raise ValueError("no record")
    try:
        return zlib.decompressobj().decompress(data[_HEAD.size :], 1 << 24)
    except zlib.error as error:
        raise ValueError("no record") from error


def _sealed(data: bytes, text: bytes) -> bytes:
    payload = zlib.compress(text, 6)
    return _HEAD.pack(data[:8], 1, zlib.crc32(payload), len(payload)) + payload


def in_section(name: str, inner: Envelope) -> Envelope:
    """The content of a section of a 64-bit ELF file, laid at its end with another size."""

    def find(data: bytes) -> tuple[int, int, int]:
        """Where the header of the section is, and its offset and size."""
        if len(data) < 64 or data[:4] != b"\x7fELF":
            raise ValueError("no ELF file")
        table = int.from_bytes(data[40:48], "little")
        number, names = struct.unpack_from("<HH", data, 60)
        headers = [table + index * _SECTION.size for index in range(number)]
        if names >= number or headers[-1] + _SECTION.size > len(data):
            raise ValueError("no sections")
        strings = _SECTION.unpack_from(data, headers[names])[4]
        for place in headers:
            fields = _SECTION.unpack_from(data, place)
            start = strings + fields[0]
            if data[start : start + len(name) + 1] == name.encode() + b"\0":
                return place, fields[4], fields[5]
        raise ValueError("no such section")

    def take(data: bytes) -> Any:
        _, offset, size = find(data)
        return inner.take(data[offset : offset + size])

    def wrap(data: bytes, content: Any) -> bytes:
        place, offset, size = find(data)
        made = inner.wrap(data[offset : offset + size], content)
        changed = bytearray(data + made)
        struct.pack_into("<QQ", changed, place + 24, len(data), len(made))
        return bytes(changed)

    return Envelope(f"{name} {inner.name}", take, wrap, inner.document)
