"""Reading many profiles one after the other, as parts of a merge.

Profiles of one build differ in their counts only: the facts of its units, nearly all of the file, are the
same bytes in each of them.  Therefore the facts of the last few builds are kept together with their text, and
are not parsed again where the text is the same.  Nothing is recovered here: counters add up as they are.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from trodden.collect.call_paths import CallPath
from trodden.collect.executed import Executed
from trodden.collect.gather import Programs, gather
from trodden.collect.programs import ProgramFile, with_blocks_executed
from trodden.errors import BadFile, InputMissing, UsageError
from trodden.gc_pause import no_garbage
from trodden.profile.assemble import EDGES
from trodden.profile.derived import derive
from trodden.profile.estimated import refusal
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.call_path_codec import from_columns
from trodden.profile.store.machine_codec import machine_from_columns, machine_functions
from trodden.profile.store.program_codec import programs_from_documents
from trodden.profile.store.trod import MAGIC, document_in, from_bytes, load
from trodden.profile.store.unit_counts_codec import unit_counts_from_columns
from trodden.program.checked import ColumnError, text, whole
from trodden.program.facts import UnitFacts, with_machine_of
from trodden.program.record import parse, unpack
from trodden.recover.sparse_counters import nonzero
from trodden.recover.unit_counts import UnitCounts

BUILDS_KEPT = 4

_UNITS, _COUNTS = b',"units":', b',"counts":'
MOST_MERGED_COUNT, _MOST_MERGED_FRAMES = 1 << 96, 1 << 48
"""Far more than a program can count to; sums of any number of profiles stay within what a file may hold."""


@dataclass(frozen=True)
class Part:
    """The content of one file: ``unit_counts[i]`` belongs to ``units[i]``.

    ``merged`` is the number of profiles that it was merged from, ``programs`` are those that it is of; files
    of earlier versions do not say which these are.  The counts of single processes are not
    kept, nor where threads were.
    """

    where: str
    program: str
    units: tuple[UnitFacts, ...]
    unit_counts: tuple[UnitCounts, ...]
    messages: tuple[str, ...] = ()
    call_paths: tuple[CallPath, ...] = ()
    merged: int = 1
    programs: tuple[ProgramFile, ...] = ()


class PartReader:
    """Reads profiles and raw files, and keeps the facts of the last few builds."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[UnitFacts, ...]] = OrderedDict()
        self._programs = Programs()

    def read(self, name: str) -> Part:
        """The content of a file, with every number checked."""
        try:
            with open(name, "rb") as stream:
                data = stream.read(len(MAGIC))
                if data == MAGIC and stream.seekable():
                    stream.seek(0)
                    data = document_in(stream)
                elif data == MAGIC:
                    data += stream.read()
        except OSError as error:
            raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise InputMissing(f"{name!r}: no file can have such a name") from error
        with no_garbage():
            part = self._profile(data, name) if data.startswith(MAGIC) else self._raw(data, name)
        if not part.units:
            raise BadFile(f"{name}: there is nothing in it that could be counted")
        if not all(map(_believable, part.unit_counts)):
            raise BadFile(f"{name}: corrupt: a count is larger than any program can count to")
        return part

    def _raw(self, start: bytes, name: str) -> Part:
        if not start.startswith(b"TROD"):
            raise BadFile(f"{name}: neither a profile nor a raw file")
        found = gather(name, self._programs)
        if found.traced:
            return _of_trace(name, collect([name]))
        executed = Executed({unit.id: unit for unit in found.units})
        processes = [replace(each, executed=executed.blocks(each.unit_counts)) for each in found.processes]
        return Part(
            name,
            found.program,
            found.units,
            found.unit_counts,
            found.messages,
            found.call_paths,
            programs=with_blocks_executed(found.programs, processes, found.unit_counts, executed),
        )

    def _profile(self, data: bytes, name: str) -> Part:
        record, size = unpack(MAGIC, data, name)
        if size != len(data):
            raise BadFile(f"{name}: corrupt: {len(data) - size} bytes too long")
        try:
            units, rest = self._facts(record)
            document = parse(rest, name)
            if "trace" in document:
                return _of_trace(name, load(name))
            if "estimate" in document:
                raise UsageError(refusal(name, "merge profiles of runs"))
            if units is not None and "units" in document:
                raise ColumnError("it has its units twice")
            if units is None:
                # The first profile of a build is read like any other, which checks its facts.
                units = from_bytes(data, name).units
                self._remember(record, units)
            elif "machine" in document:
                units = self._with_machine(document["machine"], units)
            return Part(
                name,
                text(document["program"]),
                units,
                tuple(unit_counts_from_columns(document, units)),
                tuple(map(text, document["notes"])),
                from_columns(document["calls"], units, name) if "calls" in document else (),
                whole(document.get("merged", 1), 1, MOST_MERGED_COUNT),
                programs_from_documents(document.get("programs", []), units),
            )
        except (ColumnError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{name}: corrupt: it is not a profile ({error})") from error

    def _facts(self, record: bytes) -> tuple[tuple[UnitFacts, ...] | None, bytes]:
        """The units of a profile if their text is known, and what is left to parse.

        A quote inside a text of JSON has a backslash before it, so the name of the field is found nowhere
        else.
        """
        start = record.find(_UNITS)
        for known, units in self._known.items():
            if start >= 0 and record.startswith(known, start):
                self._known.move_to_end(known)
                end = start + len(known) - len(_COUNTS)
                return units, record[:start] + record[end:]
        return None, record

    def _with_machine(self, data: Any, units: tuple[UnitFacts, ...]) -> tuple[UnitFacts, ...]:
        """The units with the machine instructions of functions that no earlier profile has executed."""
        new = [
            not all(unit.functions[number].machine for number in executed)
            for unit, executed in zip(units, machine_functions(data, units), strict=True)
        ]
        if not any(new):
            return units
        known = tuple(map(with_machine_of, machine_from_columns(data, units), units))
        self._known = OrderedDict(
            (record, known if kept is units else kept) for record, kept in self._known.items()
        )
        return known

    def _remember(self, record: bytes, units: tuple[UnitFacts, ...]) -> None:
        start = record.find(_UNITS)
        end = record.find(_COUNTS, start)
        if 0 <= start < end:
            self._known[record[start : end + len(_COUNTS)]] = units
            if len(self._known) > BUILDS_KEPT:
                self._known.popitem(last=False)


def _of_trace(name: str, traced: Profile) -> Part:
    """The edge profile that follows from the trace in a file."""
    profile = derive(traced, EDGES).profile
    return Part(
        name,
        profile.program,
        profile.units,
        profile.unit_counts,
        profile.messages,
        profile.call_paths,
        max(profile.merged, 1),
        profile.programs,
    )


def _believable(counted: UnitCounts) -> bool:
    counts = [value for _, value in nonzero(counted.counters)]
    counts += [value for totals in counted.sparse.values() for value in totals]
    frames = [*counted.active.values(), *counted.prefixes.values()]
    frames += [*counted.stops.values(), *counted.unlocated.values()]
    return (
        max(counts, default=0) < MOST_MERGED_COUNT and max(map(abs, frames), default=0) < _MOST_MERGED_FRAMES
    )


def same_file(name: str) -> int | None:
    """A number that is the same for all names of one regular file; ``None`` for other files."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_dev << 64 | found.st_ino if stat.S_ISREG(found.st_mode) else None
