"""How many of its possible paths a program has executed, and which are the nearest that it has not.

A path is possible if the graph has it; whether some input makes the program execute it cannot be decided from
that.

A path that was never executed is near if it is one decision away from one that was: it begins like that one,
takes another edge at a branch, and continues along the most frequent edges.  In the tree of the executed
paths these are the edges that are missing at its nodes, each of which starts a path of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from trodden.graph.cfg import EdgeKind
from trodden.graph.traverse import reachable
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, Route
from trodden.profile.analysis.path_trie import Node, PathTree, Start, edges_out, is_complete
from trodden.profile.model import FunctionProfile
from trodden.program.facts import FunctionFacts


@dataclass(frozen=True, slots=True)
class Covered:
    """How many of how many."""

    covered: int
    total: int

    @property
    def share(self) -> float:
        """1 if there was nothing to cover."""
        return self.covered / self.total if self.total else 1.0

    def __add__(self, other: Covered) -> Covered:
        return Covered(self.covered + other.covered, self.total + other.total)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A path that was never executed, although its beginning up to block number ``at`` was, ``times`` times.

    There it takes an edge that those executions did not take: they took the edges ``instead``, with counts.
    The edge is ``unseen`` if it was never taken at all.
    """

    route: Route
    at: int
    times: int
    unseen: bool
    instead: tuple[tuple[int, int], ...]

    @property
    def block(self) -> int:
        """The block where it leaves what was executed."""
        return self.route.blocks[self.at]

    @property
    def edge(self) -> int:
        """The edge along which it does."""
        return self.route.edges[self.at]


@dataclass(frozen=True)
class FunctionCoverage:
    """One function.  ``cut_short`` is the number of different prefixes that were cut short."""

    name: str
    function: FunctionProfile
    paths: Covered
    cut_short: int
    blocks: Covered
    edges: Covered
    near: tuple[NearMiss, ...]


@dataclass(frozen=True)
class Coverage:
    """All functions that have paths; ``without`` are the names of those that have none."""

    functions: tuple[FunctionCoverage, ...]
    without: tuple[str, ...]

    @property
    def paths(self) -> Covered:
        """Of all functions together."""
        return sum((each.paths for each in self.functions), Covered(0, 0))

    @property
    def blocks(self) -> Covered:
        """Of all functions together."""
        return sum((each.blocks for each in self.functions), Covered(0, 0))

    @property
    def edges(self) -> Covered:
        """Of all functions together."""
        return sum((each.edges for each in self.functions), Covered(0, 0))


def coverage(functions: Mapping[str, FunctionProfile], top: int | None = None) -> Coverage:
    """The coverage of these functions, with at most ``top`` near misses for each."""
    found = tuple(
        cover(name, each, each.facts.plan.paths, top)
        for name, each in functions.items()
        if each.paths is not None and each.facts.plan.paths is not None
    )
    known = {each.name for each in found}
    return Coverage(found, tuple(name for name in functions if name not in known))


def cover(name: str, function: FunctionProfile, paths: Paths, top: int | None = None) -> FunctionCoverage:
    """The coverage of one function whose paths are numbered as in ``paths``."""
    graph = function.facts.graph
    live = reachable(graph)
    executed = [path for path in function.paths or () if path.count > 0]
    whole = sum(is_complete(function.facts, path) for path in executed)
    blocks = [function.block_counts[v] for v in live if v != graph.exit]
    edges = [
        count
        for edge, count in zip(graph.edges, function.edge_counts, strict=True)
        if edge.kind is EdgeKind.FLOW and edge.src in live
    ]
    return FunctionCoverage(
        name=name,
        function=function,
        paths=Covered(whole, paths.number),
        cut_short=len(executed) - whole,
        blocks=Covered(sum(count > 0 for count in blocks), len(blocks)),
        edges=Covered(sum(bool(count) for count in edges), len(edges)),
        near=_near_misses(function, paths, PathTree(executed), top),
    )


@dataclass(frozen=True, slots=True)
class _Missing:
    """An edge that is missing at a node of the tree."""

    start: Start
    node: Node
    edge: int


def _near_misses(
    function: FunctionProfile, paths: Paths, tree: PathTree, top: int | None
) -> tuple[NearMiss, ...]:
    """The near misses, those most worth a test first.

    One over an edge that was never taken comes before one over an edge that was taken on other paths, but
    only the first such path of each edge.  Among equals the one whose beginning was executed most often is
    first.
    """
    missing = list(_missing(function, tree))
    hottest: dict[int, _Missing] = {}
    for each in missing:
        if not function.edge_counts[each.edge]:
            known = hottest.get(each.edge)
            if known is None or each.node.count > known.node.count:
                hottest[each.edge] = each

    def rank(each: _Missing) -> tuple[bool, int]:
        return hottest.get(each.edge) is not each, -each.node.count

    ranked = sorted(missing, key=rank) if top is None else nsmallest(top, missing, key=rank)
    ends = _ends(function.facts, paths)
    return tuple(_completed(function, each, ends) for each in ranked)


def _missing(function: FunctionProfile, tree: PathTree) -> Iterator[_Missing]:
    for start, block, node in tree.nodes():
        edges = edges_out(function.facts, block)
        if len(edges) > 1:
            yield from (_Missing(start, node, edge) for edge in edges if edge not in node.extensions)


def _ends(facts: FunctionFacts, paths: Paths) -> Mapping[int, PathEnd]:
    """The edges on which paths end."""
    graph = facts.graph
    ends = dict.fromkeys(graph.in_edges[graph.exit], PathEnd.EXIT)
    ends |= dict.fromkeys((*paths.cuts, *paths.resume_edges), PathEnd.CUT)
    return ends | dict.fromkeys(paths.back_edges, PathEnd.BACK_EDGE)


def _completed(function: FunctionProfile, missing: _Missing, ends: Mapping[int, PathEnd]) -> NearMiss:
    """The whole path: after the missing edge, the most frequent edge out of each block, or the first."""
    graph, counts = function.facts.graph, function.edge_counts
    start, node = missing.start, missing.node
    before = (*start.context, *node.edges())
    first = graph.edges[before[0]].src if before else start.block
    blocks = [first, *(graph.edges[edge].dst for edge in before)]
    edges = [*before, missing.edge]
    while edges[-1] not in ends:
        block = graph.edges[edges[-1]].dst
        blocks.append(block)
        leaving = edges_out(function.facts, block)
        if not leaving:
            break
        edges.append(max(leaving, key=lambda edge: counts[edge] or 0))
    ended = ends.get(edges[-1], PathEnd.UNWOUND)
    return NearMiss(
        route=Route(tuple(blocks), tuple(edges), start.kind, ended, len(start.context)),
        at=len(before),
        times=node.count,
        unseen=not counts[missing.edge],
        instead=tuple(
            sorted(
                ((e, each.count) for e, each in node.extensions.items()), key=lambda edge: (-edge[1], edge[0])
            )
        ),
    )
