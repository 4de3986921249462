"""The facts and the call sites of a built program, from its ELF file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from trodden.collect.binary import elf
from trodden.collect.binary.call_sites import SiteTable
from trodden.errors import InputMissing, NotInstrumented
from trodden.program.call_site_table import SITES_SECTION, tag_of
from trodden.program.facts import UnitFacts
from trodden.program.unit_codec import unpack_units
from trodden.regular_files import open_regular

FACTS_SECTION = ".trodden"


@dataclass(frozen=True)
class Program:
    """An executable, a shared object or an object file that was built with probes.

    ``units`` are keyed by their id.  ``code`` are the address ranges of its executable sections,
    ``functions`` those of its functions, as far as symbols state them.
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
        with open_regular(name) as stream:
            facts, sites, code, functions = _read_sections(stream, name)
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
    if not facts:
        raise NotInstrumented(f"{name}: was not built with trodden cc; build it so and run it again")
    units = {unit.id: unit for unit in unpack_units(facts, name)}
    return Program(name, units, sites, code, functions)


_Ranges = list[tuple[int, int]]


def _read_sections(stream: BinaryIO, name: str) -> tuple[bytes, bytes, _Ranges, _Ranges]:
    if stream.read(4) != elf.MAGIC:
        raise NotInstrumented(f"{name}: is not an ELF program; give one that was built with trodden cc")
    file = elf.ElfFile(stream, name)
    found: dict[str, list[bytes]] = {FACTS_SECTION: [], SITES_SECTION: []}
    code: _Ranges = []
    functions: _Ranges = []
    for section in file.sections:
        if section.kind == elf.SHT_NOBITS:
            continue
        if section.flags & elf.SHF_EXECINSTR:
            code.append((section.address, section.address + section.size))
        if section.kind in elf.SYMBOL_TABLES:
            functions += file.functions(section)
        for wanted, parts in found.items():
            if file.is_named(section, wanted):
                parts.append(file.content(section))
    return b"".join(found[FACTS_SECTION]), b"".join(found[SITES_SECTION]), code, functions
