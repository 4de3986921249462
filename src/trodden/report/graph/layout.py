"""Where the blocks of a graph are drawn: in layers, so that control flows downwards.

Every edge but the back edges leads to a lower layer.  An edge that skips layers gets a bend in each of
them, which takes part in the ordering like a block and keeps the edge clear of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import depth_first

GAP = 28.0
LAYER_GAP = 64.0
BEND_WIDTH = 8.0
_ORDER_SWEEPS = 8
_COORDINATE_SWEEPS = 12


@dataclass
class Node:
    """A block, or a bend of a long edge (``vertex`` is -1).  ``x`` is its middle, ``y`` its upper side."""

    vertex: int
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


@dataclass
class Layout:
    """``of_vertex[v]`` is the node of vertex ``v``; ``routes[e]`` are the nodes along a forward edge.

    ``back_edges`` are sorted by how far up they lead, so that the shortest are drawn next to the blocks.
    """

    nodes: list[Node]
    layers: list[list[int]]
    of_vertex: dict[int, int]
    routes: dict[int, list[int]]
    back_edges: list[int]
    bottoms: list[float] = field(default_factory=list)
    layer_of: dict[int, int] = field(default_factory=dict)


def lay_out(graph: Graph, sizes: Sequence[tuple[float, float]]) -> Layout:
    """Lay out all vertices that the root reaches, and EXIT; ``sizes`` are their widths and heights."""
    layout = _layered(graph, sizes)
    _order(layout)
    _coordinates(layout)
    return layout


def _layered(graph: Graph, sizes: Sequence[tuple[float, float]]) -> Layout:
    search = depth_first(graph)
    order = [vertex for vertex in search.postorder[::-1] if vertex != graph.exit]
    layer_of = dict.fromkeys(order, 0)
    forward: list[int] = []
    for vertex in order:
        for index in graph.out_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is not EdgeKind.FLOW or index in search.back_edges:
                continue
            forward.append(index)
            if edge.dst != graph.exit:
                layer_of[edge.dst] = max(layer_of[edge.dst], layer_of[vertex] + 1)
    layer_of[graph.exit] = max(layer_of.values()) + 1
    layers: list[list[int]] = [[] for _ in range(layer_of[graph.exit] + 1)]
    nodes: list[Node] = []
    of_vertex: dict[int, int] = {}
    for vertex in [*order, graph.exit]:
        of_vertex[vertex] = len(nodes)
        layers[layer_of[vertex]].append(len(nodes))
        nodes.append(Node(vertex, *sizes[vertex]))
    routes: dict[int, list[int]] = {}
    for index in forward:
        src, dst = graph.edges[index].src, graph.edges[index].dst
        route = [of_vertex[src]]
        for layer in range(layer_of[src] + 1, layer_of[dst]):
            layers[layer].append(len(nodes))
            route.append(len(nodes))
            nodes.append(Node(-1, BEND_WIDTH, 0.0))
        route.append(of_vertex[dst])
        routes[index] = route
        for upper, lower in pairwise(route):
            nodes[upper].below.append(lower)
            nodes[lower].above.append(upper)

    def length(index: int) -> tuple[int, int]:
        return layer_of[graph.edges[index].src] - layer_of[graph.edges[index].dst], index

    back = sorted(search.back_edges, key=length)
    return Layout(nodes, layers, of_vertex, routes, back, layer_of=layer_of)


def _order(layout: Layout) -> None:
    """Sort each layer by the mean position of its neighbours, downwards and upwards in turn."""
    position: dict[int, float] = {}
    for layer in layout.layers:
        position.update({node: float(index) for index, node in enumerate(layer)})
    for sweep in range(_ORDER_SWEEPS):
        down = sweep % 2 == 0
        for layer in layout.layers if down else reversed(layout.layers):
            means: dict[int, float] = {}
            for node in layer:
                near = layout.nodes[node].above if down else layout.nodes[node].below
                means[node] = sum(position[n] for n in near) / len(near) if near else position[node]
            layer.sort(key=means.__getitem__)
            position.update({node: float(index) for index, node in enumerate(layer)})


def _coordinates(layout: Layout) -> None:
    """Give every node its coordinates: as near to its neighbours as its layer allows."""
    nodes = layout.nodes
    y = 0.0
    for layer in layout.layers:
        height = max(nodes[node].height for node in layer)
        for node in layer:
            nodes[node].y = y
        layout.bottoms.append(y + height)
        y += height + LAYER_GAP
    for sweep in range(_COORDINATE_SWEEPS):
        down = sweep % 2 == 0
        for layer in layout.layers if down else reversed(layout.layers):
            wanted: list[float] = []
            for node in layer:
                near = nodes[node].above if down else nodes[node].below
                wanted.append(sum(nodes[n].x for n in near) / len(near) if near else nodes[node].x)
            for node, x in zip(layer, _spaced(wanted, [nodes[node].width for node in layer]), strict=True):
                nodes[node].x = x
    left = min(each.x - each.width / 2 for each in nodes)
    for each in nodes:
        each.x -= left


def _spaced(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The positions nearest to the wanted ones (in least squares) that keep order and distance.

    Neighbours that would overlap are pooled and share the mean of what they want.
    """
    offsets = [0.0]
    for left, right in pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + GAP)
    pools: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        mean, size = want - offset, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        pools.append((mean, size))
    shifts = [mean for mean, size in pools for _ in range(size)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]
