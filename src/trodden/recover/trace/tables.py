"""The tables of a procedure, from its graph and the plan that it was built with."""

from __future__ import annotations

from collections.abc import Iterable

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.dag import ArcKind
from trodden.plan.probes import EmitBits, FlushBits, Plan, Probe, Trace
from trodden.plan.trace.regions import RegionNumbering
from trodden.recover.trace.procedure import NO_CALL, UNKNOWN_CALLEE, Arc, Encoding, Procedure

_ENCODINGS = {"paths": Encoding.PATHS, "witnesses": Encoding.WITNESSES, "bits": Encoding.BITS}


def procedure_of(name: str, graph: Graph, plan: Plan) -> Procedure:
    """The tables of a procedure; :class:`ValueError` if its plan has no trace, or one that does not fit."""
    trace = plan.trace
    if trace is None or trace.encoding not in _ENCODINGS:
        raise ValueError(f"{name}: was not built to record a trace")
    encoding = _ENCODINGS[trace.encoding]
    blocks = range(graph.exit)
    calls = [NO_CALL] * graph.exit
    for block, callee in trace.calls.items():
        calls[block] = UNKNOWN_CALLEE if callee is None else callee
    landings = frozenset(trace.landings)
    behind: dict[int, tuple[int, int]] = {}
    landing: dict[int, list[tuple[int, int, int]]] = {}
    for block in trace.calls:
        for edge in _flow(graph, block):
            target = graph.edges[edge].dst
            if target in landings:
                landing.setdefault(block, []).append((edge, target, target))
            elif target != graph.exit or block in trace.tails:
                behind.setdefault(block, (edge, target))
    counted = {graph.edges[edge].src: edge for edge in trace.counted}
    picks: dict[int, dict[int, int]] = {}
    if encoding is Encoding.PATHS:
        numbering = RegionNumbering(graph, trace)
        arcs = [_numbered(graph, numbering, block, calls) for block in blocks]
        silent = [numbering.silent(block) for block in blocks]
    elif encoding is Encoding.WITNESSES:
        arcs = [_witnessed(graph, trace, block, calls) for block in blocks]
        _add_passages(graph, trace, arcs, calls, behind, landing)
        picks = _picks(arcs)
        silent = _silent_without_witness(arcs, calls, graph.exit)
    else:
        arcs = [_by_bits(graph, trace, plan, block, calls) for block in blocks]
        silent = _silent_without_bits(graph, plan, arcs, calls)
    ending = _ending(arcs, calls, graph.exit)
    return Procedure(
        name=name,
        encoding=encoding,
        root=graph.root,
        exit=graph.exit,
        arcs=arcs,
        calls=calls,
        behind=behind,
        landing=landing,
        counted=counted,
        resumes=frozenset(block for block in trace.resumes if block in behind),
        tails=frozenset(trace.tails),
        silent=[each and ends for each, ends in zip(silent, ending, strict=True)],
        picks=picks,
    )


def _ending(arcs: list[list[Arc]], calls: list[int], end: int) -> list[bool]:
    """From where the only way leads to the end of a region, not to a block that nothing leaves."""
    ending = [False] * len(arcs)
    for block in _inner_first(arcs):
        ending[block] = calls[block] != NO_CALL or (
            len(arcs[block]) == 1
            and (arcs[block][0].ends or arcs[block][0].target == end or ending[arcs[block][0].target])
        )
    return ending


def _flow(graph: Graph, block: int) -> Iterable[int]:
    return (edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW)


def _numbered(graph: Graph, numbering: RegionNumbering, block: int, calls: list[int]) -> list[Arc]:
    if calls[block] != NO_CALL:
        return []
    found = []
    for number in numbering.sorted_outs[block]:
        arc = numbering.dag.arcs[number]
        ends = arc.kind is ArcKind.END
        target = graph.edges[arc.of].dst if ends else arc.dst
        found.append(Arc(numbering.value[number], target, arc.of, ends))
    return found


def _witnessed(graph: Graph, trace: Trace, block: int, calls: list[int]) -> list[Arc]:
    if calls[block] != NO_CALL:
        return []
    written = dict(zip(trace.witnesses, trace.witness_values or range(len(trace.witnesses)), strict=True))
    counted = frozenset(trace.counted)
    return [
        Arc(written.get(edge, -1), graph.edges[edge].dst, edge, edge in written)
        for edge in _flow(graph, block)
        if edge not in counted
    ]


