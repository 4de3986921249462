"""A plan as columns of numbers, and back: what its counters mean and where its probes are.

The numbering of its paths is not stored: it follows from the graph and from the edges on which paths end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlap_probes import CallOverlaps, Channel, OverlapProbe, Overlaps, Tuples
from trodden.plan.overlapping.tuples import most_paths
from trodden.plan.probes import (
    WORD,
    Add,
    AddTripCount,
    BlockMeasure,
    Bump,
    BumpAt,
    Count,
    EdgeMeasure,
    Measure,
    Paths,
    Plan,
    Probe,
    RedundantMeasure,
    Restore,
    Save,
    Set,
    StartClock,
    Trace,
    TraceProbe,
)
from trodden.program.checked import ColumnError, columns, ints, same_length, text, whole
from trodden.program.overlap_codec import (
    LOWEST,
    MORE,
    OverlapProbeReader,
    calls_from_columns,
    calls_to_columns,
    overlap_probe_to_rows,
    overlaps_from_columns,
    overlaps_to_columns,
    tuples_from_columns,
)
from trodden.program.trace_codec import (
    LAST_CODE,
    trace_from_columns,
    trace_probe_from_code,
    trace_probe_to_code,
    trace_to_columns,
)

MOST_PATHS = 1 << 63

_EDGE, _BLOCK, _AGAIN = range(3)
_COUNT, _SET, _ADD, _BUMP, _BUMP_AT, _SAVE, _CLOCK, _RESTORE = range(-1, -9, -1)
_CONTEXT, _DENSE, _TIMED = 1, 2, 4


def plan_to_columns(plan: Plan) -> dict[str, Any]:
    """The JSON form of a plan; what only plans with paths or a trace need is left out of others."""
    document: dict[str, Any] = {
        "scheme": plan.scheme,
        "measures": [_measure_code(measure) for measure in plan.measures],
        "on_edges": _probes_to_columns(plan.on_edges),
        "on_blocks": _probes_to_columns(plan.on_blocks),
        "free": sorted(plan.free),
    }
    if plan.on_entry:
        document["on_entry"] = _probes_to_columns({0: plan.on_entry})[1:]
    if plan.paths is not None:
        document["paths"] = _paths_to_columns(plan.paths)
    if plan.trace is not None:
        document["trace"] = trace_to_columns(plan.trace)
    if plan.overlaps is not None:
        document["overlaps"] = overlaps_to_columns(plan.overlaps)
    if plan.tuples is not None:
        document["tuples"] = [plan.tuples.length, int(plan.tuples.dense)]
    if plan.calls is not None:
        document["calls"] = calls_to_columns(plan.calls)
    return document


def plan_from_columns(data: Any, graph: Graph) -> Plan:
    """A plan, with every index checked against its graph."""
    edges, vertices = len(graph.edges), len(graph.labels)
    paths = _paths_from_columns(data["paths"], graph) if "paths" in data else None
    trace = trace_from_columns(data["trace"], graph) if "trace" in data else None
    if paths is not None and trace is not None:
        raise ColumnError("a plan has both paths and a trace")
    measures = _measures_from_codes(data["measures"], graph)
    if paths is not None:
        _check_beside_paths(measures, graph)
    overlaps = overlaps_from_columns(data["overlaps"], graph) if "overlaps" in data else None
    tuples = tuples_from_columns(data["tuples"]) if "tuples" in data else None
    if (overlaps is not None or tuples is not None) and (paths is None or paths.context):
        raise ColumnError("overlaps and tuples are of paths without context")
    if overlaps is not None and paths is not None and paths.timed:
        raise ColumnError("paths that are extended have no time")
    calls = calls_from_columns(data["calls"], graph) if "calls" in data else None
    if calls is not None and (paths is None or paths.context):
        raise ColumnError("paths over calls are of paths without context")
    numbers = 0 if paths is None else paths.number if overlaps is None else overlaps.number
    if tuples is not None and numbers > most_paths(tuples.length):
        raise ColumnError("tuples of so many paths have no numbers")
    extended = _extended(paths, overlaps, tuples, calls)
    reader = _ProbeReader(graph, len(measures), paths, trace, extended)
    entering: Sequence[Probe] = ()
    if "on_entry" in data:
        values, kinds = columns(data["on_entry"], 2, "probes")
        entering = reader.probes([[0] * len(ints(values)), values, kinds], 1).get(0, ())
    return Plan(
        scheme=text(data["scheme"]),
        measures=tuple(measures),
        on_edges=reader.probes(data["on_edges"], edges),
        on_blocks=reader.probes(data["on_blocks"], vertices),
        free=frozenset(ints(data["free"], 0, edges)),
        on_entry=entering,
        paths=paths,
        trace=trace,
        overlaps=overlaps,
        tuples=tuples,
        calls=calls,
    )


def _extended(
    paths: Paths | None, overlaps: Overlaps | None, tuples: Tuples | None, calls: CallOverlaps | None
) -> OverlapProbeReader | None:
    """The reader of probes of overlapping paths, if the plan counts any."""
    if paths is None or (overlaps is None and tuples is None and calls is None):
        return None
    channels = set() if overlaps is None else {Channel.LOOP}
    if calls is not None:
        channels |= {Channel.ENTERED, Channel.RETURNED}
    numbers = paths.number if overlaps is None else overlaps.number
    return OverlapProbeReader(numbers, frozenset(channels), 0 if tuples is None else tuples.length)


def _measure_code(measure: Measure) -> int:
    if isinstance(measure, BlockMeasure):
        return 3 * measure.block + _BLOCK
    return 3 * measure.edge + (_EDGE if isinstance(measure, EdgeMeasure) else _AGAIN)


def _measures_from_codes(data: Any, graph: Graph) -> list[Measure]:
    edges, vertices = len(graph.edges), len(graph.labels)
    measures: list[Measure] = []
    for code in ints(data, 0):
        number, kind = divmod(code, 3)
        if kind == _BLOCK:
            measures.append(BlockMeasure(whole(number, 0, vertices)))
        else:
            of_edge = EdgeMeasure if kind == _EDGE else RedundantMeasure
            measures.append(of_edge(whole(number, 0, edges)))
    return measures


def _check_beside_paths(measures: Sequence[Measure], graph: Graph) -> None:
    blocks = [measure for measure in measures if isinstance(measure, BlockMeasure)]
    if len(set(blocks)) != len(blocks):
        raise ColumnError("two counters beside paths count the same block")
    if not all(_beside_paths(measure, graph) for measure in measures):
        raise ColumnError("a counter beside paths counts neither a self loop nor an edge a second time")


def _beside_paths(measure: Measure, graph: Graph) -> bool:
    """The counts of all edges but self loops follow from the paths (BL96 §4.1)."""
    if isinstance(measure, EdgeMeasure):
        edge = graph.edges[measure.edge]
        return edge.src == edge.dst
    if isinstance(measure, BlockMeasure):
        return sum(graph.edges[edge].dst == measure.block for edge in graph.out_edges[measure.block]) == 1
    return True


def _paths_to_columns(paths: Paths) -> dict[str, Any]:
    flags = _CONTEXT * paths.context + _DENSE * paths.dense + _TIMED * paths.timed
    return {
        "number": paths.number,
        "back_edges": list(paths.back_edges),
        "cuts": list(paths.cuts),
        "handlers": list(paths.resume_edges),
        "flags": flags,
    }


def _paths_from_columns(data: Any, graph: Graph) -> Paths:
    edges = len(graph.edges)
    back_edges, cuts, resume_edges = (
        ints(data[name], 0, edges) for name in ("back_edges", "cuts", "handlers")
    )
    if any(graph.edges[index].kind is not EdgeKind.FLOW for index in (*back_edges, *cuts, *resume_edges)):
        raise ColumnError("paths end on an edge that cannot end them")
    for each in (back_edges, cuts, resume_edges):
        if len(set(each)) != len(each):
            raise ColumnError("an edge is named twice")
    flags = whole(data["flags"], 0, 8)
    return Paths(
        number=whole(data["number"], 0, MOST_PATHS),
        back_edges=tuple(back_edges),
        cuts=tuple(cuts),
        resume_edges=tuple(resume_edges),
        context=bool(flags & _CONTEXT),
        dense=bool(flags & _DENSE),
        timed=bool(flags & _TIMED),
    )


def _probes_to_columns(probes: Mapping[int, Sequence[Probe]]) -> list[list[int]]:
    """Three columns: the edge or block, an operand, and the operation: see :func:`_rows`."""
    flat = [(index, *row) for index, each in probes.items() for probe in each for row in _rows(probe)]
    return [list(column) for column in zip(*flat, strict=True)] or [[], [], []]


def _rows(probe: Probe) -> list[tuple[int, int]]:
    """A probe as operands and operations; only those of overlapping paths have several operands."""
    return overlap_probe_to_rows(probe) if isinstance(probe, OverlapProbe) else [_code(probe)]


def _code(probe: Probe) -> tuple[int, int]:
    """A probe as operand and operation, which is negative unless the trips of a back edge are added."""
    if isinstance(probe, TraceProbe):
        return trace_probe_to_code(probe)
    match probe:
        case Count(slot):
            return slot, _COUNT
        case AddTripCount(slot, back_edge):
            return slot, back_edge
        case Set(value):
            return value, _SET
        case Add(value):
            return value, _ADD
        case Bump(add):
            return add, _BUMP
        case BumpAt(path):
            return path, _BUMP_AT
        case Save(loop):
            return loop, _SAVE
        case Restore(loop, add):
            return add, _RESTORE - loop
        case StartClock():
            return 0, _CLOCK
        case _:
            raise TypeError(f"{type(probe).__name__} has no stored form")


class _ProbeReader:
    """Reads probes from columns and checks them against one plan."""

    def __init__(
        self,
        graph: Graph,
        slots: int,
        paths: Paths | None,
        trace: Trace | None,
        extended: OverlapProbeReader | None,
    ) -> None:
        self._edges = len(graph.edges)
        self._saved = len(graph.labels)
        self._slots, self._paths, self._traced = slots, paths, trace is not None
        self._extended = extended
        self._numbers = 0 if paths is None else paths.number
        if extended is not None:
            self._numbers = extended.paths

    def probes(self, data: Any, holders: int) -> dict[int, tuple[Probe, ...]]:
        """The probes by the index of their edge or block, which is less than ``holders``."""
        where, numbers, kinds = columns(data, 3, "probes")
        same_length(ints(where, 0, holders), ints(numbers), ints(kinds, self._lowest, self._edges))
        found: dict[int, list[Probe]] = {}
        rows = list(zip(where, numbers, kinds, strict=True))
        at = 0
        while at < len(rows):
            holder, number, kind = rows[at]
            at += 1
            if self._extended is not None and kind <= MORE:
                operands = [number]
                while at < len(rows) and rows[at][0] == holder and rows[at][2] == MORE:
                    operands.append(rows[at][1])
                    at += 1
                probe: Probe = self._extended.read(kind, operands)
            else:
                probe = self._counting(number, kind) if kind >= _COUNT else self._of_path(number, kind)
            found.setdefault(holder, []).append(probe)
        return {holder: tuple(probes) for holder, probes in found.items()}

    @property
    def _lowest(self) -> int:
        """The lowest operation that a probe of the plan may have."""
        if self._traced:
            return LAST_CODE
        return LOWEST if self._extended is not None else _RESTORE - self._saved + 1

    def _counting(self, slot: int, kind: int) -> Probe:
        whole(slot, 0, self._slots)
        return Count(slot) if kind == _COUNT else AddTripCount(slot, kind)

    def _of_path(self, number: int, kind: int) -> Probe:
        if self._paths is None:
            return self._of_trace(number, kind)
        if kind == _SAVE:
            return Save(whole(number, 0, self._saved))
        if kind == _CLOCK:
            whole(number, 0, 1)
            return StartClock()
        if kind == _BUMP_AT:
            return BumpAt(whole(number, 0, self._numbers))
        if kind in (_SET, _ADD):
            return self._of_register(number, kind)
        whole(number, 1 - WORD, WORD)
        return Bump(number) if kind == _BUMP else Restore(_RESTORE - kind, number)

    def _of_register(self, number: int, kind: int) -> Probe:
        whole(number, 1 - WORD, WORD)
        return Set(number) if kind == _SET else Add(number)

    def _of_trace(self, number: int, kind: int) -> Probe:
        if not self._traced:
            raise ColumnError("a plan without paths has a path probe")
        if kind in (_SET, _ADD):
            return self._of_register(number, kind)
        return trace_probe_from_code(number, kind, self._edges)
