"""A function's graph as a picture that any browser shows, without other programs to lay it out.

Tree edges are thick, chords dashed, probes are dots with the number of their counter; back edges go up
on the right-hand side, each in a lane of its own.  The operations of a path plan are written beside a square
on their edge, as in the figures of BL96; the values of its dummy edges at the removed edge and in its target
block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from trodden.errors import UsageError
from trodden.plan.probes import AddTripCount, Count, Probe
from trodden.report.graph.drawing import Drawing, label_of, probe_text, weight_text
from trodden.report.graph.layout import LAYER_GAP, Layout, Node, lay_out

LARGEST = 2000
_CHARACTER = 7.3
_LINE = 15.0
_PADDING = 8.0
_MARGIN = 24.0
_LANE = 26.0
_TITLE = 30.0
_LONGEST_LABEL = 40
_MOST_APART = 6
"""Blocks are wide enough for the labels of this many outgoing edges."""

_STYLE = """
text { font-size: 12px; font-family: DejaVu Sans Mono, Liberation Mono, Menlo, Consolas, monospace }
text { fill: #222; text-anchor: middle }
text.title { font-weight: bold; text-anchor: start }
text.note { fill: #666 }
text.below { fill: #666; text-anchor: start }
text.weight { fill: #24527a; text-anchor: start }
text.slot { font-size: 9px; fill: #fff }
text.mark { fill: #3d6b35; text-anchor: start }
text.probe { fill: #b3261e; text-anchor: start }
text.halo { text-anchor: start; fill: #fff; stroke: #fff; stroke-width: 3px }
rect { fill: #f6f6f2; stroke: #444 }
rect.never { fill: #fff; stroke: #aaa; stroke-dasharray: 3 3 }
path { fill: none; stroke: #444 }
path.tree { stroke-width: 2.6 }
path.chord { stroke-width: 1.2; stroke-dasharray: 6 4 }
circle, rect.probe { fill: #b3261e; stroke: none }
"""

_ARROW = (
    '<defs><marker id="arrow" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" refX="4" refY="4"'
    ' orient="auto"><polygon points="0,0 9,4 0,8" fill="#444"/></marker></defs>'
)


def to_svg(drawing: Drawing) -> str:
    """The picture; a function that is too large to be readable is refused."""
    graph = drawing.graph
    if graph.exit > LARGEST:
        raise UsageError(f"{graph.name}: {graph.exit} blocks are too many to draw; use --format text or dot")
    starts = _starts(drawing)
    texts = [_texts(drawing, vertex, starts) for vertex in range(len(graph.labels))]
    layout = lay_out(graph, [_size(drawing, vertex, lines) for vertex, lines in enumerate(texts)])
    picture = _Picture(drawing, layout)
    for index in layout.routes:
        picture.forward(index)
    for lane, index in enumerate(layout.back_edges):
        picture.backward(index, lane)
    for vertex, number in layout.of_vertex.items():
        picture.block(layout.nodes[number], texts[vertex])
    return picture.text()


def _texts(drawing: Drawing, vertex: int, starts: Mapping[int, Sequence[str]]) -> list[str]:
    label = label_of(drawing.graph, vertex)
    if len(label) > _LONGEST_LABEL:
        label = label[: _LONGEST_LABEL - 1] + "…"
    lines = drawing.lines[vertex] if vertex < drawing.graph.exit else ""
    return [
        label,
        *([f"line {lines}"] if lines else []),
        weight_text(drawing.blocks[vertex]),
        *(f"{edge.kind.value} {', '.join(edge.marks)}" for edge in drawing.arrivals(vertex)),
        *starts.get(vertex, ()),
    ]


def _starts(drawing: Drawing) -> dict[int, list[str]]:
    """The labels of the blocks where paths start; none if that is the root alone."""
    found: dict[int, list[str]] = {}
    entries = list(drawing.entry_edges())
    for edge in entries if len(entries) > 1 else ():
        found.setdefault(edge.target, []).append(f"{edge.kind.value} {', '.join(edge.marks)}")
    return found


def _notes(drawing: Drawing, index: int) -> list[tuple[str, str]]:
    """The values and probes of an edge in a path plan: lines of text with their style."""
    if drawing.numbered is None:
        return []
    edge, ending = drawing.drawn(index), drawing.numbered.ending_on.get(index)
    marks = [", ".join(edge.marks)] if edge.marks else []
    marks += [] if ending is None else [f"end {', '.join(drawing.numbered.marks(ending))}"]
    probes = [probe_text(probe) for probe in edge.probes if not isinstance(probe, Count | AddTripCount)]
    return [(text, "mark") for text in marks] + [(text, "probe") for text in probes]


def _size(drawing: Drawing, vertex: int, texts: Sequence[str]) -> tuple[float, float]:
    width = max(map(len, texts)) * _CHARACTER + 2 * _PADDING
    outs = drawing.graph.out_edges[vertex]
    longest = max((len(text) for index in outs for text, _ in _notes(drawing, index)), default=0)
    if longest:
        width = max(width, (min(len(outs), _MOST_APART) + 1) * (longest + 2) * _CHARACTER)
    return width, len(texts) * _LINE + _PADDING


class _Picture:
    """The elements drawn so far: edges first, so that blocks and text lie above them."""

    def __init__(self, drawing: Drawing, layout: Layout) -> None:
        self._drawing, self._layout = drawing, layout
        self._paths: list[str] = []
        self._marks: list[str] = []
        self._blocks: list[str] = []
        self._right = max(node.x + node.width / 2 for node in layout.nodes)
        self._outs: dict[int, list[int]] = {}
        self._ins: dict[int, list[int]] = {}
        for index in [*layout.routes, *layout.back_edges]:
            edge = drawing.graph.edges[index]
            self._outs.setdefault(edge.src, []).append(index)
            self._ins.setdefault(edge.dst, []).append(index)
        for outs in self._outs.values():
            outs.sort(key=lambda index: self._next_x(index, first=True))
        for ins in self._ins.values():
            ins.sort(key=lambda index: self._next_x(index, first=False))

    def _next_x(self, index: int, first: bool) -> float:
        """Where an edge goes to from its block (or enters from), so that ports do not cross."""
        route = self._layout.routes.get(index)
        if route is None:
            return float("inf")
        return self._layout.nodes[route[1] if first else route[-2]].x

    def _port(self, node: Node, indices: Sequence[int], index: int) -> float:
        part = (indices.index(index) + 1) / (len(indices) + 1)
        return node.x + node.width * (part - 0.5)

    def forward(self, index: int) -> None:
        """An edge downwards, through its bends."""
        edge = self._drawing.graph.edges[index]
        nodes = [self._layout.nodes[number] for number in self._layout.routes[index]]
        start = (self._port(nodes[0], self._outs[edge.src], index), nodes[0].y + nodes[0].height)
        end = (self._port(nodes[-1], self._ins[edge.dst], index), nodes[-1].y - 5)
        points = [start, *((bend.x, bend.y) for bend in nodes[1:-1]), end]
        path = f"M{start[0]:.1f},{start[1]:.1f}"
        for (x, y), (to_x, to_y) in pairwise(points):
            half = (to_y - y) / 2
            path += f" C{x:.1f},{y + half:.1f} {to_x:.1f},{to_y - half:.1f} {to_x:.1f},{to_y:.1f}"
        self._edge(index, path, (start[0] * 3 + points[1][0]) / 4, start[1] + 18)

    def backward(self, index: int, lane: int) -> None:
        """An edge upwards: below its block to the right, up its lane, and down into its target."""
        graph, layout = self._drawing.graph, self._layout
        edge = graph.edges[index]
        src, dst = layout.nodes[layout.of_vertex[edge.src]], layout.nodes[layout.of_vertex[edge.dst]]
        start_x = self._port(src, self._outs[edge.src], index)
        end_x = self._port(dst, self._ins[edge.dst], index)
        spread = LAYER_GAP / 2 / (len(layout.back_edges) + 1) * (lane + 1)
        low = layout.bottoms[layout.layer_of[edge.src]] + spread
        high = dst.y - 10 - spread
        x = self._right + _LANE * (lane + 1)
        corner = 6.0
        path = (
            f"M{start_x:.1f},{src.y + src.height:.1f} L{start_x:.1f},{low - corner:.1f}"
            f" q0,{corner} {corner},{corner} L{x - corner:.1f},{low:.1f} q{corner},0 {corner},{-corner}"
            f" L{x:.1f},{high + corner:.1f} q0,{-corner} {-corner},{-corner} L{end_x + corner:.1f},{high:.1f}"
            f" q{-corner},0 {-corner},{corner} L{end_x:.1f},{dst.y - 5:.1f}"
        )
        self._edge(index, path, x, (low + high) / 2)

    def _edge(self, index: int, path: str, x: float, y: float) -> None:
        tree = self._drawing.tree
        role = "tree" if tree is None or index in tree else "chord"
        self._paths.append(f'<path class="{role}" d="{path}" marker-end="url(#arrow)"/>')
        weight = weight_text(self._drawing.weights[index])
        self._marks.append(_label(x + 5, y + 4, weight, "weight"))
        for text, style in _notes(self._drawing, index):
            y += _LINE
            if style == "probe":
                where = f'x="{x - 4:.1f}" y="{y - 4:.1f}"'
                self._marks.append(f'<rect class="probe" {where} width="8" height="8"/>')
            self._marks.append(_label(x + 7, y + 4, text, style))
        for number, probe in enumerate(self._drawing.plan.on_edges.get(index, ()), 1):
            self._probe(x, y + 18 * number, probe)

    def _probe(self, x: float, y: float, probe: Probe) -> None:
        """The dot of a counter."""
        if isinstance(probe, Count | AddTripCount):
            self._marks.append(f'<circle cx="{x:.1f}" cy="{y - 3:.1f}" r="8"/>')
            self._marks.append(_text(x, y, str(probe.slot), "slot"))

    def block(self, node: Node, texts: Sequence[str]) -> None:
        """A box with its text; its probes are at the upper left corner."""
        drawing = self._drawing
        left = node.x - node.width / 2
        kind = "" if drawing.blocks[node.vertex] else ' class="never"'
        self._blocks.append(
            f'<rect{kind} x="{left:.1f}" y="{node.y:.1f}" width="{node.width:.1f}"'
            f' height="{node.height:.1f}" rx="4"/>'
        )
        for row, text in enumerate(texts):
            self._blocks.append(_text(node.x, node.y + _LINE * (row + 1), text, "note" if row else ""))
        for number, probe in enumerate(drawing.plan.on_blocks.get(node.vertex, ())):
            self._probe(left + 18 * number, node.y + 3, probe)

    def text(self) -> str:
        """The whole file."""
        title = self._drawing.title
        numbered = self._drawing.numbered
        below = [] if numbered is None else [_text(_MARGIN, _MARGIN + _LINE, numbered.summary, "below")]
        beside = [text for index in self._layout.back_edges for text, _ in _notes(self._drawing, index)]
        room = max((len(text) * _CHARACTER for text in beside), default=0.0)
        width = self._right + _LANE * (len(self._layout.back_edges) + 1) + max(60.0, room)
        longest = max(len(title), 0 if numbered is None else len(numbered.summary))
        width = max(width, longest * _CHARACTER) + 2 * _MARGIN
        height = self._layout.bottoms[-1] + _TITLE + 2 * _MARGIN + LAYER_GAP
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
                f' viewBox="0 0 {width:.0f} {height:.0f}">',
                f"<title>{_clean(title)}</title>",
                f"<style>{_STYLE}</style>",
                _ARROW,
                '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>',
                _text(_MARGIN, _MARGIN, title, "title"),
                *below,
                f'<g transform="translate({_MARGIN},{_MARGIN + _TITLE})">',
                *self._paths,
                *self._blocks,
                *self._marks,
                "</g>",
                "</svg>",
                "",
            ]
        )


def _text(x: float, y: float, text: str, kind: str) -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}">{_clean(text)}</text>'


def _label(x: float, y: float, text: str, kind: str) -> str:
    """A text above the lines of edges, with a white margin.

    The margin is a text of its own, below: a stroke behind its own fill (``paint-order``) is something that
    only browsers draw, and others would draw it over the text.
    """
    return _text(x, y, text, "halo") + _text(x, y, text, kind)


def _clean(text: str) -> str:
    """Text that XML can hold: control characters and halves of characters cannot be written there."""
    return escape("".join(c if c.isprintable() else "�" for c in text))
