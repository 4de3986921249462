"""The facts of a unit as they are stored in an object file: section ``.trodden``.

A linker concatenates the records of all objects, perhaps with zeros between them.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from trodden.errors import BadFile
from trodden.program.call_site_table import NO_BLOCK
from trodden.program.checked import ColumnError, ints, same_length, text, whole
from trodden.program.facts import FunctionFacts, Skipped, SourceFile, Subprogram, UnitFacts
from trodden.program.function_codec import function_from_columns, function_to_columns
from trodden.program.record import ceiling, parse, seal, to_text, unpack

MAGIC = b"TRODUNIT"
MOST_SLOTS = 1 << 32


def unit_id(facts: UnitFacts) -> str:
    """The name of a unit: a hash of everything in ``facts`` but ``facts.id``."""
    return _hash(unit_to_json(replace(facts, id="")))


def _hash(document: dict[str, Any]) -> str:
    return blake2b(to_text(document), digest_size=16).hexdigest()


def identified(facts: UnitFacts, tag: int) -> tuple[UnitFacts, bytes]:
    """The unit with its id, whose first four bytes are ``tag``, and its record, from one set of columns."""
    document = unit_to_json(replace(facts, id=""))
    document["id"] = f"{tag.to_bytes(4, 'little').hex()}{_hash(document)[8:]}"
    return replace(facts, id=document["id"]), seal(MAGIC, document)


def unpack_units(data: bytes, where: str = "section .trodden") -> list[UnitFacts]:
    """The units in the content of a section; ``where`` names it in error messages."""
    units: list[UnitFacts] = []
    rest = memoryview(data)
    allowed = ceiling(len(data))
    position = 0
    while position < len(data):
        if data[position] == 0:
            position += 1
            continue
        record, size = unpack(MAGIC, rest[position:], where, allowed)
        units.append(unit_from_json(parse(record, where), where))
        allowed -= len(record)
        position += size
    return units


def unit_to_json(facts: UnitFacts) -> dict[str, Any]:
    """The JSON form of a unit."""
    subprograms: dict[Subprogram, int] = {}
    functions = [function_to_columns(function, subprograms) for function in facts.functions]
    document: dict[str, Any] = {
        "id": facts.id,
        "source": facts.source,
        "stage": facts.stage,
        "files": [[file.path, file.digest] for file in facts.files],
        "functions": functions,
        "skipped": [[skipped.name, skipped.reason] for skipped in facts.skipped],
        "slots": facts.slots,
        "site_functions": [function for function, _ in facts.sites],
        "site_blocks": [block for _, block in facts.sites],
        "taken": list(facts.taken),
        "aliases": [list(alias) for alias in facts.aliases],
        "started": list(facts.started),
    }
    if subprograms:
        document["subprograms"] = [[each.name, each.file, each.line, each.symbol] for each in subprograms]
    return document


def unit_from_json(data: Any, where: str) -> UnitFacts:
    """A unit from its JSON form; :class:`BadFile` if it is not valid."""
    try:
        files = tuple(SourceFile(text(path), text(digest)) for path, digest in data["files"])
        slots = whole(data["slots"], 0, MOST_SLOTS)
        subprograms = [
            Subprogram(text(name), whole(file, 0, len(files)), whole(line, 0, MOST_SLOTS), text(symbol))
            for name, file, line, symbol in data.get("subprograms", [])
        ]
        functions = tuple(
            function_from_columns(each, len(files), slots, subprograms) for each in data["functions"]
        )
        return UnitFacts(
            id=_checked_id(data["id"]),
            source=text(data["source"]),
            stage=text(data["stage"]),
            files=files,
            functions=functions,
            skipped=tuple(Skipped(text(name), text(reason)) for name, reason in data["skipped"]),
            slots=slots,
            sites=_sites(data, functions),
            taken=tuple(map(text, data.get("taken", []))),
            aliases=tuple((text(alias), text(symbol)) for alias, symbol in data.get("aliases", [])),
            started=tuple(map(text, data.get("started", []))),
        )
    except (ColumnError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{where}: corrupt: a unit is not valid ({error})") from error


def _checked_id(value: Any) -> str:
    if len(text(value)) != 32 or set(value) - set("0123456789abcdef"):
        raise ColumnError("32 hex digits were expected as a unit's id")
    return str(value)


def _sites(data: Any, functions: tuple[FunctionFacts, ...]) -> tuple[tuple[int, int], ...]:
    owners = ints(data["site_functions"], 0, len(functions))
    blocks = ints(data["site_blocks"], NO_BLOCK)
    same_length(owners, blocks)
    sites = tuple(zip(owners, blocks, strict=True))
    sizes = [function.graph.exit + len(function.clones) for function in functions]
    if any(block >= sizes[owner] for owner, block in sites):
        raise ColumnError("a call site is in a block that does not exist")
    return sites
