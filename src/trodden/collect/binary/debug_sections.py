"""The debug information and the code of a program file."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.collect.binary import elf
from trodden.collect.binary.dwarf import Dwarf
from trodden.regular_files import open_regular

_WANTED = ("info", "abbrev", "str", "str_offsets", "addr", "loclists", "loc", "line", "line_str")
_COMPRESSED = 0x800
_ZLIB = 1
_MACHINE, _X86_64 = slice(18, 20), b"\x3e\x00"
_HEADER = 24
_ALWAYS, _GROWTH = 1 << 20, 64


@dataclass(frozen=True)
class Loaded:
    """``code`` are the sections that hold instructions, each with the address that it begins at."""

    dwarf: Dwarf
    code: Sequence[tuple[int, bytes]]

    def bytes_of(self, low: int, high: int) -> bytes:
        """The instructions between two addresses; nothing if they are not in one section."""
        for address, content in self.code:
            if address <= low <= high <= address + len(content):
                return content[low - address : high - address]
        return b""


def load(path: str) -> Loaded:
    """Read those of an x86-64 program; sections that are compressed in a way unknown here are left out."""
    sections: dict[str, bytes] = {}
    code: list[tuple[int, bytes]] = []
    with open_regular(path) as stream:
        if stream.read(_MACHINE.stop)[_MACHINE] != _X86_64:
            return Loaded(Dwarf({}), [])
        file = elf.ElfFile(stream, path)
        for section in file.sections:
            if section.kind == elf.NO_BITS:
                continue
            if section.flags & elf.EXECUTABLE:
                code.append((section.address, file.content(section)))
                continue
            for name in _WANTED:
                if file.is_named(section, f".debug_{name}"):
                    sections[f".debug_{name}"] = _plain(file.content(section), section.flags)
    return Loaded(Dwarf(sections), code)


def _plain(content: bytes, flags: int) -> bytes:
    if not flags & _COMPRESSED:
        return content
    if len(content) < _HEADER or int.from_bytes(content[:4], "little") != _ZLIB:
        return b""
    size = int.from_bytes(content[8:16], "little")
    most = _ALWAYS + _GROWTH * len(content)
    return zlib.decompressobj().decompress(content[_HEADER:], min(max(size, 1), most))
