"""What a plan says of a trace, as columns of numbers, and back.

The numbering of its regions is not stored: it follows from the graph and from the edges on which they end.
"""

from __future__ import annotations

from typing import Any

from trodden.graph.cfg import Graph
from trodden.plan.probes import (
    WORD,
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Trace,
    TraceProbe,
)
from trodden.plan.trace.records import LARGEST_NUMBER, MOST_BITS
from trodden.plan.trace.region_graph import check_trace
from trodden.program.checked import ColumnError, columns, ints, same_length, text, whole

ENCODINGS = ("paths", "witnesses", "bits")
MOST_FUNCTIONS = 1 << 32

_ENTRY, _REGION, _REGION_AT, _WITNESS, _BITS, _FLUSH, _TRIPS = range(-9, -16, -1)
LAST_CODE = _TRIPS
"""The codes of trace probes are from here on, below those of others."""

_EDGES = ("back_edges", "cuts", "counted", "witnesses")
_BLOCKS = ("resumes", "landings", "tails")


def trace_to_columns(trace: Trace) -> dict[str, Any]:
    """The JSON form of a trace."""
    return {
        "encoding": trace.encoding,
        "calls": [list(trace.calls), [-1 if each is None else each for each in trace.calls.values()]],
        "entered": int(trace.entered),
        **{name: list(getattr(trace, name)) for name in (*_EDGES, *_BLOCKS, "witness_values")},
    }


def trace_from_columns(data: Any, graph: Graph) -> Trace:
    """A trace, with every index checked against its graph."""
    encoding = text(data["encoding"])
    if encoding not in ENCODINGS:
        raise ColumnError("a trace has an unknown encoding")
    blocks, callees = columns(data["calls"], 2, "calls")
    same_length(ints(blocks, 0, graph.exit), ints(callees, -1, MOST_FUNCTIONS))
    lists = {name: tuple(ints(data[name], 0, len(graph.edges))) for name in _EDGES}
    lists |= {name: tuple(ints(data[name], 0, graph.exit)) for name in _BLOCKS}
    if any(len(set(each)) != len(each) for each in (blocks, *lists.values())):
        raise ColumnError("an edge or a block of a trace is named twice")
    values = tuple(ints(data["witness_values"], 0, LARGEST_NUMBER + 1))
    if values:
        same_length(lists["witnesses"], values)
    trace = Trace(
        encoding,
        calls={block: None if each < 0 else each for block, each in zip(blocks, callees, strict=True)},
        entered=bool(whole(data["entered"], 0, 2)),
        witness_values=values,
        **lists,
    )
    try:
        check_trace(graph, trace)
    except ValueError as error:
        raise ColumnError(str(error)) from error
    return trace


def trace_probe_to_code(probe: TraceProbe) -> tuple[int, int]:
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
        case EmitBits(value, bits):
            return 1 << bits | value, _BITS
        case FlushBits(forced):
            return int(forced), _FLUSH
        case EmitTripCount(back_edge):
            return back_edge, _TRIPS


def trace_probe_from_code(number: int, kind: int, edges: int) -> TraceProbe:
    """A probe from operand and operation, in a graph with so many edges."""
    match kind:
        case n if n == _ENTRY:
            whole(number, 0, 1)
            return EmitEntry()
        case n if n == _REGION:
            return EmitRegion(whole(number, 1 - WORD, WORD))
        case n if n == _REGION_AT:
            return EmitRegionAt(whole(number, 0, LARGEST_NUMBER + 1))
        case n if n == _WITNESS:
            return EmitWitness(whole(number, 0, LARGEST_NUMBER + 1))
        case n if n == _BITS:
            bits = whole(number, 1, 1 << (MOST_BITS + 1)).bit_length() - 1
            return EmitBits(number - (1 << bits), bits)
        case n if n == _FLUSH:
            return FlushBits(bool(whole(number, 0, 2)))
        case n if n == _TRIPS:
            return EmitTripCount(whole(number, 0, edges))
    raise ColumnError("there is no such probe of a trace")
