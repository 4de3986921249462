"""Call paths (BL96 §1.2): the chains of calls that led to each function, added up over processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from trodden.collect.rawfile.model import Raw
from trodden.errors import BadFile
from trodden.program.facts import UnitFacts
from trodden.recover.budget import Budget

CalledFunction = tuple[str, int]
"""The id of a unit, and the index of a function in it."""


@dataclass(frozen=True, slots=True)
class CallPath:
    """A chain of calls from the start of a thread, the outermost function first, and how often it occurred.

    No function is on it twice: a recursive call, direct or indirect, counts for the path that ends in the
    active call of the same function.  ``recursive`` says that some of the calls counted here were recursive.
    """

    functions: tuple[CalledFunction, ...]
    count: int
    recursive: bool = False


Chain = tuple[CalledFunction, ...]

AVERAGE_DEPTH = 256
"""How deep calls may be nested on average in a tree of unlimited size."""


class CallPathCounts:
    """The call paths of several threads, processes or profiles; those of the same functions add up."""

    def __init__(self) -> None:
        self.counts: Counter[Chain] = Counter()
        self.recursive: set[Chain] = set()

    def add(self, chain: Chain, count: int, recursive: bool) -> None:
        """Add so many calls."""
        self.counts[chain] += count
        if recursive and count:
            self.recursive.add(chain)

    def add_process(self, raw: Raw, units: Mapping[str, UnitFacts]) -> None:
        """Add what one process has counted."""
        chains: list[Chain | None] = []
        budget = Budget(len(raw.call_nodes), AVERAGE_DEPTH)
        for node in raw.call_nodes:
            if node.unit is None:
                chains.append(())
                continue
            unit = units[raw.units[node.unit].id]
            parent = chains[node.parent]
            if node.function >= len(unit.functions) or parent is None:
                raise BadFile(f"{raw.path}: corrupt: a call is of no function of its program")
            called = unit.id, node.function
            budget.spend(len(parent) + 1, raw.path, "its call paths")
            if not node.recursive:
                chain = (*parent, called)
                chains.append(chain)
            elif called in parent:
                chain = parent[: parent.index(called) + 1]
                chains.append(None)
            else:
                raise BadFile(f"{raw.path}: corrupt: a recursive call is of a function that is not active")
            self.add(chain, node.count, node.recursive)

    def paths(self) -> tuple[CallPath, ...]:
        """All that occurred, most frequent first."""
        found = [
            CallPath(chain, count, chain in self.recursive) for chain, count in self.counts.items() if count
        ]
        return tuple(sorted(found, key=lambda path: (-path.count, path.functions)))
