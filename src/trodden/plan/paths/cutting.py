"""Ending paths early where there are too many (BL96 §5.3).

A cut edge is treated like a back edge: counts stay exact, but what was executed before it is no longer joined
with what was executed after it.  So cuts should be on edges that are seldom taken, which BL96's own rule,
cutting all out-edges of the first vertex with too many paths below it, does not consider.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from trodden.graph.loops import find_loops
from trodden.plan.paths.dag import ArcKind, Dag

_EFFORT = 64
"""How many bookkeeping steps an arc may cost on average before only joins without bookkeeping are made."""

_LIGHTEST = 1e-30
"""Replaces a weight of zero, which has no logarithm."""


def choose_cuts(dag: Dag, weights: Sequence[float], limit: int, rule: str = "cheapest") -> list[int]:
    """The edges to cut so that no more than ``limit`` paths are left.

    There may be more if even cutting every edge leaves more: then no more than that.
    """
    rules: dict[str, Callable[[Dag, Sequence[float], int], set[int]]] = {
        "cheapest": _cut_the_cheapest,
        "loops": _cut_the_cheapest,
        "node": _cut_below_nodes,
    }
    arcs = rules[rule](dag, weights, limit)
    return sorted(dag.arcs[number].of for number in arcs)


def cuts_for_single_prefixes(dag: Dag, may_be_cut_short: Collection[int]) -> list[int]:
    """The edges to cut so that every block of ``may_be_cut_short`` has a single prefix.

    A prefix is then determined by the block alone.  Only a root that is also the header of a loop has two in
    any case.  Cutting a back edge gives up the context of its loop.
    """
    cuts: set[int] = set()
    single = {dag.entry}
    for node in dag.order:
        ins = dag.ins[node]
        if len(ins) == 1 and dag.arcs[ins[0]].src in single:
            single.add(node)
        elif node in may_be_cut_short and node != dag.graph.root:
            cuts.update(dag.arcs[number].of for number in dag.ins[dag.into(node)] if _can_be_cut(dag, number))
            if node in dag.arrival:
                cuts.update(edge for edge in dag.graph.in_edges[node] if edge in dag.removed)
            single.add(node)
    return sorted(cuts)


def loop_entry_cuts(dag: Dag, weights: Sequence[float]) -> list[int]:
    """The entry edges of loops that are expected to iterate more often than they are entered.

    With these cut, all paths of a loop start at its header in the same state, and the register is a constant
    there up to the first join: nothing is set on the back edge, and no stack slot is needed before the first
    branch.  What is lost is which prefix led to the first iteration.
    """
    graph = dag.graph
    cuts: set[int] = set()
    for loop in find_loops(graph).loops:
        arriving = [number for number in dag.ins[dag.into(loop.header)] if _can_be_cut(dag, number)]
        entering = {dag.arcs[number].of for number in arriving}
        back_edges = dag.removed.intersection(graph.in_edges[loop.header])
        if sum(weights[edge] for edge in back_edges) > sum(weights[edge] for edge in entering):
            cuts |= entering
    return sorted(cuts)


def _can_be_cut(dag: Dag, number: int) -> bool:
    return dag.arcs[number].kind is ArcKind.REAL and dag.arcs[number].dst != dag.graph.exit


def _candidates(dag: Dag) -> list[int]:
    return [number for number in range(len(dag.arcs)) if _can_be_cut(dag, number)]


def _cut_the_cheapest(dag: Dag, weights: Sequence[float], limit: int) -> set[int]:
    """Cut everything, then join the most frequent edges again, as long as the number of paths allows.

    Edges that add few paths relative to their weight are joined first.  The weight counts for more than the
    number of paths, since it is what a cut loses: its exponent 2 was chosen among 1, 2, 4 and 8 on SQLite
    with weights by nesting.  Compared with joining by weight alone it cut three tenths less of a function's
    weight there (mean of the functions over a limit, at four limits), with fewer cuts; exponents 4 and 8 cut
    still less weight at some limits, with more cuts.  The number of paths that a join adds grows as others
    are made, so it is recomputed when the edge comes to the top of the heap.  Edges that did not fit are
    tried again at the end, because joins can also save paths.
    Of equals, loop entries stay cut rather than others, and edges later in the order are joined first.
    """
    position = {node: index for index, node in enumerate(dag.order)}
    entries = {loop.header for loop in find_loops(dag.graph).loops}
    pieces = _Pieces(dag, position)
    limit = max(limit, pieces.total)

    def relative_cost(number: int) -> tuple[float, float]:
        more, weight = pieces.cost(number), weights[dag.arcs[number].of]
        if more <= 0:
            return -math.inf, -weight
        return math.log(more) - 2.0 * math.log(max(weight, _LIGHTEST)), 0.0

    waiting = []
    for number in _candidates(dag):
        arc = dag.arcs[number]
        enters = dag.graph.edges[arc.of].dst in entries
        waiting.append((relative_cost(number), enters, -position[arc.src], number))
    heapify(waiting)
    apart: list[int] = []
    while waiting:
        before, enters, rank, number = waiting[0]
        now = relative_cost(number)
        if now > before and not pieces.exhausted:
            pieces.spend(1)
            heapreplace(waiting, (now, enters, rank, number))
            continue
        heappop(waiting)
        if not pieces.join(number, limit):
            apart.append(number)
    apart.sort(key=lambda number: -weights[dag.arcs[number].of])
    return {number for number in apart if not pieces.join(number, limit)}


class _Pieces:
    """The acyclic graph in pieces: a node has ``before[n]`` prefixes and ``after[n]`` suffixes in its piece.

    At first every arc that can be cut is cut.  Joining increases ``after`` for the predecessors of the arc
    and ``before`` for its successors.
    """

    def __init__(self, dag: Dag, position: Mapping[int, int]) -> None:
        self._dag = dag
        self._position = position
        candidates = _candidates(dag)
        size = len(dag.outs)
        self._up: list[list[int]] = [[] for _ in range(size)]
        self._down: list[list[int]] = [[] for _ in range(size)]
        self._cut_into = [0] * size
        self._starts = [0] * size
        self._stays = [False] * size
        for number in candidates:
            self._cut_into[dag.arcs[number].dst] += 1
        for number in dag.outs[dag.entry]:
            arc = dag.arcs[number]
            self._starts[arc.dst] += 1
            self._stays[arc.dst] |= arc.kind is ArcKind.START
        for node in dag.order:
            if self._cut_into[node] and not self._stays[node]:
                self._starts[node] += 1
        self.before = list(self._starts)
        self.after = [max(len(outs), 1) for outs in dag.outs]
        for vertex, arrival in dag.arrival.items():
            self._down[arrival] += [vertex, vertex]
            self._up[vertex] += [arrival, arrival]
            self.before[vertex] = 2 * self.before[arrival]
            self.after[arrival] = 2 * self.after[vertex]
        self.total = sum(
            starts * paths_from for starts, paths_from in zip(self._starts, self.after, strict=True)
        )
        self._effort = _EFFORT * len(dag.arcs)

    @property
    def exhausted(self) -> bool:
        """Whether the budget for bookkeeping is spent; then only joins that need none are made."""
        return self._effort < 0

    def spend(self, steps: int) -> None:
        """Spend some of the budget for bookkeeping."""
        self._effort -= steps

    def cost(self, number: int) -> int:
        """How many paths joining a cut arc adds."""
        source, target = self._dag.arcs[number].src, self._dag.arcs[number].dst
        starts_no_more = self.after[target] if self._is_last(target) else 0
        return self.before[source] * (self.after[target] - 1) - starts_no_more

    def join(self, number: int, limit: int) -> bool:
        """Join a cut arc if no more than ``limit`` paths result."""
        source, target = self._dag.arcs[number].src, self._dag.arcs[number].dst
        total = self.total + self.cost(number)
        more_after = self.after[target] - 1
        more_before = self.before[source] - self._is_last(target)
        if total > limit or (self.exhausted and (more_after or more_before)):
            return False
        self.total = total
        self._cut_into[target] -= 1
        self._spread(source, more_after, self.after, self._up, -1)
        self._spread(target, more_before, self.before, self._down, 1)
        self._up[target].append(source)
        self._down[source].append(target)
        return True

    def _is_last(self, target: int) -> bool:
        """Whether paths start at a node because of a single cut."""
        return self._cut_into[target] == 1 and not self._stays[target]

    def _spread(
        self, node: int, more: int, numbers: list[int], onward: Sequence[Sequence[int]], sign: int
    ) -> None:
        """Add to a node and to all that depend on it, each once, in (reverse) topological order."""
        if not more:
            return
        waiting = {node: more}
        heap = [(sign * self._position[node], node)]
        while heap:
            _, node = heappop(heap)
            more = waiting.pop(node)
            numbers[node] += more
            self.spend(1 + len(onward[node]))
            for other in onward[node]:
                if other in waiting:
                    waiting[other] += more
                else:
                    waiting[other] = more
                    heappush(heap, (sign * self._position[other], other))


def _cut_below_nodes(dag: Dag, weights: Sequence[float], limit: int) -> set[int]:
    """BL96's rule: cut all out-edges of a vertex that has more than a bound of paths below it.

    The bound is the largest one found that keeps to the limit; with a bound of 0 everything is cut.
    """
    fits, fails = 0, limit
    best, total = _cut_above(dag, fails)
    if total <= limit:
        return best
    best, total = _cut_above(dag, fits)
    limit = max(limit, total)
    while fails - fits > 1:
        bound = (fits + fails) // 2
        cuts, total = _cut_above(dag, bound)
        if total <= limit:
            fits, best = bound, cuts
        else:
            fails = bound
    return best


def _cut_above(dag: Dag, bound: int) -> tuple[set[int], int]:
    """What is cut if no vertex may have more than ``bound`` paths below it, and how many paths are left."""
    cuts: set[int] = set()
    paths_from = [1] * len(dag.outs)
    behind: set[int] = set()
    for node in reversed(dag.order[1:]):
        outs = dag.outs[node]
        if not outs:
            continue
        paths_from[node] = sum(paths_from[dag.arcs[number].dst] for number in outs)
        if paths_from[node] > bound:
            for number in outs:
                arc = dag.arcs[number]
                if _can_be_cut(dag, number):
                    paths_from[node] += 1 - paths_from[arc.dst]
                    cuts.add(number)
                    behind.add(arc.dst)
    starts = [dag.arcs[number] for number in dag.outs[dag.entry]]
    behind -= {arc.dst for arc in starts if arc.kind is ArcKind.START}
    return cuts, sum(paths_from[arc.dst] for arc in starts) + sum(paths_from[node] for node in behind)
