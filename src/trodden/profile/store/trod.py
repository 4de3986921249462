"""The ``.trod`` file: a profile that needs no other file.

It stores the facts of the units and what was counted in them, or what is expected of a program that was not
executed.  Everything else follows from these and is recovered when the file is read.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from trodden.errors import BadFile, InputMissing
from trodden.gc_pause import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.call_path_codec import from_columns, to_columns
from trodden.profile.store.estimate_codec import estimate_from_columns, estimate_to_columns
from trodden.profile.store.files import write_whole
from trodden.profile.store.machine_codec import machine_from_columns, machine_to_columns
from trodden.profile.store.process_codec import from_documents, to_documents
from trodden.profile.store.program_codec import programs_from_documents, programs_to_documents
from trodden.profile.store.thread_codec import threads_from_documents, threads_to_documents
from trodden.profile.store.unit_counts_codec import (
    MOST_COUNT,
    unit_counts_from_columns,
    unit_counts_to_columns,
)
from trodden.program.checked import ColumnError, text, whole
from trodden.program.record import seal, unseal
from trodden.program.unit_codec import unit_from_json, unit_to_json
from trodden.recover.budget import Budget
from trodden.regular_files import open_regular

MAGIC = b"TRODDEN\n"

_STEPS_A_BYTE = 32


def save(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write a profile; if that fails, the previous file is unchanged."""
    write_whole(path, to_bytes(profile))


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile."""
    name = os.fspath(path)
    try:
        with open_regular(name) as stream:
            data = stream.read()
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
    return from_bytes(data, name)


def to_bytes(profile: Profile) -> bytes:
    """The content of the file."""
    document: dict[str, Any] = {
        "kind": profile.kind,
        "program": profile.program,
        "notes": list(profile.messages),
        "units": [unit_to_json(unit) for unit in profile.units],
    }
    if profile.estimate is not None:
        document["estimate"] = estimate_to_columns(profile)
        return seal(MAGIC, document)
    document |= unit_counts_to_columns(profile.unit_counts, profile.units)
    if any(function.machine for unit in profile.units for function in unit.functions):
        document["machine"] = machine_to_columns(profile.units)
    if profile.call_paths:
        document["calls"] = to_columns(profile.call_paths, profile.units)
    if profile.programs:
        document["programs"] = programs_to_documents(profile.programs, profile.units)
    if profile.merged:
        document["merged"] = profile.merged
    if profile.processes:
        document["processes"] = to_documents(profile.processes, profile.units)
    if profile.threads:
        document["threads"] = threads_to_documents(profile.threads, profile.units)
    return seal(MAGIC, document)


def from_bytes(data: bytes, where: str) -> Profile:
    """A profile from the content of a file; ``where`` names the file in error messages."""
    with no_garbage():
        document, size = unseal(MAGIC, data, where)
        if size != len(data):
            raise BadFile(f"{where}: corrupt: {len(data) - size} bytes too long")
        budget = Budget(size, _STEPS_A_BYTE)
        try:
            units = [unit_from_json(unit, where) for unit in document["units"]]
            messages = list(map(text, document["notes"]))
            if "estimate" in document:
                return estimate_from_columns(document["estimate"], text(document["program"]), units, messages)
            counted = unit_counts_from_columns(document, units)
            if "machine" in document:
                units = machine_from_columns(document["machine"], units)
            calls = from_columns(document["calls"], units, where, budget) if "calls" in document else ()
            programs = programs_from_documents(document.get("programs", []), units)
            processes = from_documents(document.get("processes", []), units)
            threads = threads_from_documents(document.get("threads", []), units, len(processes))
            profile = assemble(text(document["program"]), units, counted, messages, calls, budget)
            merged = whole(document.get("merged", 0), 0, MOST_COUNT)
            return replace(profile, programs=programs, processes=processes, threads=threads, merged=merged)
        except (ColumnError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{where}: corrupt: it is not a profile ({error})") from error
