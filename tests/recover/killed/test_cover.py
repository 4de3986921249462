"""The fewest walks to given blocks, beside trying all walks."""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings

from tests.graphs import labels, seeds
from tests.programs import chain
from trodden.graph.cfg import Graph, build
from trodden.recover.killed.cover import Cover

Walk = tuple[int, tuple[int, ...], bool]
"""The first block of a walk, its edges, and whether it was entered there."""


def _walks(graph: Graph, start: int, edges: set[int]) -> list[tuple[int, ...]]:
    found: list[tuple[int, tuple[int, ...]]] = [(start, ())]
    for block, walk in found:
        leaving = [edge for edge in graph.out_edges[block] if edge in edges]
        found += [(graph.edges[edge].dst, (*walk, edge)) for edge in leaving]
    return [walk for _, walk in found]


def _problem(seed: int) -> tuple[Cover, list[int]]:
    rng = random.Random(seed)
    blocks = rng.randint(2, 5)
    flow = []
    for _ in range(rng.randint(1, 6)):
        tail = rng.randrange(blocks - 1)
        flow.append((tail, rng.randint(tail + 1, blocks - 1)))
    edges = {edge for edge in range(len(flow)) if rng.random() < 0.95}
    sources = {block: rng.randint(0, 2) for block in range(blocks) if rng.random() < 0.3}
    room = {block: rng.randint(0, 2) for block in range(blocks) if rng.random() < 0.4}
    required = [block for block in range(blocks) if rng.random() < 0.5]
    return Cover(build("f", labels(blocks), flow), edges, sources, room), required


def _arrivals(graph: Graph, walks: tuple[Walk, ...]) -> Counter[int]:
    found = Counter(block for block, _, entered in walks if entered)
    found.update(graph.edges[edge].dst for _, edges, _ in walks for edge in edges)
    return found


def _fewest_entries(cover: Cover, required: list[int]) -> int | None:
    """No more walks are needed than there are blocks to reach."""
    graph, edges = cover.graph, set(cover.edges)
    walks: list[Walk] = [(0, walk, True) for walk in _walks(graph, 0, edges)]
    walks += [(block, walk, False) for block in cover.sources for walk in _walks(graph, block, edges)]
    entries = []
    for number in range(len(required) + 1):
        for chosen in combinations_with_replacement(walks, number):
            used = Counter(block for block, _, entered in chosen if not entered)
            found = _arrivals(graph, chosen)
            if (
                all(used[block] <= cover.sources[block] for block in used)
                and all(found[block] <= most for block, most in cover.room.items())
                and all(found[block] for block in required)
            ):
                entries.append(number - sum(used.values()))
    return min(entries, default=None)


@given(seeds())
@settings(max_examples=400)
def test_no_fewer_entries_would_do_and_what_is_possible_is_found(seed: int) -> None:
    cover, required = _problem(seed)
    unreachable = cover.require(required)
    fewest = _fewest_entries(cover, required)
    assert (fewest is None) == bool(unreachable)
    if fewest is None:
        return
    assert cover.entries == fewest
    graph = cover.graph
    arrivals, leaving = Counter({graph.root: cover.entries}), Counter[int]()
    for edge, times in cover.taken.items():
        assert times >= 0
        arrivals[graph.edges[edge].dst] += times
        leaving[graph.edges[edge].src] += times
    assert all(arrivals[block] for block in required)
    assert all(arrivals[block] <= most for block, most in cover.room.items())
    assert all(times <= arrivals[block] + cover.sources.get(block, 0) for block, times in leaving.items())


def test_a_source_is_left_to_the_block_that_depends_on_it() -> None:
    """Only the source in block 1 leads to block 3.  Block 2 can be supplied from the entry as well."""
    graph = build("f", labels(4), [(0, 2), (1, 2), (1, 3)])
    cover = Cover(graph, {0, 1, 2}, {1: 1}, {})
    assert cover.require([2]) == []
    assert (cover.entries, +cover.taken) == (0, {1: 1})
    assert cover.require([3]) == []
    assert (cover.entries, +cover.taken) == (1, {0: 1, 2: 1})


def test_the_work_is_reported() -> None:
    spent: list[int] = []
    Cover(build("f", labels(2), [(0, 1)]), {0}, {}, {}, spent.append).require([0, 1])
    assert spent == [2, 2]


@pytest.mark.parametrize("blocks", [100_000])
def test_blocks_behind_each_other_take_linear_time(blocks: int) -> None:
    graph = chain(blocks)
    edges = set(graph.flow_edges())
    begin = time.process_time()
    cover = Cover(graph, edges, {}, {})
    order = [graph.root, *(graph.edges[edge].dst for edge in sorted(edges))]
    assert cover.require(block for block in order if block != graph.exit and block % 3 == 0) == []
    assert time.process_time() - begin < 20
    assert cover.entries == 1
