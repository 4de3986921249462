"""One function as columns of numbers, and back.

A unit may hold thousands of functions with tens of thousands of edges.  Objects for each of them would
make the text long and slow to read, so that everything that repeats is laid out as one flat list a
column; neighbours are written as differences where that makes them small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import add, sub
from typing import Any

from trodden.graph.cfg import Edge, EdgeKind, Graph
from trodden.plan.probes import (
    AddTrips,
    BlockMeasure,
    Count,
    EdgeMeasure,
    Measure,
    Plan,
    Probe,
    SecondOpinion,
)
from trodden.profile.model import BlockFacts, BranchKind, FunctionFacts, LineRef

_KINDS = {
    BranchKind.JUMP: "j",
    BranchKind.IF: "i",
    BranchKind.SWITCH: "s",
    BranchKind.INDIRECT: "n",
    BranchKind.CALL: "c",
    BranchKind.RETURN: "r",
    BranchKind.DEAD_END: "d",
    BranchKind.UNWIND: "u",
}
_KIND_OF = {letter: kind for kind, letter in _KINDS.items()}


class ColumnError(ValueError):
    """A column does not hold what it should; the reader of the file says which file it was."""


def ints(value: Any, low: int | None = None, high: int | None = None) -> list[int]:
    """``value`` if it is a list of whole numbers in ``low <= x < high``."""
    if type(value) is not list or not set(map(type, value)) <= {int}:
        raise ColumnError("a list of numbers was expected")
    if value and ((low is not None and min(value) < low) or (high is not None and max(value) >= high)):
        raise ColumnError("a number is out of range")
    return value


def whole(value: Any, low: int, high: int | None = None) -> int:
    """``value`` if it is a whole number in ``low <= x < high``."""
    if type(value) is not int or value < low or (high is not None and value >= high):
        raise ColumnError("a number is out of range")
    return value


def text(value: Any) -> str:
    """``value`` if it is a string."""
    if type(value) is not str:
        raise ColumnError("a text was expected")
    return value


def same_length(*columns: Sequence[Any]) -> None:
    """Columns of one table are equally long."""
    if len(set(map(len, columns))) > 1:
        raise ColumnError("columns differ in length")


def _differences(values: Sequence[int]) -> list[int]:
    return list(map(sub, values, [0, *values[:-1]]))


def _sums(values: Iterable[int]) -> list[int]:
    return list(accumulate(values))


def function_to_columns(function: FunctionFacts) -> dict[str, Any]:
    """The JSON form of a function."""
    return {
        "name": function.name,
        "linkage_name": function.linkage_name,
        "file": function.file,
        "line": function.line,
        "shared": int(function.shared),
        "fingerprint": function.fingerprint,
        "first_slot": function.first_slot,
        "exit_slots": [x for pair in function.exit_slots.items() for x in pair],
        "graph": _graph_to_columns(function.graph),
        "blocks": _blocks_to_columns(function.blocks),
        "inlined": _inlined_to_columns(function.inlined),
        "plan": _plan_to_columns(function.plan),
    }


def function_from_columns(data: Any, files: int, slots: int) -> FunctionFacts:
    """A function, every index of it checked against the unit's ``files`` and ``slots``."""
    graph = _graph_from_columns(data["graph"])
    plan = _plan_from_columns(data["plan"], graph)
    inlined = _inlined_from_columns(data["inlined"], files)
    blocks = _blocks_from_columns(data["blocks"], files, len(inlined) + 1)
    if len(blocks) != graph.exit:
        raise ColumnError("blocks and vertices differ in number")
    exits = ints(data["exit_slots"])
    if len(exits) % 2:
        raise ColumnError("an exit slot lacks its half")
    return FunctionFacts(
        name=text(data["name"]),
        linkage_name=text(data["linkage_name"]),
        file=whole(data["file"], 0, files),
        line=whole(data["line"], 0),
        graph=graph,
        blocks=blocks,
        plan=plan,
        first_slot=whole(data["first_slot"], 0, slots - plan.slots + 1),
        exit_slots=dict(zip(ints(exits[::2], 0, graph.exit), ints(exits[1::2], 0, slots), strict=True)),
        shared=bool(whole(data["shared"], 0, 2)),
        fingerprint=text(data["fingerprint"]),
        inlined=inlined,
    )


