"""A function's graph as text: every block with the ways out of it."""

from __future__ import annotations

from trodden.report.drawing import Drawing, label_of, probe_text, weight_text


def to_text(drawing: Drawing) -> str:
    """Blocks in their order; below each its edges with weight, role and probes."""
    graph, plan = drawing.graph, drawing.plan
    what = "counts" if drawing.measured else "expected frequencies"
    out = [
        drawing.title,
        f"{graph.exit} blocks, {sum(1 for _ in graph.flow_edges())} edges, {plan.slots} counters"
        f" ({plan.scheme}); {what}",
    ]
    labels = [label_of(graph, vertex) for vertex in range(len(graph.labels))]
    weights = [weight_text(weight) for weight in drawing.weights]
    wide_label, wide_weight = max(map(len, labels)), max(map(len, weights), default=0)
    for vertex, label in enumerate(labels):
        root = "root" if vertex == graph.root else ""
        where = f"lines {drawing.lines[vertex]}" if vertex < graph.exit and drawing.lines[vertex] else ""
        probes = " ".join(map(probe_text, plan.on_blocks.get(vertex, ())))
        out += ["", _row(label, weight_text(drawing.blocks[vertex]), root, where, probes)]
        for index in graph.out_edges[vertex]:
            target = f"  → {labels[graph.edges[index].dst]:<{wide_label}}"
            probes = " ".join(map(probe_text, plan.on_edges.get(index, ())))
            out.append(_row(target, f"{weights[index]:>{wide_weight}}", drawing.edge_role(index), probes))
    return "\n".join(out) + "\n"


def _row(*parts: str) -> str:
    return "  ".join(part for part in parts if part).rstrip()
