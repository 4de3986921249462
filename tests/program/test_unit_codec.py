"""Unit facts are read from an object file as they were written, and damaged ones are refused."""

from __future__ import annotations

import copy
import json
import struct
import tracemalloc
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import function, pack_unit, positions_in, unit_of, with_wrong
from trodden.errors import BadFile, LaterVersion
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.probes import (
    Add,
    AddTripCount,
    BlockMeasure,
    Bump,
    BumpAt,
    Count,
    EdgeMeasure,
    Paths,
    Plan,
    RedundantMeasure,
    Restore,
    Save,
    Set,
    StartClock,
)
from trodden.program.facts import (
    BlockFacts,
    BranchKind,
    FunctionFacts,
    LineRef,
    Skipped,
    SourceFile,
    Subprogram,
    UnitFacts,
)
from trodden.program.record import seal, unseal
from trodden.program.unit_codec import MAGIC, unit_from_json, unit_id, unit_to_json, unpack_units
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    Comparison,
    FunctionFeatures,
    OperandType,
    Origin,
    Relation,
    ReturnedConstant,
    RightOperand,
)

SMALL = unit_of(
    function("main", "a>b a>c b>c c>a c>exit", {"a": [1, 2], "b": [(1, 7, 1)]}, inlined=[2, (1, 7, 1)]),
    files=["/src/a.c", "/src/a.h"],
    sites=[(0, 1), (0, -1)],
    skipped=[("odd", "it is written in assembler")],
)


RELAXED = settings(deadline=None)


def _texts(max_size: int) -> st.SearchStrategy[str]:
    return st.text('ab"\\\n\0é→\udc80', max_size=max_size)


@st.composite
def plans(draw: st.DrawFn, graph: Graph) -> Plan:
    edge, vertex = st.integers(0, len(graph.edges) - 1), st.integers(0, graph.exit)
    measures = draw(st.lists(st.builds(EdgeMeasure, edge) | st.builds(BlockMeasure, vertex), max_size=4))
    slot = st.integers(0, max(len(measures) - 1, 0))
    probes = st.lists(st.builds(Count, slot) | st.builds(AddTripCount, slot, edge), min_size=1, max_size=2)
    most = 3 if measures else 0
    return Plan(
        draw(st.sampled_from(["eprof", "every-block"])),
        tuple(measures),
        draw(st.dictionaries(edge, probes.map(tuple), max_size=most)),
        draw(st.dictionaries(vertex, probes.map(tuple), max_size=most)),
        draw(st.frozensets(edge, max_size=3)),
    )


WORDS = st.integers(1 - 2**64, 2**64 - 1)


@st.composite
def path_plans(draw: st.DrawFn, graph: Graph) -> Plan:
    """Any probes on any edges: the reader of a file does not judge plans."""
    edge, variable = st.integers(0, len(graph.edges) - 1), st.integers(0, graph.exit)
    measures = draw(st.lists(st.builds(RedundantMeasure, edge), max_size=2))
    dense = draw(st.booleans())
    number = draw(st.integers(1, 1) if dense else st.integers(1, 2**63 - 1))
    probe = st.one_of(
        st.builds(Set, WORDS),
        st.builds(Add, WORDS),
        st.builds(Bump, WORDS),
        st.builds(BumpAt, st.integers(0, number - 1)),
        st.builds(Save, variable),
        st.builds(Restore, variable, WORDS),
        st.just(StartClock()),
    )
    probes = st.lists(probe, min_size=1, max_size=3).map(tuple)
    flow = [index for index, each in enumerate(graph.edges) if each.kind is EdgeKind.FLOW]
    removed = st.lists(st.sampled_from(flow), unique=True, max_size=2).map(tuple) if flow else st.just(())
    return Plan(
        "paths",
        tuple(measures),
        draw(st.dictionaries(edge, probes, max_size=4)),
        on_entry=draw(st.just(()) | probes),
        paths=Paths(
            number,
            draw(removed),
            draw(removed),
            draw(removed),
            context=draw(st.booleans()),
            dense=dense,
            timed=draw(st.booleans()),
        ),
    )


