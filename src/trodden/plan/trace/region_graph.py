"""The acyclic graph whose paths are the regions of a procedure.

A *region* is a stretch of one activation that ends where it writes down which way it took: on back edges and
cut edges, at EXIT, and in a *call block*, before the call at its end.  What a call executes comes in between,
and everything that is read later depends on where this activation was when the call began; so no region
crosses a call, and a trace is regenerated from its beginning, without looking ahead (BL94 §4.2).

So the out-edges of call blocks are removed beside those that BL96 removes, and a call block has one arc to
EXIT, its CALL.  Only cycles without a call need a back edge.  A self loop whose trips are counted
is left out.  Regions start at the root and at the targets of removed edges.
"""

from __future__ import annotations

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import DepthFirst, depth_first
from trodden.plan.paths.dag import Arc, ArcKind, Dag
from trodden.plan.probes import Trace
from trodden.plan.routes import PathStart


def build_region_graph(graph: Graph, trace: Trace, search: DepthFirst | None = None) -> Dag:
    """Remove edges and add the dummy arcs; linear time.

    ``search`` is a depth-first search with the call blocks as barriers.  :class:`ValueError` if the trace
    does not fit the graph, or if the removed edges leave a cycle.
    """
    search = search or depth_first(graph, trace.calls)
    counted = frozenset(trace.counted)
    ends = frozenset((*trace.back_edges, *trace.cuts))
    check_trace(graph, trace)
    live = [
        index
        for index, edge in enumerate(graph.edges)
        if edge.kind is EdgeKind.FLOW and search.enter[edge.src] >= 0 and index not in counted
    ]
    behind_calls = frozenset(index for index in live if graph.edges[index].src in trace.calls)
    removed = frozenset(live) & ends | behind_calls
    entry = len(graph.labels)
    arcs: list[Arc] = []
    for index in live:
        src, dst, _ = graph.edges[index]
        if index not in removed:
            if search.leave[src] <= search.leave[dst]:
                raise ValueError(f"{graph.name}: the removed edges leave a cycle")
            arcs.append(Arc(src, dst, ArcKind.REAL, index))
    arcs.append(Arc(entry, graph.root, ArcKind.ENTRY, graph.root))
    first_of: dict[int, PathStart] = {}
    for index in sorted(removed):
        src, dst, _ = graph.edges[index]
        if index not in behind_calls:
            arcs.append(Arc(src, graph.exit, ArcKind.END, index))
        if dst != graph.exit:
            first_of[dst] = PathStart.RESUME if index in behind_calls else first_of.get(dst, PathStart.CUT)
    live_calls = sorted(block for block in trace.calls if search.enter[block] >= 0)
    arcs += [Arc(block, graph.exit, ArcKind.CALL, block) for block in live_calls]
    arcs += [Arc(entry, dst, ArcKind.START, dst) for dst in sorted(first_of)]
    outs: list[list[int]] = [[] for _ in range(entry + 1)]
    ins: list[list[int]] = [[] for _ in outs]
    for number, arc in enumerate(arcs):
        outs[arc.src].append(number)
        ins[arc.dst].append(number)
    order = [entry, *(vertex for vertex in reversed(search.postorder) if vertex != graph.exit), graph.exit]
    return Dag(graph, arcs, outs, ins, order, {}, first_of, frozenset(trace.back_edges), removed)


def check_trace(graph: Graph, trace: Trace) -> None:
    """:class:`ValueError` if calls, ends of regions or counted loops cannot be where the trace has them."""
    blocks = range(graph.exit)
    marked = {*trace.calls, *trace.resumes, *trace.landings, *trace.tails}
    if any(block not in blocks for block in marked):
        raise ValueError(f"{graph.name}: there is no such block to call or land in")
    if not {*trace.resumes, *trace.tails} <= trace.calls.keys():
        raise ValueError(f"{graph.name}: a block without a call cannot resume or leave")
    for block in trace.calls:
        returning = [edge for edge in flow_out(graph, block) if graph.edges[edge].dst not in trace.landings]
        if len(returning) > 1:
            raise ValueError(f"{graph.name}: the call of block {block} returns to several blocks")
    if any(graph.edges[edge].dst != graph.exit for block in trace.tails for edge in flow_out(graph, block)):
        raise ValueError(f"{graph.name}: control goes on behind a call that takes the place of its caller")
    for index in (*trace.back_edges, *trace.cuts, *trace.counted):
        if not 0 <= index < len(graph.edges) or graph.edges[index].kind is not EdgeKind.FLOW:
            raise ValueError(f"{graph.name}: there is no edge {index} to end a region on")
        if graph.edges[index].dst == graph.exit or graph.edges[index].src in trace.calls:
            raise ValueError(f"{graph.name}: a region ends in any case before edge {index} does")
    loops = {graph.edges[index].src: index for index in trace.counted}
    if len(loops) < len(trace.counted) or any(
        graph.edges[index].dst != block or len(flow_out(graph, block)) == 1 for block, index in loops.items()
    ):
        raise ValueError(f"{graph.name}: an edge is no self loop whose trips can be counted")


def flow_out(graph: Graph, block: int) -> list[int]:
    """The out-edges of a block that control can take."""
    return [index for index in graph.out_edges[block] if graph.edges[index].kind is EdgeKind.FLOW]
