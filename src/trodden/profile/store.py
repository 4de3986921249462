"""The ``.trod`` file: a profile that needs nothing beside it.

It keeps the facts of the units and what their counters held; everything else follows from these and is
made anew when it is read.
"""

from __future__ import annotations

import os
from typing import Any

from trodden.errors import BadFile, InputMissing
from trodden.profile.allocation import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.columns import ColumnError, ints, text
from trodden.profile.facts import unit_from_json, unit_to_json
from trodden.profile.files import write_whole
from trodden.profile.model import Profile, Reading, UnitFacts
from trodden.profile.record import seal, unseal

MAGIC = b"TRODDEN\n"
MOST_FRAMES = 1 << 62


def save(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write a profile; a failure leaves the file that was there before untouched."""
    write_whole(path, to_bytes(profile))


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
    return from_bytes(data, name)


def to_bytes(profile: Profile) -> bytes:
    """The content of the file."""
    return seal(
        MAGIC,
        {
            "kind": profile.kind,
            "program": profile.program,
            "notes": list(profile.notes),
            "units": [unit_to_json(unit) for unit in profile.units],
            "counts": [list(reading.counts) for reading in profile.readings],
            "active": [
                [x for (function, block), frames in reading.active.items() for x in (function, block, frames)]
                for reading in profile.readings
            ],
        },
    )


def from_bytes(data: bytes, where: str) -> Profile:
    """A profile out of a file's content; ``where`` names the file when something is wrong with it."""
    with no_garbage():
        document, size = unseal(MAGIC, data, where)
        if size != len(data):
            raise BadFile(f"{where}: corrupt: {len(data) - size} bytes too long")
        try:
            units = [unit_from_json(unit, where) for unit in document["units"]]
            readings = [
                _reading(unit, counts, active)
                for unit, counts, active in zip(units, document["counts"], document["active"], strict=True)
            ]
            return assemble(text(document["program"]), units, readings, list(map(text, document["notes"])))
        except (ColumnError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{where}: corrupt: it is not a profile ({error})") from error


def _reading(unit: UnitFacts, counts: Any, active: Any) -> Reading:
    if len(ints(counts, 0)) != unit.slots:
        raise ColumnError("counters and slots differ in number")
    functions = ints(ints(active)[::3], 0, len(unit.functions))
    blocks, frames = ints(active[1::3], 0), ints(active[2::3], -MOST_FRAMES, MOST_FRAMES)
    found = {
        (function, block): count
        for function, block, count in zip(functions, blocks, frames, strict=True)
        if block < unit.functions[function].graph.exit
    }
    if len(found) != len(frames):
        raise ColumnError("an active call is in a block that does not exist")
    return Reading(unit.id, tuple(counts), found)
