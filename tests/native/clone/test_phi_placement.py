"""Which version reaches which block, without superfluous phis: on given graphs, and on random ones."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from tests.native.cases import Case, cases
from trodden.native.clone.phi_placement import reaching_versions
from trodden.native.clone.ssa_repair import predecessors_of


@pytest.mark.parametrize("case", cases("phi_placement"), ids=str)
def test_phis(case: Case) -> None:
    edges = {name: to.split() for name, _, to in (line.partition(" ->") for line in case["in"].splitlines())}
    numbers = {name: number for number, name in enumerate(edges)}
    names = list(edges)
    successors = [[numbers[label] for label in to] for to in edges.values()]
    versions = frozenset(numbers[name] for name in case["versions"].split())
    uses = {numbers[name] for name in case["uses"].split()} - versions
    found = reaching_versions(versions, uses, predecessors_of(successors), successors)
    lines = [
        f"{names[block]}: {'phi' if found[block] == ~block else _name(names, found[block])}"
        for block in sorted(found)
    ]
    assert "\n".join(lines) == case["out"]


def _name(names: list[str], value: int) -> str:
    """A version, or the block of the phi that reaches a block."""
    return names[value] if value >= 0 else f"phi of {names[~value]}"


def random_graph(chance: random.Random) -> list[list[int]]:
    """The successors of each block; only block 0 leads into the reachable part."""
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


def test_random_graphs() -> None:
    phis_seen = 0
    for seed in range(1500):
        chance = random.Random(seed)
        successors = random_graph(chance)
        before = [
            [block for block, to in enumerate(successors) for t in to if t == at]
            for at in range(len(successors))
        ]
        reached = [block for block in range(1, len(successors)) if before[block]]
        versions = set(chance.sample(reached, min(2, len(reached))))
        result = reaching_versions(versions, set(reached) - versions, before, successors)
        arriving = {
            block: {number if number in versions else result.get(number) for number in before[block]} - {None}
            for block in result
        }
        phis = [block for block, value in result.items() if value == ~block]
        for block, value in result.items():
            assert len(arriving[block]) > 1 if block in phis else arriving[block] == {value}
        for count in range(1, min(len(phis), 4) + 1):
            for some in combinations(phis, count):
                outer = {value for block in some for value in arriving[block]} - {~block for block in some}
                assert len(outer) > 1, "one version alone reaches these phis"
        phis_seen += len(phis)
    assert phis_seen > 500
