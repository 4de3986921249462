"""Programs, profiles and the files they leave behind, made by hand for tests."""

from __future__ import annotations

import copy
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.counters.schemes import eprof
from trodden.plan.probes import EdgeMeasure, Plan, RedundantMeasure
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.program.facts import (
    BlockFacts,
    BranchKind,
    FunctionFacts,
    LineRef,
    Skipped,
    SourceFile,
    UnitFacts,
)
from trodden.program.record import seal
from trodden.program.unit_codec import MAGIC, unit_id, unit_to_json
from trodden.recover.unit_counts import UnitCounts
from trodden.weigh.frequency.nesting import nesting_weights

Place = int | tuple[int, int] | tuple[int, int, int]
Flow = Mapping[str, int]
Frame = tuple[int, int, int] | tuple[int, int, int, int]


def graph_of(name: str, shape: str) -> Graph:
    """``a>b b>exit``: labels in the order in which they appear."""
    pairs = [tuple(word.split(">")) for word in shape.split()]
    labels = list(dict.fromkeys(label for pair in pairs for label in pair if label != "exit"))
    numbers = {label: number for number, label in enumerate([*labels, "exit"])}
    return build(name, [*labels, "EXIT"], [(numbers[src], numbers[dst]) for src, dst in pairs])


def _ref(place: Place) -> LineRef:
    return LineRef(0, place) if isinstance(place, int) else LineRef(*place)


def plan_edges(graph: Graph) -> Plan:
    return eprof(graph, nesting_weights(graph))


def function(
    name: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]] | None = None,
    *,
    line: int = 1,
    file: int = 0,
    linkage_name: str | None = None,
    shared: bool = False,
    fingerprint: str = "",
    planner: Callable[[Graph], Plan] = plan_edges,
    inlined: Sequence[Place] = (),
) -> FunctionFacts:
    """A function whose blocks have those lines, with a call in each."""
    graph = graph_of(name, shape)
    blocks = []
    for label in graph.labels[:-1]:
        refs = tuple(_ref(place) for place in (lines or {}).get(label, ()))
        blocks.append(BlockFacts(refs, refs[-1] if refs else None, BranchKind.JUMP, 1, 3))
    return FunctionFacts(
        name=name,
        linkage_name=name if linkage_name is None else linkage_name,
        file=file,
        line=line,
        graph=graph,
        blocks=tuple(blocks),
        plan=planner(graph),
        first_slot=0,
        shared=shared,
        fingerprint=fingerprint,
        inlined=tuple(_ref(place) for place in inlined),
    )


def unit_of(
    *functions: FunctionFacts,
    files: Sequence[str | SourceFile] = ("/src/a.c",),
    sites: Sequence[tuple[int, int]] = (),
    skipped: Sequence[tuple[str, str]] = (),
) -> UnitFacts:
    """A unit that gives each function its slots."""
    placed, slot = [], 0
    for each in functions:
        placed.append(replace(each, first_slot=slot))
        slot += each.plan.slots
    facts = UnitFacts(
        id="",
        source="a.c",
        stage="late",
        files=tuple(SourceFile(file) if isinstance(file, str) else file for file in files),
        functions=tuple(placed),
        skipped=tuple(Skipped(*each) for each in skipped),
        slots=slot,
        sites=tuple(sites),
    )
    return replace(facts, id=unit_id(facts))


def pack_unit(facts: UnitFacts) -> bytes:
    """The record of one unit, with the id that it has."""
    return seal(MAGIC, unit_to_json(facts))


def edge_counts(graph: Graph, flow: Flow) -> list[int]:
    """``{"a>b": 3}`` by the indices of the graph; parallel edges are ``a>b`` and ``a>b#2``."""
    counts, seen = [], dict[str, int]()
    for edge in graph.edges:
        if edge.kind is not EdgeKind.FLOW:
            counts.append(0)
            continue
        name = f"{graph.labels[edge.src]}>{'exit' if edge.dst == graph.exit else graph.labels[edge.dst]}"
        seen[name] = seen.get(name, 0) + 1
        counts.append(flow.get(name if seen[name] == 1 else f"{name}#{seen[name]}", 0))
    return counts


def counts_of(unit: UnitFacts, flows: Mapping[str, Flow]) -> list[int]:
    """What the counters hold after these flows; ``@a`` is how often ``a`` was entered without an edge."""
    counts = [0] * unit.slots
    for each in unit.functions:
        flow = flows.get(each.linkage_name, {})
        edges = edge_counts(each.graph, flow)
        for slot, measure in enumerate(each.plan.measures):
            if isinstance(measure, EdgeMeasure | RedundantMeasure):
                counts[each.first_slot + slot] = edges[measure.edge]
            else:
                into = sum(edges[e] for e in each.graph.in_edges[measure.block])
                counts[each.first_slot + slot] = into + flow.get(f"@{each.graph.labels[measure.block]}", 0)
    return counts


def unit_counts_of(
    unit: UnitFacts, flows: Mapping[str, Flow], active: Mapping[tuple[int, int], int] | None = None
) -> UnitCounts:
    return UnitCounts(unit.id, tuple(counts_of(unit, flows)), active or {})


