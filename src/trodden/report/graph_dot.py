"""A function's graph for Graphviz: tree edges solid and thick, chords dashed, probes named."""

from __future__ import annotations

from trodden.graph.cfg import EdgeKind
from trodden.profile.export_dot import quoted
from trodden.report.drawing import Drawing, label_of, probe_text, weight_text


def to_dot(drawing: Drawing) -> str:
    """Virtual edges are dotted; the layout ignores them."""
    graph, plan = drawing.graph, drawing.plan
    out = [
        "digraph trodden {",
        f"  label={quoted(drawing.title)};",
        '  node [shape=box, fontname="monospace"];',
        '  edge [fontname="monospace"];',
    ]
    for vertex in range(len(graph.labels)):
        texts = [label_of(graph, vertex)]
        if vertex < graph.exit:
            texts += [text for text in (drawing.lines[vertex],) if text]
        texts += [weight_text(drawing.blocks[vertex]), *map(probe_text, plan.on_blocks.get(vertex, ()))]
        out.append(f"  b{vertex} [label={quoted(*texts)}];")
    for index, edge in enumerate(graph.edges):
        texts = [weight_text(drawing.weights[index]), *map(probe_text, plan.on_edges.get(index, ()))]
        if edge.kind is not EdgeKind.FLOW:
            style = "style=dotted, constraint=false"
        elif drawing.tree is None or index in drawing.tree:
            style = "style=solid, penwidth=2.5"
        else:
            style = "style=dashed"
        out.append(f"  b{edge.src} -> b{edge.dst} [label={quoted(*texts)}, {style}];")
    return "\n".join([*out, "}"]) + "\n"
