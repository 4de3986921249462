"""Which version reaches which block, on graphs of any shape, without superfluous phis."""

from __future__ import annotations

import random
from itertools import combinations

from trodden.native.clone.phi_placement import reaching_versions


def any_graph(chance: random.Random) -> list[list[int]]:
    """The successors of each block; only block 0 leads into the part that is reached."""
    size = chance.randrange(5, 12)
    successors = [
        [chance.randrange(1, size) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))] for _ in range(size)
    ]
    successors[0] = [1, chance.randrange(1, size)]
    reached, work = {0}, [0]
    while work:
        new = set(successors[work.pop()]) - reached
        reached |= new
        work += new
    return [to if block in reached else [] for block, to in enumerate(successors)]


def test_graphs_of_any_shape() -> None:
    phis_seen = 0
    for seed in range(1500):
        chance = random.Random(seed)
        successors = any_graph(chance)
        before = [
            [block for block, to in enumerate(successors) for t in to if t == at]
            for at in range(len(successors))
        ]
        reached = [block for block in range(1, len(successors)) if before[block]]
        versions = set(chance.sample(reached, min(2, len(reached))))
        result = reaching_versions(versions, set(reached) - versions, before, successors)
        coming = {
            block: {number if number in versions else result.get(number) for number in before[block]} - {None}
            for block in result
        }
        phis = [block for block, value in result.items() if value == ~block]
        for block, value in result.items():
            assert len(coming[block]) > 1 if block in phis else coming[block] == {value}
        for count in range(1, min(len(phis), 4) + 1):
            for some in combinations(phis, count):
                outer = {value for block in some for value in coming[block]} - {~block for block in some}
                assert len(outer) > 1, "one version alone reaches these phis"
        phis_seen += len(phis)
    assert phis_seen > 500
