"""A function's graph for Graphviz: tree edges solid and thick, chords dashed, probes named.

For a path plan also the edges that only the acyclic graph of BL96 §4 has, dotted and grey.
"""

from __future__ import annotations

from trodden.export.dot import quoted
from trodden.graph.cfg import EdgeKind
from trodden.plan.paths.dag import ArcKind
from trodden.report.graph.drawing import Drawing, DrawnEdge, label_of, probe_text, weight_text

_DUMMY = "style=dotted, color=gray40, fontcolor=gray40"


def to_dot(drawing: Drawing) -> str:
    """Virtual edges are dotted; the layout ignores them."""
    graph, plan = drawing.graph, drawing.plan
    title = [drawing.title] if drawing.numbered is None else [drawing.title, drawing.numbered.summary]
    out = [
        "digraph trodden {",
        f"  label={quoted(*title)};",
        '  node [shape=box, fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    for vertex in range(len(graph.labels)):
        texts = [label_of(graph, vertex)]
        if vertex < graph.exit:
            texts += [text for text in (drawing.lines[vertex],) if text]
        texts += [weight_text(drawing.blocks[vertex]), *map(probe_text, plan.on_blocks.get(vertex, ()))]
        texts += [" ".join((edge.kind.value, *edge.marks)) for edge in drawing.arrivals(vertex)]
        out.append(f"  b{vertex} [label={quoted(*texts)}];")
    entries = list(drawing.entry_edges())
    if entries:
        out.append("  entry [shape=plaintext];")
    out += [f"  entry -> b{edge.target} {_attributes(drawing, edge)};" for edge in entries]
    for vertex in range(len(graph.labels)):
        for edge in drawing.edges_from(vertex):
            out.append(f"  b{vertex} -> b{edge.target} {_attributes(drawing, edge)};")
    return "\n".join([*out, "}"]) + "\n"


def _attributes(drawing: Drawing, edge: DrawnEdge) -> str:
    weight = [weight_text(edge.weight)] if edge.edge is not None else []
    texts = [*weight, *([", ".join(edge.marks)] if edge.marks else []), *map(probe_text, edge.probes)]
    if edge.edge is None:
        style = "style=solid" if edge.kind is ArcKind.ENTRY else _DUMMY
    elif drawing.graph.edges[edge.edge].kind is not EdgeKind.FLOW:
        style = "style=dotted, constraint=false"
    elif drawing.tree is None or edge.edge in drawing.tree:
        style = "style=solid, penwidth=2.5"
    else:
        style = "style=dashed"
    return f"[label={quoted(*texts)}, {style}]"
