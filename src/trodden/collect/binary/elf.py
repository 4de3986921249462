"""The sections of an ELF file and the functions in its symbol tables.

Anybody may have written the raw file that names a program, and thus the program, so every field is checked: a
part of the file is read only if it lies inside the file, and all parts together are no larger than the file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from trodden.errors import BadFile

MAGIC = b"\x7fELF"
EM_X86_64 = 62
SHT_SYMTAB = 2
SHT_NOBITS = 8
SHT_DYNSYM = 11
SHF_EXECINSTR = 0x4
SHF_COMPRESSED = 0x800
ELFCOMPRESS_ZLIB = 1
SYMBOL_TABLES = (SHT_SYMTAB, SHT_DYNSYM)

_EI_NIDENT, _EI_CLASS, _EI_DATA = 16, 4, 5
_ELFCLASS32, _ELFCLASS64 = 1, 2
_ELFDATA2LSB, _ELFDATA2MSB = 1, 2
_SHN_XINDEX = 0xFFFF
_STT_FUNC = 2
_TYPE_BITS = 0xF
_ENTRY_POINT = _EI_NIDENT + 8
_FROM_ENTRY_POINT = {_ELFCLASS32: "IIIIHHHHHH", _ELFCLASS64: "QQQIHHHHHH"}
"""The file header from ``e_entry`` to ``e_shstrndx``, by class."""
_MOST_SECTIONS = 1 << 24
_HEADER_READ_TWICE = 64


class Section(NamedTuple):
    """A section header; ``name`` is an offset in the table of section names."""

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
        # Parts of a well-formed file do not overlap; only the first section header may be read twice.
        self._unread = self._size + _HEADER_READ_TWICE
        ident = self._part(0, _EI_NIDENT)
        kind, order = ident[_EI_CLASS], ident[_EI_DATA]
        if ident[:4] != MAGIC or kind not in _FROM_ENTRY_POINT or order not in (_ELFDATA2LSB, _ELFDATA2MSB):
            raise self._damaged()
        byte_order = ">" if order == _ELFDATA2MSB else "<"
        self._is_64_bit = kind == _ELFCLASS64
        header = struct.Struct(byte_order + _FROM_ENTRY_POINT[kind])
        fields = header.unpack(self._part(_ENTRY_POINT, header.size))
        table, header_size, number, names = fields[2], fields[-3], fields[-2], fields[-1]
        self._section_header = struct.Struct(byte_order + ("IIQQQQIIQQ" if self._is_64_bit else "10I"))
        self._symbol = struct.Struct(byte_order + ("IBBHQQ" if self._is_64_bit else "IIIBBH"))
        self.sections = self._read_sections(table, header_size, number)
        if names == _SHN_XINDEX and self.sections:
            names = self.sections[0].link
        self._names = self.content(self.sections[names]) if 0 < names < len(self.sections) else b""

    def _read_sections(self, table: int, header_size: int, number: int) -> list[Section]:
        if not table:
            return []
        if header_size != self._section_header.size:
            raise self._damaged()
        if not number:
            # More sections than the field can hold: the size of the first section is their number.
            number = Section(*self._section_header.unpack(self._part(table, header_size))).size
        if number > _MOST_SECTIONS:
            raise self._damaged()
        headers = self._part(table, number * header_size)
        return [Section(*each) for each in self._section_header.iter_unpack(headers)]

    def is_named(self, section: Section, name: str) -> bool:
        """Whether this is the name of a section."""
        return self._names.startswith(name.encode("ascii") + b"\0", section.name)

    def content(self, section: Section) -> bytes:
        """The bytes of a section."""
        return b"" if section.kind == SHT_NOBITS else self._part(section.offset, section.size)

    def functions(self, table: Section) -> Iterator[tuple[int, int]]:
        """The address ranges of the functions in a symbol table, except those without a size."""
        if table.entry != self._symbol.size or table.size % self._symbol.size:
            raise self._damaged()
        for symbol in self._symbol.iter_unpack(self.content(table)):
            if self._is_64_bit:
                _, info, _, _, start, size = symbol
            else:
                _, start, size, info, _, _ = symbol
            if info & _TYPE_BITS == _STT_FUNC and size:
                yield start, start + size

    def _part(self, offset: int, size: int) -> bytes:
        if offset + size > self._size:
            raise BadFile(f"{self._where}: is a truncated ELF file")
        self._unread -= size
        if self._unread < 0:
            raise self._damaged()
        self._stream.seek(offset)
        found = self._stream.read(size)
        if len(found) != size:
            raise BadFile(f"{self._where}: is a truncated ELF file")
        return found

    def _damaged(self) -> BadFile:
        return BadFile(f"{self._where}: is a damaged ELF file")
