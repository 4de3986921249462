"""Programs and libraries as documents, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trodden.collect.programs import ProgramFile
from trodden.profile.store.unit_counts_codec import MOST_COUNT
from trodden.program.checked import ColumnError, ints, text, whole
from trodden.program.facts import UnitFacts


def programs_to_documents(
    programs: Sequence[ProgramFile], units: Sequence[UnitFacts]
) -> list[dict[str, Any]]:
    """The programs as they are stored; units by their indices."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    return [
        {
            "path": each.path,
            "library": int(each.library),
            "in": [numbers[unit] for unit in each.units],
            "processes": each.processes,
            "executed": each.executed,
        }
        for each in programs
    ]


def programs_from_documents(documents: Any, units: Sequence[UnitFacts]) -> tuple[ProgramFile, ...]:
    """Programs from their stored form, with every number checked."""
    if type(documents) is not list:
        raise ColumnError("a list of programs was expected")
    found = tuple(_from_document(document, units) for document in documents)
    if len({(each.path, each.library) for each in found}) != len(found):
        raise ColumnError("a program is listed twice")
    return found


def _from_document(document: Any, units: Sequence[UnitFacts]) -> ProgramFile:
    if type(document) is not dict:
        raise ColumnError("a program was expected")
    numbers = ints(document["in"], 0, len(units))
    if len(set(numbers)) != len(numbers):
        raise ColumnError("a program has a unit twice")
    return ProgramFile(
        path=text(document["path"]),
        library=bool(whole(document["library"], 0, 2)),
        units=tuple(units[number].id for number in numbers),
        processes=whole(document["processes"], 0, MOST_COUNT),
        executed=whole(document["executed"], 0, MOST_COUNT),
    )
