"""One function as columns of numbers, and back.

A unit may have thousands of functions with tens of thousands of edges.  A JSON object for each of them would
make the text long and slow to parse.  Therefore everything that repeats is a flat list for each column, with
differences between neighbours where these are small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add, lt
from typing import Any

from trodden.graph.cfg import Edge, EdgeKind, Graph
from trodden.plan.probes import WORD, Plan
from trodden.program.checked import ColumnError, columns, differences, ints, same_length, sums, text, whole
from trodden.program.facts import BlockFacts, BranchKind, FunctionFacts, LineRef, Subprogram
from trodden.program.feature_codec import features_from_columns, features_to_columns
from trodden.program.plan_codec import plan_from_columns, plan_to_columns
from trodden.program.truth_codec import truths_from_columns, truths_to_columns
from trodden.weigh.features.block_features import FunctionFeatures

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

_MOST = 1 << 32
"""Lines, calls and instructions of a block are numbers of 32 bits."""


def function_to_columns(function: FunctionFacts, subprograms: dict[Subprogram, int]) -> dict[str, Any]:
    """The JSON form of a function, which refers to ``subprograms`` by their number and adds to them."""
    document = {
        "name": function.name,
        "linkage_name": function.linkage_name,
        "file": function.file,
        "line": function.line,
        "shared": int(function.shared),
        "fingerprint": function.fingerprint,
        "first_slot": function.first_slot,
        "graph": _graph_to_columns(function.graph),
        "blocks": _blocks_to_columns(function.blocks),
        "inlined": _inlined_to_columns(function.inlined),
        "plan": plan_to_columns(function.plan),
    }
    if function.callees:
        numbers = [subprograms.setdefault(each, len(subprograms)) for each in function.callees]
        document["callees"] = numbers
    if function.registers:
        document["registers"] = _registers_to_columns(function.registers, _kinds(function.plan))
    if function.clones:
        # "copies" is the name of the clones in the format, "clues" that of the features.
        document["copies"] = [list(column) for column in zip(*function.clones, strict=True)]
    if function.truths:
        document["phis"] = truths_to_columns(function.truths)
    if function.features.blocks:
        document["clues"] = features_to_columns(function.features)
    if function.optimised:
        document["optimised"] = 1
    if function.keeps_calls:
        document["keeps_calls"] = 1
    if function.inlined_symbols:
        symbols = function.inlined_symbols
        document["inlined_symbols"] = [list(symbols), list(symbols.values())]
    return document


def function_from_columns(
    data: Any, files: int, slots: int, subprograms: Sequence[Subprogram] = ()
) -> FunctionFacts:
    """A function, every index of it checked against the unit's ``files``, ``slots`` and ``subprograms``."""
    graph = _graph_from_columns(data["graph"])
    plan = plan_from_columns(data["plan"], graph)
    inlined = _inlined_from_columns(data["inlined"], files)
    blocks = _blocks_from_columns(data["blocks"], files, len(inlined) + 1)
    if len(blocks) != graph.exit:
        raise ColumnError("blocks and vertices differ in number")
    clones = _clones_from_columns(data["copies"], graph, plan) if "copies" in data else ()
    code_blocks = graph.exit + len(clones)
    return FunctionFacts(
        name=text(data["name"]),
        linkage_name=text(data["linkage_name"]),
        file=whole(data["file"], 0, files),
        line=whole(data["line"], 0, _MOST),
        graph=graph,
        blocks=blocks,
        plan=plan,
        first_slot=whole(data["first_slot"], 0, slots - plan.slots + 1),
        shared=bool(whole(data["shared"], 0, 2)),
        fingerprint=text(data["fingerprint"]),
        inlined=inlined,
        callees=_callees_from_columns(data["callees"], inlined, subprograms) if "callees" in data else (),
        inlined_symbols=_inlined_symbols_from_columns(data),
        registers=_registers_from_columns(data["registers"], code_blocks, _kinds(plan))
        if "registers" in data
        else {},
        clones=clones,
        truths=truths_from_columns(data["phis"], graph) if "phis" in data else {},
        features=features_from_columns(data["clues"], graph) if "clues" in data else FunctionFeatures(),
        optimised=bool(whole(data.get("optimised", 0), 0, 2)),
        keeps_calls=bool(whole(data.get("keeps_calls", 0), 0, 2)),
    )


_MOST_CLONED = 16
"""How many edges more there may be in the code, for each edge of the graph and each clone."""