def _graph_to_columns(graph: Graph) -> dict[str, Any]:
    sources = [edge.src for edge in graph.edges]
    endless = [i for i, edge in enumerate(graph.edges) if edge.kind is EdgeKind.ENDLESS]
    return {
        "name": graph.name,
        "labels": list(graph.labels),
        "root": graph.root,
        "src": _differences(sources),
        "way": [edge.dst - edge.src for edge in graph.edges],
        "closing": graph.closing,
        "endless": endless,
    }


def _graph_from_columns(data: Any) -> Graph:
    labels = data["labels"]
    if type(labels) is not list or len(labels) < 2 or not set(map(type, labels)) <= {str}:
        raise ColumnError("labels were expected")
    sources = ints(_sums(ints(data["src"])), 0, len(labels))
    ways = ints(data["way"])
    same_length(sources, ways)
    targets = ints(list(map(add, sources, ways)), 0, len(labels))
    edges = list(map(Edge, sources, targets))
    exit_vertex = len(labels) - 1
    root = whole(data["root"], 0, exit_vertex)
    for index in ints(data["endless"], 0, len(edges)):
        edges[index] = Edge(sources[index], targets[index], EdgeKind.ENDLESS)
        if targets[index] != exit_vertex:
            raise ColumnError("an endless edge does not lead to EXIT")
    closing = whole(data["closing"], 0, len(edges))
    if sources.count(exit_vertex) != 1 or edges[closing][:2] != (exit_vertex, root):
        raise ColumnError("the closing edge is not where it should be")
    edges[closing] = Edge(exit_vertex, root, EdgeKind.CLOSING)
    return Graph(text(data["name"]), tuple(labels), tuple(edges), root)


def _mostly_zeros(values: Sequence[int]) -> list[int]:
    """Nothing at all in place of zeros: few functions hold inlined code."""
    return list(values) if any(values) else []


def _or_zeros(value: Any, length: int) -> list[int]:
    return ints(value) or [0] * length


def _inlined_to_columns(inlined: Sequence[LineRef]) -> list[list[int]]:
    """Three columns: file, line and copy of the calls."""
    return [
        [call.file for call in inlined],
        _differences([call.line for call in inlined]),
        [call.copy for call in inlined],
    ]


def _inlined_from_columns(data: Any, files: int) -> tuple[LineRef, ...]:
    if type(data) is not list or len(data) != 3:
        raise ColumnError("three columns of inlined calls were expected")
    where, lines, copies = ints(data[0], 0, files), ints(_sums(ints(data[1])), 0), ints(data[2], 0)
    same_length(where, lines, copies)
    if any(copy > number for number, copy in enumerate(copies)):
        raise ColumnError("a call is inlined at a copy that comes after it")
    return tuple(map(LineRef, where, lines, copies))


def _blocks_to_columns(blocks: Sequence[BlockFacts]) -> dict[str, Any]:
    branches = [block.branch or LineRef(-1, 0) for block in blocks]
    return {
        "mentions": [len(block.lines) for block in blocks],
        "copies": _mostly_zeros([ref.copy for block in blocks for ref in block.lines]),
        "files": [ref.file for block in blocks for ref in block.lines],
        "lines": _differences([ref.line for block in blocks for ref in block.lines]),
        "branch_files": [branch.file for branch in branches],
        "branch_lines": _differences([branch.line for branch in branches]),
        "branch_copies": _mostly_zeros(
            [block.branch.copy - _last_copy(block.lines) if block.branch else 0 for block in blocks]
        ),
        "kinds": "".join(_KINDS[block.kind] for block in blocks),
        "calls": [block.calls for block in blocks],
        "sizes": [block.size for block in blocks],
    }


