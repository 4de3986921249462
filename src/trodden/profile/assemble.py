"""From the facts of units and what was counted in them to a profile of functions.

A function that several units define (a template, an inline function) has a COMDAT copy in each of them, with
counters of its own, of which the linker keeps one.  Copies with the same graph are joined by adding their
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trodden.collect.call_paths import CallPath
from trodden.plan.probes import BlockMeasure, Paths
from trodden.plan.routes import PathCount
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import Skipped, UnitFacts
from trodden.recover.budget import Budget
from trodden.recover.unit import recover_unit
from trodden.recover.unit_counts import UnitCounts

PATHS = "paths"
EDGES = "edges"
BLOCKS = "blocks"

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
    functions = named(_joined(copies))
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


def add_counts(one: FunctionProfile, other: FunctionProfile) -> FunctionProfile:
    """The sum of two functions with the same graph and, if they have paths, the same numbering."""
    cut_short = Counter(one.cut_short)
    cut_short.update(other.cut_short)  # keeps what is negative, which adding Counters does not
    return replace(
        one,
        block_counts=[a + b for a, b in zip(one.block_counts, other.block_counts, strict=True)],
        edge_counts=[
            None if a is None or b is None else a + b
            for a, b in zip(one.edge_counts, other.edge_counts, strict=True)
        ],
        cut_short={block: count for block, count in sorted(cut_short.items()) if count},
        violations=tuple(dict.fromkeys(one.violations + other.violations)),
        paths=None if one.paths is None or other.paths is None else _sum_paths(one.paths, other.paths),
    )


def _sum_paths(one: Sequence[PathCount], other: Sequence[PathCount]) -> tuple[PathCount, ...]:
    """Paths of the same numbering: the same number is the same path."""
    found = {path.id: path for path in one}
    for path in other:
        known = found.get(path.id)
        if known is not None:
            cycles = None if known.cycles is None or path.cycles is None else known.cycles + path.cycles
            path = replace(path, count=known.count + path.count, cycles=cycles)
        found[path.id] = path
    return tuple(sorted(found.values(), key=lambda path: (-path.count, path.id)))


def named(functions: Sequence[FunctionProfile]) -> Mapping[str, FunctionProfile]:
    """Functions by name; by file and name if the name is not unique; numbered if that is not either."""
    names = Counter(each.name for each in functions)
    named: dict[str, FunctionProfile] = {}
    last: dict[str, int] = {}
    for each in functions:
        name = each.name if names[each.name] == 1 else f"{each.file}:{each.name}"
        key, number = name, last.get(name, 1)
        while key in named:
            number += 1
            key = f"{name}#{number}"
        last[name] = number
        named[key] = each
    return named


def _kind(functions: Collection[FunctionProfile]) -> str:
    """The kind of counts that the profile has of every function."""
    if functions and all(function.paths is not None for function in functions):
        return PATHS
    return EDGES if all(map(_has_edge_counts, functions)) else BLOCKS


def _has_edge_counts(function: FunctionProfile) -> bool:
    """Whether every edge count follows from the counters, whatever they hold."""
    plan = function.facts.plan
    if plan.paths is not None:
        return True
    return not plan.free and not any(isinstance(measure, BlockMeasure) for measure in plan.measures)


def skipped_of(units: Sequence[UnitFacts]) -> tuple[Skipped, ...]:
    """The functions of some units that have no probes, each once."""
    return tuple(dict.fromkeys(skipped for unit in units for skipped in unit.skipped))
