"""The copies of one function of the source in several units: what a reader takes for one function.

A static function of a header is compiled into every unit that includes it, and a source may be part of
several programs.  Such copies have the same name, the same source location and, unless they were compiled
differently, the same graph with the same lines; then their counts add up, and the copies remain available.
Copies that differ (other macros, other optimisation) remain functions of their own: their blocks and paths
are not the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from trodden.plan.probes import BlockMeasure
from trodden.plan.routes import PathCount
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import LineRef

_K = TypeVar("_K", int, tuple[int, int])


def join_copies(functions: Iterable[FunctionProfile]) -> list[FunctionProfile]:
    """The functions in their order, the copies of each joined into the first."""
    groups: dict[Hashable, list[FunctionProfile]] = {}
    for function in functions:
        groups.setdefault(_identity(function), []).append(function)
    return [_joined(copies) for group in groups.values() for copies in _with_same_lines(group)]


def _identity(function: FunctionProfile) -> Hashable:
    """Equal for the copies of a function whose counts can be added if their blocks have the same lines."""
    facts = function.facts
    paths = None if facts.plan.paths is None else replace(facts.plan.paths, dense=True, timed=False)
    return (
        (function.file, facts.line, facts.linkage_name),
        (facts.fingerprint, facts.graph.edges),
        (paths, function.paths is None, has_edge_counts(function)),
    )


def _with_same_lines(copies: Sequence[FunctionProfile]) -> Iterable[list[FunctionProfile]]:
    """The copies in groups: ``#if`` inside of a function may exchange lines and leave the graph as it is."""
    if len(copies) == 1:
        return [list(copies)]
    groups: dict[Hashable, list[FunctionProfile]] = {}
    for copy in copies:
        groups.setdefault(_lines(copy), []).append(copy)
    return groups.values()


def _lines(function: FunctionProfile) -> Hashable:
    """The lines of each block, and where its calls are among them."""

    def location(ref: LineRef | None) -> Hashable:
        return None if ref is None else (function.files[ref.file].path, ref.line, ref.instance)

    return tuple(
        (tuple(map(location, block.lines)), location(block.branch), block.call_lines, block.added_lines)
        for block in function.facts.blocks
    )


def _joined(copies: Sequence[FunctionProfile]) -> FunctionProfile:
    if len(copies) == 1:
        return copies[0]
    total = copies[0]
    for copy in copies[1:]:
        total = add_counts(total, copy)
    return replace(total, copies=tuple(part for copy in copies for part in copy.copies or (copy,)))


def has_edge_counts(function: FunctionProfile) -> bool:
    """Whether every edge count follows from the counters, whatever they hold."""
    plan = function.facts.plan
    if plan.paths is not None:
        return True
    if plan.counts_nothing or plan.free:
        return False
    return not any(isinstance(measure, BlockMeasure) for measure in plan.measures)


def apart(profile: Profile) -> Profile:
    """The profile with the copies of each function as functions of their own, named after their units."""
    sources = {unit.id: unit.source for unit in profile.units}
    functions: dict[str, FunctionProfile] = {}
    for key, function in profile.functions.items():
        if not function.copies:
            functions[key] = function
        for copy in function.copies:
            functions[free_name(f"{key} in {sources[copy.unit]}", functions)] = copy
    return replace(profile, functions=functions)


def free_name(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number if it is used already."""
    key, number = name, 2
    while key in taken:
        key, number = f"{name}#{number}", number + 1
    return key


def add_counts(one: FunctionProfile, other: FunctionProfile) -> FunctionProfile:
    """The sum of two functions with the same graph and, if they have paths, the same numbering.

    Its facts are those of the first whose code was executed: the linker keeps one COMDAT copy.
    """
    if one.facts.machine is None and other.facts.machine is not None:
        one, other = other, one
    return replace(
        one,
        block_counts=[a + b for a, b in zip(one.block_counts, other.block_counts, strict=True)],
        edge_counts=[
            None if a is None or b is None else a + b
            for a, b in zip(one.edge_counts, other.edge_counts, strict=True)
        ],
        cut_short=_sum(one.cut_short, other.cut_short),
        violations=tuple(dict.fromkeys(one.violations + other.violations)),
        paths=None if one.paths is None or other.paths is None else _sum_paths(one.paths, other.paths),
        stops=_sum(one.stops, other.stops),
        path_stops=_sum(one.path_stops, other.path_stops),
        unlocated=one.unlocated + other.unlocated,
    )


def _sum(one: Mapping[_K, int], other: Mapping[_K, int]) -> dict[_K, int]:
    found = Counter(one)
    found.update(other)  # keeps what is negative, which adding Counters does not
    return {key: count for key, count in sorted(found.items()) if count}


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
