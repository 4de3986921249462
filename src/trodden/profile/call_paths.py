"""Call paths (BL96 §1.2) by the names of functions in a profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from trodden.collect.call_paths import CalledFunction
from trodden.profile.model import NamedCallPath, Profile


def named_call_paths(profile: Profile, picked: Mapping[str, object] | None = None) -> list[NamedCallPath]:
    """The call paths by the names of functions in the profile, most frequent first.

    COMDAT copies are one function, and their paths add up.  Of ``picked`` functions only the paths that lead
    to them.
    """
    names = function_names(profile)
    counts: Counter[tuple[str, ...]] = Counter()
    recursive: set[tuple[str, ...]] = set()
    for path in profile.call_paths:
        chain = tuple(names[called] for called in path.functions)
        if picked is None or chain[-1] in picked:
            counts[chain] += path.count
            if path.recursive:
                recursive.add(chain)
    found = (NamedCallPath(chain, count, chain in recursive) for chain, count in counts.items())
    return sorted(found, key=lambda path: path.rank)


def function_names(profile: Profile) -> dict[CalledFunction, str]:
    """The name of each function of each unit; a COMDAT copy that was left out has the name of another."""
    own = {
        id(copy.facts): key
        for key, function in profile.functions.items()
        for copy in function.copies or (function,)
    }
    shared: dict[tuple[str, str], str] = {}
    any_copy: dict[str, str] = {}
    for key, function in profile.functions.items():
        if function.facts.shared:
            shared[function.facts.linkage_name, function.facts.fingerprint] = key
            any_copy.setdefault(function.facts.linkage_name, key)
    names: dict[CalledFunction, str] = {}
    for unit in profile.units:
        for number, facts in enumerate(unit.functions):
            copy = shared.get((facts.linkage_name, facts.fingerprint)) or any_copy.get(facts.linkage_name)
            names[unit.id, number] = own.get(id(facts)) or copy or facts.name
    return names