@st.composite
def functions(draw: st.DrawFn, files: int, slots: int) -> FunctionFacts:
    size = draw(st.integers(1, 6))
    vertex = st.integers(0, size)
    edges = draw(st.lists(st.tuples(st.integers(0, size - 1), vertex), max_size=12))
    labels = draw(st.lists(_texts(4), min_size=size + 1, max_size=size + 1))
    graph = build(draw(_texts(5)), labels, edges, draw(st.integers(0, size - 1)))
    inlined: list[LineRef] = []
    for number in range(draw(st.integers(0, 3))):
        where, outer = draw(st.integers(0, files - 1)), draw(st.integers(0, number))
        inlined.append(LineRef(where, draw(st.integers(0, 2**31)), outer))
    instances = st.integers(0, len(inlined))
    refs = st.builds(LineRef, st.integers(0, files - 1), st.integers(0, 2**31), instances)
    blocks = st.builds(
        BlockFacts,
        st.lists(refs, max_size=3).map(tuple),
        st.none() | refs,
        st.sampled_from(BranchKind),
        st.integers(0, 9),
        st.integers(0, 99),
    )
    plan = draw(plans(graph) | path_plans(graph))
    block = st.integers(0, size - 1)
    registers = st.dictionaries(block, st.tuples(st.booleans(), WORDS), max_size=3 if plan.paths else 0)
    return FunctionFacts(
        name=draw(_texts(5)),
        linkage_name=draw(_texts(5)),
        file=draw(st.integers(0, files - 1)),
        line=draw(st.integers(0, 10**6)),
        graph=graph,
        blocks=tuple(draw(st.lists(blocks, min_size=size, max_size=size))),
        plan=plan,
        first_slot=draw(st.integers(0, slots - plan.slots)),
        shared=draw(st.booleans()),
        fingerprint=draw(_texts(5)),
        inlined=tuple(inlined),
        registers=draw(registers),
    )


@st.composite
def units(draw: st.DrawFn) -> UnitFacts:
    files = draw(st.lists(st.builds(SourceFile, _texts(8), _texts(4)), min_size=1, max_size=3))
    slots = draw(st.integers(5, 40))
    members = draw(st.lists(functions(len(files), slots), max_size=3))
    sites: list[tuple[int, int]] = []
    if members:
        for owner in draw(st.lists(st.integers(0, len(members) - 1), max_size=3)):
            sites.append((owner, draw(st.integers(-1, members[owner].graph.exit - 1))))
    facts = UnitFacts(
        id="",
        source=draw(_texts(8)),
        stage=draw(st.sampled_from(["early", "late"])),
        files=tuple(files),
        functions=tuple(members),
        skipped=tuple(draw(st.lists(st.builds(Skipped, _texts(4), _texts(4)), max_size=2))),
        slots=slots,
        sites=tuple(sites),
    )
    return replace(facts, id=unit_id(facts))


@RELAXED
@given(st.lists(units(), max_size=3), st.integers(0, 9))
def test_units_are_read_as_they_were_written(originals: list[UnitFacts], zeros: int) -> None:
    section = b"".join(bytes(zeros) + pack_unit(unit) for unit in originals) + bytes(zeros)
    assert unpack_units(section) == originals


@RELAXED
@given(units())
def test_the_id_is_a_hash_of_everything_but_itself(unit: UnitFacts) -> None:
    assert unit_id(unit) == unit.id == unit_id(replace(unit, id="0" * 32))
    assert len(bytes.fromhex(unit.id)) == 16
    assert unit_id(replace(unit, source=unit.source + "x")) != unit.id
    assert unit_id(replace(unit, slots=unit.slots + 1)) != unit.id


def test_an_empty_section_holds_no_units() -> None:
    assert unpack_units(b"") == []
    assert unpack_units(bytes(64)) == []


def test_a_record_cut_anywhere_is_refused() -> None:
    record = pack_unit(SMALL)
    for length in range(1, len(record)):
        with pytest.raises(BadFile, match=r"prog: truncated"):
            unpack_units(record[:length], "prog")


def test_a_flipped_bit_never_goes_unnoticed() -> None:
    record = pack_unit(SMALL)
    for position in range(len(record)):
        for bit in (1, 0x80):
            damaged = bytearray(record)
            damaged[position] ^= bit
            with pytest.raises((BadFile, LaterVersion)):
                unpack_units(bytes(damaged))


def test_a_later_version_is_named_as_such() -> None:
    record = bytearray(pack_unit(SMALL))
    struct.pack_into("<I", record, 8, 2)
    with pytest.raises(LaterVersion, match=r"lib.so: written by a later trodden \(format 2\)"):
        unpack_units(bytes(record), "lib.so")


