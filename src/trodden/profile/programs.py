"""The profile of one of the programs, or libraries, that a profile is of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from trodden.collect.endings import Process
from trodden.collect.executed import Executed
from trodden.collect.process_messages import process_name_in
from trodden.collect.programs import ProgramFile, program_names, shared_units
from trodden.errors import UsageError
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.processes import traces_of
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

_MOST_LISTED = 8


def only_program(profile: Profile, name: str, where: str) -> Profile:
    """What one program has executed, or what was executed in one library; ``where`` is the profile's file.

    Of an executable, everything that its processes have counted, in libraries too.  A merged profile does not
    know its processes: of an executable it has the counts in the units that belong to it.
    """
    chosen = _find(profile, name, where)
    if chosen.library:
        return _part(profile, chosen, set(chosen.units), profile.unit_counts, ())
    if len(profile.processes) == 1:
        return profile
    if profile.processes:
        return _of_processes(profile, chosen)
    messages = []
    if set(chosen.units) & shared_units(profile.programs):
        messages.append(
            f"units of {_base(chosen)} are part of other programs too, and their counts are those of all"
            " of these: a merged profile does not tell them apart"
        )
    if any(each.library for each in profile.programs):
        messages.append(f"what {_base(chosen)} executed in libraries is not known of a merged profile")
    return _part(profile, chosen, set(chosen.units), profile.unit_counts, messages)


def _of_processes(profile: Profile, chosen: ProgramFile) -> Profile:
    """What all processes of an executable have counted."""
    places = {index: place for place, index in enumerate(_indices(profile.processes, chosen))}
    processes = [profile.processes[index] for index in places]
    facts = {unit.id: unit for unit in profile.units}
    builders: dict[str, UnitCountsBuilder] = {}
    for process in processes:
        for counted in process.unit_counts:
            builders.setdefault(counted.unit, UnitCountsBuilder(facts[counted.unit])).add(counted)
    counts = [builder.result() for builder in builders.values()]
    units = set(chosen.units)
    for each in profile.programs:
        if each.library and units.isdisjoint(each.units) and not builders.keys().isdisjoint(each.units):
            units |= set(each.units)
    found = _part(profile, chosen, units | builders.keys(), counts, ())
    others = {each.name for index, each in enumerate(profile.processes) if index not in places}
    threads = tuple(
        replace(each, process=places[each.process]) for each in profile.threads if each.process in places
    )
    return replace(
        found,
        messages=tuple(each for each in found.messages if process_name_in(each) not in others),
        programs=tuple(
            replace(each, processes=sum(_has_counted(process, each) for process in processes))
            if each.library
            else each
            for each in found.programs
        ),
        processes=tuple(processes),
        threads=threads,
        **traces_of(profile, places),
    )


def _has_counted(process: Process, library: ProgramFile) -> bool:
    return any(counted.unit in library.units for counted in process.unit_counts)


def _indices(processes: Sequence[Process], chosen: ProgramFile) -> list[int]:
    return [index for index, process in enumerate(processes) if process.program == chosen.path]


def _part(
    profile: Profile,
    chosen: ProgramFile,
    units: set[str],
    unit_counts: Iterable[UnitCounts],
    messages: Sequence[str],
) -> Profile:
    """The units of ``units``, with what ``unit_counts`` says of them."""
    known = {each.unit: each for each in unit_counts}
    kept = [unit for unit in profile.units if unit.id in units]
    counted = [known.get(unit.id) or UnitCounts.zero(unit) for unit in kept]
    if profile.call_paths:
        messages = (*messages, "call paths are known of all programs together only")
    found = assemble(chosen.path, kept, counted, (*profile.messages, *messages))
    inside = [
        each
        for each in profile.programs
        if each.library and not chosen.library and each.units and units.issuperset(each.units)
    ]
    executed = Executed({unit.id: unit for unit in kept})
    libraries = [
        replace(each, executed=executed.blocks(known[unit] for unit in each.units if unit in known))
        for each in inside
    ]
    return replace(found, programs=(chosen, *libraries), merged=profile.merged)


def owners_of(profile: Profile) -> dict[str, list[str]]:
    """The names of the programs and libraries that each unit is part of."""
    found: dict[str, list[str]] = {}
    for name, each in zip(program_names(profile.programs), profile.programs, strict=True):
        for unit in each.units:
            found.setdefault(unit, []).append(name)
    return found


def _find(profile: Profile, name: str, where: str) -> ProgramFile:
    """A program by its name, its path, or the last parts of its path."""
    if not profile.programs:
        raise UsageError(f"{where}: does not say which programs it is of (it was made by an earlier version)")
    names = program_names(profile.programs)
    exact = [each for own, each in zip(names, profile.programs, strict=True) if name in (own, each.path)]
    parts = [part for part in name.split(os.sep) if part not in ("", os.curdir)]
    ending = os.sep + os.sep.join(parts)
    found = exact or [each for each in profile.programs if parts and each.path.endswith(ending)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{where}: there is no program {name}; it has {_listed(names)}")
    several = [own for own, each in zip(names, profile.programs, strict=True) if each in found]
    raise UsageError(f"{where}: {name} may be several programs: name one of {_listed(several)}")


def _base(program: ProgramFile) -> str:
    return os.path.basename(program.path)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
