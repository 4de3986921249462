"""How many instructions control executes from the start of a block until it has left along each of its edges.

Debug information says to which block an instruction belongs; the code says the rest.  It is followed from
where control enters a block to where its successors begin.  What code generation has made of a block need not
be one piece of code: a switch becomes a tree of comparisons, of which one execution takes one way; a division
or a ``select`` becomes a branch; the ends of several blocks may be shared.  Where several ways lead along the
same edge, each outcome of a branch is taken to be equally likely.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from trodden.collect.instructions.segments import Segment
from trodden.graph.cfg import EdgeKind
from trodden.plan.paths.locations import Locations
from trodden.program.facts import BranchKind, FunctionFacts

_NEVER_RETURNS = frozenset({BranchKind.DEAD_END, BranchKind.UNWIND})
_BY_TABLE = frozenset({BranchKind.SWITCH, BranchKind.INDIRECT})


class Executed(NamedTuple):
    """The instructions of a location until control has left along each edge, and their average."""

    average: float
    edges: Mapping[int, float]


class _Step(NamedTuple):
    """Where control may go after a segment: to further segments, or along edges out of it."""

    onward: list[int]
    leaving: list[Collection[int]]


def sizes(facts: FunctionFacts, segments: Sequence[Segment]) -> tuple[list[float], list[float]]:
    """The average size of each block, and the instructions along each edge, those of its source included.

    ``facts`` are those of the code, clones included; a block without code has the size 0.
    """
    graph = facts.graph
    code = _Code(facts, segments)
    blocks = [0.0] * graph.exit
    edges = [0.0] * len(graph.edges)
    for location in code.present:
        if not code.numbering.has(location):
            continue
        executed = code.executed(location)
        if location < graph.exit:
            blocks[location] = executed.average
        for edge, size in executed.edges.items():
            edges[edge] += size
    return blocks, edges


class _Code:
    """The code of one function."""

    def __init__(self, facts: FunctionFacts, segments: Sequence[Segment]) -> None:
        self.numbering = Locations.of(facts.graph)
        self.present = {each.location for each in segments if each.location is not None}
        self._graph = facts.graph
        self._kinds = [block.kind for block in facts.blocks]
        self._segments = segments
        self._locations = [each.location for each in segments]
        self._fill_gaps()
        self._adopt_orphans()
        self._members: dict[int, list[int]] = defaultdict(list)
        for number, location in enumerate(self._locations):
            if location is not None:
                self._members[location].append(number)

    def executed(self, location: int) -> Executed:
        """The instructions from the entries of a location to its successors."""
        edges = self.out_edges(location)
        if self._is_straight(location, edges):
            size = float(self._segments[self._members[location][0]].size)
            return Executed(size, dict.fromkeys(edges, size))
        return _traverse(self._entered(location), self._steps(location), self._segments, edges)

    def _is_straight(self, location: int, edges: Sequence[int]) -> bool:
        """Whether a location, as most of them, is one segment that leads to its successors."""
        members = self._members[location]
        if len(members) != 1:
            return False
        segment = self._segments[members[0]]
        ends = {self.numbering.on_edge(edge) for edge in edges} if location < self._graph.exit else set()
        ends |= {self._graph.edges[edge].dst for edge in edges}
        return all(self._locations[each] in ends for each in segment.successors)

    def out_edges(self, location: int) -> list[int]:
        """The edges along which control leaves a location."""
        own = self.numbering.edge_of(location)
        if own is not None:
            return [own]
        edges = self._graph.edges
        return [e for e in self._graph.out_edges[location] if edges[e].kind is EdgeKind.FLOW]

    def _fill_gaps(self) -> None:
        """Give code without a location the one that control always comes from."""
        for number, segment in enumerate(self._segments):
            if self._locations[number] is None:
                before = {self._locations[each] for each in segment.predecessors}
                if len(before) == 1:
                    self._locations[number] = before.pop()

    def _adopt_orphans(self) -> None:
        """Give code that no known jump leads to, and no location, the location that it leads to."""
        for number in reversed(range(len(self._segments))):
            segment = self._segments[number]
            if self._locations[number] is None and not segment.predecessors and len(segment.successors) == 1:
                self._locations[number] = self._locations[segment.successors[0]]

    def _is_entered(self, number: int) -> bool:
        """Whether control comes to a segment from another location, or in a way that is not known."""
        before = self._segments[number].predecessors
        location = self._locations[number]
        return number == 0 or not before or any(self._locations[each] != location for each in before)

    def _entered(self, location: int) -> list[int]:
        """The segments at which control enters a location."""
        tabled = set(self._tabled(location))
        entries = [each for each in self._members[location] if self._is_entered(each)]
        return [each for each in entries if each not in tabled] or entries

    def _tabled(self, location: int) -> list[int]:
        """Segments of a location that its own jump through a table leads to."""
        if location >= self._graph.exit or self._kinds[location] not in _BY_TABLE:
            return []
        own = self._members[location]
        if not any(self._segments[number].leaves for number in own):
            return []
        return [number for number in own if number and not self._segments[number].predecessors]

    def _steps(self, location: int) -> dict[int, _Step]:
        """What follows each segment that control reaches before it has left a location."""
        successors, leaving_function = self._successors(location)
        everywhere = self.out_edges(location)
        entries, tabled = set(self._entered(location)), self._tabled(location)
        by_table = location < self._graph.exit and self._kinds[location] in _BY_TABLE
        ends = location < self._graph.exit and self._kinds[location] in _NEVER_RETURNS
        leaving_function = leaving_function or set(everywhere)
        steps: dict[int, _Step] = {}
        waiting = [*entries, *tabled]
        jumps: list[int] = []
        while waiting:
            number = waiting.pop()
            if number in steps:
                continue
            step = steps[number] = _Step([], [])
            for following in self._segments[number].successors:
                there = self._locations[following]
                inside = there == location and following not in entries
                if there is not None and there in successors and not inside:
                    step.leaving.append(successors[there])
                elif ends and there != location:
                    step.leaving.append(leaving_function)
                else:
                    step.onward.append(following)
            if self._segments[number].leaves and by_table:
                jumps.append(number)
            elif self._segments[number].leaves:
                step.leaving.append(leaving_function)
            waiting += step.onward
        beyond = [each for number in _reached(tabled, steps) for each in steps[number].leaving]
        reached = {edge for edges in beyond for edge in edges}
        for number in jumps:
            steps[number].onward.extend(tabled)
            steps[number].leaving.extend({edge} for edge in everywhere if edge not in reached)
        return steps

    def _successors(self, location: int) -> tuple[dict[int, set[int]], set[int]]:
        """The locations that follow one, over those without code, each with the edges that lead there.

        Also the edges along which control leaves the function.
        """
        found: dict[int, set[int]] = defaultdict(set)
        leaving: set[int] = set()
        split = self.numbering.edge_of(location) is None
        waiting = [(edge, edge, split) for edge in self.out_edges(location)]
        seen = set(waiting)
        while waiting:
            first, edge, before = waiting.pop()
            if before and self.numbering.on_edge(edge) in self.present:
                found[self.numbering.on_edge(edge)].add(first)
                continue
            target = self._graph.edges[edge].dst
            if target == self._graph.exit:
                leaving.add(first)
            elif target in self.present:
                found[target].add(first)
            else:
                further = {(first, each, True) for each in self.out_edges(target)} - seen
                seen |= further
                waiting += further
        return found, leaving


def _reached(starts: Iterable[int], steps: Mapping[int, _Step]) -> set[int]:
    """The segments that control reaches from some of them before it has left the location."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for following in steps[waiting.pop()].onward:
            if following not in found:
                found.add(following)
                waiting.append(following)
    return found


