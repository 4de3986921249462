"""A function's graph as text: every block with its outgoing edges, then the paths if they are few."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.plan.paths.dag import ArcKind
from trodden.report.graph.drawing import Drawing, DrawnEdge, label_of, probe_text, weight_text

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
    entries = list(drawing.entry_edges())
    blocks = [(drawing.arrivals(vertex), drawing.edges_from(vertex)) for vertex in range(len(graph.labels))]
    shown = [[*arrivals, *edges] for arrivals, edges in blocks]
    loose = () if drawing.numbered is not None else range(2, 6)
    rows = iter(
        _aligned([_parts(drawing, edge) for edges in (entries, *shown) for edge in edges], loose=loose)
    )
    out = [drawing.title, *drawing.summary]
    if entries:
        out += ["", "entry", *(next(rows) for _ in entries)]
    for vertex, edges in enumerate(shown):
        out += ["", _block(drawing, vertex), *(next(rows) for _ in edges)]
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


def _parts(drawing: Drawing, edge: DrawnEdge) -> tuple[str, ...]:
    """The columns of an edge: target, weight, role, Val, Inc, and last its probes or its purpose."""
    arrow = "→" if edge.edge is not None or edge.kind is ArcKind.ENTRY else "⇢"
    target = f"  {arrow} {label_of(drawing.graph, edge.target)}"
    weight = weight_text(edge.weight) if edge.edge is not None else ""
    value, increment = (*edge.marks, "", "")[:2]
    last = " ".join(map(probe_text, edge.probes)) or _DUMMY.get(edge.kind, "")
    return target, weight, edge.role, value, increment, last


def _aligned(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (1,), loose: Sequence[int] = ()
) -> list[str]:
    """The rows with their columns aligned, except ``loose`` ones; empty columns take no room."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def padded(column: int, text: str) -> str:
        if column in loose:
            return text
        return f"{text:>{widths[column]}}" if column in right else f"{text:<{widths[column]}}"

    used = [column for column, width in enumerate(widths) if width or column == 0]
    return [
        "  ".join(
            padded(column, row[column]) for column in used if row[column] or column not in loose
        ).rstrip()
        for row in rows
    ]
