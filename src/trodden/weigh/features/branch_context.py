"""What surrounds the branches of a function, as far as their prediction looks (WL94 §3.1, §8).

Everything here follows from the graph and the clues of its blocks, in one pass over them; what only some
branches ask for (postdominators, what lies on the way to them) is worked out when it is first asked for.
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
from trodden.weigh.features.clues import NOTHING_KNOWN, BlockClues, Ending, Given
from trodden.weigh.features.known_functions import complains, reads_options


class Surroundings:
    """One function, seen from its branches.

    ``flow[v]`` are the edges that control can take out of ``v``, ``back`` the back edges, ``leaving`` those
    edges that leave the smallest loop around their source, ``headers`` the entries of loops.
    """

    def __init__(self, graph: Graph, clues: Sequence[BlockClues], forest: LoopForest | None = None) -> None:
        self.graph = graph
        self.clues = [*clues, *[NOTHING_KNOWN] * (len(graph.labels) - len(clues))]
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
        """Where the edges out of a block lead, one for each of them."""
        return tuple(self.graph.edges[index].dst for index in self.flow[block])

    @cached_property
    def postdominators(self) -> Dominators:
        """What no way to EXIT gets around."""
        return find_postdominators(self.graph)

    @cached_property
    def calls_ahead(self) -> list[bool]:
        """Blocks that call, or pass control on unconditionally to one that does and that they dominate."""
        return self._ahead(lambda block: bool(self.clues[block].calls), dominated=True)

    @cached_property
    def returns_ahead(self) -> list[bool]:
        """Blocks that return, or pass control on unconditionally to one that does."""
        return self._ahead(lambda block: self.clues[block].ending is Ending.RETURNS, dominated=False)

    @cached_property
    def headers_ahead(self) -> list[bool]:
        """Entries of loops, and the blocks that pass control on unconditionally to one they dominate."""
        return self._ahead(self.headers.__contains__, dominated=True)

    @cached_property
    def ends_badly(self) -> list[bool]:
        """Blocks from which every way ends where the program or the function does not go on as usual.

        That is a call that does not come back, or an exception that goes on to the caller.
        """
        return self._doomed(_gives_up)

    @cached_property
    def complains(self) -> list[bool]:
        """Blocks from which every way leads through a call that reports an error, or ends badly."""
        return self._doomed(lambda clues: _gives_up(clues) or any(map(complains, clues.calls)))

    @cached_property
    def gives(self) -> list[Given]:
        """What constant a block makes the function return, at once or after unconditional jumps."""
        found = [
            clues.gives if returns else Given.NOTHING
            for clues, returns in zip(self.clues, self.returns_ahead, strict=True)
        ]
        for block in self.search.postorder:
            flow = self.flow[block]
            if found[block] is Given.NOTHING and len(flow) == 1 and flow[0] not in self.back:
                found[block] = found[self.graph.edges[flow[0]].dst]
        return found

    @cached_property
    def popular(self) -> list[int]:
        """The least number of places that call what some call in each block does; 0 without such a call."""
        return [min((call.sites for call in clues.calls if call.sites), default=0) for clues in self.clues]

    @cached_property
    def loops_over_options(self) -> frozenset[int]:
        """The loops (their numbers) that ask for the next option of the command line."""
        innermost = self.forest.innermost
        asking = (block for block, clues in enumerate(self.clues) if any(map(reads_options, clues.calls)))
        return frozenset(innermost[block] for block in asking if innermost[block] >= 0)

    @cached_property
    def only_way_in(self) -> list[int]:
        """For each block the edge that leads to it if there is but one, back edges left aside; else -1."""
        found = [-1] * len(self.graph.labels)
        for block, into in enumerate(self.graph.in_edges):
            ways = [edge for edge in into if edge not in self.back]
            if len(ways) == 1:
                found[block] = ways[0]
        return found

    @cached_property
    def owned(self) -> list[int]:
        """How many blocks each block dominates, itself included."""
        return self._dominators.sizes()

    @cached_property
    def runs_cold(self) -> list[bool]:
        """Blocks from which every way leads through a call of what the source says is seldom run."""
        return self._doomed(lambda clues: any(call.cold for call in clues.calls))

    @cached_property
    def surely_calls(self) -> list[int]:
        """How many blocks with a call lie on every way from a block to EXIT."""
        return self._surely(lambda block: bool(self.clues[block].calls))

    @cached_property
    def surely_stores(self) -> list[int]:
        """How many blocks with a store lie on every way from a block to EXIT."""
        return self._surely(lambda block: self.clues[block].stores > 0)

    @cached_property
    def surely_loops(self) -> list[int]:
        """How many entries of loops lie on every way from a block to EXIT."""
        return self._surely(self.headers.__contains__)

    @cached_property
    def surely_branches(self) -> list[int]:
        """How many blocks that branch lie on every way from a block to EXIT."""
        return self._surely(lambda block: len(self.flow[block]) > 1)

    def postdominates(self, target: int, block: int) -> bool:
        """Whether every way from a block to EXIT passes ``target``."""
        return self.postdominators.dominates(target, block)

    def before_meeting(self, counted: Sequence[int], block: int, target: int) -> int:
        """What is counted for sure on the way from a successor of a branch to where its ways meet again."""
        meeting = self.postdominators.idom[block]
        return counted[target] - counted[meeting] if meeting >= 0 else 0

    def _ahead(self, has: Callable[[int], bool], dominated: bool) -> list[bool]:
        """Blocks that have something, at once or after unconditional jumps.

        A block with one successor dominates what a chain of such blocks leads to just if each of the chain
        dominates the next, so what is known of the successor is all that a block has to ask for.
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

        In a reducible graph that is when all other ways to the successor come back from it.
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

    def _doomed(self, is_bad: Callable[[BlockClues], bool]) -> list[bool]:
        """Blocks from which no way leads to where the function ends well without passing one that is bad.

        It ends well where it returns, and in a loop that it is not meant to leave.
        """
        edges = self.graph.edges
        bad = [is_bad(clues) for clues in self.clues]
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

    def _surely(self, has: Callable[[int], bool]) -> list[int]:
        """Sums along the tree of postdominators, from EXIT down."""
        above = self.postdominators.idom
        found = [0] * len(self.graph.labels)
        for block in self._from_exit:
            found[block] = has(block) + (found[above[block]] if above[block] >= 0 else 0)
        return found

    @cached_property
    def _from_exit(self) -> list[int]:
        """The vertices with those that postdominate them first."""
        below: list[list[int]] = [[] for _ in self.graph.labels]
        for vertex, above in enumerate(self.postdominators.idom):
            if above >= 0:
                below[above].append(vertex)
        order = [self.graph.exit]
        for vertex in order:
            order += below[vertex]
        return order


def _gives_up(clues: BlockClues) -> bool:
    """Whether a block ends what the function does, or calls what does not come back."""
    return clues.ending in (Ending.NEVER_RETURNS, Ending.UNWINDS) or any(call.ends for call in clues.calls)