def _add_passages(
    graph: Graph,
    trace: Trace,
    arcs: list[list[Arc]],
    calls: list[int],
    behind: dict[int, tuple[int, int]],
    landing: dict[int, list[tuple[int, int, int]]],
) -> None:
    """Behind calls, edges that write a witness lead through passages, behind EXIT."""
    written = dict(zip(trace.witnesses, trace.witness_values or range(len(trace.witnesses)), strict=True))
    arcs.append([])
    calls.append(NO_CALL)

    def passage(edge: int, target: int) -> int:
        if edge not in written:
            return target
        arcs.append([Arc(written[edge], target, -1, True)])
        calls.append(NO_CALL)
        return len(arcs) - 1

    for block, (edge, target) in behind.items():
        if block not in trace.tails:
            behind[block] = edge, passage(edge, target)
    for ways in landing.values():
        ways[:] = [(edge, pad, passage(edge, target)) for edge, pad, target in ways]


def _picks(arcs: list[list[Arc]]) -> dict[int, dict[int, int]]:
    """At each predicate the arcs by the witnesses to which they lead without another one (BL94 §4.1)."""
    found: dict[int, dict[int, int]] = {}
    reached: dict[int, frozenset[int]] = {}
    for block in _inner_first(arcs):
        own: dict[int, int] = {}
        for position, arc in enumerate(arcs[block]):
            for witness in (arc.key,) if arc.ends else reached.get(arc.target, ()):
                own[witness] = position
        reached[block] = frozenset(own)
        if len(arcs[block]) > 1:
            found[block] = own
    return found


def _inner_first(arcs: list[list[Arc]]) -> list[int]:
    """All blocks, each after those that it leads to by arcs that end no region, which have no cycles."""
    order: list[int] = []
    seen = [False] * len(arcs)
    for root in range(len(arcs)):
        if seen[root]:
            continue
        seen[root] = True
        stack = [(root, iter(arcs[root]))]
        while stack:
            block, rest = stack[-1]
            for arc in rest:
                if not arc.ends and arc.target < len(arcs) and not seen[arc.target]:
                    seen[arc.target] = True
                    stack.append((arc.target, iter(arcs[arc.target])))
                    break
            else:
                order.append(block)
                stack.pop()
    return order


def _silent_without_witness(arcs: list[list[Arc]], calls: list[int], end: int) -> list[bool]:
    """Where the only way leads to a call or to EXIT, and no witness is on it."""
    silent = [False] * len(arcs)
    for block in _inner_first(arcs):
        if calls[block] != NO_CALL:
            silent[block] = True
        elif len(arcs[block]) == 1 and not arcs[block][0].ends:
            target = arcs[block][0].target
            silent[block] = target == end or silent[target]
    return silent


def _by_bits(graph: Graph, trace: Trace, plan: Plan, block: int, calls: list[int]) -> list[Arc]:
    if calls[block] != NO_CALL:
        return []
    counted = frozenset(trace.counted)
    found = []
    for edge in _flow(graph, block):
        if edge in counted:
            continue
        probes = plan.on_edges.get(edge, ())
        key = next((probe.value for probe in probes if isinstance(probe, EmitBits)), 0)
        target = graph.edges[edge].dst
        ends = target != graph.exit and _writes(probes)
        many = any(isinstance(probe, FlushBits) and not probe.forced for probe in probes)
        found.append(Arc(key, target, edge, ends, many))
    return sorted(found)


def _silent_without_bits(graph: Graph, plan: Plan, arcs: list[list[Arc]], calls: list[int]) -> list[bool]:
    """Where the only way leads to a call or to EXIT, and no bits are written there."""
    silent = [False] * len(arcs)
    for block in _inner_first(arcs):
        if calls[block] != NO_CALL:
            silent[block] = not _writes(plan.on_blocks.get(block, ()))
        elif len(arcs[block]) == 1 and not arcs[block][0].ends:
            arc = arcs[block][0]
            silent[block] = (
                not _writes(plan.on_edges.get(arc.edge, ()))
                if arc.target == graph.exit
                else silent[arc.target]
            )
    return silent


def _writes(probes: Iterable[Probe]) -> bool:
    return any(isinstance(probe, FlushBits) and probe.forced for probe in probes)