CLUES = FunctionFeatures(
    (
        BlockFeatures(
            test=Comparison(
                Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO, Origin.CALL, callee="malloc"
            ),
            guarded=(1,),
            stores=2,
            calls=(
                CallFeatures("malloc"),
                CallFeatures("", "i32(ptr)", ((0, "given"),), cold=True, ends=True),
            ),
            source_weights=(1, 2000),
            trip_count=8,
        ),
        BlockFeatures(returned=ReturnedConstant.NEGATIVE),
        BlockFeatures(BlockEnding.RETURNS, compiler_weights=(3, 4), cases=(None, -7)),
    ),
    "i32()",
    local=True,
)
TOLD = replace(
    SMALL,
    functions=(replace(SMALL.functions[0], features=CLUES),),
    taken=("given",),
    aliases=(("other", "given"), ("third", "given")),
    started=("setup",),
)
DOCUMENT = unit_to_json(TOLD)
MAY_BE_MISSING = {
    *(("taken",), ("aliases",), ("started",)),
    *(("functions", 0, "clues"), ("functions", 0, "blocks", "silent")),
}
MAY_BE_MISSING |= {("functions", 0, "blocks", name) for name in ("added_lines", "call_lines")}
"""What units of an earlier trodden do not have."""
WRONG: list[Any] = [-1, 10**6, 10**30, 1.5, "x", None, True, [], {}, [[]], [1, 2, 3]]


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(positions_in(DOCUMENT)), st.sampled_from(WRONG))
def test_invalid_content_with_a_valid_checksum_is_refused_or_sound(
    position: tuple[Any, ...], wrong: Any
) -> None:
    document = with_wrong(DOCUMENT, position, wrong)
    try:
        [unit] = unpack_units(seal(MAGIC, document))
    except BadFile:
        return
    assert unpack_units(pack_unit(unit)) == [unit]
    for each in unit.functions:
        assert each.graph.edges[each.graph.closing].src == each.graph.exit
        assert len(each.blocks) == each.graph.exit


@RELAXED
@given(st.sampled_from(positions_in(DOCUMENT)))
def test_nothing_may_be_missing(position: tuple[Any, ...]) -> None:
    document = copy.deepcopy(DOCUMENT)
    holder = document
    for key in position[:-1]:
        holder = holder[key]
    if isinstance(holder, dict) and position not in MAY_BE_MISSING:
        del holder[position[-1]]
        with pytest.raises(BadFile):
            unit_from_json(document, "prog")


def test_lines_of_calls_added_lines_and_inlined_functions_are_kept() -> None:
    told = replace(
        SMALL.functions[0],
        blocks=tuple(
            replace(block, call_lines=(-1, 0)[: len(block.lines) + 1], added_lines=(0,) * bool(block.lines))
            for block in SMALL.functions[0].blocks
        ),
        inlined=(LineRef(0, 3), LineRef(0, 4)),
        callees=(Subprogram("f(int)", 0, 9, "_Z1fi"), Subprogram("g", 0, 3)),
        inlined_symbols={"_Z1fi": 2, "g": 1},
        optimised=True,
    )
    unit = replace(SMALL, functions=(told, *SMALL.functions[1:]))
    assert unit_from_json(unit_to_json(unit), "prog") == unit
    assert any(block.statement_lines != list(enumerate(block.lines)) for block in told.blocks)
    beyond = replace(told, blocks=(replace(told.blocks[0], call_lines=(9,)), *told.blocks[1:]))
    with pytest.raises(BadFile, match="a block does not have a line"):
        unit_from_json(unit_to_json(replace(unit, functions=(beyond, *unit.functions[1:]))), "prog")


def test_units_of_an_earlier_version_have_no_features() -> None:
    document = copy.deepcopy(DOCUMENT)
    assert unit_from_json(document, "prog") == TOLD
    del document["taken"], document["aliases"], document["started"], document["functions"][0]["clues"]
    assert unit_from_json(document, "prog") == SMALL


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"\xff", b"nul", b"1" * 5000])
def test_content_that_is_not_json(text: bytes) -> None:
    payload = zlib.compress(text)
    record = struct.pack("<8sIIQ", MAGIC, 1, zlib.crc32(payload), len(payload)) + payload
    with pytest.raises(BadFile):
        unpack_units(record)


@pytest.mark.parametrize("document", [None, [], {}, 7, "text"])
def test_json_that_is_not_a_unit(document: Any) -> None:
    with pytest.raises(BadFile):
        unpack_units(seal(MAGIC, document))


def test_a_small_record_cannot_fill_the_memory() -> None:
    squeezer = zlib.compressobj(9)
    payload = b"".join(squeezer.compress(bytes(1 << 20)) for _ in range(400)) + squeezer.flush()
    record = struct.pack("<8sIIQ", MAGIC, 1, zlib.crc32(payload), len(payload)) + payload
    tracemalloc.start()
    with pytest.raises(BadFile, match="does not end where it should"):
        unpack_units(record)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250 << 20


def test_a_very_uniform_record_can_still_be_read() -> None:
    uniform = "0" * 80_000_000
    assert unseal(MAGIC, seal(MAGIC, uniform), "here")[0] == uniform


def test_a_large_unit_stays_small_on_disk() -> None:
    shape = " ".join(f"b{i}>b{i + 1}" for i in range(29)) + " b3>b9 b14>b2 b20>b1 b29>exit"
    unit = unit_of(*(function(f"f{i}", shape, {"b3": [i, i + 1]}) for i in range(200)))
    text = json.dumps(unit_to_json(unit), separators=(",", ":"))
    assert len(text) < 200 * 1400
    assert len(pack_unit(unit)) < len(text) / 8
