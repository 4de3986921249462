"""A function's graph for Graphviz: tree edges solid and thick, chords dashed, probes named.

Of a plan that numbers paths also the edges that only the acyclic graph of BL96 §4 has, dotted and grey.
"""

from __future__ import annotations

from trodden.export.dot import quoted
from trodden.graph.cfg import EdgeKind
from trodden.plan.paths.dag import ArcKind
from trodden.report.graph.drawing import Drawing, Way, label_of, probe_text, weight_text

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
        texts += [" ".join((way.kind.value, *way.marks)) for way in drawing.arrivals(vertex)]
        out.append(f"  b{vertex} [label={quoted(*texts)}];")
    ins = list(drawing.ways_in())
    if ins:
        out.append("  entry [shape=plaintext];")
    out += [f"  entry -> b{way.target} {_attributes(drawing, way)};" for way in ins]
    for vertex in range(len(graph.labels)):
        for way in drawing.ways_from(vertex):
            out.append(f"  b{vertex} -> b{way.target} {_attributes(drawing, way)};")
    return "\n".join([*out, "}"]) + "\n"


def _attributes(drawing: Drawing, way: Way) -> str:
    weight = [weight_text(way.weight)] if way.edge is not None else []
    texts = [*weight, *([", ".join(way.marks)] if way.marks else []), *map(probe_text, way.probes)]
    if way.edge is None:
        style = "style=solid" if way.kind is ArcKind.ENTRY else _DUMMY
    elif drawing.graph.edges[way.edge].kind is not EdgeKind.FLOW:
        style = "style=dotted, constraint=false"
    elif drawing.tree is None or way.edge in drawing.tree:
        style = "style=solid, penwidth=2.5"
    else:
        style = "style=dashed"
    return f"[label={quoted(*texts)}, {style}]"
