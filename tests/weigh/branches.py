"""Small functions with their features, and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from tests.graphs import labels
from trodden.graph.cfg import Graph, build
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    Comparison,
    OperandType,
    Origin,
    Relation,
    RightOperand,
)
from trodden.weigh.features.branch import Branch, branch_at
from trodden.weigh.features.branch_context import BranchContext

Flow = Sequence[tuple[int, int]]

CALLS = BlockFeatures(calls=(CallFeatures("f"),))
STORES = BlockFeatures(stores=1)
RETURNS = BlockFeatures(ending=BlockEnding.RETURNS)
DIES = BlockFeatures(ending=BlockEnding.NEVER_RETURNS, calls=(CallFeatures("abort"),))

DIAMOND: Flow = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
"""Two ways that meet again."""
IF: Flow = [(0, 1), (0, 2), (1, 2), (2, 3)]
"""One way meets the other."""
WHILE: Flow = [(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)]
"""Block 1 heads a loop and is where it ends."""


def function(
    flow: Flow, features: Mapping[int, BlockFeatures] | None = None
) -> tuple[Graph, list[BlockFeatures]]:
    """A function of these edges, whose last vertex is EXIT, and of these features."""
    size = 1 + max(max(edge) for edge in flow)
    return build("f", labels(size - 1), flow), [
        (features or {}).get(v, BlockFeatures()) for v in range(size - 1)
    ]


def branch(flow: Flow, features: Mapping[int, BlockFeatures] | None = None, block: int = 0) -> Branch:
    return branch_at(BranchContext(*function(flow, features)), block)


def comparing(
    relation: Relation,
    sort: OperandType,
    against: RightOperand,
    origin: Origin = Origin.OTHER,
    unsigned: bool = False,
) -> BlockFeatures:
    return BlockFeatures(test=Comparison(relation, sort, against, origin, unsigned))


def random_features(graph: Graph, seed: int) -> list[BlockFeatures]:
    """Random features, consistent or not."""
    rng = random.Random(seed)
    return [_random(rng, len(graph.out_edges[vertex])) for vertex in range(graph.exit)]


def _random(rng: random.Random, edges: int) -> BlockFeatures:
    cases: list[int | None] = [None, *range(max(edges - 1, 0))]
    return BlockFeatures(
        ending=rng.choice([BlockEnding.CONTINUES] * 4 + list(BlockEnding)),
        test=_random_test(rng) if rng.random() < 0.8 else None,
        guarded=tuple(position for position in range(edges) if rng.random() < 0.3),
        stores=rng.choice([0, 0, 1]),
        calls=tuple(CallFeatures("f", cold=rng.random() < 0.3) for _ in range(rng.choice([0, 0, 1]))),
        source_weights=tuple(rng.randint(1, 2000) for _ in range(edges)) if rng.random() < 0.1 else (),
        compiler_weights=tuple(rng.randint(0, 9) + 1 for _ in range(edges)) if rng.random() < 0.1 else (),
        trip_count=rng.choice([0, 0, 0, 1, 7]),
        cases=tuple(cases) if rng.random() < 0.5 else (),
    )


def _random_test(rng: random.Random) -> Comparison:
    return Comparison(
        rng.choice(list(Relation)),
        rng.choice(list(OperandType)),
        rng.choice(list(RightOperand)),
        rng.choice(list(Origin)),
        rng.random() < 0.3,
    )
