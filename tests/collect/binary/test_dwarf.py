"""The reader of debug information, against the general one of pyelftools."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from elftools.dwarf import constants, enums
from elftools.dwarf.dwarf_expr import DW_OP_name2opcode
from elftools.dwarf.locationlists import BaseAddressEntry, LocationParser
from elftools.elf.elffile import ELFFile

from tests.native.building import PROGRAMS, must
from trodden.collect.binary.debug_sections import load
from trodden.collect.binary.dwarf import Function
from trodden.collect.binary.dwarf_constants import (
    Attribute,
    ExtendedLineOpcode,
    Form,
    LineOpcode,
    LocationListEntry,
    Op,
    Tag,
    UnitType,
)
from trodden.collect.binary.line_rows import line_rows

NUMBERS: dict[type[IntEnum], tuple[str, Mapping[str, Any]]] = {
    Tag: ("DW_TAG", enums.ENUM_DW_TAG),
    Attribute: ("DW_AT", enums.ENUM_DW_AT),
    Form: ("DW_FORM", enums.ENUM_DW_FORM),
    UnitType: ("DW_UT", enums.ENUM_DW_UT),
    Op: ("DW_OP", DW_OP_name2opcode),
    LocationListEntry: ("DW_LLE", enums.ENUM_DW_LLE),
    LineOpcode: ("DW_LNS", vars(constants) | {"DW_LNS_extended": 0}),
    ExtendedLineOpcode: ("DW_LNE", vars(constants)),
}


@pytest.mark.parametrize("numbers", NUMBERS, ids=lambda each: each.__name__)
def test_numbers_are_those_of_the_standard(numbers: type[IntEnum]) -> None:
    prefix, known = NUMBERS[numbers]
    found = {f"{prefix}_{each.name}".lower(): each.value for each in numbers}
    assert found.items() <= {name.lower(): value for name, value in known.items()}.items()


@pytest.mark.parametrize("flags", [(), ("-g",), ("-g", "-gdwarf-4")], ids=" ".join)
def test_pyelftools_finds_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
    words = ("-O2", "-w", "--trodden-profile=paths", *flags)
    must("cc", *words, PROGRAMS / "exact_flow.c", "-o", "program", cwd=tmp_path)
    path = tmp_path / "program"
    sections = load(str(path))
    functions = list(sections.dwarf.functions())
    assert len(functions) > 5
    lines = sections.dwarf.section(".debug_line")
    with path.open("rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info()
        rows: dict[int, list[tuple[int, int, int, bool]]] = {}
        expected: list[Any] = []
        for unit in dwarf.iter_CUs():
            table = unit.get_top_DIE().attributes["DW_AT_stmt_list"].value
            program = dwarf.line_program_for_CU(unit)
            assert program is not None
            states = [each.state for each in program.get_entries() if each.state is not None]
            rows[table] = [(s.address, s.line, s.discriminator, s.end_sequence) for s in states]
            found = (_function(dwarf, die, table) for die in unit.iter_DIEs())
            expected += [each for each in found if each is not None]
    assert sorted(map(_plain, functions)) == sorted(expected)
    for table in {each.line_table for each in functions}:
        assert [tuple(row) for row in line_rows(lines, table)] == rows[table]


def _plain(function: Function) -> Any:
    variables = sorted(
        (each.name, each.line, [tuple(one) for one in each.ranges], each.constant, each.everywhere or b"")
        for each in function.variables
    )
    return function.low, function.high, function.frame_base, function.line_table, variables


def _function(dwarf: Any, die: Any, table: int) -> Any:
    """What pyelftools says of a subprogram; None if it has no artificial variable of trodden."""
    if die.tag != "DW_TAG_subprogram" or "DW_AT_low_pc" not in die.attributes:
        return None
    parser = LocationParser(dwarf.location_lists())
    variables = [
        found
        for child in _inside(die)
        if child.tag == "DW_TAG_variable" and (found := _variable(parser, child)) is not None
    ]
    low, high = (die.attributes[f"DW_AT_{name}_pc"] for name in ("low", "high"))
    start = _address(die, low)
    end = _address(die, high) if high.form in ("DW_FORM_addr", "DW_FORM_addrx") else start + high.value
    base = bytes(die.attributes["DW_AT_frame_base"].value)
    return (start, end, base, table, sorted(variables)) if variables else None


def _inside(die: Any) -> list[Any]:
    found, waiting = [], list(die.iter_children())
    while waiting:
        child = waiting.pop()
        if child.tag != "DW_TAG_subprogram":
            found.append(child)
            waiting += child.iter_children()
    return found


def _address(die: Any, attribute: Any) -> int:
    if attribute.form.startswith("DW_FORM_addrx"):
        return int(die.dwarfinfo.get_addr(die.cu, attribute.raw_value))
    return int(attribute.value)


def _variable(parser: LocationParser, die: Any) -> Any:
    named = die.get_DIE_from_attribute("DW_AT_abstract_origin") if _is_inlined(die) else die
    name = named.attributes["DW_AT_name"].value if "DW_AT_name" in named.attributes else b""
    located = die.attributes.get("DW_AT_location")
    constant = die.attributes.get("DW_AT_const_value")
    if not name.startswith(b"__trodden_") or (located is None and constant is None):
        return None
    declared = named.attributes.get("DW_AT_decl_line")
    line = declared.value if declared is not None else 0
    if constant is not None:
        return name.decode(), line, [], constant.value, b""
    parsed = parser.parse_from_attribute(located, die.cu["version"], die)
    if not isinstance(parsed, list):
        return name.decode(), line, [], None, bytes(parsed.loc_expr)
    return name.decode(), line, _ranges(die, parsed), None, b""


def _is_inlined(die: Any) -> bool:
    return "DW_AT_abstract_origin" in die.attributes


def _ranges(die: Any, entries: list[Any]) -> list[tuple[int, int, bytes]]:
    low = die.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
    base = _address(die.cu.get_top_DIE(), low) if low is not None else 0
    found = []
    for each in entries:
        if isinstance(each, BaseAddressEntry):
            base = each.base_address
            continue
        offset = 0 if each.is_absolute else base
        found.append((offset + each.begin_offset, offset + each.end_offset, bytes(each.loc_expr)))
    return found
