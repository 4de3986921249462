"""The debug information and the machine code of a program file."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.collect.binary import elf
from trodden.collect.binary.dwarf import Dwarf
from trodden.regular_files import open_regular

_DEBUG_SECTIONS = tuple(
    f".debug_{name}"
    for name in ("info", "abbrev", "str", "str_offsets", "addr", "loclists", "loc", "line", "line_str")
)
_MACHINE_FIELD, _X86_64 = slice(18, 20), elf.EM_X86_64.to_bytes(2, "little")
_COMPRESSION_HEADER_SIZE = 24
_ALWAYS_ALLOWED, _MOST_GROWTH = 1 << 20, 64
"""Limits on the size of a decompressed section, which a damaged file might state as anything."""


@dataclass(frozen=True)
class DebugSections:
    """``code`` are the executable sections, each with its address."""

    dwarf: Dwarf
    code: Sequence[tuple[int, bytes]]

    def code_between(self, low: int, high: int) -> bytes:
        """The code between two addresses; empty if they are not in one section."""
        for address, content in self.code:
            if address <= low <= high <= address + len(content):
                return content[low - address : high - address]
        return b""


def load(path: str) -> DebugSections:
    """Read an x86-64 program; any other program, and a section of unknown compression, counts as empty."""
    sections: dict[str, bytes] = {}
    code: list[tuple[int, bytes]] = []
    with open_regular(path) as stream:
        if stream.read(_MACHINE_FIELD.stop)[_MACHINE_FIELD] != _X86_64:
            return DebugSections(Dwarf({}), [])
        file = elf.ElfFile(stream, path)
        for section in file.sections:
            if section.kind == elf.SHT_NOBITS:
                continue
            if section.flags & elf.SHF_EXECINSTR:
                code.append((section.address, file.content(section)))
                continue
            for name in _DEBUG_SECTIONS:
                if file.is_named(section, name):
                    sections[name] = _decompressed(file.content(section), section.flags)
    return DebugSections(Dwarf(sections), code)


def _decompressed(content: bytes, flags: int) -> bytes:
    if not flags & elf.SHF_COMPRESSED:
        return content
    method = int.from_bytes(content[:4], "little")
    if len(content) < _COMPRESSION_HEADER_SIZE or method != elf.ELFCOMPRESS_ZLIB:
        return b""
    size = int.from_bytes(content[8:16], "little")
    most = _ALWAYS_ALLOWED + _MOST_GROWTH * len(content)
    return zlib.decompressobj().decompress(content[_COMPRESSION_HEADER_SIZE:], min(max(size, 1), most))
