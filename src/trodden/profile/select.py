"""Selecting functions by name."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from trodden.errors import UsageError
from trodden.profile.inlined import only_inlined
from trodden.profile.model import FunctionProfile, Profile


def select(profile: Profile, pattern: str | None) -> Mapping[str, FunctionProfile]:
    """The functions that match a pattern, all of them if there is none.

    A pattern that is a name matches that function even if the name contains wildcards, as ``operator[]``
    does.
    """
    if pattern is None:
        return profile.functions
    exact = {key: each for key, each in profile.functions.items() if pattern in _names(key, each)}
    picked = exact or {
        key: each
        for key, each in profile.functions.items()
        if any(fnmatchcase(name, pattern) for name in _names(key, each))
    }
    if not picked:
        reasons = [skipped.reason for skipped in profile.skipped if skipped.name == pattern]
        inlined = [each.words() for each in only_inlined(profile) if _is_called(each.name, pattern)]
        why = "see trodden report for the names"
        if reasons or inlined:
            why = f"it was not profiled: {reasons[0]}" if reasons else f"it was {inlined[0]}"
        raise UsageError(f"no function matches {pattern!r}; {why}")
    return picked


def _is_called(name: str, pattern: str) -> bool:
    return pattern in (name, without_parameters(name)) or fnmatchcase(name, pattern)


def _names(key: str, function: FunctionProfile) -> tuple[str, ...]:
    """The names of a function: for a C++ function also the one without parameters."""
    return key, function.name, function.facts.linkage_name, without_parameters(function.name)


def without_parameters(name: str) -> str:
    """A demangled name up to its parameter list, which is the last pair of parentheses.

    Other pairs may precede it: ``(anonymous namespace)::f(int)``, ``A::operator()(int) const``.
    """
    depth = 0
    for position in range(name.rfind(")"), -1, -1):
        depth += (name[position] == ")") - (name[position] == "(")
        if depth == 0:
            return name[:position]
    return name
