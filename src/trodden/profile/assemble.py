"""From the facts of units and what was counted in them to a profile of functions.

A function that several units define (a template, an inline function) has a COMDAT copy in each of them, with
counters of its own, of which the linker keeps one.  Copies with the same graph are joined by adding their
counts, and so are the copies of a function that every unit keeps (see :mod:`trodden.profile.copies`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile

from trodden.collect.call_paths import CallPath
from trodden.plan.probes import Paths
from trodden.profile.copies import add_counts, has_edge_counts, join_copies
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import Skipped, UnitFacts
from trodden.recover.budget import Budget
from trodden.recover.unit import recover_unit
from trodden.recover.unit_counts import UnitCounts

PATHS = "paths"
EDGES = "edges"
BLOCKS = "blocks"
TRACE = "trace"

_STEPS_AN_ENTRY = 256


def assemble(
    program: str,
    units: Sequence[UnitFacts],
    unit_counts: Sequence[UnitCounts],
    messages: Sequence[str] = (),
    call_paths: Sequence[CallPath] = (),
    budget: Budget | None = None,
) -> Profile:
    """The profile of a program; ``unit_counts[i]`` belongs to ``units[i]``, ``messages`` are about the runs.

    ``budget`` bounds the total length of its paths; without one it is derived from the size of the counts.
    """
    budget = budget or Budget(sum(each.entries() for each in unit_counts), _STEPS_AN_ENTRY)
    copies: list[FunctionProfile] = []
    for unit, counted in zip(units, unit_counts, strict=True):
        copies += unit_profiles(unit, counted, budget)
    functions = named(join_copies(_joined(copies)))
    return Profile(
        kind=_kind(functions.values()),
        program=program,
        units=tuple(units),
        functions=functions,
        skipped=skipped_of(units),
        messages=tuple(messages),
        unit_counts=tuple(unit_counts),
        call_paths=tuple(call_paths),
    )


def unit_profiles(
    unit: UnitFacts, counted: UnitCounts, budget: Budget | None = None
) -> Iterator[FunctionProfile]:
    """The functions of a unit with their counts, in their order."""
    for found in recover_unit(unit, counted, budget):
        yield FunctionProfile(
            facts=found.facts,
            files=unit.files,
            unit=unit.id,
            block_counts=found.blocks,
            edge_counts=found.edges,
            cut_short=found.cut_short,
            violations=found.violations,
            paths=found.paths,
            stops=found.stops,
            path_stops=found.path_stops,
            unlocated=found.unlocated,
        )


def _joined(copies: Iterable[FunctionProfile]) -> list[FunctionProfile]:
    """All functions, COMDAT copies joined; of different variants only those that ran, or the first."""
    found: list[FunctionProfile] = []
    shared: dict[str, dict[tuple[str, Paths | None], FunctionProfile]] = {}
    for copy in copies:
        if copy.facts.shared:
            variants = shared.setdefault(copy.facts.linkage_name, {})
            variant = copy.facts.fingerprint, copy.facts.plan.paths
            known = variants.get(variant)
            variants[variant] = add_counts(known, copy) if known else copy
        else:
            found.append(copy)
    for variants in shared.values():
        executed = [variant for variant in variants.values() if any(variant.block_counts)]
        found += executed or [next(iter(variants.values()))]
    return found


def named(functions: Sequence[FunctionProfile]) -> Mapping[str, FunctionProfile]:
    """Functions by name; by file and name if the name is not unique; numbered if that is not either.

    Of a file there are as many parts of its path as distinguish it from those of the other functions.
    """
    files: dict[str, dict[str, None]] = {}
    for each in functions:
        files.setdefault(each.name, {})[each.file] = None
    names = Counter(each.name for each in functions)
    short = {name: short_paths(tuple(some)) for name, some in files.items() if names[name] > 1}
    named: dict[str, FunctionProfile] = {}
    last: dict[str, int] = {}
    for each in functions:
        name = each.name if names[each.name] == 1 else f"{short[each.name][each.file]}:{each.name}"
        key, number = name, last.get(name, 1)
        while key in named:
            number += 1
            key = f"{name}#{number}"
        last[name] = number
        named[key] = each
    return named


def short_paths(paths: Sequence[str]) -> dict[str, str]:
    """The last parts of each path, as many as distinguish it.

    In the order of their parts from the last to the first, those that have most in common are neighbours.
    """
    ordered = sorted((path.split(os.sep)[::-1], path) for path in paths)
    common = [_in_common(one, other) for (one, _), (other, _) in pairwise(ordered)]
    return {
        path: os.sep.join(parts[: 1 + max(shared)][::-1])
        for (parts, path), shared in zip(ordered, zip([0, *common], [*common, 0], strict=True), strict=True)
    }


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of their first elements are the same."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _kind(functions: Collection[FunctionProfile]) -> str:
    """The kind of counts that the profile has of every function, as far as it has any."""
    counted = [function for function in functions if not function.facts.plan.counts_nothing]
    if functions and not counted:
        return TRACE
    if counted and all(function.paths is not None for function in counted):
        return PATHS
    return EDGES if all(map(has_edge_counts, counted)) else BLOCKS


def skipped_of(units: Sequence[UnitFacts]) -> tuple[Skipped, ...]:
    """The functions of some units that have no probes, each once."""
    return tuple(dict.fromkeys(skipped for unit in units for skipped in unit.skipped))
