"""The context in which the branches of a function are predicted (WL94 §3.1, §8).

Everything here follows from the graph and the features of its blocks, in one pass over them; what only some
branches need (postdominators, sums along them) is computed when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.dominators import Dominators, find_dominators
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops
from trodden.graph.postdominators import find_postdominators
from trodden.graph.traverse import DepthFirst, depth_first
from trodden.weigh.features.block_features import NOTHING_KNOWN, BlockEnding, BlockFeatures, ReturnedConstant
from trodden.weigh.features.known_functions import reads_options, reports_error


class BranchContext:
    """One function, as its branches need it.

    ``flow[v]`` are the out-edges of ``v`` that the program can take, ``back`` the back edges, ``leaving``
    those edges that leave the innermost loop of their source, ``headers`` the loop headers.
    """

    def __init__(
        self, graph: Graph, features: Sequence[BlockFeatures], forest: LoopForest | None = None
    ) -> None:
        self.graph = graph
        self.features = [*features, *[NOTHING_KNOWN] * (len(graph.labels) - len(features))]
        self.search: DepthFirst = depth_first(graph)
        self.forest = forest if forest is not None else find_loops(graph, self.search)
        self.flow: list[tuple[int, ...]] = [
            tuple(index for index in outs if graph.edges[index].kind is EdgeKind.FLOW)
            for outs in graph.out_edges
        ]
        self.headers = self.forest.of_header
        self.back = frozenset(index for loop in self.forest.loops for index in loop.back_edges)
        innermost = self.forest.innermost
        self.leaving = frozenset(
            index
            for number, loop in enumerate(self.forest.loops)
            for index in loop.exits
            if innermost[graph.edges[index].src] == number
        )

    def targets(self, block: int) -> tuple[int, ...]:
        """The targets of the out-edges of a block, one for each of them."""
        return tuple(self.graph.edges[index].dst for index in self.flow[block])

    @cached_property
    def postdominators(self) -> Dominators:
        """The postdominator tree."""
        return find_postdominators(self.graph)

    @cached_property
    def calls_ahead(self) -> list[bool]:
        """Blocks with a call, or that jump unconditionally to one which they dominate."""
        return self._ahead(lambda block: bool(self.features[block].calls), dominated=True)

    @cached_property
    def returns_ahead(self) -> list[bool]:
        """Blocks that return, or that jump unconditionally to one that does."""
        return self._ahead(lambda block: self.features[block].ending is BlockEnding.RETURNS, dominated=False)

    @cached_property
    def headers_ahead(self) -> list[bool]:
        """Loop headers, and blocks that jump unconditionally to one which they dominate."""
        return self._ahead(self.headers.__contains__, dominated=True)

    @cached_property
    def terminates(self) -> list[bool]:
        """Blocks from which every path ends abnormally.

        That is in a call that does not return, or in an exception that propagates to the caller.
        """
        return self._doomed(_leads_to_dead_end)

    @cached_property
    def reports_error(self) -> list[bool]:
        """Blocks from which every path contains a call that reports an error, or ends abnormally."""
        return self._doomed(
            lambda features: _leads_to_dead_end(features) or any(map(reports_error, features.calls))
        )

    @cached_property
    def gives(self) -> list[ReturnedConstant]:
        """Which constant the function returns after a block, at once or after unconditional jumps."""
        found = [
            features.returned if returns else ReturnedConstant.NOTHING
            for features, returns in zip(self.features, self.returns_ahead, strict=True)
        ]
        for block in self.search.postorder:
            flow = self.flow[block]
            if found[block] is ReturnedConstant.NOTHING and len(flow) == 1 and flow[0] not in self.back:
                found[block] = found[self.graph.edges[flow[0]].dst]
        return found

    @cached_property
    def fewest_call_sites(self) -> list[int]:
        """For each block the fewest call sites that any of its callees has; 0 without calls."""
        return [
            min((call.sites for call in features.calls if call.sites), default=0)
            for features in self.features
        ]

    @cached_property
    def loops_over_options(self) -> frozenset[int]:
        """The loops (their numbers) that read the options of the command line."""
        innermost = self.forest.innermost
        asking = (
            block for block, features in enumerate(self.features) if any(map(reads_options, features.calls))
        )
        return frozenset(innermost[block] for block in asking if innermost[block] >= 0)

    @cached_property
    def only_in_edge(self) -> list[int]:
        """For each block its only in-edge, back edges not counted; -1 if there is none or several."""
        found = [-1] * len(self.graph.labels)
        for block, into in enumerate(self.graph.in_edges):
            forward = [edge for edge in into if edge not in self.back]
            if len(forward) == 1:
                found[block] = forward[0]
        return found

    @cached_property
    def dominated_blocks(self) -> list[int]:
        """How many blocks each block dominates, itself included."""
        return self._dominators.sizes()

    @cached_property
    def reaches_cold_call(self) -> list[bool]:
        """Blocks from which every path contains a call of a function that the source declares cold."""
        return self._doomed(lambda features: any(call.cold for call in features.calls))

    @cached_property
    def certain_calls(self) -> list[int]:
        """How many blocks with a call are on every path from a block to EXIT."""
        return self._certain_along(lambda block: bool(self.features[block].calls))

    @cached_property
    def certain_stores(self) -> list[int]:
        """How many blocks with a store are on every path from a block to EXIT."""
        return self._certain_along(lambda block: self.features[block].stores > 0)

    @cached_property
    def certain_loops(self) -> list[int]:
        """How many loop headers are on every path from a block to EXIT."""
        return self._certain_along(self.headers.__contains__)

    @cached_property
    def certain_branches(self) -> list[int]:
        """How many blocks with a branch are on every path from a block to EXIT."""
        return self._certain_along(lambda block: len(self.flow[block]) > 1)

    def postdominates(self, target: int, block: int) -> bool:
        """Whether every path from a block to EXIT contains ``target``."""
        return self.postdominators.dominates(target, block)

    def before_join(self, counted: Sequence[int], block: int, target: int) -> int:
        """The part of such a sum between a successor of a branch and the branch's immediate postdominator."""
        join = self.postdominators.idom[block]
        return counted[target] - counted[join] if join >= 0 else 0

    def _ahead(self, has: Callable[[int], bool], dominated: bool) -> list[bool]:
        """Blocks that have a property, themselves or after unconditional jumps.

        A block with one successor dominates the end of a chain of such blocks if and only if each block of
        the chain dominates the next, so the answer for the successor is all that is needed.
        """
        found = [False] * len(self.graph.labels)
        for block in self.search.postorder:
            flow = self.flow[block]
            if has(block):
                found[block] = True
            elif len(flow) == 1 and flow[0] not in self.back:
                target = self.graph.edges[flow[0]].dst
                found[block] = found[target] and (not dominated or self._owns(block, target))
        return found

    def _owns(self, block: int, target: int) -> bool:
        """Whether a block with one successor dominates it.

        In a reducible graph that holds if all other edges into the successor are back edges.
        """
        if not self.forest.reducible:
            return self._dominators.idom[target] == block
        edges, met = self.graph.edges, self.search.enter
        return all(
            edges[index].src == block or index in self.back or met[edges[index].src] < 0
            for index in self.graph.in_edges[target]
        )

    @cached_property
    def _dominators(self) -> Dominators:
        return find_dominators(self.graph)

    def _doomed(self, is_bad: Callable[[BlockFeatures], bool]) -> list[bool]:
        """Blocks from which no path without a bad block reaches a normal end of the function.

        It ends normally where it returns, and in an endless loop.
        """
        edges = self.graph.edges
        bad = [is_bad(features) for features in self.features]
        doomed = [True] * len(self.graph.labels)
        doomed[self.graph.exit] = False
        work = [self.graph.exit]
        while work:
            for index in self.graph.in_edges[work.pop()]:
                source = edges[index].src
                if doomed[source] and not bad[source] and edges[index].kind is not EdgeKind.CLOSING:
                    doomed[source] = False
                    work.append(source)
        return doomed

    def _certain_along(self, has: Callable[[int], bool]) -> list[int]:
        """Sums along the postdominator tree, from EXIT down."""
        above = self.postdominators.idom
        found = [0] * len(self.graph.labels)
        for block in self._from_exit:
            found[block] = has(block) + (found[above[block]] if above[block] >= 0 else 0)
        return found

    @cached_property
    def _from_exit(self) -> list[int]:
        """The vertices in preorder of the postdominator tree."""
        below: list[list[int]] = [[] for _ in self.graph.labels]
        for vertex, above in enumerate(self.postdominators.idom):
            if above >= 0:
                below[above].append(vertex)
        order = [self.graph.exit]
        for vertex in order:
            order += below[vertex]
        return order


def _leads_to_dead_end(features: BlockFeatures) -> bool:
    """Whether a block ends abnormally or contains a call that does not return."""
    return features.ending in (BlockEnding.NEVER_RETURNS, BlockEnding.UNWINDS) or any(
        call.ends for call in features.calls
    )
