"""Executed instructions of functions: of the machine or of IR; how they are stored, merged and shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.profile.making import function, profile_of, unit_counts_of, unit_of
from trodden.errors import BadFile
from trodden.merging.merge import merge
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.trod import MAGIC, from_bytes, load, save, to_bytes
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.machine_instructions import MachineInstructions
from trodden.program.record import seal, unseal
from trodden.report.views.instruction_kind import InstructionKind, instruction_kind
from trodden.report.views.summary import summarise

SHAPE = "a>b a>c b>exit c>exit"
MACHINE = MachineInstructions((400, 250, 0), ((300, 500), (250,), (0,)))
"""Block a takes 3 instructions on the way to b and 5 on the way to c, b takes 2.5, c none."""
FLOW = {"a>b": 10, "a>c": 4, "b>exit": 10, "c>exit": 4}


def two(f: FunctionFacts, g: FunctionFacts) -> UnitFacts:
    """A unit of two functions, named as it is without their machine instructions."""
    bare = unit_of(replace(f, machine=None), replace(g, machine=None))
    return bare.with_machine(
        {number: each.machine for number, each in enumerate((f, g)) if each.machine is not None}
    )


def sample(f: bool, g: bool) -> Profile:
    """Two functions of which either or both were executed."""
    known = [
        replace(function(name, SHAPE), machine=MACHINE if ran else None)
        for name, ran in zip("fg", (f, g), strict=True)
    ]
    return profile_of(two(*known), {name: FLOW for name, ran in zip("fg", (f, g), strict=True) if ran})


def test_along_edges() -> None:
    [f, g] = sample(True, False).functions.values()
    assert f.executed_instructions == 10 * (3 + 2.5) + 4 * (5 + 0)
    assert f.instructions.along((0, 2), (1,)) == 5
    assert f.instructions.along((0,), ()) == 4
    assert (f.instructions.machine, g.instructions.machine) == (True, False)
    assert g.instructions.along((0, 1), (0, 2)) == 6


def test_what_is_cut_short_counts_its_block_on_average() -> None:
    f = sample(True, False).functions["f"]
    cut = replace(f, block_counts=[16, *f.block_counts[1:]], cut_short={0: 2})
    assert cut.executed_instructions == f.executed_instructions + 2 * 4


def test_edges_that_are_not_known_count_their_block_on_average() -> None:
    f = sample(True, False).functions["f"]
    unknown = replace(f, edge_counts=[None] * len(f.edge_counts))
    assert unknown.executed_instructions == 14 * 4 + 10 * 2.5


def test_functions_are_ranked_by_instructions_and_the_measure_is_named() -> None:
    small = replace(
        function("small", SHAPE), machine=MachineInstructions((100,) * 3, ((100, 100), (100,), (100,)))
    )
    large = replace(function("large", SHAPE), machine=MACHINE)
    summary = summarise(profile_of(two(small, large), {"small": FLOW, "large": FLOW}))
    assert [(row.name, row.instructions) for row in summary.functions] == [("large", 75), ("small", 28)]
    assert summary.to_document()["instructions"] == "machine"
    bare = summarise(profile_of(unit_of(function("f", SHAPE)), {"f": FLOW}))
    assert (bare.instructions, bare.functions[0].instructions) == (InstructionKind.IR, 28 * 3)


def test_a_mixture_is_reported() -> None:
    known = replace(function("f", SHAPE), machine=MACHINE)
    profile = profile_of(two(known, function("g", SHAPE)), {"f": FLOW, "g": FLOW})
    summary = summarise(profile)
    assert summary.instructions is InstructionKind.MIXED
    assert summary.notes == (
        "the machine instructions of 1 executed function are not known; IR instructions stand for them",
    )


def test_a_profile_stores_them(tmp_path: Path) -> None:
    profile = sample(True, False)
    save(profile, tmp_path / "a.trod")
    again = load(tmp_path / "a.trod")
    assert again.units == profile.units
    assert again.functions["f"].executed_instructions == 75
    assert instruction_kind(again.functions.values()) is InstructionKind.MACHINE


@pytest.mark.parametrize(
    "wrong",
    [
        *([], [[]], [[[0], [400, 250, 0], [-100, 100, 0]]], [[[0], [400, 250], [-100, 100, 0, 0]]]),
        *([[[5], [400, 250, 0], [-100, 100, 0, 0]]], [[[0], [400, -1, 0], [-100, 100, 0, 0]]]),
        *(
            [[[0], [400, 250, 0], [-500, 100, 0, 0]]],
            [[[0, 0], [1] * 6, [0] * 8]],
            None,
            [1, 2, 3],
            [["x"] * 3],
        ),
    ],
)
def test_a_damaged_column_is_refused(wrong: Any) -> None:
    document, _ = unseal(MAGIC, to_bytes(sample(True, False)), "x")
    document["machine"] = wrong
    with pytest.raises(BadFile):
        from_bytes(seal(MAGIC, document), "x")


def test_merging_joins_what_different_runs_have_executed(tmp_path: Path) -> None:
    names = []
    for number, (f, g) in enumerate([(True, False), (False, True), (True, True), (False, False)]):
        names.append(str(tmp_path / f"{number}.trod"))
        save(sample(f, g), names[-1])
    merged = merge(names).profile
    assert [each.executed_instructions for each in merged.functions.values()] == [150, 150]
    assert instruction_kind(merged.functions.values()) is InstructionKind.MACHINE


def test_of_comdat_copies_the_code_of_one_is_known() -> None:
    def copy(machine: MachineInstructions | None) -> FunctionFacts:
        return replace(function("f", SHAPE, shared=True, fingerprint="same"), machine=machine)

    one = unit_of(copy(None), files=["/src/a.c"])
    other = unit_of(copy(None), files=["/src/a.c", "/src/b.h"]).with_machine({0: MACHINE})
    counts = [unit_counts_of(one, {}), unit_counts_of(other, {"f": FLOW})]
    [f] = assemble("/bin/prog", [one, other], counts).functions.values()
    assert f.executed_instructions == 75
