"""Edges and paths of the functions of jumps, from the walks that the program has recorded.

Between two marks there is one way through the graph at most, so the marks of an activation tell all edges
that it took.  Where paths end is a matter of the graph and its cuts; how often each was walked is counted
here, from the walks alone.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tests.fuzz.counting.observed import Observed
from tests.fuzz.counting.program import Program
from trodden.graph.cfg import EdgeKind
from trodden.plan.routes import PathEnd
from trodden.profile.model import FunctionProfile, Profile

Walk = Sequence[int]
"""The marked lines of an activation."""

Step = tuple[int, int]
"""From a block to another."""

_LONGEST = 40
"""Blocks without marks that follow each other are fewer."""


def compare_walks(
    program: Program, seen: Observed, profile: Profile, compared: Counter[str]
) -> Iterator[tuple[str, object, object]]:
    """What differs in any function: what it is, the count in the profile and the count of the walks."""
    by_start: dict[int, list[Walk]] = defaultdict(list)
    for walk in seen.walks:
        if walk[0][0] == 1:
            by_start[walk[0][1]].append([line for _, line in walk])
    text = program.second.splitlines()
    for name, function in profile.functions.items():
        if not name.partition("(")[0].startswith("g") or name.startswith("gone"):
            continue
        marked = _Marked(function, text)
        walks = [walk for start, those in by_start.items() if start in marked.block_of for walk in those]
        yield from marked.compare_edges(name, walks, compared)
        yield from marked.compare_paths(name, walks, compared)


@dataclass
class _Marked:
    """The graph of a function with its marks."""

    function: FunctionProfile
    text: Sequence[str]
    block_of: dict[int, int] = field(default_factory=dict)
    marks_of: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _chains: dict[Step, list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for vertex, block in enumerate(self.function.facts.blocks):
            for ref in block.lines:
                if "MARK();" in self.text[ref.line - 1] and ref.line not in self.marks_of[vertex]:
                    if ref.line in self.block_of:
                        raise ValueError(f"line {ref.line} is in two blocks")
                    self.block_of[ref.line] = vertex
                    self.marks_of[vertex].append(ref.line)

    @cached_property
    def _edges(self) -> dict[int, dict[int, list[int]]]:
        """The edges between blocks; parallel ones are one way."""
        found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, edge in enumerate(self.function.facts.graph.edges):
            if edge.kind is EdgeKind.FLOW:
                found[edge.src][edge.dst].append(index)
        return found

    def chain(self, start: int, goal: int) -> list[Step] | None:
        """The only way from one block to another without marks between them; ``None`` if there is none."""
        known = self._chains.get((start, goal))
        if known is not None:
            return known or None
        found: list[list[Step]] = []
        work: list[tuple[int, list[Step]]] = [(start, [])]
        while work:
            at, way = work.pop()
            for to in self._edges[at]:
                longer = [*way, (at, to)]
                if to == goal:
                    found.append(longer)
                elif not self.marks_of[to] and len(longer) < _LONGEST:
                    work.append((to, longer))
        if len(found) > 1:
            raise ValueError(f"several ways from block {start} to {goal} of {self.function.name}")
        self._chains[start, goal] = found[0] if found else []
        return found[0] if found else None

    def returns(self, line: int) -> bool:
        """Whether the function returns behind this mark."""
        return self.text[line].strip() == "return x;"

    def resumed(self, line: int) -> list[Step]:
        """The way from a sigsetjmp, which has returned once more, to the mark that follows."""
        if "sigsetjmp" not in self.text[line - 2]:
            raise ValueError(f"no way to line {line} of {self.function.name}")
        return self.chain(self.block_of[line - 2], self.block_of[line]) or []

    def steps(self, walk: Walk) -> Iterator[tuple[int, int, list[Step] | None]]:
        """Each two consecutive marks with the way between them."""
        for one, other in itertools.pairwise(walk):
            start, end = self.block_of[one], self.block_of[other]
            in_block = start == end and self.marks_of[start].index(one) < self.marks_of[start].index(other)
            yield one, other, [] if in_block else self.chain(start, end)

    def compare_edges(
        self, name: str, walks: Sequence[Walk], compared: Counter[str]
    ) -> Iterator[tuple[str, object, object]]:
        """Edges between blocks on the ways that the walks tell."""
        graph = self.function.facts.graph
        expected: Counter[Step] = Counter()
        certain: set[Step] = set()
        marked = [vertex for vertex, marks in self.marks_of.items() if marks]
        for source, target in itertools.product(marked, marked):
            certain.update(self.chain(source, target) or ())
        for walk in walks:
            for _, other, way in self.steps(walk):
                expected.update(self.resumed(other) if way is None else way)
        for source, target in sorted(certain):
            counts = [self.function.counted_edges[e] for e in self._edges[source][target]]
            if None in counts:
                continue
            compared["edges"] += 1
            counted = sum(count for count in counts if count is not None)
            if counted != expected[source, target]:
                labels = f"{graph.labels[source]} → {graph.labels[target]}"
                yield f"edge {labels} of {name}", counted, expected[source, target]

    def compare_paths(
        self, name: str, walks: Sequence[Walk], compared: Counter[str]
    ) -> Iterator[tuple[str, object, object]]:
        """The multiset of paths, each by its marked blocks and its end."""
        paths = self.function.facts.plan.paths
        if paths is None or self.function.paths is None:
            return
        edges = self.function.facts.graph.edges
        ends = {(edges[e].src, edges[e].dst): PathEnd.CUT for e in (*paths.cuts, *paths.resume_edges)}
        ends |= {(edges[e].src, edges[e].dst): PathEnd.BACK_EDGE for e in paths.back_edges}
        expected: Counter[tuple[tuple[int, ...], str]] = Counter()
        for walk in walks:
            expected.update(self._paths_of(walk, ends))
        counted: Counter[tuple[tuple[int, ...], str]] = Counter()
        for path in self.function.paths:
            for blocks, end in _cut_at(path.blocks[path.context :], path.ends, ends):
                marked = tuple(vertex for vertex in blocks if self.marks_of[vertex])
                counted[marked, end.value] += path.count
        for key in sorted(counted.keys() | expected.keys()):
            compared["paths"] += 1
            if counted[key] != expected[key] and key[0]:
                yield f"path {key} of {name}", counted[key], expected[key]

    def _paths_of(self, walk: Walk, ends: dict[Step, PathEnd]) -> Iterator[tuple[tuple[int, ...], str]]:
        current: list[int] = [self.block_of[walk[0]]]
        for _, other, way in self.steps(walk):
            if way is None:
                yield tuple(current), PathEnd.UNWOUND.value
                current = []
                way = self.resumed(other)[1:]
                if not way:
                    current.append(self.block_of[other])
            for step in way:
                if step in ends:
                    yield tuple(current), ends[step].value
                    current = []
                if self.marks_of[step[1]]:
                    current.append(step[1])
        yield tuple(current), (PathEnd.EXIT if self.returns(walk[-1]) else PathEnd.UNWOUND).value


def _cut_at(
    blocks: Sequence[int], end: PathEnd, ends: Mapping[Step, PathEnd]
) -> Iterator[tuple[Sequence[int], PathEnd]]:
    """The parts of a path between steps that end paths.

    It has such a step where one of several parallel edges is cut: a walk does not tell which it took.
    """
    start = 0
    for index, step in enumerate(itertools.pairwise(blocks), 1):
        if step in ends:
            yield blocks[start:index], ends[step]
            start = index
    yield blocks[start:], end