def _traverse(
    entries: Sequence[int], steps: Mapping[int, _Step], segments: Sequence[Segment], edges: Sequence[int]
) -> Executed:
    """Follow the steps from all entries, each as likely as the others; loops inside are executed once."""
    order = _in_order(entries, steps)
    position = {number: index for index, number in enumerate(order)}
    likely: dict[int, float] = defaultdict(float)
    executed: dict[int, float] = defaultdict(float)
    edge_likely: dict[int, float] = defaultdict(float)
    edge_executed: dict[int, float] = defaultdict(float)
    for number in entries:
        likely[number] += 1.0
    for number in order:
        executed[number] += likely[number] * segments[number].size
        onward, leaving = steps[number]
        ways = len(onward) + len(leaving)
        for following in onward:
            if position[following] > position[number]:
                likely[following] += likely[number] / ways
                executed[following] += executed[number] / ways
        for each in leaving or ([] if onward else [edges]):
            for edge in each:
                edge_likely[edge] += likely[number] / (max(ways, 1) * len(each))
                edge_executed[edge] += executed[number] / (max(ways, 1) * len(each))
    found = {edge: edge_executed[edge] / likelihood for edge, likelihood in edge_likely.items() if likelihood}
    average = sum(found.values()) / len(found) if found else float(sum(segments[n].size for n in order))
    return Executed(average, {edge: found.get(edge, average) for edge in edges})


def _in_order(entries: Sequence[int], steps: Mapping[int, _Step]) -> list[int]:
    """The segments so that each, loops aside, comes after those that lead to it."""
    finished: list[int] = []
    seen: set[int] = set()
    for entry in entries:
        if entry in seen:
            continue
        seen.add(entry)
        stack = [(entry, iter(steps[entry].onward))]
        while stack:
            number, following = stack[-1]
            new = next((each for each in following if each not in seen), None)
            if new is None:
                stack.pop()
                finished.append(number)
            else:
                seen.add(new)
                stack.append((new, iter(steps[new].onward)))
    finished.reverse()
    return finished
