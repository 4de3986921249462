"""The copies that a compiled program has of one branch of its source.

Optimisers inline functions, unroll and peel loops, and copy code in other ways; templates and headers are
compiled several times.  What was counted is one copy, what the source has is all of them: an outcome that one
copy never had may have happened in another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from trodden.graph.traverse import topological_order
from trodden.profile.model import FunctionProfile
from trodden.program.facts import BranchKind
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


class BranchCopies:
    """The branches of a profile by their lines."""

    def __init__(self, describer: Describer) -> None:
        self._profile, self.describer = describer.profile, describer
        self._orders: dict[int, dict[int, int]] = {}

    def copy(self, function: FunctionProfile, block: int) -> Copy:
        """Which copy a branch is."""
        alike = sorted(self._alike(function, block), key=lambda each: self._order(function).get(each, 0))
        number = alike.index(block) + 1 if block in alike else 1
        return Copy(self.inlined_at(function, block), number, max(len(alike), 1))

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
        return outcome is not None and self._is_taken(outcome, (function, block))

    def taken(self, outcome: SourceOutcome) -> bool:
        """Whether any copy of a branch had this outcome."""
        return self._is_taken(outcome, None)

    def _is_taken(self, outcome: SourceOutcome, but: Branch | None) -> bool:
        return any(
            function.edge_counts[edge] and self.outcome(function, edge) == outcome
            for function, block in self._by_line.get((outcome.file, outcome.branch_line), ())
            if but is None or function is not but[0] or block != but[1]
            for edge in self.describer.locations(function).flow_out(block)
        )

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

    def _alike(self, function: FunctionProfile, block: int) -> list[int]:
        """The branches of the same inlined instance that decide the same parts of the same condition."""
        locations = self.describer.locations(function)
        ref = locations.end(block)
        decided = self._decided(function, block)
        if ref is None or decided is None:
            return [block]
        return [each for each in locations.ending_at[ref] if self._decided(function, each) == decided]

    def _decided(self, function: FunctionProfile, block: int) -> frozenset[SourceOutcome] | None:
        """The outcomes of a branch if all of them are certain."""
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
