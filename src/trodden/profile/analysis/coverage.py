"""How many of its blocks, edges and possible paths a program has executed, and the nearest that it has not.

A path is possible if the graph has it and no branch on it was decided before
(:mod:`trodden.profile.analysis.feasible`); whether some input makes the program execute it cannot be decided
from that.

A path that was never executed is near if it is one decision away from one that was: it begins like that one,
takes another edge at a branch, and continues along the most frequent edges.  In the tree of the executed
paths these are the edges that are missing at its nodes, each of which starts a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trodden.graph.cfg import EdgeKind
from trodden.graph.traverse import reachable
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, Route
from trodden.profile.analysis.feasible import Truth, arrives, count_possible, possible_edges
from trodden.profile.analysis.parallel_edges import joined_paths, representatives
from trodden.profile.analysis.path_trie import Node, PathTree, Start, is_complete
from trodden.profile.model import Count, FunctionProfile
from trodden.program.facts import BranchKind, FunctionFacts


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
    The edge is ``unseen`` if it was never taken at all, ``in_copies`` if what it decides in the source was
    decided in another copy of the branch.  ``throws``: a call would have to throw an exception.
    """

    route: Route
    at: int
    times: int
    unseen: bool
    instead: tuple[tuple[int, int], ...]
    in_copies: bool = False
    throws: bool = False

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Those most worth a test are first: exceptions of calls are mostly beyond what an input does."""
        return not self.never, self.throws, -self.times

    @property
    def never(self) -> bool:
        """Whether the outcome has never happened, in any copy of the branch."""
        return self.unseen and not self.in_copies

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
    """One function.  ``cut_short`` is the number of different prefixes that were cut short.

    ``paths`` is None if they were not counted.  Edges that a block profile does not determine are left out.
    """

    name: str
    function: FunctionProfile
    paths: Covered | None
    cut_short: int
    blocks: Covered
    edges: Covered
    near: tuple[NearMiss, ...]


@dataclass(frozen=True)
class Coverage:
    """All functions; ``without`` are the names of those that have no paths."""

    functions: tuple[FunctionCoverage, ...]
    without: tuple[str, ...]

    @property
    def paths(self) -> Covered | None:
        """Of all functions together; None if none of them has any."""
        known = [each.paths for each in self.functions if each.paths is not None]
        return sum(known, Covered(0, 0)) if known else None

    @property
    def blocks(self) -> Covered:
        """Of all functions together."""
        return sum((each.blocks for each in self.functions), Covered(0, 0))

    @property
    def edges(self) -> Covered:
        """Of all functions together."""
        return sum((each.edges for each in self.functions), Covered(0, 0))


Look = Callable[[FunctionProfile, NearMiss], Hashable]
"""What a near miss looks like to a reader: of those that look the same one is enough."""


InCopies = Callable[[FunctionProfile, int], bool]
"""Whether another copy of a branch had the outcome that an edge stands for."""


def coverage(
    functions: Mapping[str, FunctionProfile],
    top: int | None = None,
    look: Look | None = None,
    in_copies: InCopies = lambda function, edge: False,
) -> Coverage:
    """The coverage of these functions, with at most ``top`` near misses for each."""
    found = tuple(cover(name, each, top, look, in_copies) for name, each in functions.items())
    return Coverage(found, tuple(each.name for each in found if each.paths is None))


def cover(
    name: str,
    function: FunctionProfile,
    top: int | None = None,
    look: Look | None = None,
    in_copies: InCopies = lambda function, edge: False,
) -> FunctionCoverage:
    """The coverage of one function."""
    graph = function.facts.graph
    live = reachable(graph)
    paths = function.facts.plan.paths if function.paths is not None else None
    represented = representatives(function.facts, paths)
    executed = joined_paths((path for path in function.paths or () if path.count > 0), represented)
    whole = sum(is_complete(function.facts, path) for path in executed)
    blocks = [function.block_counts[v] for v in live if v != graph.exit]
    counts = _joined_counts(function, represented)
    edges = [
        counts[index]
        for index, edge in enumerate(graph.edges)
        if edge.kind is EdgeKind.FLOW and edge.src in live and index in counts
    ]
    return FunctionCoverage(
        name=name,
        function=function,
        paths=None if paths is None else Covered(whole, count_possible(function.facts, paths)),
        cut_short=len(executed) - whole,
        blocks=Covered(sum(count > 0 for count in blocks), len(blocks)),
        edges=Covered(sum(bool(count) for count in edges), len(edges)),
        near=()
        if paths is None
        else _near_misses(_Executed(function, paths, PathTree(executed), counts), top, look, in_copies),
    )


def _joined_counts(function: FunctionProfile, represented: Sequence[int]) -> dict[int, Count]:
    """The counts of edges, parallel ones together; without those of which one is not known."""
    found: dict[int, Count | None] = {}
    for edge, count in enumerate(function.edge_counts):
        before = found.get(represented[edge], 0)
        found[represented[edge]] = None if before is None or count is None else before + count
    return {edge: count for edge, count in found.items() if count is not None}


@dataclass(frozen=True, slots=True)
class _Executed:
    """What a function has executed: the tree of its paths, and the counts of its edges, parallel as one."""

    function: FunctionProfile
    paths: Paths
    tree: PathTree
    counts: Mapping[int, Count]


@dataclass(frozen=True, slots=True)
class _Missing:
    """An edge that is missing at a node of the tree, whose block has this truth value."""

    start: Start
    node: Node
    edge: int
    truth: Truth


def _near_misses(
    executed: _Executed, top: int | None, look: Look | None, in_copies: InCopies
) -> tuple[NearMiss, ...]:
    """The near misses, those most worth a test first.

    One over an edge that was never taken comes before one over an edge that was taken on other paths, or
    whose outcome another copy of the branch had, but only the first such path of each edge; exceptions of
    calls are last among these.  Among equals the one whose beginning was executed most often is first.  Of
    those that look the same to a reader there is one.
    """
    function = executed.function
    missing = list(_missing(executed))
    hottest: dict[int, _Missing] = {}
    unseen = {each.edge for each in missing if not executed.counts.get(each.edge)}
    copied = {edge for edge in unseen if in_copies(function, edge)}
    new = unseen - copied
    for each in missing:
        if each.edge in new:
            known = hottest.get(each.edge)
            if known is None or each.node.count > known.node.count:
                hottest[each.edge] = each

    def rank(each: _Missing) -> tuple[bool, bool, int]:
        return hottest.get(each.edge) is not each, _throws(function.facts, each.edge), -each.node.count

    ends = _ends(function.facts, executed.paths)
    found: dict[Hashable, NearMiss] = {}
    for each in sorted(missing, key=rank):
        if top is not None and len(found) >= top:
            break
        near = replace(_completed(executed, each, ends), in_copies=each.edge in copied)
        found.setdefault(near.route if look is None else look(function, near), near)
    return tuple(found.values())


def _throws(facts: FunctionFacts, edge: int) -> bool:
    """Whether an edge is taken if a call throws an exception."""
    source = facts.graph.edges[edge].src
    return facts.blocks[source].kind is BranchKind.CALL and edge != facts.graph.out_edges[source][0]


def _missing(executed: _Executed) -> Iterator[_Missing]:
    facts = executed.function.facts
    for start, top in executed.tree.starts.items():
        work: list[tuple[Node, Truth]] = [(top, None)]
        while work:
            node, truth = work.pop()
            if node.block is None:
                continue
            edges = [edge for edge in possible_edges(facts, node.block, truth) if edge in executed.counts]
            if len(edges) > 1:
                yield from (
                    _Missing(start, node, edge, truth) for edge in edges if edge not in node.extensions
                )
            longer = reversed(node.extensions.items())
            work += [(after, arrives(facts, edge, truth)) for edge, after in longer]


def _ends(facts: FunctionFacts, paths: Paths) -> Mapping[int, PathEnd]:
    """The edges on which paths end."""
    graph = facts.graph
    ends = dict.fromkeys(graph.in_edges[graph.exit], PathEnd.EXIT)
    ends |= dict.fromkeys((*paths.cuts, *paths.resume_edges), PathEnd.CUT)
    return ends | dict.fromkeys(paths.back_edges, PathEnd.BACK_EDGE)


def _completed(executed: _Executed, missing: _Missing, ends: Mapping[int, PathEnd]) -> NearMiss:
    """The whole path: after the missing edge, the most frequent edge out of each block, or the first."""
    facts, counts = executed.function.facts, executed.counts
    graph = facts.graph
    start, node = missing.start, missing.node
    before = (*start.context, *node.edges())
    first = graph.edges[before[0]].src if before else start.block
    blocks = [first, *(graph.edges[edge].dst for edge in before)]
    edges = [*before, missing.edge]
    truth = missing.truth
    while edges[-1] not in ends:
        block = graph.edges[edges[-1]].dst
        blocks.append(block)
        truth = arrives(facts, edges[-1], truth)
        leaving = possible_edges(facts, block, truth)
        if not leaving:
            break
        edges.append(max(leaving, key=lambda edge: counts.get(edge, 0)))
    ended = ends.get(edges[-1], PathEnd.UNWOUND)
    return NearMiss(
        route=Route(tuple(blocks), tuple(edges), start.kind, ended, len(start.context)),
        at=len(before),
        times=node.count,
        unseen=not counts.get(missing.edge),
        throws=_throws(facts, missing.edge),
        instead=tuple(
            sorted(
                ((e, each.count) for e, each in node.extensions.items()), key=lambda edge: (-edge[1], edge[0])
            )
        ),
    )
