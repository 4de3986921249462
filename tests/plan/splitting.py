"""Walks split into paths by hand: what every plan for paths has to come to."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.reach import sweep
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, PathStart, Route


@dataclass
class Split:
    """How often each path was completed or cut short, and the edges that were taken on it.

    ``sequences`` has the paths of each walk in order, those that were cut short included.
    """

    whole: Counter[Route] = field(default_factory=Counter)
    short: Counter[Route] = field(default_factory=Counter)
    ticks: Counter[Route] = field(default_factory=Counter)
    sequences: list[list[Route]] = field(default_factory=list)


def split(graph: Graph, paths: Paths, walks: Iterable[Sequence[int]]) -> Split:
    """Follow each walk and end a path on every removed edge."""
    found = Split()
    for walk in walks:
        Splitting(graph, paths, found).follow(walk)
    return found


def split_headers(graph: Graph, paths: Paths) -> set[int]:
    """The loop entries that keep their context: there is no other way to the sources of their back edges."""
    if not paths.context:
        return set()
    live = sweep(_onward(graph, ()), [graph.root])
    back: dict[int, list[int]] = {}
    for edge in paths.back_edges:
        if graph.edges[edge].src in live:
            back.setdefault(graph.edges[edge].dst, []).append(edge)
    headers = set()
    for header, edges in back.items():
        around = sweep(_onward(graph, [header]), {graph.root} - {header})
        ends_as_others = {*paths.cuts, *paths.resume_edges} & set(edges)
        if not ends_as_others and not any(graph.edges[edge].src in around for edge in edges):
            headers.add(header)
    return headers


def _onward(graph: Graph, without: Collection[int]) -> list[list[int]]:
    return [
        [
            graph.edges[index].dst
            for index in outs
            if graph.edges[index].kind is EdgeKind.FLOW and graph.edges[index].dst not in without
        ]
        for outs in graph.out_edges
    ]


class Splitting:
    """One walk that is being split."""

    def __init__(self, graph: Graph, paths: Paths, found: Split) -> None:
        self.graph = graph
        self.paths = paths
        self.found = found
        self.headers = split_headers(graph, paths)
        self.removed = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
        self.arrived: dict[int, Route] = {}
        self.ticks = 0
        self.path = Route((graph.root,), (), PathStart.ENTRY, PathEnd.UNWOUND)
        self.arrive()

    def follow(self, walk: Sequence[int]) -> None:
        self.found.sequences.append([])
        for edge in walk:
            self.take(edge)
        if self.path.ends is PathEnd.UNWOUND:
            self.cut_short()

    def cut_short(self) -> None:
        self.found.short[self.path] += 1
        self.found.sequences[-1].append(self.path)

    def take(self, edge: int) -> None:
        source, target, _ = self.graph.edges[edge]
        self.ticks += 1
        if source != self.path.blocks[-1]:
            self.cut_short()
        elif edge in self.removed:
            self.end(edge, PathEnd.BACK_EDGE if edge in self.paths.back_edges else PathEnd.CUT)
        elif target == self.graph.exit:
            self.end(edge, PathEnd.EXIT)
            return
        elif source != target:
            self.path = replace(self.path, blocks=(*self.path.blocks, target), edges=(*self.path.edges, edge))
            self.arrive()
        if edge in self.removed:
            self.ticks = 0
            self.start(edge, target)

    def end(self, edge: int, how: PathEnd) -> None:
        self.path = replace(self.path, edges=(*self.path.edges, edge), ends=how)
        self.found.whole[self.path] += 1
        self.found.sequences[-1].append(self.path)
        self.found.ticks[self.path] += self.ticks

    def start(self, edge: int, target: int) -> None:
        if target in self.headers and edge in self.paths.back_edges:
            before = self.arrived[target]
            place = len(before.blocks) - 1
            self.path = replace(
                before,
                starts=PathStart.BACK_EDGE,
                context=place,
                reentries=(*before.reentries, place),
                context_starts=before.context_starts or before.starts,
            )
            return
        self.path = Route((target,), (), self.kind_of_start(target), PathEnd.UNWOUND)
        self.arrive()

    def kind_of_start(self, target: int) -> PathStart:
        into = [edge for edge in self.removed if self.graph.edges[edge].dst == target]
        live = sweep(_onward(self.graph, ()), [self.graph.root])
        into = [edge for edge in into if self.graph.edges[edge].src in live]
        if any(edge in self.paths.resume_edges for edge in into):
            return PathStart.RESUME
        # A back edge stays one, be it cut or not.
        if any(edge not in self.paths.back_edges for edge in into):
            return PathStart.CUT
        return PathStart.BACK_EDGE

    def arrive(self) -> None:
        if self.path.blocks[-1] in self.headers:
            self.arrived[self.path.blocks[-1]] = self.path


def dead_ends(graph: Graph) -> set[int]:
    """The blocks that only a self loop leaves."""
    return {
        block
        for block in range(graph.exit)
        if all(
            graph.edges[index].dst == block or graph.edges[index].kind is not EdgeKind.FLOW
            for index in graph.out_edges[block]
        )
    }


def jumping_walk(
    graph: Graph,
    rng: random.Random,
    steps: int,
    may_be_cut_short: Collection[int],
    resume_edges: Collection[int],
) -> list[int] | None:
    """A walk that is cut short only in a block of ``may_be_cut_short`` and jumps only out of such blocks.

    It jumps after a call that returns twice only after control has been there.
    """
    walk: list[int] = []
    block = graph.root
    taken: list[int] = []
    whole = 0 if block in may_be_cut_short else None
    while len(walk) < steps and block != graph.exit:
        onward = [index for index in graph.out_edges[block] if graph.edges[index].kind is EdgeKind.FLOW]
        if block in may_be_cut_short and taken and rng.random() < 0.2:
            edge = rng.choice(taken)
        elif onward:
            edge = rng.choice(onward)
        else:
            break
        walk.append(edge)
        block = graph.edges[edge].dst
        if edge in resume_edges:
            taken.append(edge)
        if block in may_be_cut_short or block == graph.exit:
            whole = len(walk)
    return None if whole is None else walk[:whole]


def decoded_prefixes(
    told: Mapping[tuple[int, int | None], int],
    offsets: Sequence[SinglePrefix | RegisterOffset | None],
    prefix: Callable[[int, int], Route],
) -> Counter[Route]:
    """The prefixes of paths that were cut short, by their blocks and what the register held there."""
    found: Counter[Route] = Counter()
    for (block, register), count in told.items():
        match offsets[block]:
            case SinglePrefix(sum_there):
                found[prefix(block, sum_there)] += count
            case RegisterOffset(amount):
                assert register is not None
                found[prefix(block, (register - amount) % 2**64)] += count
            case None:
                raise AssertionError(f"nothing is known of {block}")
    return found
