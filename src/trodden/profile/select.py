"""Selecting functions by name, among those that the filter of a profile shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from trodden.errors import UsageError
from trodden.profile.filters import shows
from trodden.profile.inlined import only_inlined
from trodden.profile.model import Filter, FunctionProfile, Profile


def select(profile: Profile, pattern: str | None) -> Mapping[str, FunctionProfile]:
    """The functions that match a pattern; without one all that the filter of the profile shows.

    A profile of nothing but system headers and standard libraries is shown.

    A pattern that is a name matches that function even if the name contains wildcards, as ``operator[]``
    does.
    """
    if pattern is None:
        return shown(profile)
    exact = {key: each for key, each in profile.functions.items() if pattern in _names(key, each)}
    picked = exact or {
        key: each
        for key, each in profile.functions.items()
        if any(fnmatchcase(name, pattern) for name in _names(key, each))
    }
    if not picked:
        otherwise = (
            "see trodden report for the names; a function that was inlined is part of those that call it"
        )
        raise UsageError(
            f"no function matches {pattern!r}; {why_there_is_none(profile, pattern) or otherwise}"
        )
    return picked


def shown(profile: Profile) -> Mapping[str, FunctionProfile]:
    """The functions that the filter of a profile shows."""
    if profile.filter == Filter(markers=profile.filter.markers):
        return profile.functions
    found = _shown(profile, profile.filter)
    if not found:
        found = _shown(profile, replace(profile.filter, system=True))
    if not found and profile.functions:
        raise UsageError(
            "no function matches --include and --exclude; see trodden report for names and files"
        )
    return found


def _shown(profile: Profile, filter: Filter) -> dict[str, FunctionProfile]:
    return {key: each for key, each in profile.functions.items() if shows(filter, each, _names(key, each))}


def why_there_is_none(profile: Profile, pattern: str) -> str | None:
    """Why there is no function of a name, if that is known: it has no probes, or no code of its own."""
    reasons = [skipped.reason for skipped in profile.skipped if skipped.name == pattern]
    if reasons:
        return f"it was not profiled: {reasons[0]}"
    inlined = [each.words() for each in only_inlined(profile) if _is_called(each.name, pattern)]
    if inlined:
        return f"it exists only {inlined[0]}; name that function, or build with -O0 or --stage early"
    return None


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
