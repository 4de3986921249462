"""The machine code of one function, with the program location of every instruction and where its probes end.

A program location is a block of the graph or the block that was inserted on an edge; a probe code is the
number of one probe (:mod:`trodden.plan.paths.locations`).  Both come from debug information, which LLVM
preserves as well as it can but does not guarantee.  So they are checked against the code: where control
reaches the instructions of a block from a location without an edge to it, LLVM has let several blocks share
these instructions, and frames there are not located.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from trodden.collect.binary.x86 import Flow, Instruction
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.locations import Locations


@dataclass
class CodeMap:
    """``locations[i]`` is the location of instruction ``i``, ``completed[i]`` the probe that it completes.

    ``inside_probes`` are instructions before which a probe may have executed or not.  ``dead_ends`` are
    blocks that end in a call which never returns, whatever code follows it.  ``leading_in`` are the addresses
    of instructions that lead to their location without belonging to it.  ``joined`` are blocks with one
    predecessor left, because other edges lead to clones.  ``unmarked`` are locations with instructions that
    may complete a probe, but have no mark.
    """

    graph: Graph
    instructions: Sequence[Instruction]
    locations: Sequence[int | None]
    completed: dict[int, int]
    inside_probes: set[int]
    numbering: Locations
    dead_ends: Collection[int] = frozenset()
    leading_in: Collection[int] = frozenset()
    joined: Set[int] = frozenset()
    unmarked: Set[int | None] = frozenset()
    _index: dict[int, int] = field(init=False)
    _shared: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = {each.address: number for number, each in enumerate(self.instructions)}
        self._targets = {each.target for each in self.instructions}
        self._present = {location for location in self.locations if location is not None}
        self._probes: dict[int, set[int]] = {}
        for number, code in self.completed.items():
            location = self.locations[number]
            if location is not None:
                self._probes.setdefault(location, set()).add(code)

    def index_of(self, address: int) -> int | None:
        """The index of the instruction that begins at an address."""
        return self._index.get(address)

    def call_before(self, return_address: int) -> int | None:
        """The address of the instruction that ends at an address."""
        number = bisect_right(self.instructions, return_address - 1, key=lambda each: each.address) - 1
        found = number >= 0 and self.instructions[number].end == return_address
        return self.instructions[number].address if found else None

    def leads_in(self, address: int) -> bool:
        """Whether an instruction only leads to its location, of which nothing has executed yet."""
        return address in self.leading_in

    def probes_at(self, location: int) -> set[int]:
        """The codes of all probes at a location."""
        return self._probes.get(location, set())

    def all_probes(self) -> set[int]:
        """The codes of all probes of the function."""
        return set(self.completed.values())

    def probes_ahead(self, start: int) -> set[int] | None:
        """The codes of the probes that are still to execute at the location of an instruction.

        In a block that is its own successor, a backward jump leaves the block.  None inside a probe.
        """
        location = self.locations[start]
        self_loop = location is not None and location in self._successors(location)
        found: set[int] = set()
        waiting, seen = [start], {start}
        if start in self.inside_probes:
            return None
        while waiting:
            number = waiting.pop()
            if number in self.completed:
                found.add(self.completed[number])
            for following in self._next(number):
                backward = self.instructions[following].address <= self.instructions[start].address
                inside = self.locations[following] == location and not (self_loop and backward)
                if following not in seen and inside:
                    seen.add(following)
                    waiting.append(following)
        return found

    def probes_elsewhere(self, start: int) -> set[int]:
        """The codes of the probes at an instruction's location from which control does not come to it.

        A branch inside the location leads either to the probe or to the instruction: LLVM may have moved the
        code of an edge, and values that another edge needs, before the end of the block.
        """
        location = self.locations[start]
        own = self._leading_to(start)
        return {
            code
            for number, code in self.completed.items()
            if self.locations[number] == location and number not in own
            if not own.isdisjoint(self._leading_to(number))
        }

    def _leading_to(self, start: int) -> set[int]:
        """An instruction and those before it at its location from which control may come to it."""
        location = self.locations[start]
        found, waiting = {start}, [start]
        while waiting:
            number = waiting.pop()
            for before in self._before.get(number, ()):
                forward = self.instructions[before].address < self.instructions[number].address
                if before not in found and self.locations[before] == location and forward:
                    found.add(before)
                    waiting.append(before)
        return found

    @cached_property
    def _before(self) -> dict[int, list[int]]:
        """The instructions from which control may reach one."""
        found: dict[int, list[int]] = {}
        for number in range(len(self.instructions)):
            for following in self._next(number):
                found.setdefault(following, []).append(number)
        return found

    def straight_line(self, start: int) -> Iterator[int]:
        """An instruction, and those that control is certain to execute after it, up to a call."""
        number: int | None = start
        seen: set[int] = set()
        while number is not None and number < len(self.instructions) and number not in seen:
            yield number
            seen.add(number)
            each = self.instructions[number]
            if each.calls or each.flow not in (Flow.NEXT, Flow.JUMP):
                return
            number = number + 1 if each.flow is Flow.NEXT else self._index.get(each.target)

    def straight_line_before(self, start: int) -> Iterator[int]:
        """The instructions of its block that were executed before one, the last one first, back to a call.

        For the block on an edge also those of the edge's source, where control falls through to it.
        """
        allowed = {self.locations[start]}
        edge = self.numbering.edge_of(self.locations[start] or 0)
        if edge is not None:
            allowed.add(self.graph.edges[edge].src)
        number = start
        while number > 0 and self.instructions[number].address not in self._targets:
            number -= 1
            each = self.instructions[number]
            if (
                each.calls
                or each.flow not in (Flow.NEXT, Flow.BRANCH)
                or self.locations[number] not in allowed
            ):
                return
            yield number

    def probes_of_predecessor_ahead(self, start: int) -> set[int]:
        """The codes after an instruction whose location is a predecessor of the instruction's own block.

        LLVM may exchange the records of two adjacent blocks.
        """
        location = self.locations[start]
        number: int | None = start
        while number is not None and self.locations[number] == location:
            number = self._fall_through(number)
        other = self.locations[number] if number is not None else None
        if other is None or location is None:
            return set()
        if location not in self._successors(other) or other in self._successors(location):
            return set()
        found: set[int] = set()
        while number is not None and self.locations[number] == other:
            if number in self.completed:
                found.add(self.completed[number])
            number = self._fall_through(number)
        return found

    def may_be_in_successor(self, start: int) -> bool:
        """Whether a store before an instruction may belong to the successor of the instruction's block.

        LLVM merges two blocks if the only edge between them is the only one out of the first and into the
        second.  No store moves over a call.
        """
        location = self.locations[start]
        successors = self._successors(location) if location is not None else set()
        if len(successors) != 1 or not successors <= self.joined:
            return False
        number = start - 1
        while number >= 0 and self.locations[number] == location and self._fall_through(number) is not None:
            each = self.instructions[number]
            if each.calls:
                return False
            if each.writes and not each.spills and number not in self.completed:
                return True
            number -= 1
        return False

    def is_shared(self, location: int) -> bool:
        """Whether control reaches a location from one that has no edge to it."""
        if location not in self._shared:
            sources = self._sources_of(location)
            self._shared[location] = any(
                self.locations[following] == location and self.locations[number] not in sources
                for number in range(len(self.instructions))
                if self.locations[number] not in self.dead_ends
                for following in self._next(number)
            )
        return self._shared[location]

    def _fall_through(self, number: int) -> int | None:
        """The next instruction, if control reaches it from this one alone."""
        last = number + 1 == len(self.instructions)
        if last or self.instructions[number].flow is not Flow.NEXT:
            return None
        return None if self.instructions[number + 1].address in self._targets else number + 1

    def _successors(self, location: int) -> set[int]:
        if location >= self.graph.exit:
            return set()
        return {self.graph.edges[edge].dst for edge in self.graph.out_edges[location]}

    def _next(self, number: int) -> Iterable[int]:
        """The instructions that control may reach from one."""
        instruction = self.instructions[number]
        last = number + 1 == len(self.instructions)
        # LLVM does not regard every trap as the end of its block.
        inside = not last and self.locations[number + 1] == self.locations[number]
        falls_through = instruction.flow in (Flow.NEXT, Flow.BRANCH)
        if not last and (falls_through or (instruction.flow is Flow.TRAP and inside)):
            yield number + 1
        if instruction.flow in (Flow.JUMP, Flow.BRANCH):
            target = self._index.get(instruction.target)
            if target is not None:
                yield target

    def _sources_of(self, location: int) -> set[int | None]:
        """The locations from which edges lead to a location, over blocks that have no instructions left."""
        sources: set[int | None] = {None, location}
        waiting, seen = [location], {location}
        while waiting:
            for source in self._predecessors(waiting.pop()):
                if source in self._present:
                    sources.add(source)
                elif source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return sources

    def _predecessors(self, location: int) -> Iterable[int]:
        """The source of an edge, for its own block; for a block of the graph the blocks on its in-edges."""
        own_edge = self.numbering.edge_of(location)
        if own_edge is not None:
            yield self.graph.edges[own_edge].src
        elif location < self.graph.exit:
            for edge in self.graph.in_edges[location]:
                if self.graph.edges[edge].kind is EdgeKind.FLOW:
                    yield self.numbering.on_edge(edge)
