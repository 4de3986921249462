"""Which function of one profile corresponds to which of another, and whether their paths are comparable.

A function is identified by its linkage name and the fingerprint of its graph, so that profiles of two builds
can be compared wherever a function has not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from trodden.profile.model import FunctionProfile

NO_SUCH = "the other build has no such function"


@dataclass(frozen=True)
class Pair:
    """One function in two profiles, under its name in the second."""

    name: str
    first: FunctionProfile
    second: FunctionProfile


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A function without a counterpart: ``first`` says in which of the two profiles it is, ``reason`` why."""

    name: str
    first: bool
    reason: str


_Key = Callable[[FunctionProfile], Hashable]


def _same(function: FunctionProfile) -> tuple[Hashable, ...]:
    return function.facts.linkage_name, function.facts.fingerprint, function.facts.graph.edges


_KEYS: tuple[_Key, ...] = (
    _same,
    lambda function: (*_same(function), function.file),
    lambda function: (*_same(function), function.file, function.unit),
)


def pair(
    first: Mapping[str, FunctionProfile], second: Mapping[str, FunctionProfile]
) -> tuple[list[Pair], list[Unpaired]]:
    """Pair the functions of two profiles; static ones that share a name are distinguished by their files."""
    left, right = dict(first), dict(second)
    found: dict[str, Pair] = {}
    for key in reversed(_KEYS):
        others = _unique(left, key)
        for mark, name in _unique(right, key).items():
            if mark in others:
                found[name] = Pair(name, left.pop(others[mark]), right.pop(name))
    alone = _alone(left, second, first=True) + _alone(right, first, first=False)
    return [found[name] for name in second if name in found], alone


def _unique(functions: Mapping[str, FunctionProfile], key: _Key) -> dict[Hashable, str]:
    """The functions that ``key`` distinguishes from all others."""
    found: dict[Hashable, str] = {}
    again: set[Hashable] = set()
    for name, function in functions.items():
        mark = key(function)
        if mark in found:
            again.add(mark)
        found[mark] = name
    return {mark: name for mark, name in found.items() if mark not in again}


def _alone(
    functions: Mapping[str, FunctionProfile], others: Mapping[str, FunctionProfile], first: bool
) -> list[Unpaired]:
    symbols = {each.facts.linkage_name for each in others.values()}
    graphs = {_same(each) for each in others.values()} if functions else set()
    found = []
    for name, function in functions.items():
        if _same(function) in graphs:
            reason = "there are several of that name and graph"
        elif function.facts.linkage_name in symbols:
            reason = "its control-flow graph differs in the other build"
        else:
            reason = NO_SUCH
        found.append(Unpaired(name, first, reason))
    return found


def same_paths(one: FunctionProfile, other: FunctionProfile) -> bool:
    """Whether the paths of both are the same: they start and end at the same edges."""
    ours, theirs = one.facts.plan.paths, other.facts.plan.paths
    if one.paths is None or other.paths is None or ours is None or theirs is None:
        return False
    return ours.same_numbers(theirs)
