"""The copies that a compiled program has of one branch of its source.

Optimisers inline functions, unroll and peel loops, and copy code in other ways; templates and headers are
compiled several times.  What was counted is one copy, what the source has is all of them: an outcome that one
copy never had may have happened in another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from trodden.graph.traverse import topological_order
from trodden.profile.model import FunctionProfile
from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.steps import Part


@dataclass(frozen=True)
class Copy:
    """Which copy a branch is.

    It was inlined at the call sites ``inlined_at``, innermost first.  Of the ``of`` copies that this inlined
    instance, or the function itself, has it is number ``number`` in the order of control flow.
    """

    inlined_at: tuple[str, ...] = ()
    number: int = 1
    of: int = 1

    @property
    def words(self) -> str:
        """`` (inlined at a.c:17, copy 2 of 3)``; empty if it is the only one."""
        inlined = ", which is inlined at ".join(self.inlined_at)
        said = [f"inlined at {inlined}"] if inlined else []
        said += [f"copy {self.number} of {self.of}"] if self.of > 1 else []
        return f" ({', '.join(said)})" if said else ""


@dataclass(frozen=True)
class SourceOutcome:
    """What a branch on a line has decided."""

    file: str
    branch_line: int
    parts: tuple[Part, ...]


Branch = tuple[FunctionProfile, int]
"""A block that branches, in its function."""

_Decided = frozenset[SourceOutcome] | None
"""The outcomes of a branch, None unless all are certain."""


class BranchCopies:
    """The branches of a profile by their lines."""

    def __init__(self, describer: Describer) -> None:
        self._profile, self.describer = describer.profile, describer
        self._orders: dict[int, dict[int, int]] = {}
        self._decisions: dict[tuple[int, int], _Decided] = {}
        self._groups: dict[tuple[int, LineRef, _Decided], dict[int, int]] = {}
        self._takers: dict[tuple[str, int], dict[SourceOutcome, set[tuple[int, int]]]] = {}

    def copy(self, function: FunctionProfile, block: int) -> Copy:
        """Which copy a branch is."""
        alike = self._alike(function, block)
        return Copy(self.inlined_at(function, block), alike.get(block, 1), max(len(alike), 1))

    def inlined_at(self, function: FunctionProfile, block: int) -> tuple[str, ...]:
        """The call sites at which the code of a block was inlined, innermost first."""
        locations = self.describer.locations(function)
        ref, found = locations.end(block), []
        while ref is not None and ref.instance:
            ref = function.facts.inlined[ref.instance - 1]
            found.append(locations.name(ref) if ref.line > 0 else "an unknown line")
        return tuple(found)

    def taken_in_another(self, function: FunctionProfile, edge: int) -> bool:
        """Whether another copy of a branch had the outcome that an edge stands for."""
        block = function.facts.graph.edges[edge].src
        line = self._line(function, block)
        if line is None or len(self._by_line.get(line, ())) < 2:
            return False
        outcome = self.outcome(function, edge)
        takers = set() if outcome is None else self._takers_of(outcome)
        return len(takers) > ((id(function), block) in takers)

    def taken(self, outcome: SourceOutcome) -> bool:
        """Whether any copy of a branch had this outcome."""
        return bool(self._takers_of(outcome))

    def _takers_of(self, outcome: SourceOutcome) -> set[tuple[int, int]]:
        """The copies of a branch that had an outcome."""
        line = outcome.file, outcome.branch_line
        if line not in self._takers:
            found: dict[SourceOutcome, set[tuple[int, int]]] = {}
            for function, block in self._by_line.get(line, ()):
                for edge in self.describer.locations(function).flow_out(block):
                    taken = self.outcome(function, edge) if function.edge_counts[edge] else None
                    if taken is not None:
                        found.setdefault(taken, set()).add((id(function), block))
            self._takers[line] = found
        return self._takers[line].get(outcome, set())

    def outcome(self, function: FunctionProfile, edge: int) -> SourceOutcome | None:
        """What an edge means in the source, None unless that is certain.

        It is if it decides parts of the condition that no other branch of the same copy decides.
        """
        step = self.describer.decision(function, edge)
        line = self._line(function, function.facts.graph.edges[edge].src)
        if step is None or line is None or step.outcome is None:
            return None
        if not step.outcome.parts or step.outcome.ambiguous:
            return None
        return SourceOutcome(*line, step.outcome.parts)

    def _alike(self, function: FunctionProfile, block: int) -> Mapping[int, int]:
        """The branches of the same inlined instance that decide the same parts of the same condition.

        Each with its number in the order of control flow.
        """
        locations = self.describer.locations(function)
        ref = locations.end(block)
        decided = self._decided(function, block)
        if ref is None or decided is None:
            return {block: 1}
        group = id(function), ref, decided
        if group not in self._groups:
            order = self._order(function)
            ending = sorted(locations.ending_at[ref], key=lambda each: order.get(each, 0))
            for each in ending:
                members = self._groups.setdefault((id(function), ref, self._decided(function, each)), {})
                members[each] = len(members) + 1
        return self._groups[group]

    def _decided(self, function: FunctionProfile, block: int) -> _Decided:
        """The outcomes of a branch if all of them are certain."""
        key = id(function), block
        if key not in self._decisions:
            self._decisions[key] = self._outcomes(function, block)
        return self._decisions[key]

    def _outcomes(self, function: FunctionProfile, block: int) -> _Decided:
        edges = self.describer.locations(function).flow_out(block)
        outcomes = [self.outcome(function, edge) for edge in edges]
        known = [each for each in outcomes if each is not None]
        return frozenset(known) if len(edges) > 1 and len(known) == len(edges) else None

    def _order(self, function: FunctionProfile) -> dict[int, int]:
        """The position of each reachable block in reverse postorder."""
        if id(function) not in self._orders:
            order = topological_order(function.facts.graph)
            self._orders[id(function)] = {vertex: position for position, vertex in enumerate(order)}
        return self._orders[id(function)]

    def _line(self, function: FunctionProfile, block: int) -> tuple[str, int] | None:
        """The line of a branch."""
        locations = self.describer.locations(function)
        ref = locations.end(block)
        return None if ref is None else (locations.path_of(ref), ref.line)

    @cached_property
    def _by_line(self) -> dict[tuple[str, int], list[Branch]]:
        found: dict[tuple[str, int], list[Branch]] = {}
        for function, block in self._branches():
            line = self._line(function, block)
            if line is not None:
                found.setdefault(line, []).append((function, block))
        return found

    def _branches(self) -> Iterator[Branch]:
        for function in self._profile.functions.values():
            for block, facts in enumerate(function.facts.blocks):
                several = len(function.facts.graph.out_edges[block]) > 1
                if several and facts.kind is not BranchKind.CALL:
                    yield function, block