def _graph_to_columns(graph: Graph) -> dict[str, Any]:
    sources = [edge.src for edge in graph.edges]
    endless = [i for i, edge in enumerate(graph.edges) if edge.kind is EdgeKind.ENDLESS]
    return {
        "name": graph.name,
        "labels": list(graph.labels),
        "root": graph.root,
        "src": differences(sources),
        "way": [edge.dst - edge.src for edge in graph.edges],  # the name in the format
        "closing": graph.closing,
        "endless": endless,
    }


def _graph_from_columns(data: Any) -> Graph:
    labels = data["labels"]
    if type(labels) is not list or len(labels) < 2 or not set(map(type, labels)) <= {str}:
        raise ColumnError("labels were expected")
    sources = ints(sums(ints(data["src"])), 0, len(labels))
    lengths = ints(data["way"])
    same_length(sources, lengths)
    targets = ints(list(map(add, sources, lengths)), 0, len(labels))
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
    """An empty list in place of zeros: few functions have inlined code."""
    return list(values) if any(values) else []


def _or_zeros(value: Any, length: int) -> list[int]:
    return ints(value) or [0] * length


def _inlined_to_columns(inlined: Sequence[LineRef]) -> list[list[int]]:
    """Three columns: file, line and inlined instance of the calls."""
    return [
        [call.file for call in inlined],
        differences([call.line for call in inlined]),
        [call.instance for call in inlined],
    ]


def _inlined_from_columns(data: Any, files: int) -> tuple[LineRef, ...]:
    where, lines, instances = columns(data, 3, "inlined calls")
    where, lines, instances = ints(where, 0, files), ints(sums(ints(lines)), 0, _MOST), ints(instances, 0)
    same_length(where, lines, instances)
    if any(instance > number for number, instance in enumerate(instances)):
        raise ColumnError("a call is inlined in an instance that comes after it")
    return tuple(map(LineRef, where, lines, instances))


def _callees_from_columns(
    data: Any, inlined: Sequence[LineRef], subprograms: Sequence[Subprogram]
) -> tuple[Subprogram, ...]:
    same_length(inlined, ints(data, 0, len(subprograms)))
    return tuple(subprograms[number] for number in data)


def _inlined_symbols_from_columns(data: Any) -> dict[str, int]:
    if "inlined_symbols" not in data:
        return {}
    symbols, times = columns(data["inlined_symbols"], 2, "inlined symbols")
    same_length(symbols, ints(times, 1, _MOST))
    return dict(zip(map(text, symbols), times, strict=True))


def _blocks_to_columns(blocks: Sequence[BlockFacts]) -> dict[str, Any]:
    branches = [block.branch or LineRef(-1, 0) for block in blocks]
    document = {
        "mentions": [len(block.lines) for block in blocks],
        "copies": _mostly_zeros([ref.instance for block in blocks for ref in block.lines]),
        "files": [ref.file for block in blocks for ref in block.lines],
        "lines": differences([ref.line for block in blocks for ref in block.lines]),
        "branch_files": [branch.file for branch in branches],
        "branch_lines": differences([branch.line for branch in branches]),
        "branch_copies": _mostly_zeros(
            [block.branch.instance - _last_instance(block.lines) if block.branch else 0 for block in blocks]
        ),
        "kinds": "".join(_KINDS[block.kind] for block in blocks),
        "calls": [block.calls for block in blocks],
        "sizes": [block.size for block in blocks],
        "silent": _mostly_zeros([block.silent for block in blocks]),
        "added_lines": _rows_to_columns([block.added_lines for block in blocks]),
    }
    if any(block.column for block in blocks):
        document["columns"] = _rows_to_columns([(block.column,) if block.column else () for block in blocks])
    if any(block.copied_lines for block in blocks):
        document["copied_lines"] = _rows_to_columns([block.copied_lines for block in blocks])
    if not any(block.call_lines is None for block in blocks):
        document["call_lines"] = _rows_to_columns([block.call_lines or () for block in blocks])
    return document


