"""Path profiles from the raw files of a program to a stored profile and exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import (
    CODE_AT,
    elf_bytes,
    function,
    pack_unit,
    positions_in,
    raw_bytes,
    sites_bytes,
    unit_of,
    with_wrong,
)
from trodden.api.weights import weights_from
from trodden.errors import BadFile, OtherBuild, TroddenError
from trodden.export.json_document import to_document
from trodden.graph.cfg import Graph
from trodden.plan.interpret import interpret_paths, tally
from trodden.plan.paths.plan import path_plan
from trodden.plan.paths.prefixes import RegisterOffset, register_offsets
from trodden.plan.probes import Plan
from trodden.profile.assemble import assemble
from trodden.profile.from_runs import collect
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.store.trod import MAGIC, from_bytes, save, to_bytes
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.record import seal, unseal
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.path_prefix import slot_from_register
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

WORD = 2**64
ADDEND = 5
DIAMOND = "a>b a>c b>d c>d d>a d>e e>exit"
ROW = " ".join(f"a{i}>b{i} a{i}>c{i} b{i}>a{i + 1} c{i}>a{i + 1}" for i in range(6)) + " a6>exit"
LEFT = " ".join(f"a{i} b{i}" for i in range(6)) + " a6"


def planner(resume_edges: Sequence[int] = (), **options: Any) -> Callable[[Graph], Plan]:
    def plan(graph: Graph) -> Plan:
        may_be_cut_short = frozenset(range(graph.exit))
        return path_plan(
            graph,
            [1.0] * len(graph.edges),
            may_be_cut_short=may_be_cut_short,
            resume_edges=resume_edges,
            **options,
        )

    return plan


def path_function(
    name: str, shape: str = DIAMOND, resume_edges: Sequence[int] = (), **options: Any
) -> FunctionFacts:
    """A function whose frames keep their register less ADDEND in a stack slot, where it has to be kept."""
    facts = function(name, shape, planner=planner(resume_edges, **options))
    offsets = enumerate(register_offsets(facts.graph, facts.plan))
    registers = {block: (isinstance(offset, RegisterOffset), ADDEND) for block, offset in offsets if offset}
    return replace(facts, registers=registers)


def walk_of(graph: Graph, labels: str) -> list[int]:
    """``a b d exit``: the edges between these blocks."""
    vertices = [graph.exit if label == "exit" else graph.labels.index(label) for label in labels.split()]
    return [
        next(edge for edge in graph.out_edges[src] if graph.edges[edge].dst == dst)
        for src, dst in pairwise(vertices)
    ]


def read(unit: UnitFacts, walks: Mapping[str, Sequence[str]]) -> UnitCounts:
    """What was counted after walks, and which paths were cut short."""
    builder = UnitCountsBuilder(unit)
    for index, facts in enumerate(unit.functions):
        run = [walk_of(facts.graph, walk) for walk in walks.get(facts.name, ())]
        counted = interpret_paths(facts.graph, facts.plan, run)
        function = FunctionCounts(counted.counters, {}, counted.prefixes, counted.sparse)
        builder.add_function(index, function)
    return builder.result()


def expect(profile: FunctionProfile, walks: Sequence[str]) -> None:
    """All counts are those of the walks."""
    graph = profile.facts.graph
    truth = tally(graph, [walk_of(graph, walk) for walk in walks])
    assert profile.violations == ()
    assert (profile.block_counts, profile.edge_counts) == (truth.blocks, truth.edges)
    assert profile.cut_short == truth.early


UNIT = unit_of(
    path_function("main"),
    path_function("sparse", "x>y x>z y>w z>w w>x w>exit", dense=0),
    path_function("timed", timed=True),
    sites=[(0, 3), (0, 0), (1, 3), (0, -1)],
)
WALKS = {
    "main": ["a b d a c d e exit", "a b d a b d", "a c d a c d e exit"],
    "sparse": ["x y w x z w exit", "x z w"],
    "timed": ["a b d e exit", "a b d a b d e exit"],
}
SITES = [(0x10 * site + 0x10 + 8 * after, site, bool(after)) for site in range(3) for after in range(2)]


def small() -> Profile:
    return assemble("/bin/prog", [UNIT], [read(UNIT, WALKS)])


def test_paths_and_all_counts() -> None:
    profile = small()
    assert profile.kind == "paths"
    for name, walks in WALKS.items():
        expect(profile.functions[name], walks)
    paths = profile.functions["main"].paths
    assert paths is not None
    assert sum(path.count for path in paths) == 6
    assert [path.cycles for path in profile.functions["timed"].paths or ()] == [4, 3, 4]


def test_the_kind_is_that_of_the_function_with_the_least_detail() -> None:
    mixed = unit_of(path_function("f"), function("g", "a>exit"))
    profile = assemble("p", [mixed], [UnitCounts(mixed.id, [0] * mixed.slots)])
    assert (profile.kind, profile.functions["g"].paths, profile.functions["f"].paths) == ("edges", None, ())
    assert assemble("p", [], []).kind == "edges"


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    profile = small()
    assert from_bytes(to_bytes(profile), "x.trod") == profile


def test_comdat_copies_are_joined_path_by_path() -> None:
    units = [
        unit_of(replace(path_function("max"), shared=True, fingerprint="one"), *others)
        for others in ((), (path_function("f"),))
    ]
    walks = ["a b d e exit", "a c d"], ["a c d a b d e exit", "a c d", "a b d e exit"]
    unit_counts = [read(unit, {"max": each}) for unit, each in zip(units, walks, strict=True)]
    joined = assemble("p", units, unit_counts).functions["max"]
    expect(joined, [*walks[0], *walks[1]])
    paths = joined.paths or ()
    assert [path.count for path in paths] == [2, 2, 1, 1]
    assert len({path.id for path in paths}) == 4


def test_comdat_copies_with_different_numberings_are_kept_separate() -> None:
    copies = [path_function("max", ROW, limit=limit) for limit in (4096, 1)]
    assert copies[0].plan.paths != copies[1].plan.paths
    units = [
        unit_of(replace(each, shared=True, fingerprint="one"), files=[f"/{number}.h"])
        for number, each in enumerate(copies)
    ]
    unit_counts = [read(unit, {"max": [f"{LEFT} exit"]}) for unit in units]
    assert list(assemble("p", units, unit_counts).functions) == ["0.h:max", "1.h:max"]
    unit_counts[0] = read(units[0], {})
    assert list(assemble("p", units, unit_counts).functions) == ["max"]


def _program(tmp_path: Path, unit: UnitFacts) -> str:
    path = tmp_path / "prog"
    sites = sites_bytes(unit, [(CODE_AT + at, site, after) for at, site, after in SITES])
    path.write_bytes(elf_bytes({".trodden": pack_unit(unit), ".trodden_sites": sites}))
    return str(path)


def _collected(tmp_path: Path, unit: UnitFacts, counted: UnitCounts, **parts: Any) -> Profile:
    raw = tmp_path / "x.raw"
    units = [(unit.id, 0, list(counted.counters))]
    raw.write_bytes(raw_bytes([(0, _program(tmp_path, unit))], units, **parts))
    return collect([raw])


def _key(index: int, cycles: bool = False) -> int:
    return (cycles << 63) | index


def _slots(counted: UnitCounts, index: int, block: int) -> list[int]:
    """The stack slots of the frames whose paths were cut short in a block."""
    keys = [register for f, b, register in counted.prefixes if (f, b) == (index, block)]
    slots = [slot_from_register(UNIT.functions[index], block, register) for register in keys]
    return [slot for slot in slots if slot is not None]


def test_frames_determine_their_paths(tmp_path: Path) -> None:
    counted = read(UNIT, WALKS)
    (main_slot,), (sparse_slot,) = _slots(counted, 0, 3), _slots(counted, 1, 3)
    sparse_paths = [
        (0, _key(f, cycles=cycles), path, totals[cycles])
        for (f, path), totals in counted.sparse.items()
        for cycles in (False, True)
    ]
    profile = _collected(
        tmp_path,
        UNIT,
        counted,
        frames=[(0, 0, CODE_AT + 0x18, main_slot), (0, 0, CODE_AT + 0x38, sparse_slot)],
        sparse_paths=sparse_paths,
    )
    assert profile.messages == ()
    assert profile.unit_counts[0].prefixes == counted.prefixes
    assert profile.unit_counts[0].sparse == counted.sparse
    assert {position for _, _, _, position in profile.unit_counts[0].stops} == {0}
    assert sum(profile.unit_counts[0].stops.values()) == sum(counted.prefixes.values())
    assert _without_stops(profile) == replace(
        small(), program=profile.program, processes=profile.processes, programs=profile.programs
    )


def _without_stops(profile: Profile) -> Profile:
    """The profile as it was when the positions of calls in their blocks were not kept."""
    functions = {
        name: replace(function, stops={}, path_stops={}) for name, function in profile.functions.items()
    }
    counts = tuple(replace(each, stops={}) for each in profile.unit_counts)
    return replace(profile, functions=functions, unit_counts=counts)


def test_what_its_parent_executed_is_subtracted_from_a_forked_child(tmp_path: Path) -> None:
    cut = read(UNIT, {"main": ["a b d a b d"]})
    (slot,) = _slots(cut, 0, 3)
    frames = [(0, 0, CODE_AT + 0x18, slot)]
    child = _collected(tmp_path, UNIT, cut, inherited=frames)
    assert child.unit_counts[0].prefixes == {(0, 3, (slot + ADDEND) % WORD): -1}
    assert unseal(MAGIC, to_bytes(child), "x")[0]["prefixes"] == [[0, 3, slot, -1]]
    whole = ["a b d a b d e exit"]
    both = _collected(tmp_path, UNIT, read(UNIT, {"main": whole}), frames=frames, inherited=frames)
    expect(both.functions["main"], whole)


def test_non_local_exits_end_paths_and_start_others(tmp_path: Path) -> None:
    """``setjmp`` in s returns three times more, by a jump out of a call in d."""
    facts = path_function("main", "s>d d>t d>u t>exit u>t", resume_edges=[0])
    unit = unit_of(facts, sites=[(0, 0), (0, 1)])
    walk = [0, 0, 0, 0, *walk_of(facts.graph, "d u t exit")]
    run = interpret_paths(facts.graph, facts.plan, [walk])
    profile = _collected(
        tmp_path,
        unit,
        UnitCounts(unit.id, run.counters),
        non_local_exits=[(0, CODE_AT + 0x18, -3), (0, CODE_AT + 0x28, 2, 17), (0, CODE_AT + 0x28, 1)],
    )
    counted, main = profile.unit_counts[0], profile.functions["main"]
    assert (counted.active, counted.prefixes) == ({(0, 0): -3}, {(0, 1, ADDEND): 3})
    assert unseal(MAGIC, to_bytes(profile), "x")[0]["prefixes"] == [[0, 1, -1, 3]]
    assert main.violations == ()
    truth = tally(facts.graph, [walk])
    assert (main.edge_counts, main.block_counts) == (truth.edges, truth.blocks)
    assert main.cut_short == truth.early == {0: -3, 1: 3}


@pytest.mark.parametrize("key", [_key(9), _key(9, cycles=True), _key(0) + (1 << 62)])
def test_sparse_paths_of_no_function_are_refused(tmp_path: Path, key: int) -> None:
    with pytest.raises(BadFile, match=r"x.raw: corrupt: a sparse path is of no function of its program"):
        _collected(tmp_path, UNIT, read(UNIT, {}), sparse_paths=[(0, key, 0, 1)])


DOCUMENT = unseal(MAGIC, to_bytes(small()), "x")[0]


@settings(max_examples=1500, deadline=None)
@given(
    st.sampled_from(positions_in(DOCUMENT)),
    st.sampled_from([-1, 0, 1, 3, 10**9, 2**62, 10**30, 1.5, "x", None, [], {}, [1, 2], [[], [], []]]),
)
def test_invalid_content_with_a_valid_checksum_is_refused_or_sound(
    position: tuple[Any, ...], wrong: Any
) -> None:
    document = with_wrong(DOCUMENT, position, wrong)
    try:
        profile = from_bytes(seal(MAGIC, document), "x.trod")
    except TroddenError:
        return
    for each in profile.functions.values():
        assert len(each.edge_counts) == len(each.facts.graph.edges)
        assert all(path.count > 0 for path in each.paths or ())


def test_a_huge_table_is_read_at_once() -> None:
    """Four thousand million counters, all of which but one are zero."""
    unit = unit_of(path_function("f"))
    (facts,) = unit.functions
    assert facts.plan.paths is not None
    vast = replace(facts, plan=replace(facts.plan, paths=replace(facts.plan.paths, number=2**32 - 1)))
    document = unseal(MAGIC, to_bytes(assemble("p", [unit], [read(unit, {})])), "x")[0]
    document["units"][0]["functions"][0]["plan"]["paths"]["number"] = vast.plan.slots
    document["units"][0]["slots"] = 2**32 - 1
    document["counts"] = [[1 - 2**32]]
    assert from_bytes(seal(MAGIC, document), "x.trod").functions["f"].paths == ()
    document["counts"] = [[5, 2 - 2**32]]
    with pytest.raises(OtherBuild, match="its plan has 4294967295 paths where its graph has"):
        from_bytes(seal(MAGIC, document), "x.trod")


def test_paths_that_were_not_executed_take_no_space() -> None:
    unit = unit_of(path_function("f", ROW), path_function("g"))
    assert unit.slots == 64 + 8
    profile = assemble("p", [unit], [read(unit, {"f": [f"{LEFT} exit"] * 3})])
    ((*column,),) = unseal(MAGIC, to_bytes(profile), "x")[0]["counts"]
    (path,) = profile.functions["f"].paths or ()
    assert column == ([-path.id] if path.id else []) + [3, path.id + 1 - unit.slots]


def test_json_has_the_paths() -> None:
    timed = path_function("g", f"r>a {DIAMOND}", timed=True, context=True)
    cut = unit_of(path_function("f", ROW, limit=1), timed)
    walks = {"f": [f"{LEFT} exit", f"{LEFT} exit", LEFT], "g": ["r a c d a b d e exit"]}
    profile = assemble("p", [cut], [read(cut, walks)])
    f, g = json.loads(json.dumps(to_document(profile)))["functions"]
    plan, graph = profile.functions["f"].facts.plan.paths, profile.functions["f"].facts.graph
    assert plan is not None
    assert plan.cuts
    ends = [graph.edges[edge] for edge in plan.cuts]
    assert f["possible_paths"] == plan.number
    assert f["cuts"] == [{"src": graph.labels[end.src], "dst": graph.labels[end.dst]} for end in ends]
    assert all(set(path) == {"id", "count", "blocks", "starts", "ends"} for path in f["paths"])
    assert [path["blocks"][-1] for path in f["paths"] if path["ends"] == "unwound"] == ["a6"]
    assert {path["starts"] for path in f["paths"]} == {"entry", "cut"}
    first, second = sorted(g["paths"], key=lambda path: len(path["blocks"]))
    assert first == {
        "id": first["id"],
        "count": 1,
        "blocks": ["r", "a", "c", "d"],
        "starts": "entry",
        "ends": "back_edge",
        "cycles": 4,
    }
    assert second["blocks"] == ["r", "a", "b", "d", "e"]
    assert (second["context"], second["starts"], second["cycles"]) == (1, "back_edge", 4)
    other = to_document(assemble("p", [unit_of(function("h", "a>exit"))], [UnitCounts("", [0])]))
    assert not {"paths", "possible_paths", "cuts"} & set(other["functions"][0])


def test_a_path_profile_weighs_edges(tmp_path: Path) -> None:
    profile = small()
    save(profile, tmp_path / "x.trod")
    weigh = weights_from(str(tmp_path / "x.trod"))
    graph = profile.functions["main"].facts.graph
    weights = weigh(graph, "main")
    assert weights is not None
    assert weights[walk_of(graph, "a c")[0]] == 3
