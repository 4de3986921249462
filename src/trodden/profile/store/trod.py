"""The ``.trod`` file: a profile that needs no other file.

It stores the facts of the units and what was counted in them, or what is expected of a program that was not
executed.  Everything else follows from these and is recovered when the file is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, BinaryIO

from trodden.collect.endings import Process
from trodden.errors import BadFile, InputMissing
from trodden.gc_pause import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.call_path_codec import from_columns, to_columns
from trodden.profile.store.estimate_codec import estimate_from_columns, estimate_to_columns
from trodden.profile.store.files import write_parts, write_whole
from trodden.profile.store.machine_codec import machine_from_columns, machine_to_columns
from trodden.profile.store.process_codec import from_documents, to_documents
from trodden.profile.store.program_codec import programs_from_documents, programs_to_documents
from trodden.profile.store.thread_codec import threads_from_documents, threads_to_documents
from trodden.profile.store.trace_codec import end_of_pieces, traces_from_document, traces_to_document
from trodden.profile.store.unit_counts_codec import (
    MOST_COUNT,
    unit_counts_from_columns,
    unit_counts_to_columns,
)
from trodden.profile.trace.model import Piece, Pieces, Traces
from trodden.program.checked import ColumnError, text, whole
from trodden.program.facts import UnitFacts
from trodden.program.record import BEHIND, HEAD_SIZE, length_in, seal, unseal
from trodden.program.unit_codec import unit_from_json, unit_to_json
from trodden.recover.budget import Budget
from trodden.regular_files import open_regular

MAGIC = b"TRODDEN\n"
PIECES = b"TRODTRC\n"
"""What follows the document if there is a trace; then its pieces follow, without gaps."""

_STEPS_A_BYTE = 32


def save(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write a profile; if that fails, the previous file is unchanged."""
    if profile.traces is None:
        write_whole(path, to_bytes(profile))
    else:
        pieces = profile.traces.all_pieces
        write_parts(path, chain([to_bytes(profile), PIECES], map(profile.traces.pieces.packed, pieces)))


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile."""
    name = os.fspath(path)
    try:
        with open_regular(name) as stream:
            data = document_in(stream)
            return _read(data, name, stream)
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error


def has_trace(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a profile with a trace."""
    try:
        with open_regular(os.fspath(path)) as stream:
            length = length_in(MAGIC, stream.read(HEAD_SIZE))
            if length is None or length > os.fstat(stream.fileno()).st_size:
                return False
            stream.seek(HEAD_SIZE + length)
            return stream.read(len(PIECES)) == PIECES
    except OSError:
        return False


def document_in(stream: BinaryIO) -> bytes:
    """The document at the start of a file, with what follows it unless that is a trace."""
    head = stream.read(HEAD_SIZE)
    length = length_in(MAGIC, head)
    if length is None:
        return head + stream.read()
    # A length that is damaged may be larger than any memory.
    data = head + stream.read(min(length, os.fstat(stream.fileno()).st_size))
    follows = stream.read(len(PIECES))
    return data if follows == PIECES else data + follows + stream.read()


def to_bytes(profile: Profile) -> bytes:
    """The content of the file."""
    document: dict[str, Any] = {}
    if profile.traces is not None:
        document[BEHIND] = len(PIECES) + sum(piece.packed for piece in profile.traces.all_pieces)
    document |= {
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
    if profile.traces is not None:
        document["trace"] = traces_to_document(profile.traces, _places(profile.traces))
    return seal(MAGIC, document)


def _places(traces: Traces) -> dict[Piece, int]:
    """Where each piece lies behind the document."""
    pieces = traces.all_pieces
    return dict(zip(pieces, accumulate((piece.packed for piece in pieces), initial=0), strict=False))


def _traces(
    document: Any,
    size: int,
    units: Sequence[UnitFacts],
    processes: Sequence[Process],
    stream: BinaryIO | None,
    where: str,
) -> Traces | None:
    """The traces; ``None`` if only the document was read.

    Of a truncated file they are read up to where it ends.
    """
    if stream is None:
        return None
    start = size + len(PIECES)
    if os.fstat(stream.fileno()).st_size > start + end_of_pieces(document):
        raise BadFile(f"{where}: corrupt: its trace is longer than it should be")
    pieces = Pieces(os.dup(stream.fileno()), start, where)
    return traces_from_document(document, units, processes, pieces)


def from_bytes(data: bytes, where: str) -> Profile:
    """A profile from the content of a file; ``where`` names the file in error messages."""
    return _read(data, where, None)


def _read(data: bytes, where: str, stream: BinaryIO | None) -> Profile:
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
            if "trace" in document:
                traces = _traces(document["trace"], size, units, processes, stream, where)
                profile = replace(profile, traces=traces)
                if traces is not None and (missing := traces.missing_bytes()):
                    truncated = f"{where}: truncated: the last {missing:,} bytes of its trace are missing"
                    profile = replace(profile, messages=(*profile.messages, truncated))
            merged = whole(document.get("merged", 0), 0, MOST_COUNT)
            return replace(profile, programs=programs, processes=processes, threads=threads, merged=merged)
        except (ColumnError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{where}: corrupt: it is not a profile ({error})") from error
