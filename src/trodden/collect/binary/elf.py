"""As much of the ELF format as it takes to find sections and functions in a file.

A program may be named by a raw file that anybody may have written, so nothing is believed unchecked: a part
is read only if it lies in the file, and all parts together are never more than the file itself.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from trodden.errors import BadFile

MAGIC = b"\x7fELF"
NO_BITS = 8
EXECUTABLE = 4
SYMBOL_TABLES = (2, 11)

_IDENT = 16
_WIDE, _BIG = 2, 2
_FUNCTION = 2
_MOST_SECTIONS = 1 << 24
_HEADER_READ_TWICE = 64
_HEADS = {1: "IIIIHHHHHH", 2: "QQQIHHHHHH"}
"""From the entry point to the index of the names, by class of file."""
_EXTENDED_INDEX = 0xFFFF


class Section(NamedTuple):
    """A section header; ``name`` is a place in the table of names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class ElfFile:
    """The sections of a file that starts with :data:`MAGIC`."""

    def __init__(self, stream: BinaryIO, where: str) -> None:
        self._stream, self._where = stream, where
        self._size = os.fstat(stream.fileno()).st_size
        # Parts do not overlap in an honest file; only the first section header may be read twice.
        self._left = self._size + _HEADER_READ_TWICE
        ident = self._part(0, _IDENT)
        wide, order = ident[4], ">" if ident[5] == _BIG else "<"
        if ident[:4] != MAGIC or wide not in _HEADS or ident[5] not in (1, _BIG):
            raise self._damaged()
        head = struct.Struct(order + _HEADS[wide])
        fields = head.unpack(self._part(_IDENT + 8, head.size))
        table, header_size, number, names = fields[2], fields[-3], fields[-2], fields[-1]
        self._header = struct.Struct(order + ("IIQQQQIIQQ" if wide == _WIDE else "10I"))
        self._symbol = struct.Struct(order + ("IBBHQQ" if wide == _WIDE else "IIIBBH"))
        self._wide = wide == _WIDE
        self.sections = self._sections(table, header_size, number)
        if names == _EXTENDED_INDEX and self.sections:
            names = self.sections[0].link
        self._names = self.content(self.sections[names]) if 0 < names < len(self.sections) else b""

    def _sections(self, table: int, header_size: int, number: int) -> list[Section]:
        if not table:
            return []
        if header_size != self._header.size:
            raise self._damaged()
        if not number:
            # More sections than the field can tell: the first section's size is their number.
            number = Section(*self._header.unpack(self._part(table, header_size))).size
        if number > _MOST_SECTIONS:
            raise self._damaged()
        return [Section(*each) for each in self._header.iter_unpack(self._part(table, number * header_size))]

    def is_named(self, section: Section, name: str) -> bool:
        """Whether this is the name of a section."""
        return self._names.startswith(name.encode("ascii") + b"\0", section.name)

    def content(self, section: Section) -> bytes:
        """The bytes of a section."""
        return b"" if section.kind == NO_BITS else self._part(section.offset, section.size)

    def functions(self, table: Section) -> Iterator[tuple[int, int]]:
        """Begin and end of the functions in a table of symbols, without those that have no size."""
        if table.entry != self._symbol.size or table.size % self._symbol.size:
            raise self._damaged()
        for symbol in self._symbol.iter_unpack(self.content(table)):
            if self._wide:
                _, info, _, _, start, size = symbol
            else:
                _, start, size, info, _, _ = symbol
            if info & 15 == _FUNCTION and size:
                yield start, start + size

    def _part(self, offset: int, size: int) -> bytes:
        if offset + size > self._size:
            raise BadFile(f"{self._where}: is a truncated ELF file")
        self._left -= size
        if self._left < 0:
            raise self._damaged()
        self._stream.seek(offset)
        found = self._stream.read(size)
        if len(found) != size:
            raise BadFile(f"{self._where}: is a truncated ELF file")
        return found

    def _damaged(self) -> BadFile:
        return BadFile(f"{self._where}: is a damaged ELF file")
