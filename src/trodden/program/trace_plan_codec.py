"""How a procedure is traced, as columns of numbers, and back; and the probes that write a trace.

The numbers of regions are not stored: they follow from the graph and from where regions end.
"""

from __future__ import annotations

from typing import Any

from trodden.graph.cfg import Graph
from trodden.plan.probes import (
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Probe,
    Trace,
    TraceProbe,
)
from trodden.plan.trace.records import LARGEST_NUMBER
from trodden.plan.trace.region_graph import check_trace
from trodden.program.checked import ColumnError, columns, ints, same_length, text, whole

ENCODINGS = ("paths", "witnesses", "bits")
_MOST_CALLEES = 1 << 32
_MOST_BITS = 32
_WORD = 1 << 64

_ENTRY, _REGION, _REGION_AT, _WITNESS, _FLUSH, _TRIPS, _BITS = range(7)
OPERATIONS = _BITS + _MOST_BITS
"""How many operations there are: that of EmitBits includes the number of bits."""


def trace_to_columns(trace: Trace) -> dict[str, Any]:
    """The JSON form."""
    return {
        "encoding": trace.encoding,
        "calls": [list(trace.calls), [-1 if each is None else each for each in trace.calls.values()]],
        "back_edges": list(trace.back_edges),
        "cuts": list(trace.cuts),
        "counted": list(trace.counted),
        "resumes": list(trace.resumes),
        "landings": list(trace.landings),
        "tails": list(trace.tails),
        "entered": int(trace.entered),
        "witnesses": [list(trace.witnesses), list(trace.witness_values)],
    }


def trace_from_columns(data: Any, graph: Graph) -> Trace:
    """A trace, with every index checked against its graph."""
    edges, blocks = len(graph.edges), graph.exit
    calling, callees = columns(data["calls"], 2, "calls")
    same_length(ints(calling, 0, blocks), ints(callees, -1, _MOST_CALLEES))
    witnesses, values = columns(data["witnesses"], 2, "witnesses")
    if values:
        same_length(witnesses, values)
    encoding = text(data["encoding"])
    if encoding not in ENCODINGS:
        raise ColumnError("a trace has an unknown encoding")
    trace = Trace(
        encoding=encoding,
        calls={block: None if callee < 0 else callee for block, callee in zip(calling, callees, strict=True)},
        back_edges=tuple(ints(data["back_edges"], 0, edges)),
        cuts=tuple(ints(data["cuts"], 0, edges)),
        counted=tuple(ints(data["counted"], 0, edges)),
        resumes=tuple(ints(data["resumes"], 0, blocks)),
        landings=tuple(ints(data["landings"], 0, blocks)),
        entered=bool(whole(data["entered"], 0, 2)),
        witnesses=tuple(ints(witnesses, 0, edges)),
        witness_values=tuple(ints(values, 0, LARGEST_NUMBER + 1)),
        tails=tuple(ints(data["tails"], 0, blocks)),
    )
    try:
        check_trace(graph, trace)
    except ValueError as error:
        raise ColumnError(str(error)) from error
    return trace


def trace_probe_code(probe: TraceProbe) -> tuple[int, int]:
    """A probe as operand and operation."""
    match probe:
        case EmitEntry():
            return 0, _ENTRY
        case EmitRegion(add):
            return add, _REGION
        case EmitRegionAt(number):
            return number, _REGION_AT
        case EmitWitness(witness):
            return witness, _WITNESS
        case FlushBits(forced):
            return int(forced), _FLUSH
        case EmitTripCount(back_edge):
            return back_edge, _TRIPS
        case EmitBits(value, bits):
            return value, _BITS + bits


def trace_probe(number: int, operation: int, edges: int) -> Probe:
    """The probe with an operand and an operation; the graph has so many edges."""
    if operation == _ENTRY:
        whole(number, 0, 1)
        return EmitEntry()
    if operation == _REGION:
        return EmitRegion(whole(number, 1 - _WORD, _WORD))
    if operation == _REGION_AT:
        return EmitRegionAt(whole(number, 0, LARGEST_NUMBER + 1))
    if operation == _WITNESS:
        return EmitWitness(whole(number, 0, LARGEST_NUMBER + 1))
    if operation == _FLUSH:
        return FlushBits(bool(whole(number, 0, 2)))
    if operation == _TRIPS:
        return EmitTripCount(whole(number, 0, edges))
    bits = whole(operation - _BITS, 0, _MOST_BITS)
    return EmitBits(whole(number, 0, 1 << bits), bits)