def _rows_to_columns(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Two columns: the block of each number, and the number."""
    flat = [(block, number) for block, row in enumerate(rows) for number in row]
    return [differences([block for block, _ in flat]), [number for _, number in flat]]


def _blocks_from_columns(data: Any, files: int, instances: int) -> tuple[BlockFacts, ...]:
    mentions = ints(data["mentions"], 0)
    mention_files = ints(data["files"], 0, files)
    mention_lines = ints(sums(ints(data["lines"])), 0, _MOST)
    mention_instances = ints(_or_zeros(data["copies"], len(mention_lines)), 0, instances)
    same_length(mention_files, mention_lines, mention_instances)
    if sum(mentions) != len(mention_lines):
        raise ColumnError("lines and blocks differ in number")
    branch_files = ints(data["branch_files"], -1, files)
    branch_lines = ints(sums(ints(data["branch_lines"])), 0, _MOST)
    branch_instances = _or_zeros(data["branch_copies"], len(branch_lines))
    kinds = [_KIND_OF[letter] for letter in text(data["kinds"])]
    calls, sizes = ints(data["calls"], 0, _MOST), ints(data["sizes"], 0, _MOST)
    silent = ints(_or_zeros(data.get("silent", []), len(sizes)), 0, _MOST)
    same_length(mentions, branch_files, branch_lines, branch_instances, kinds, calls, sizes, silent)
    if any(map(lt, sizes, silent)):
        raise ColumnError("a block has fewer lines than those that are no instructions")
    refs = list(map(LineRef, mention_files, mention_lines, mention_instances))
    ends = sums(mentions)
    lines = [tuple(refs[end - count : end]) for end, count in zip(ends, mentions, strict=True)]
    branches = [
        LineRef(file, line, whole(instance + _last_instance(before), 0, instances)) if file >= 0 else None
        for file, line, instance, before in zip(
            branch_files, branch_lines, branch_instances, lines, strict=True
        )
    ]
    call_lines: Sequence[tuple[int, ...] | None] = [None] * len(lines)
    if "call_lines" in data:
        call_lines = _rows_from_columns(data["call_lines"], lines)
    added_lines = _rows_from_columns(data.get("added_lines", [[], []]), lines)
    copied_lines = _rows_from_columns(data.get("copied_lines", [[], []]), lines)
    numbers = _columns_from_columns(data.get("columns", [[], []]), len(lines))
    described = lines, branches, kinds, calls, sizes, silent, call_lines, added_lines, numbers, copied_lines
    return tuple(map(BlockFacts, *described))


def _columns_from_columns(data: Any, blocks: int) -> list[int]:
    """The source column of what each block tests, 0 for none."""
    where, numbers = columns(data, 2, "source columns")
    same_length(where, ints(numbers, 1, _MOST))
    found = [0] * blocks
    for block, number in zip(ints(sums(ints(where)), 0, blocks), numbers, strict=True):
        found[block] = number
    return found


def _rows_from_columns(data: Any, lines: Sequence[Sequence[LineRef]]) -> list[tuple[int, ...]]:
    """For each block the indices of some of its lines, -1 for what precedes them all."""
    blocks, indices = columns(data, 2, "lines")
    blocks = ints(sums(ints(blocks)), 0, len(lines))
    same_length(blocks, ints(indices, -1))
    found: list[list[int]] = [[] for _ in lines]
    for block, index in zip(blocks, indices, strict=True):
        if index >= len(lines[block]):
            raise ColumnError("a block does not have a line")
        found[block].append(index)
    return list(map(tuple, found))


def _last_instance(lines: Sequence[LineRef]) -> int:
    """The inlined instance of a block's last line, which is nearly always that of its branch."""
    return lines[-1].instance if lines else 0


def _kinds(plan: Plan) -> int:
    """In how many ways the registers of a frame may be stored: one of them, or two."""
    return 4 if plan.two_registers else 2


def _registers_to_columns(registers: Mapping[int, tuple[int, int]], kinds: int) -> list[list[int]]:
    """Two columns: twice the block, plus one if its frame has a stack slot; and the number.

    Of two registers it is four times the block, plus one and two for each that has a stack slot.
    """
    return [
        [kinds * block + stored for block, (stored, _) in registers.items()],
        [number for _, number in registers.values()],
    ]


def _clones_from_columns(data: Any, graph: Graph, plan: Plan) -> tuple[tuple[int, int], ...]:
    blocks, values = columns(data, 2, "clones")
    same_length(ints(blocks, 0, graph.exit), ints(values, 1 - WORD, WORD))
    found = tuple(zip(blocks, values, strict=True))
    if len(set(found)) != len(found):
        raise ColumnError("a block has two clones for one value")
    if plan.paths is None or plan.paths.context:
        raise ColumnError("blocks are cloned for a path register that does not exist")
    if graph.root in blocks:
        raise ColumnError("the first block has a clone")
    if sum(len(graph.out_edges[block]) for block in blocks) > _MOST_CLONED * (len(graph.edges) + len(blocks)):
        raise ColumnError("there are more clones than any function has")
    return found


def _registers_from_columns(data: Any, blocks: int, kinds: int) -> dict[int, tuple[int, int]]:
    codes, numbers = columns(data, 2, "registers")
    same_length(ints(codes, 0, kinds * blocks), ints(numbers, 1 - WORD if kinds == 2 else 0, WORD))
    found = {code // kinds: (code % kinds, number) for code, number in zip(codes, numbers, strict=True)}
    if len(found) != len(codes):
        raise ColumnError("a block has two registers")
    return found
