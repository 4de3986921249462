"""One branch, and the questions that heuristics ask about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.weigh.features.block_features import BlockEnding, BlockFeatures
from trodden.weigh.features.branch_context import BranchContext

EdgePositions = Sequence[int]
"""Some of the out-edges of a block, by their positions among them."""

NONE: EdgePositions = ()
FIRST: EdgePositions = (0,)
SECOND: EdgePositions = (1,)


@dataclass(slots=True)
class Branch:
    """A block with several successors, in the context of its function."""

    context: BranchContext
    block: int
    edges: tuple[int, ...]
    targets: tuple[int, ...]
    features: BlockFeatures

    def back(self) -> EdgePositions:
        """Its back edges."""
        return [position for position, edge in enumerate(self.edges) if edge in self.context.back]

    def staying(self) -> EdgePositions:
        """Those edges that do not leave its innermost loop."""
        return [position for position, edge in enumerate(self.edges) if edge not in self.context.leaving]

    def without(self, had: Sequence[bool]) -> EdgePositions:
        """Those edges whose targets do not have a property."""
        return [position for position, target in enumerate(self.targets) if not had[target]]

    def avoids(self, had: Sequence[bool]) -> EdgePositions:
        """Of two successors the one that does not have a property that the other has.

        A successor that postdominates the branch is not avoided by the other edge.
        """
        first, second = self.targets
        return self.unlike(
            had[first] and not self.context.postdominates(first, self.block),
            had[second] and not self.context.postdominates(second, self.block),
        )

    @staticmethod
    def like(first: bool, second: bool) -> EdgePositions:
        """Of two edges the one that has a property which the other does not have."""
        return NONE if first == second else FIRST if first else SECOND

    @staticmethod
    def unlike(first: bool, second: bool) -> EdgePositions:
        """Of two edges the one that does not have a property which the other has."""
        return NONE if first == second else SECOND if first else FIRST


def branch_at(context: BranchContext, block: int) -> Branch:
    """The branch that ends a block."""
    edges = context.flow[block]
    graph_edges = context.graph.edges
    return Branch(context, block, edges, tuple([graph_edges[e].dst for e in edges]), context.features[block])


def branches(context: BranchContext) -> Iterator[Branch]:
    """All branches of a function that heuristics predict."""
    for block, edges in enumerate(context.flow):
        if len(edges) > 1 and not never_returns(context, block):
            yield branch_at(context, block)


def never_returns(context: BranchContext, block: int) -> bool:
    """Whether a block ends in a call that never returns, so that only an edge to EXIT can be taken."""
    features = context.features[block]
    return features.ending is BlockEnding.NEVER_RETURNS and context.graph.exit in context.targets(block)
