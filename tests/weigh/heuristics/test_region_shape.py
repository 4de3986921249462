"""Heuristics about the regions behind the edges of a branch."""

from __future__ import annotations

import pytest

from tests.weigh.branches import DIAMOND, IF, Flow
from tests.weigh.heuristics.test_loops_and_errors import predicted
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    Comparison,
    OperandType,
    Origin,
    Relation,
    ReturnedConstant,
    RightOperand,
)

RETURNS = BlockFeatures(BlockEnding.RETURNS)


def checked(blocks: int) -> Flow:
    """Block 0 leads to EXIT through 1, or through 2 and further blocks, each with an edge to EXIT."""
    last = 1 + blocks
    return [(0, 1), (0, 2), (1, last + 1), *((block, block + 1) for block in range(2, last + 1))]


def sides(first: int, second: int) -> dict[str, list[int]]:
    """Two sides of so many blocks that join in a block with another branch, and then return."""
    meet = 1 + first + second
    flow = [(0, 1), *((block, block + 1) for block in range(1, first)), (first, meet)]
    flow += [(0, first + 1), *((block, block + 1) for block in range(first + 1, meet))]
    flow += [(meet, meet + 1), (meet, meet + 2), (meet + 1, meet + 3), (meet + 2, meet + 3)]
    return predicted(flow, {meet + 1: RETURNS, meet + 2: RETURNS})


def lengths(found: dict[str, list[int]], key: str) -> dict[int, list[int]]:
    return {int(each[len(key) :]): positions for each, positions in found.items() if each.startswith(key)}


@pytest.mark.parametrize(
    ("blocks", "times"), [(1, []), (2, [2]), (3, [2]), (4, [2, 4]), (16, [2, 4, 16]), (70, [2, 4, 16, 64])]
)
def test_the_rest_of_the_function_is_longer_than_an_early_return(blocks: int, times: list[int]) -> None:
    found = predicted(checked(blocks), {1: RETURNS, 1 + blocks: RETURNS})
    assert lengths(found, "long-way-") == {each: [1] for each in times}
    assert not lengths(found, "long-side-")


@pytest.mark.parametrize(
    ("first", "second", "times"), [(1, 1, []), (1, 2, [2]), (9, 2, [2, 4]), (3, 2, []), (40, 2, [2, 4, 16])]
)
def test_one_of_two_sides_that_join_is_longer(first: int, second: int, times: list[int]) -> None:
    found = sides(first, second)
    assert lengths(found, "long-side-") == {each: [int(first < second)] for each in times}
    assert not lengths(found, "long-way-")


def test_sides_that_join_at_the_return_are_early_returns() -> None:
    flow = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 4), (4, 5)]
    found = predicted(flow, {4: RETURNS})
    assert found["long-way-2"] == [1]
    assert "long-side-2" not in found


def test_a_side_without_exclusive_blocks_has_no_length() -> None:
    """One edge leads straight to the join; 3 has other predecessors as well."""
    assert not lengths(predicted(IF, {2: RETURNS}), "long-way-")
    shared = [(0, 1), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)]
    assert predicted(shared, {2: RETURNS, 3: RETURNS})["long-way-2"] == [0]


@pytest.mark.parametrize(
    ("what", "key"),
    [
        (ReturnedConstant.ZERO, "gives-zero"),
        (ReturnedConstant.NULL, "gives-null"),
        (ReturnedConstant.NEGATIVE, "gives-negative"),
        (ReturnedConstant.CONSTANT, "gives-constant"),
    ],
)
def test_away_from_where_a_constant_is_returned(what: ReturnedConstant, key: str) -> None:
    gives = BlockFeatures(BlockEnding.RETURNS, returned=what)
    flow = [(0, 1), (0, 2), (1, 3), (2, 3)]
    found = predicted(flow, {1: gives, 2: RETURNS})
    assert {each: positions for each, positions in found.items() if each.startswith("gives-")} == {key: [1]}
    assert key not in predicted(flow, {1: gives, 2: gives})


def test_constants_returned_after_a_jump_or_not_yet() -> None:
    """The block that sets the value counts, and those that jump there; not one with a branch in between."""
    sets = BlockFeatures(returned=ReturnedConstant.NULL)
    join = {3: RETURNS}
    assert predicted(DIAMOND, {1: sets, **join})["gives-null"] == [1]
    jumps = [(0, 1), (0, 3), (1, 2), (2, 4), (3, 4), (4, 5)]
    assert predicted(jumps, {2: sets, 4: RETURNS})["gives-null"] == [1]
    assert "gives-null" not in predicted(DIAMOND, {1: sets})
    loop = [(0, 1), (0, 3), (1, 2), (2, 2), (2, 3), (3, 4)]
    assert "gives-null" not in predicted(loop, {1: sets, 3: RETURNS})
    branches = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]
    assert "gives-null" not in predicted(branches, {1: sets, 3: RETURNS})


@pytest.mark.parametrize(
    ("sites", "keys"),
    [(0, []), (1, []), (2, [2]), (7, [2]), (8, [2, 8]), (500, [2, 8, 32])],
)
def test_away_from_functions_with_many_call_sites(sites: int, keys: list[int]) -> None:
    calls = BlockFeatures(calls=(CallFeatures("f", sites=sites),))
    assert lengths(predicted(DIAMOND, {1: calls}), "popular-") == {each: [1] for each in keys}
    assert not lengths(predicted(DIAMOND, {1: calls, 2: calls}), "popular-")
    assert not lengths(predicted(IF, {2: calls}), "popular-")


def test_the_call_with_the_fewest_call_sites_counts() -> None:
    calls = BlockFeatures(
        calls=(CallFeatures("f", sites=40), CallFeatures("puts"), CallFeatures("g", sites=3))
    )
    assert list(lengths(predicted(DIAMOND, {1: calls}), "popular-")) == [2]


@pytest.mark.parametrize("callee", ["malloc", "realloc", "fopen", "opendir"])
def test_allocations_and_opening_files_succeed(callee: str) -> None:
    def tests(relation: Relation, against: RightOperand, of: str) -> BlockFeatures:
        return BlockFeatures(test=Comparison(relation, OperandType.POINTER, against, Origin.CALL, callee=of))

    assert predicted(DIAMOND, {0: tests(Relation.EQUAL, RightOperand.ZERO, callee)})["allocated"] == [1]
    assert predicted(DIAMOND, {0: tests(Relation.UNEQUAL, RightOperand.ZERO, callee)})["allocated"] == [0]
    assert "allocated" not in predicted(DIAMOND, {0: tests(Relation.EQUAL, RightOperand.VARIABLE, callee)})
    assert "allocated" not in predicted(DIAMOND, {0: tests(Relation.EQUAL, RightOperand.ZERO, "getenv")})
