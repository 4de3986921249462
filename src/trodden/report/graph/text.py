"""A function's graph as text: every block with the ways out of it, then the paths if they are few."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.plan.paths.dag import ArcKind
from trodden.report.graph.drawing import Drawing, Way, label_of, probe_text, weight_text

_DUMMY = {
    ArcKind.ENTRY: "",
    ArcKind.START: "paths start anew",
    ArcKind.END: "paths end",
    ArcKind.PASS: "from outside",
    ArcKind.SURROGATE: "by a back edge",
}


def to_text(drawing: Drawing) -> str:
    """Blocks in their order; below each its edges with weight, role and probes.

    Solid arrows are edges; dashed ones are those that only the acyclic graph of BL96 §4 has.
    """
    graph = drawing.graph
    ins = list(drawing.ways_in())
    blocks = [(drawing.arrivals(vertex), drawing.ways_from(vertex)) for vertex in range(len(graph.labels))]
    shown = [[*arrivals, *ways] for arrivals, ways in blocks]
    loose = () if drawing.numbered is not None else range(2, 6)
    rows = iter(_aligned([_parts(drawing, way) for ways in (ins, *shown) for way in ways], loose=loose))
    out = [drawing.title, *drawing.summary]
    if ins:
        out += ["", "entry", *(next(rows) for _ in ins)]
    for vertex, ways in enumerate(shown):
        out += ["", _block(drawing, vertex), *(next(rows) for _ in ways)]
    table = [] if drawing.numbered is None else drawing.numbered.table()
    if table:
        numbers = len(table[0]) - 3
        out += ["", "paths", *_aligned([("", *row) for row in table], right=range(1, numbers + 1))]
    return "\n".join(out) + "\n"


def _block(drawing: Drawing, vertex: int) -> str:
    graph = drawing.graph
    root = "root" if vertex == graph.root else ""
    where = f"lines {drawing.lines[vertex]}" if vertex < graph.exit and drawing.lines[vertex] else ""
    probes = " ".join(map(probe_text, drawing.plan.on_blocks.get(vertex, ())))
    parts = (label_of(graph, vertex), weight_text(drawing.blocks[vertex]), root, where, probes)
    return "  ".join(part for part in parts if part)


def _parts(drawing: Drawing, way: Way) -> tuple[str, ...]:
    """The columns of a way: target, weight, role, Val, Inc, and at last what has no column."""
    arrow = "→" if way.edge is not None or way.kind is ArcKind.ENTRY else "⇢"
    target = f"  {arrow} {label_of(drawing.graph, way.target)}"
    weight = weight_text(way.weight) if way.edge is not None else ""
    value, increment = (*way.marks, "", "")[:2]
    last = " ".join(map(probe_text, way.probes)) or _DUMMY.get(way.kind, "")
    return target, weight, way.role, value, increment, last


def _aligned(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (1,), loose: Sequence[int] = ()
) -> list[str]:
    """The rows with their columns below each other, ``loose`` ones aside; empty columns take no room."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def padded(place: int, text: str) -> str:
        if place in loose:
            return text
        return f"{text:>{widths[place]}}" if place in right else f"{text:<{widths[place]}}"

    used = [place for place, width in enumerate(widths) if width or place == 0]
    return [
        "  ".join(padded(place, row[place]) for place in used if row[place] or place not in loose).rstrip()
        for row in rows
    ]
