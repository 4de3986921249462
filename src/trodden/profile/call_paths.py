"""Paths of calls (BL96 §1.2): gathered from raw files, stored as a tree, and named as people know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trodden.collect.rawfile.model import Raw
from trodden.errors import BadFile
from trodden.profile.model import CalledFunction, CallPath, NamedCallPath, Profile, UnitFacts
from trodden.profile.store.readings import MOST_COUNT
from trodden.program.checked import ColumnError, columns, ints, same_length
from trodden.recover.budget import Budget

_Chain = tuple[CalledFunction, ...]

_DEPTH = 256
"""How deep calls may be nested on average, in a tree so large that it matters."""


class CallTally:
    """The call paths of several processes and threads: the same chains add up."""

    def __init__(self) -> None:
        self._counts: Counter[_Chain] = Counter()
        self._recursive: set[_Chain] = set()

    def add(self, raw: Raw, units: Mapping[str, UnitFacts]) -> None:
        """Add what one process has counted."""
        chains: list[_Chain | None] = []
        budget = Budget(len(raw.calls), _DEPTH)
        for call in raw.calls:
            if call.unit is None:
                chains.append(())
                continue
            unit = units[raw.units[call.unit].id]
            parent = chains[call.parent]
            if call.function >= len(unit.functions) or parent is None:
                raise BadFile(f"{raw.path}: corrupt: a call is of no function of its program")
            called = unit.id, call.function
            budget.spend(len(parent) + 1, raw.path, "its call paths")
            if not call.recursive:
                chain = (*parent, called)
                chains.append(chain)
            elif called in parent:
                chain = parent[: parent.index(called) + 1]
                chains.append(None)
            else:
                raise BadFile(f"{raw.path}: corrupt: a call goes back to a function that is not active")
            self._counts[chain] += call.count
            if call.recursive and call.count:
                self._recursive.add(chain)

    def paths(self) -> tuple[CallPath, ...]:
        """All that were taken, most frequent first."""
        found = [
            CallPath(chain, count, chain in self._recursive) for chain, count in self._counts.items() if count
        ]
        return tuple(sorted(found, key=lambda path: (-path.count, path.functions)))


def to_columns(paths: Iterable[CallPath], units: Sequence[UnitFacts]) -> list[list[int]]:
    """The tree of the paths, parents first: unit, function, parent (0: none, else its row plus one), count,
    recursion."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    rows: dict[_Chain, list[int]] = {}
    order: dict[_Chain, int] = {(): 0}
    for path in sorted(paths, key=lambda path: path.functions):
        for end in range(1, len(path.functions) + 1):
            chain = path.functions[:end]
            if chain not in order:
                unit, function = chain[-1]
                rows[chain] = [numbers[unit], function, order[chain[:-1]], 0, 0]
                order[chain] = len(order)
        rows[path.functions][3:] = path.count, int(path.recursive)
    return [[row[column] for row in rows.values()] for column in range(5)]


def from_columns(
    document: Any, units: Sequence[UnitFacts], where: str = "a profile", budget: Budget | None = None
) -> tuple[CallPath, ...]:
    """The paths of such a tree, every number of it checked; most frequent first.

    ``where`` names the file, and ``budget`` bounds how long all of them may be together.
    """
    tree = columns(document, 5, "call paths")
    same_length(*tree)
    numbers, functions, parents, counts, recursive = tree
    ints(numbers, 0, len(units))
    ints(functions, 0)
    ints(parents, 0)
    ints(counts, 0, MOST_COUNT)
    ints(recursive, 0, 2)
    chains: list[_Chain] = [()]
    found: list[CallPath] = []
    budget = budget or Budget(len(parents), _DEPTH)
    for row, (number, function, parent) in enumerate(zip(numbers, functions, parents, strict=True)):
        if parent > row or function >= len(units[number].functions):
            raise ColumnError("a call path leads nowhere")
        chains.append((*chains[parent], (units[number].id, function)))
        budget.spend(len(chains[-1]), where, "its call paths")
        if counts[row]:
            found.append(CallPath(chains[-1], counts[row], bool(recursive[row])))
    if len(set(chains)) != len(chains):
        raise ColumnError("two rows are about the same call path")
    return tuple(sorted(found, key=lambda path: (-path.count, path.functions)))


def named_call_paths(profile: Profile, picked: Mapping[str, object] | None = None) -> list[NamedCallPath]:
    """The call paths by the names of functions in the profile, most frequent first.

    Copies of an inline function in several units are one function, and their paths add up.  Of ``picked``
    functions only the paths that lead to them.
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
    """What each function of each unit is called; a copy that was left out goes by the name of another."""
    own = {id(function.facts): key for key, function in profile.functions.items()}
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