def profile_of(unit: UnitFacts, flows: Mapping[str, Flow], notes: Sequence[str] = ()) -> Profile:
    return assemble("/bin/prog", [unit], [unit_counts_of(unit, flows)], notes)


def raw_bytes(
    modules: Sequence[tuple[int, str]],
    units: Sequence[tuple[str, int, Sequence[int]]],
    frames: Sequence[Frame] = (),
    *,
    inherited: Sequence[Frame] = (),
    non_local_exits: Sequence[Frame] = (),
    sparse_paths: Sequence[tuple[int, int, int, int]] = (),
    call_nodes: Sequence[tuple[int, int, int, int, int]] = (),
    last_paths: Sequence[tuple[int, int, int, int]] = (),
    ending: int = 0,
    signal: int = 0,
    pid: int = 42,
    parent: int = 7,
    started: int = 1_700_000_000_000_000_000,
    flags: int = 0,
    version: int = 4,
    trace: tuple[int, int, Sequence[tuple[int, int]]] | None = None,
) -> bytes:
    """A raw file as the runtime writes it.

    Frames are (thread, module, address), non-local exits (module, address, count), both with a stack slot as
    one more element if it is known; sparse paths (unit, key, path, amount), nodes of call-path trees (unit,
    function, parent, flags, count), last paths (thread, tag, function, path).  A trace (why it has stopped,
    whether records were lost, and for each unit the number of its first function, and 1 if it has a trace)
    belongs to version 5.
    """
    body = b""
    for bias, path in modules:
        name = path.encode()
        body += struct.pack("<QII", bias, len(name), 0) + name + bytes(-len(name) % 8)
    for unit_name, module, counts in units:
        body += struct.pack("<16sII", bytes.fromhex(unit_name), module, len(counts))
        for slot, count in enumerate(counts):
            body += struct.pack("<IIQ", slot, 1, count) if count else b""
        body += struct.pack("<II", len(counts), 0)
    for thread, module, address, *known in [*frames, *inherited]:
        body += struct.pack("<IIQQII", thread, module, address, *(known or [0]), len(known), 0)
    for module, address, count, *known in non_local_exits:
        body += struct.pack("<IIQQq", module, len(known), address, *(known or [0]), count)
    for unit, key, number, amount in sparse_paths:
        body += struct.pack("<IIQQQ", unit, 0, key, number, amount)
    for node in call_nodes:
        body += struct.pack("<IIIIQ", *node)
    for thread, tag, function, number in last_paths:
        body += struct.pack("<IIIIQ", thread, tag, function, 0, number)
    if trace is not None:
        body += struct.pack("<IIQ", *trace[:2], 0)
        body += b"".join(struct.pack("<II", *unit) for unit in trace[2])
    head = struct.pack(
        "<8sIIQQQ12I",
        *(b"TRODRAW1", version, flags, pid, parent, started),
        *(len(modules), len(units), len(frames), len(inherited), len(non_local_exits), len(sparse_paths)),
        *(len(call_nodes), 0, len(last_paths), ending, signal, 0),
    )
    size = len(head) + len(body) + 16
    return head + body + struct.pack("<QI4s", size, zlib.crc32(head + body), b"DONE")


CODE_AT, CODE_SIZE = 0x1000, 0x1000


def elf_bytes(sections: Mapping[str, bytes]) -> bytes:
    """The smallest ELF file that has these sections, and code at CODE_AT."""
    everything = {".text": bytes(16), **sections}
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*everything, ".shstrtab"])
    content, headers = b"", [bytes(64)]
    for name, data in [*everything.items(), (".shstrtab", names)]:
        code = name == ".text"
        kind, flags = (3, 0) if name == ".shstrtab" else (1, 6 if code else 0)
        address, size = (CODE_AT, CODE_SIZE) if code else (0, len(data))
        where = names.index(name.encode() + b"\0")
        headers.append(
            struct.pack("<IIQQQQIIQQ", where, kind, flags, address, 64 + len(content), size, 0, 0, 1, 0)
        )
        content += data
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    table = 64 + len(content)
    head = ident + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, table, 0, 64, 56, 0, 64, len(headers), len(headers) - 1
    )
    return head + content + b"".join(headers)


def sites_bytes(unit: UnitFacts, labels: Sequence[tuple[int, int, bool]]) -> bytes:
    """Labels as (address, site, after the call?)."""
    tag = bytes.fromhex(unit.id[:8])
    return b"".join(struct.pack("<Q4sI", address, tag, 2 * site + after) for address, site, after in labels)


def positions_in(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where everything in a JSON document is, the whole left out."""
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(document, dict):
        members = document.items()
    elif isinstance(document, list):
        members = enumerate(document)
    found: list[tuple[Any, ...]] = []
    for key, inner in members:
        found += [(*path, key), *positions_in(inner, (*path, key))]
    return found


def with_wrong(document: Any, position: tuple[Any, ...], wrong: Any) -> Any:
    """A JSON document with something else in one position."""
    changed = copy.deepcopy(document)
    holder = changed
    for key in position[:-1]:
        holder = holder[key]
    holder[position[-1]] = wrong
    return changed
