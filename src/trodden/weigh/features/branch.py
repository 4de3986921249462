"""One branch and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.weigh.features.branch_context import Surroundings
from trodden.weigh.features.clues import BlockClues, Ending

Places = Sequence[int]
"""Some of the edges out of a block, by their places among them."""

NONE: Places = ()
FIRST: Places = (0,)
SECOND: Places = (1,)


@dataclass(slots=True)
class Branch:
    """A block with several ways out, in the function around it."""

    around: Surroundings
    block: int
    edges: tuple[int, ...]
    targets: tuple[int, ...]
    clues: BlockClues

    def back(self) -> Places:
        """Its back edges."""
        return [place for place, edge in enumerate(self.edges) if edge in self.around.back]

    def staying(self) -> Places:
        """Those edges that do not leave the smallest loop it lies in."""
        return [place for place, edge in enumerate(self.edges) if edge not in self.around.leaving]

    def without(self, had: Sequence[bool]) -> Places:
        """Those edges whose targets do not have something."""
        return [place for place, target in enumerate(self.targets) if not had[target]]

    def avoids(self, had: Sequence[bool]) -> Places:
        """Of two ways the one whose block does not have something that that of the other way has.

        It is no way round if all ways meet in the block that has it.
        """
        first, second = self.targets
        return self.unlike(
            had[first] and not self.around.postdominates(first, self.block),
            had[second] and not self.around.postdominates(second, self.block),
        )

    @staticmethod
    def like(first: bool, second: bool) -> Places:
        """Of two ways the one that something is true of."""
        return NONE if first == second else FIRST if first else SECOND

    @staticmethod
    def unlike(first: bool, second: bool) -> Places:
        """Of two ways the one that something is not true of."""
        return NONE if first == second else SECOND if first else FIRST


def branch_at(around: Surroundings, block: int) -> Branch:
    """The branch that a block ends in."""
    edges = around.flow[block]
    graph_edges = around.graph.edges
    return Branch(around, block, edges, tuple([graph_edges[e].dst for e in edges]), around.clues[block])


def branches(around: Surroundings) -> Iterator[Branch]:
    """All branches of a function that heuristics are asked about."""
    for block, edges in enumerate(around.flow):
        if len(edges) > 1 and not never_goes_on(around, block):
            yield branch_at(around, block)


def never_goes_on(around: Surroundings, block: int) -> bool:
    """Whether a block ends in what does not come back, so that only an edge to EXIT tells the truth."""
    clues = around.clues[block]
    return clues.ending is Ending.NEVER_RETURNS and around.graph.exit in around.targets(block)
