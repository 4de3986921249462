"""Call paths as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from trodden.collect.call_paths import AVERAGE_DEPTH, CallPath, Chain
from trodden.profile.store.unit_counts_codec import MOST_COUNT
from trodden.program.checked import ColumnError, columns, ints, same_length
from trodden.program.facts import UnitFacts
from trodden.recover.budget import Budget


def to_columns(paths: Iterable[CallPath], units: Sequence[UnitFacts]) -> list[list[int]]:
    """The tree of the paths, parents first: unit, function, parent (0: none, else its row plus one), count,
    recursion."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    rows: dict[Chain, list[int]] = {}
    order: dict[Chain, int] = {(): 0}
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
    """The paths of such a tree, with every number checked; most frequent first.

    ``where`` names the file in error messages, and ``budget`` bounds their total length.
    """
    tree = columns(document, 5, "call paths")
    same_length(*tree)
    numbers, functions, parents, counts, recursive = tree
    ints(numbers, 0, len(units))
    ints(functions, 0)
    ints(parents, 0)
    ints(counts, 0, MOST_COUNT)
    ints(recursive, 0, 2)
    chains: list[Chain] = [()]
    found: list[CallPath] = []
    budget = budget or Budget(len(parents), AVERAGE_DEPTH)
    for row, (number, function, parent) in enumerate(zip(numbers, functions, parents, strict=True)):
        if parent > row or function >= len(units[number].functions):
            raise ColumnError("a call path has no parent or no function")
        chains.append((*chains[parent], (units[number].id, function)))
        budget.spend(len(chains[-1]), where, "its call paths")
        if counts[row]:
            found.append(CallPath(chains[-1], counts[row], bool(recursive[row])))
    if len(set(chains)) != len(chains):
        raise ColumnError("two rows have the same call path")
    return tuple(sorted(found, key=lambda path: (-path.count, path.functions)))
