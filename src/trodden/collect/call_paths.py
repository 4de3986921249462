"""Paths of calls (BL96 §1.2): which functions were called through which, added up over processes."""

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
    """A path of calls from the start of a thread, the outermost function first, and how often it was taken.

    No function is on it twice: one that is called again by what it has called itself goes back to where it
    stands.  ``recursive`` says that some of the calls counted here were of this kind.
    """

    functions: tuple[CalledFunction, ...]
    count: int
    recursive: bool = False


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
