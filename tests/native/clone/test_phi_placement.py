"""Which version reaches which block: on graphs of any shape, with no phi that is not needed."""

from __future__ import annotations

import random
from itertools import combinations

from trodden.native.clone.phi_placement import reaching_versions


def any_graph(chance: random.Random) -> list[list[int]]:
    """The blocks behind each block; only block 0 leads into the part that is reached."""
    size = chance.randrange(5, 12)
    leads = [
        [chance.randrange(1, size) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))] for _ in range(size)
    ]
    leads[0] = [1, chance.randrange(1, size)]
    reached, work = {0}, [0]
    while work:
        new = set(leads[work.pop()]) - reached
        reached |= new
        work += new
    return [to if block in reached else [] for block, to in enumerate(leads)]


def test_graphs_of_any_shape() -> None:
    phis_seen = 0
    for seed in range(1500):
        chance = random.Random(seed)
        leads = any_graph(chance)
        before = [
            [block for block, to in enumerate(leads) for t in to if t == at] for at in range(len(leads))
        ]
        reached = [block for block in range(1, len(leads)) if before[block]]
        versions = set(chance.sample(reached, min(2, len(reached))))
        answer = reaching_versions(versions, set(reached) - versions, before, leads)
        coming = {
            block: {number if number in versions else answer.get(number) for number in before[block]} - {None}
            for block in answer
        }
        phis = [block for block, value in answer.items() if value == ~block]
        for block, value in answer.items():
            assert len(coming[block]) > 1 if block in phis else coming[block] == {value}
        for count in range(1, min(len(phis), 4) + 1):
            for some in combinations(phis, count):
                outer = {value for block in some for value in coming[block]} - {~block for block in some}
                assert len(outer) > 1, "these phis see one version only"
        phis_seen += len(phis)
    assert phis_seen > 500
