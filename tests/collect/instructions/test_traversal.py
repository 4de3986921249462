"""Instructions along the edges of a block, compared with all ways through its machine code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profile.making import function
from trodden.collect.binary.x86_outline import Outline, outline
from trodden.collect.instructions.segments import Segment, segments_of
from trodden.collect.instructions.traversal import sizes
from trodden.program.facts import BranchKind, FunctionFacts


def switch(ways: int) -> FunctionFacts:
    """A block with a switch over so many others, each of which returns."""
    shape = " ".join(f"a>b{way} b{way}>exit" for way in range(ways))
    facts = function("f", shape)
    first, *others = facts.blocks
    return replace(facts, blocks=(replace(first, kind=BranchKind.SWITCH), *others))


def linked(segments: list[Segment]) -> list[Segment]:
    for number, segment in enumerate(segments):
        for successor in segment.successors:
            segments[successor].predecessors.append(number)
    return segments


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, list[Segment]]:
    """A tree of comparisons in block 0 whose leaves are the blocks 1 to ``ways``."""
    ways = draw(st.integers(2, 6))
    inner = draw(st.integers(1, 8))
    segments = [Segment(0, draw(st.integers(0, 9))) for _ in range(inner)]
    segments += [Segment(way + 1, draw(st.integers(0, 9)), leaves=True) for way in range(ways)]
    for number in range(inner):
        further = st.integers(number + 1, inner + ways - 1)
        segments[number].successors = draw(st.lists(further, min_size=1, max_size=2, unique=True))
    return ways, linked(segments)


def brute_force(segments: Sequence[Segment]) -> dict[int, float]:
    """The expected size along each edge, from all ways one by one; edges are named by their targets."""
    likely: dict[int, float] = defaultdict(float)
    executed: dict[int, float] = defaultdict(float)
    waiting = [(0, 1.0, 0)]
    while waiting:
        number, probability, size = waiting.pop()
        segment = segments[number]
        if segment.location:
            likely[segment.location] += probability
            executed[segment.location] += probability * size
            continue
        share = probability / len(segment.successors)
        waiting += [(each, share, size + segment.size) for each in segment.successors]
    return {target: executed[target] / likely[target] for target in likely}


@given(trees())
def test_a_tree_of_comparisons(tree: tuple[int, list[Segment]]) -> None:
    ways, segments = tree
    entered = {0} | {
        s for number, each in enumerate(segments) if number == 0 or each.predecessors for s in each.successors
    }
    for number, each in enumerate(segments):
        if number not in entered and each.location == 0:
            return
    facts = switch(ways)
    blocks, edges = sizes(facts, segments)
    graph = facts.graph
    expected = brute_force(segments)
    for edge in graph.out_edges[0]:
        target = graph.edges[edge].dst
        if target in expected:
            assert edges[edge] == pytest.approx(expected[target])
    for way in range(ways):
        block = way + 1
        if any(each.location == block and each.predecessors for each in segments):
            assert blocks[block] == next(each.size for each in segments if each.location == block)


def test_a_jump_table_whose_targets_are_moved_values() -> None:
    """Code that only the table leads to, and that still belongs to the block, comes after the jump."""
    facts = switch(2)
    segments = [
        Segment(0, 7, leaves=True),
        Segment(1, 2, leaves=True),
        Segment(0, 3, [1]),
        Segment(2, 4, leaves=True),
    ]
    _, edges = sizes(facts, linked(segments))
    one, other = facts.graph.out_edges[0]
    assert (edges[one], edges[other]) == (10, 7)


def test_a_shared_end_counts_for_each_block_that_leads_to_it() -> None:
    facts = function("f", "a>b a>c b>exit c>exit")
    segments = [
        Segment(0, 2, [1, 2]),
        Segment(1, 3, [3]),
        Segment(2, 5, leaves=True),
        Segment(None, 4, leaves=True),
    ]
    blocks, _ = sizes(facts, linked(segments))
    assert blocks == [2, 7, 5]


def test_a_loop_of_one_block() -> None:
    facts = function("f", "a>b b>b b>exit")
    segments = [Segment(0, 1, [1]), Segment(None, 1, [2]), Segment(1, 6, [2, 3]), Segment(1, 2, leaves=True)]
    _, edges = sizes(facts, linked(segments))
    sizes_by_edge = {(e.src, e.dst): edges[number] for number, e in enumerate(facts.graph.edges)}
    assert sizes_by_edge[0, 1] == 2
    assert sizes_by_edge[1, 1] == 6
    assert sizes_by_edge[1, 2] == 8


def test_padding_belongs_to_what_falls_into_it() -> None:
    code = bytes.fromhex("31c06690ffc075fcc3")  # xor; nop; loop: inc; jne loop; ret
    instructions = outline(code, 0)
    assert instructions is not None
    assert [each.padding for each in instructions] == [False, True, False, False, False]
    found = segments_of(instructions, [0, 0, 1, 1, 2], [False] * 5)
    assert [(each.location, each.size) for each in found] == [(0, 1), (None, 1), (1, 2), (2, 1)]


def test_padding_that_control_does_not_reach_is_nothing() -> None:
    code = bytes.fromhex("eb026690c3")  # jmp; nop; ret
    instructions = outline(code, 16)
    assert instructions == [
        Outline(16, 18, 20, False, False),
        Outline(18, 20, -1, True, True),
        Outline(20, 21, -1, False, False),
    ]
    found = segments_of(instructions, [0, 0, 1], [False] * 3)
    assert [(each.location, each.size, each.predecessors) for each in found] == [
        (0, 1, []),
        (None, 0, []),
        (1, 1, [0]),
    ]


def test_code_that_is_no_code_has_no_outline() -> None:
    assert outline(b"\x06\x06", 0) is None
