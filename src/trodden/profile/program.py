"""What a built program says of itself: its unit facts and its call sites, out of the ELF file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from trodden.errors import BadFile, InputMissing, NotInstrumented
from trodden.profile.facts import unpack_units
from trodden.profile.model import UnitFacts
from trodden.profile.sites import SiteTable, tag_of

FACTS_SECTION = ".trodden"
SITES_SECTION = ".trodden_sites"


@dataclass(frozen=True)
class Program:
    """An executable, a shared object or an object file that was built with probes.

    ``units`` go by their id.  ``code`` are the address ranges of its instructions, ``functions`` those of its
    functions, as far as its symbols tell.
    """

    path: str
    units: Mapping[str, UnitFacts]
    site_data: bytes
    code: Sequence[tuple[int, int]]
    functions: Sequence[tuple[int, int]] = ()

    @cached_property
    def sites(self) -> SiteTable:
        """The table of its call sites."""
        return SiteTable(self.site_data, self.code, self.path, self.functions)

    @cached_property
    def by_tag(self) -> dict[int, UnitFacts]:
        """The units by their tag in the table of call sites; a tag that two units share names none."""
        shared = Counter(map(tag_of, self.units))
        return {tag_of(name): unit for name, unit in self.units.items() if shared[tag_of(name)] == 1}

    @property
    def build(self) -> str:
        """A short name of this very build."""
        return build_name(self.units)


def build_name(unit_ids: Mapping[str, object] | Sequence[str]) -> str:
    """A short name for the build that consists of these units."""
    return blake2b("".join(sorted(unit_ids)).encode("ascii"), digest_size=4).hexdigest()


def read_program(path: str | os.PathLike[str]) -> Program:
    """Read the facts of a program."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            facts, sites, code, functions = _read_sections(stream, name)
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
    if not facts:
        raise NotInstrumented(f"{name}: was not built with trodden cc; build it so and run it again")
    units = {unit.id: unit for unit in unpack_units(facts, name)}
    return Program(name, units, sites, code, functions)


_Ranges = list[tuple[int, int]]


def _read_sections(stream: BinaryIO, name: str) -> tuple[bytes, bytes, _Ranges, _Ranges]:
    if stream.read(4) != b"\x7fELF":
        raise NotInstrumented(f"{name}: is not an ELF program; give one that was built with trodden cc")
    spans: dict[str, list[tuple[int, int]]] = {FACTS_SECTION: [], SITES_SECTION: []}
    code: _Ranges = []
    functions: _Ranges = []
    try:
        for section in ELFFile(stream).iter_sections():
            if section["sh_type"] == "SHT_NOBITS":
                continue
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
                code.append((section["sh_addr"], section["sh_addr"] + section["sh_size"]))
            if isinstance(section, SymbolTableSection):
                functions += [
                    (symbol["st_value"], symbol["st_value"] + symbol["st_size"])
                    for symbol in section.iter_symbols()
                    if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
                ]
            if section.name in spans:
                spans[section.name].append((section["sh_offset"], section["sh_size"]))
    except Exception as error:
        # The parser of the ELF format may stumble over a damaged file in ways of its own.
        raise BadFile(f"{name}: is a damaged ELF file") from error
    facts = _content(stream, spans[FACTS_SECTION], name)
    return facts, _content(stream, spans[SITES_SECTION], name), code, functions


def _content(stream: BinaryIO, spans: Sequence[tuple[int, int]], name: str) -> bytes:
    available = os.fstat(stream.fileno()).st_size
    parts: list[bytes] = []
    for offset, size in spans:
        if offset + size > available:
            raise BadFile(f"{name}: is a truncated ELF file")
        stream.seek(offset)
        parts.append(stream.read(size))
    return b"".join(parts)
