"""Raw files and programs become one profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.profile.making import (
    CODE_AT,
    Flow,
    counts_of,
    elf_bytes,
    function,
    pack_unit,
    raw_bytes,
    sites_bytes,
    unit_of,
)
from trodden.errors import BadFile, InputMissing, NotInstrumented, OtherBuild
from trodden.plan.counters.blocks import every_block
from trodden.profile.from_runs import collect
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import UnitFacts
from trodden.source.lines import line_counts

LOOP = "a>b b>b b>c c>exit"
UNIT = unit_of(
    function("main", LOOP, {"a": [1], "b": [2], "c": [3]}),
    function("exits", "e>x x>exit", line=9),
    sites=[(0, 1), (1, 0), (0, -1)],
    skipped=[("naked", "it has no frame")],
)
WALK: Flow = {"a>b": 1, "b>b": 9, "b>c": 1, "c>exit": 1}
LABELS = [(0x10, 0, False), (0x18, 0, True), (0x20, 1, False), (0x28, 1, True), (0x30, 2, False)]


def _program(tmp_path: Path, *units: UnitFacts, name: str = "prog") -> str:
    path = tmp_path / name
    sites = sites_bytes(units[0], [(CODE_AT + at, site, after) for at, site, after in LABELS])
    path.write_bytes(elf_bytes({".trodden": b"".join(map(pack_unit, units)), ".trodden_sites": sites}))
    return str(path)


def _raw(
    tmp_path: Path,
    program: str,
    counted: Sequence[tuple[UnitFacts, Sequence[int]]],
    frames: Sequence[int] = (),
    *,
    inherited: Sequence[int] = (),
    non_local_exits: Sequence[tuple[int, int]] = (),
    name: str = "x.raw",
    ending: int = 0,
    signal: int = 0,
    pid: int = 42,
    parent: int = 7,
    started: int = 1,
) -> str:
    path = tmp_path / name
    units = [(unit.id, 0, counts) for unit, counts in counted]
    active, first = ([(0, 0, CODE_AT + at) for at in each] for each in (frames, inherited))
    exits = [(0, CODE_AT + at, count) for at, count in non_local_exits]
    path.write_bytes(
        raw_bytes(
            [(0, program)],
            units,
            active,
            inherited=first,
            non_local_exits=exits,
            ending=ending,
            signal=signal,
            pid=pid,
            parent=parent,
            started=started,
        )
    )
    return str(path)


def _edges(function_profile: FunctionProfile) -> dict[str, float | None]:
    return {f"{edge.src}>{edge.dst}": edge.count for edge in function_profile.edges}


def _one_run(tmp_path: Path, frames: Sequence[int] = (), flows: dict[str, Flow] | None = None) -> Profile:
    program = _program(tmp_path, UNIT)
    return collect([_raw(tmp_path, program, [(UNIT, counts_of(UNIT, flows or {"main": WALK}))], frames)])


def test_one_run(tmp_path: Path) -> None:
    profile = _one_run(tmp_path)
    assert (profile.kind, profile.program) == ("edges", str(tmp_path / "prog"))
    assert list(profile.functions) == ["main", "exits"]
    assert _edges(profile.functions["main"]) == WALK
    assert [(block.id, block.count) for block in profile.functions["main"].blocks] == [
        ("a", 1),
        ("b", 10),
        ("c", 1),
    ]
    assert profile.functions["main"].entries == 1
    assert profile.functions["exits"].entries == 0
    assert [skipped.name for skipped in profile.skipped] == ["naked"]
    assert profile.messages == ()
    assert profile.units == (UNIT,)


def test_counts_of_several_runs_are_added(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    counts = counts_of(UNIT, {"main": WALK})
    raws = [_raw(tmp_path, program, [(UNIT, counts)], name=f"{n}.raw", started=n) for n in range(3)]
    assert _edges(collect(raws).functions["main"]) == {edge: 3 * count for edge, count in WALK.items()}


def test_blocks_of_active_frames_are_cut_short(tmp_path: Path) -> None:
    flows: dict[str, Flow] = {"main": {"a>b": 1, "b>b": 4}}
    main = _one_run(tmp_path, [0x18], flows).functions["main"]
    assert main.cut_short == {1: 1}
    assert _edges(main) == {"a>b": 1, "b>b": 4, "b>c": 0, "c>exit": 0}
    assert main.entries == 1
    assert main.violations == ()


def test_frames_whose_exit_is_counted_already_are_ignored(tmp_path: Path) -> None:
    profile = _one_run(tmp_path, [0x34, 0x8, 0x1F])
    assert profile.functions["main"].cut_short == {}
    assert profile.messages == ()


def test_a_frame_that_fits_no_call_site_is_reported(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    # The call of site 0 has a label after it, but elsewhere: this is a copy without one.
    labels = [(CODE_AT + 0x10, 0, False), (CODE_AT + 0x20, 1, False), (CODE_AT + 0x30, 0, True)]
    sites = sites_bytes(UNIT, labels)
    Path(program).write_bytes(elf_bytes({".trodden": pack_unit(UNIT), ".trodden_sites": sites}))
    profile = collect([_raw(tmp_path, program, [(UNIT, counts_of(UNIT, {"main": WALK}))], [0x18])])
    assert len(profile.messages) == 1
    assert "1 active calls fit no call site" in profile.messages[0]


def test_a_program_that_did_not_end_by_itself_is_reported(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    raw = _raw(tmp_path, program, [(UNIT, counts_of(UNIT, {"main": WALK}))], ending=1)
    (note,) = collect([raw]).messages
    assert note == "process 42: the program did not end by itself; counts are those until then"


def test_another_build_is_refused_by_name(tmp_path: Path) -> None:
    other = unit_of(function("main", "a>exit"))
    program = _program(tmp_path, other)
    raw = _raw(tmp_path, program, [(UNIT, [0] * UNIT.slots)])
    with pytest.raises(OtherBuild, match=r"by build [0-9a-f]{8} of .*prog, but .*prog is build [0-9a-f]{8};"):
        collect([raw])
    with pytest.raises(OtherBuild, match=r"copy is build"):
        collect([raw], [_program(tmp_path, other, name="copy")])


def test_a_moved_program_can_be_named(tmp_path: Path) -> None:
    raw = _raw(tmp_path, "/nowhere/prog", [(UNIT, counts_of(UNIT, {"main": WALK}))])
    with pytest.raises(InputMissing, match=r"/nowhere/prog: is gone, but .*x.raw needs it; pass it"):
        collect([raw])
    assert _edges(collect([raw], [_program(tmp_path, UNIT, name="moved")]).functions["main"]) == WALK


def test_other_bad_input(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    with pytest.raises(InputMissing):
        collect([])
    with pytest.raises(NotInstrumented, match="counts nothing"):
        collect([_raw(tmp_path, program, [])])
    with pytest.raises(BadFile, match="counters where"):
        collect([_raw(tmp_path, program, [(UNIT, [0] * (UNIT.slots + 1))])])


def test_functions_of_units_without_counts_are_listed(tmp_path: Path) -> None:
    idle = unit_of(function("idle", "a>exit"), files=["/src/b.c"])
    program = _program(tmp_path, UNIT, idle)
    profile = collect([_raw(tmp_path, program, [(UNIT, counts_of(UNIT, {"main": WALK}))])])
    assert profile.functions["idle"].entries == 0


def _shared_units(second_print: str) -> tuple[UnitFacts, UnitFacts]:
    def copy(fingerprint: str, shape: str) -> UnitFacts:
        return unit_of(
            function("max", shape, shared=True, fingerprint=fingerprint),
            files=[f"/src/{fingerprint}{len(shape)}.h"],
        )

    return copy("one", LOOP), copy(second_print, LOOP if second_print == "one" else "a>b a>c b>c c>exit")


def _two(tmp_path: Path, units: tuple[UnitFacts, UnitFacts], flows: Sequence[Flow]) -> Profile:
    program = _program(tmp_path, *units)
    counted = [(unit, counts_of(unit, {"max": flow})) for unit, flow in zip(units, flows, strict=True)]
    return collect([_raw(tmp_path, program, counted)])


def test_comdat_copies_are_joined(tmp_path: Path) -> None:
    first = unit_of(function("max", LOOP, shared=True, fingerprint="one"))
    second = unit_of(function("max", LOOP, shared=True, fingerprint="one"), function("f", "a>exit"))
    profile = _two(tmp_path, (first, second), [WALK, WALK])
    assert list(profile.functions) == ["f", "max"]
    assert _edges(profile.functions["max"]) == {edge: 2 * count for edge, count in WALK.items()}
    assert profile.functions["max"].entries == 2


def test_of_different_comdat_copies_the_executed_one_is_kept(tmp_path: Path) -> None:
    units = _shared_units("two")
    walk: Flow = {"a>b": 2, "a>c": 1, "b>c": 2, "c>exit": 3}
    assert list(_two(tmp_path, units, [{}, walk]).functions["max"].block_counts) == [3, 2, 3, 3]
    assert _edges(_two(tmp_path, units, [WALK, {}]).functions["max"]) == WALK
    assert len(_two(tmp_path, units, [{}, {}]).functions) == 1
    both = _two(tmp_path, units, [WALK, walk]).functions
    assert list(both) == ["one18.h:max", "two18.h:max"]


def test_copies_with_other_lines_are_functions_of_their_own(tmp_path: Path) -> None:
    units = [
        unit_of(function("max", LOOP, {"b": [line]}, linkage_name="max", fingerprint="one"), *others)
        for line, others in ((3, ()), (5, ()), (3, (function("f", "a>exit"),)))
    ]
    program = _program(tmp_path, *units)
    counted = [(unit, counts_of(unit, {"max": WALK})) for unit in units]
    profile = collect([_raw(tmp_path, program, counted)])
    copies = [each for key, each in profile.functions.items() if "max" in key]
    assert [each.entries for each in copies] == [2, 1]
    once = WALK["a>b"] + WALK["b>b"]
    assert {line: here.count for line, here in line_counts(profile)["/src/a.c"].items() if line > 1} == {
        3: 2 * once,
        5: once,
    }


def test_names_that_are_not_unique_get_their_file_and_then_a_number(tmp_path: Path) -> None:
    unit = unit_of(
        function("f", "a>exit", linkage_name="f.1"),
        function("f", "a>exit", linkage_name="f.2"),
        function("f", "a>exit", file=1),
        function("g", "a>exit"),
        files=["/src/a.c", "/src/b.c"],
    )
    program = _program(tmp_path, unit)
    profile = collect([_raw(tmp_path, program, [(unit, counts_of(unit, {}))])])
    assert list(profile.functions) == ["a.c:f", "a.c:f#2", "b.c:f", "g"]


def test_a_block_profile_says_so(tmp_path: Path) -> None:
    unit = unit_of(function("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit", planner=every_block))
    flow = {"a>b": 1, "a>c": 1, "b>d": 1, "c>e": 1, "d>exit": 1, "e>exit": 1, "@a": 2}
    counts = counts_of(unit, {"f": flow})
    profile = collect([_raw(tmp_path, _program(tmp_path, unit), [(unit, counts)])])
    assert [block.count for block in profile.functions["f"].blocks] == [2, 1, 1, 1, 1]
    assert profile.functions["f"].violations == ()
    assert profile.kind == "blocks"
    assert None in [edge.count for edge in profile.functions["f"].edges]


def test_contradicting_counters_are_reported(tmp_path: Path) -> None:
    diamond = "a>b a>c b>exit c>exit"
    unit = unit_of(function("f", diamond, planner=every_block))
    profile = collect([_raw(tmp_path, _program(tmp_path, unit), [(unit, [5, 1, 1])])])
    assert profile.functions["f"].violations


def test_a_forked_child_begins_inside_its_callers(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    whole = [(UNIT, counts_of(UNIT, {"main": WALK}))]
    frames = [0x18]
    parent = collect([_raw(tmp_path, program, whole, frames)])
    both = collect([_raw(tmp_path, program, whole, frames, inherited=frames)])
    assert parent.functions["main"].cut_short
    assert both.functions["main"].cut_short == {}
    assert both.functions["main"].violations == ()


def test_jumps_leave_blocks_and_resume_others(tmp_path: Path) -> None:
    """``exits`` is left by 3 jumps in its first block; they resume in the loop of ``main``."""
    flows: dict[str, Flow] = {"main": {**WALK, "b>c": 4, "c>exit": 4}, "exits": {"e>x": 2, "x>exit": 2}}
    raw = _raw(
        tmp_path,
        _program(tmp_path, UNIT),
        [(UNIT, counts_of(UNIT, flows))],
        non_local_exits=[(0x28, 3), (0x18, -3)],
    )
    profile = collect([raw])
    main, exits = profile.functions["main"], profile.functions["exits"]
    assert (main.cut_short, exits.cut_short) == ({1: -3}, {0: 3})
    assert (main.violations, exits.violations) == ((), ())
    assert (main.entries, list(main.block_counts)) == (1, [1, 10, 4, 1])
    assert (_edges(exits), exits.entries) == ({"e>x": 2, "x>exit": 2}, 5)
    assert profile.messages == ()


def test_jumps_that_fit_no_call_site_are_reported_by_number(tmp_path: Path) -> None:
    program = _program(tmp_path, UNIT)
    labels = [(CODE_AT + 0x10, 0, False), (CODE_AT + 0x20, 1, False), (CODE_AT + 0x30, 0, True)]
    sites = sites_bytes(UNIT, labels)
    Path(program).write_bytes(elf_bytes({".trodden": pack_unit(UNIT), ".trodden_sites": sites}))
    counted = [(UNIT, counts_of(UNIT, {"main": WALK}))]
    raw = _raw(tmp_path, program, counted, non_local_exits=[(0x18, -5), (0x18, 2)])
    (note,) = collect([raw]).messages
    assert "7 active calls fit no call site" in note


def test_comdat_copies_keep_calls_that_returned_twice(tmp_path: Path) -> None:
    units = [
        unit_of(function("max", LOOP, shared=True, fingerprint="one"), *others, sites=[(0, 1)])
        for others in ((), (function("f", "a>exit"),))
    ]
    walk = {**WALK, "b>c": 4, "c>exit": 4}
    program = _program(tmp_path, *units)
    counted = [(unit, counts_of(unit, {"max": walk})) for unit in units]
    profile = collect([_raw(tmp_path, program, counted, non_local_exits=[(0x18, -3)])])
    assert profile.functions["max"].cut_short == {1: -3}


def test_files_of_one_name_get_as_many_parts_of_their_paths_as_distinguish_them(tmp_path: Path) -> None:
    unit = unit_of(
        *(function("f", "a>exit", linkage_name=f"f.{file}", file=file) for file in range(3)),
        files=["/src/one/a.c", "/src/two/a.c", "/src/b.c"],
    )
    program = _program(tmp_path, unit)
    profile = collect([_raw(tmp_path, program, [(unit, counts_of(unit, {}))])])
    assert list(profile.functions) == ["one/a.c:f", "two/a.c:f", "b.c:f"]