def _blocks_from_columns(data: Any, files: int, copies: int) -> tuple[BlockFacts, ...]:
    mentions = ints(data["mentions"], 0)
    mention_files = ints(data["files"], 0, files)
    mention_lines = ints(_sums(ints(data["lines"])), 0)
    mention_copies = ints(_or_zeros(data["copies"], len(mention_lines)), 0, copies)
    same_length(mention_files, mention_lines, mention_copies)
    if sum(mentions) != len(mention_lines):
        raise ColumnError("lines and blocks differ in number")
    branch_files = ints(data["branch_files"], -1, files)
    branch_lines = ints(_sums(ints(data["branch_lines"])), 0)
    branch_copies = _or_zeros(data["branch_copies"], len(branch_lines))
    kinds = [_KIND_OF[letter] for letter in text(data["kinds"])]
    calls, sizes = ints(data["calls"], 0), ints(data["sizes"], 0)
    same_length(mentions, branch_files, branch_lines, branch_copies, kinds, calls, sizes)
    refs = list(map(LineRef, mention_files, mention_lines, mention_copies))
    ends = _sums(mentions)
    lines = [tuple(refs[end - count : end]) for end, count in zip(ends, mentions, strict=True)]
    branches = [
        LineRef(file, line, whole(copy + _last_copy(before), 0, copies)) if file >= 0 else None
        for file, line, copy, before in zip(branch_files, branch_lines, branch_copies, lines, strict=True)
    ]
    return tuple(map(BlockFacts, lines, branches, kinds, calls, sizes))


def _last_copy(lines: Sequence[LineRef]) -> int:
    """The copy of a block's last line, which is nearly always that of its branch."""
    return lines[-1].copy if lines else 0


def _plan_to_columns(plan: Plan) -> dict[str, Any]:
    return {
        "scheme": plan.scheme,
        "measures": [_measure_code(measure) for measure in plan.measures],
        "on_edges": _probes_to_columns(plan.on_edges),
        "on_blocks": _probes_to_columns(plan.on_blocks),
        "free": sorted(plan.free),
    }


_EDGE, _BLOCK, _AGAIN = range(3)


def _measure_code(measure: Measure) -> int:
    if isinstance(measure, BlockMeasure):
        return 3 * measure.block + _BLOCK
    return 3 * measure.edge + (_EDGE if isinstance(measure, EdgeMeasure) else _AGAIN)


def _plan_from_columns(data: Any, graph: Graph) -> Plan:
    edges, vertices = len(graph.edges), len(graph.labels)
    measures: list[Measure] = []
    for code in ints(data["measures"], 0):
        number, kind = divmod(code, 3)
        if kind == _BLOCK:
            measures.append(BlockMeasure(whole(number, 0, vertices)))
        else:
            of_edge = EdgeMeasure if kind == _EDGE else SecondOpinion
            measures.append(of_edge(whole(number, 0, edges)))
    return Plan(
        scheme=text(data["scheme"]),
        measures=tuple(measures),
        on_edges=_probes_from_columns(data["on_edges"], edges, len(measures), edges),
        on_blocks=_probes_from_columns(data["on_blocks"], vertices, len(measures), edges),
        free=frozenset(ints(data["free"], 0, edges)),
    )


def _probes_to_columns(places: Mapping[int, Sequence[Probe]]) -> list[list[int]]:
    """Three columns: where, which slot, and which back edge's trips (or that it simply counts)."""
    flat = [(place, probe) for place, probes in places.items() for probe in probes]
    return [
        [place for place, _ in flat],
        [probe.slot for _, probe in flat],
        [probe.back_edge if isinstance(probe, AddTrips) else -1 for _, probe in flat],
    ]


def _probes_from_columns(data: Any, places: int, slots: int, edges: int) -> dict[int, tuple[Probe, ...]]:
    if type(data) is not list or len(data) != 3:
        raise ColumnError("three columns of probes were expected")
    where, which, trips = ints(data[0], 0, places), ints(data[1], 0, slots), ints(data[2], -1, edges)
    same_length(where, which, trips)
    found: dict[int, tuple[Probe, ...]] = {}
    for place, slot, back_edge in zip(where, which, trips, strict=True):
        probe: Probe = Count(slot) if back_edge < 0 else AddTrips(slot, back_edge)
        found[place] = (*found.get(place, ()), probe)
    return found
