"""Facts and call sites out of an ELF file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.making import CODE_AT, CODE_SIZE, elf_bytes, function, pack_unit, sites_bytes, unit_of
from trodden.collect.binary.call_sites import Site, SiteTable
from trodden.collect.binary.program import read_program
from trodden.errors import BadFile, InputMissing, LaterVersion, NotInstrumented
from trodden.program.call_site_table import tag_of

UNIT = unit_of(function("main", "a>b b>a b>exit"), sites=[(0, 1), (0, 0), (0, -1)])
TAG = tag_of(UNIT.id)


def _write(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "prog"
    path.write_bytes(content)
    return path


def test_units_and_sites_of_a_program(tmp_path: Path) -> None:
    other = unit_of(function("other", "a>exit"), files=["/src/b.c"])
    sites = sites_bytes(UNIT, [(CODE_AT + 4, 0, False), (CODE_AT + 9, 0, True)])
    content = elf_bytes({".trodden": pack_unit(UNIT) + bytes(3) + pack_unit(other), ".trodden_sites": sites})
    program = read_program(_write(tmp_path, content))
    assert program.units == {UNIT.id: UNIT, other.id: other}
    assert program.by_tag == {TAG: UNIT, tag_of(other.id): other}
    assert program.sites.find(CODE_AT + 9) == {Site(TAG, 0)}
    assert len(program.build) == 8


def test_a_program_without_probes(tmp_path: Path) -> None:
    with pytest.raises(NotInstrumented, match=r"prog: was not built with trodden cc"):
        read_program(_write(tmp_path, elf_bytes({})))
    with pytest.raises(NotInstrumented, match="is not an ELF program"):
        read_program(_write(tmp_path, b"#!/bin/sh\n"))
    with pytest.raises(InputMissing, match="No such file"):
        read_program(tmp_path / "gone")


def test_damaged_programs_end_in_our_errors(tmp_path: Path) -> None:
    content = elf_bytes({".trodden": pack_unit(UNIT), ".trodden_sites": bytes(32)})
    path = tmp_path / "prog"
    for length in range(0, len(content), 3):
        path.write_bytes(content[:length])
        with pytest.raises((BadFile, NotInstrumented)):
            read_program(path)
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            units = read_program(path).units
        except (BadFile, NotInstrumented, LaterVersion):
            continue
        assert units == {UNIT.id: UNIT}


def _table(*labels: tuple[int, int, bool]) -> SiteTable:
    data = sites_bytes(UNIT, [(CODE_AT + address, site, after) for address, site, after in labels])
    return SiteTable(data, [(CODE_AT, CODE_AT + CODE_SIZE)], "prog")


BEFORE, AFTER = False, True
ADJACENT = [(0x10, 0, BEFORE), (0x18, 0, AFTER), (0x18, 1, BEFORE), (0x20, 1, AFTER)]
INVOKED_AND_CALLED = [(0x10, 0, BEFORE), (0x20, 0, BEFORE), (0x28, 0, AFTER)]


@pytest.mark.parametrize(
    ("labels", "address", "site"),
    [
        ([(0x10, 0, BEFORE), (0x18, 0, AFTER)], 0x18, 0),
        ([(0x10, 0, BEFORE), (0x18, 0, AFTER)], 0x15, 0),
        ([(0x10, 0, BEFORE), (0x18, 0, AFTER)], 0x10, None),
        ([(0x10, 0, BEFORE), (0x18, 0, AFTER)], 0x19, None),
        ([(0x10, 0, BEFORE), (0x18, 0, AFTER)], 0x08, None),
        ([(0x10, 0, BEFORE), (0x18, 1, BEFORE), (0x20, 1, AFTER)], 0x17, 0),
        (ADJACENT, 0x18, 0),
        (ADJACENT, 0x20, 1),
        ([*ADJACENT, (0x40, 0, BEFORE), (0x48, 0, AFTER)], 0x48, 0),
        (INVOKED_AND_CALLED, 0x18, 0),
        (INVOKED_AND_CALLED, 0x28, 0),
        ([], 0x18, None),
    ],
)
def test_return_addresses(labels: list[tuple[int, int, bool]], address: int, site: int | None) -> None:
    found = _table(*labels).find(CODE_AT + address)
    assert found == (set() if site is None else {Site(TAG, site)})


def test_labels_of_dropped_functions_do_not_disturb() -> None:
    kept = sites_bytes(UNIT, [(CODE_AT + 4, 0, BEFORE), (CODE_AT + 9, 0, AFTER)])
    dropped = sites_bytes(UNIT, [(0, 1, BEFORE), (5, 1, AFTER), (CODE_AT + CODE_SIZE + 8, 1, BEFORE)])
    table = SiteTable(dropped + kept, [(CODE_AT, CODE_AT + CODE_SIZE)], "prog")
    assert table.find(CODE_AT + 9) == {Site(TAG, 0)}
    assert table.find(5) == set()
    assert table.opened_before(CODE_AT + 4) == set()


def test_a_table_that_ends_inside_an_entry() -> None:
    with pytest.raises(BadFile, match="ends inside an entry"):
        SiteTable(bytes(17), [], "prog")
