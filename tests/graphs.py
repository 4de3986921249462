"""Random graphs and walks for property tests."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.interpret import random_walk


def labels(blocks: int) -> list[str]:
    return [f"b{number}" for number in range(blocks)] + ["EXIT"]


@st.composite
def sparse_graphs(draw: st.DrawFn, max_blocks: int, max_edges: int) -> Graph:
    """Small graphs that shrink well."""
    blocks = draw(st.integers(1, max_blocks))
    flow = draw(st.lists(st.tuples(st.integers(0, blocks - 1), st.integers(0, blocks)), max_size=max_edges))
    return build("sparse", labels(blocks), flow, draw(st.sampled_from([0, 0, 0, blocks - 1])))


def dense_graph(seed: int, max_blocks: int, max_edges: int) -> Graph:
    """A graph where most blocks are reached, most have a way to EXIT and many branch."""
    rng = random.Random(seed)
    blocks = rng.randint(min(3, max_blocks), max_blocks)
    flow = [(rng.randrange(block), block) for block in range(1, blocks) if rng.random() < 0.9]
    flow += [(rng.randrange(blocks // 2, blocks), blocks) for _ in range(rng.randint(0, 2))]
    while len(flow) < max_edges and rng.random() < 0.93:
        flow.append((rng.randrange(blocks), rng.randrange(blocks + (rng.random() < 0.3))))
    rng.shuffle(flow)
    return build(f"dense-{seed}", labels(blocks), flow[:max_edges])


@st.composite
def graphs(draw: st.DrawFn, max_blocks: int = 8, max_edges: int = 18) -> Graph:
    """Anything: unreachable blocks, dead ends, endless or irreducible regions, parallel edges, self loops."""
    if draw(st.integers(0, 9)) < 2:
        return draw(sparse_graphs(max_blocks, max_edges))
    return dense_graph(draw(seeds()), max_blocks, max_edges)


def leaving_graph(seed: int, max_blocks: int, max_edges: int) -> Graph:
    """A graph where every block is reached and can reach EXIT, as BL94 assumes."""
    rng = random.Random(seed)
    blocks = rng.randint(1, max_blocks)
    flow = [(rng.randrange(block), block) for block in range(1, blocks)]
    flow += [(block, rng.randint(block + 1, blocks)) for block in range(blocks)]
    while len(flow) < max_edges and rng.random() < 0.85:
        flow.append((rng.randrange(blocks), rng.randint(0, blocks)))
    rng.shuffle(flow)
    return build(f"leaving-{seed}", labels(blocks), flow)


def leaving_graphs(max_blocks: int = 8, max_edges: int = 18) -> st.SearchStrategy[Graph]:
    """Graphs as BL94 assumes them."""
    return st.builds(leaving_graph, seeds(), st.just(max_blocks), st.just(max_edges))


def seeds() -> st.SearchStrategy[int]:
    return st.integers(1, 10_000_000)


def costs_for(graph: Graph, seed: int, largest: int = 9) -> list[float]:
    """Random prices with many ties."""
    rng = random.Random(seed)
    return [float(rng.randint(0, largest)) for _ in graph.edges]


def walks_for(graph: Graph, seed: int, walks: int = 4, max_steps: int = 25) -> list[list[int]]:
    """Walks of all sorts, also ones that are cut short."""
    rng = random.Random(seed)
    lengths = [rng.randint(0, max_steps) for _ in range(rng.choice([0, *range(1, walks + 1), walks]))]
    return [random_walk(graph, rng, length) for length in lengths]


def whole_walk(graph: Graph, rng: random.Random, max_steps: int) -> list[int]:
    """A walk that does reach EXIT: at random for a while, then by the shortest way."""
    nearer = _way_out(graph)
    walk = random_walk(graph, rng, max_steps)
    vertex = graph.edges[walk[-1]].dst if walk else graph.root
    while vertex != graph.exit:
        walk.append(nearer(vertex))
        vertex = graph.edges[walk[-1]].dst
    return walk


def _way_out(graph: Graph) -> Callable[[int], int]:
    """For each block the edge that leads towards EXIT."""
    onward: dict[int, int] = {}
    work = [graph.exit]
    for vertex in work:
        for index in graph.in_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is EdgeKind.FLOW and edge.src not in onward:
                onward[edge.src] = index
                work.append(edge.src)
    return onward.__getitem__
