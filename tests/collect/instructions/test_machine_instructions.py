"""Executed instructions as a profile has them, compared with a program that is executed step by step."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass
from operator import mul
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from tests.native.stepping import PC, steps_of
from trodden.collect.binary.block_marks import locations_at
from trodden.collect.binary.marked_functions import MarkedFunctions
from trodden.collect.binary.program import read_program
from trodden.collect.binary.x86_outline import outline
from trodden.collect.instructions.upkeep import added_instructions
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.program.clone_map import origin_of
from trodden.program.facts import BranchKind
from trodden.program.machine_instructions import ways_out
from trodden.report.views.hot_paths import executed_in_all
from trodden.report.views.instruction_kind import InstructionKind, instruction_kind

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="steps with the trap flag of x86-64")
PATHS = "--trodden-profile=paths"


@dataclass(frozen=True)
class Run:
    """A profile, and how many instructions of each function were executed: its own, and all of them.

    ``blocks`` are those of its own by function and block, as debug information states it.
    """

    profile: Profile
    own: Counter[str]
    everything: Counter[str]
    blocks: Counter[tuple[str, int]]


def stepped(directory: Path, *flags: str) -> Run:
    sources = [str(PROGRAMS / name) for name in ("interpreter.c", "stepper.c")]
    must("cc", "--trodden-leave=*stepper.c", *flags, *sources, "-o", "steps", cwd=directory)
    bias, _, steps = steps_of(directory / "steps", directory)
    executed = Counter(step.registers[PC] - bias for step in steps)
    run = Run(collect([directory / "raw"]), Counter(), Counter(), Counter())
    functions = MarkedFunctions(read_program(directory / "steps"))
    for function in functions.functions:
        marked = functions.marked(function)
        assert marked is not None
        instructions = outline(marked.code, function.low)
        assert instructions is not None
        facts = marked.unit.functions[marked.number]
        name = facts.name
        locations = locations_at([each.address for each in instructions], marked.location)
        added = added_instructions(marked, instructions, locations)
        for each, location, new in zip(instructions, locations, added, strict=True):
            run.everything[name] += executed[each.address]
            if not new:
                run.own[name] += executed[each.address]
                if location is not None and location < facts.graph.exit + len(facts.clones):
                    run.blocks[name, origin_of(facts, location)] += executed[each.address]
    return run


@pytest.mark.parametrize(
    "flags",
    [
        *(("-O2",), ("-O2", PATHS), ("-O2", "-g"), ("-O2", "-fPIC", "-pie"), ("-O1", PATHS)),
        *(("-O0",), ("-O0", PATHS)),
    ],
    ids=" ".join,
)
def test_the_instructions_of_every_function(tmp_path: Path, flags: tuple[str, ...]) -> None:
    run = stepped(tmp_path, *flags)
    assert instruction_kind(run.profile.functions.values()) is InstructionKind.MACHINE
    total = executed_in_all(run.profile.functions.values()).instructions
    assert total == pytest.approx(sum(run.own.values()), rel=0.01)
    for name, function in run.profile.functions.items():
        # A conditional in the middle of a block may go either way.
        assert function.executed_instructions == pytest.approx(run.own[name], rel=0.03, abs=3), name


def test_no_more_is_added_to_a_program_than_its_probes(tmp_path: Path) -> None:
    run = stepped(tmp_path, "-O2")
    [counted] = [each for each in run.profile.unit_counts if any(each.counters)]
    added = sum(run.everything.values()) - sum(run.own.values())
    assert sum(counted.counters) <= added < 1.3 * sum(counted.counters)


def test_without_optimisation_nothing_of_the_path_register_is_the_programs_own(tmp_path: Path) -> None:
    """Apart from the choice of registers, the code is that of the program with edge counters."""
    (tmp_path / "edges").mkdir()
    (tmp_path / "paths").mkdir()
    edges, paths = stepped(tmp_path / "edges", "-O0"), stepped(tmp_path / "paths", "-O0", PATHS)
    assert sum(paths.own.values()) == pytest.approx(sum(edges.own.values()), rel=0.02)
    for name, own in edges.own.items():
        assert paths.own[name] == pytest.approx(own, rel=0.05), name


def test_a_large_switch_is_not_its_cases(tmp_path: Path) -> None:
    """The block of an interpreter that has one line of IR for each case, and a few instructions."""
    run = stepped(tmp_path, "-O2", PATHS)
    function = run.profile.functions["interpret"]
    switch = next(v for v, block in enumerate(function.facts.blocks) if block.kind is BranchKind.SWITCH)
    facts, graph = function.facts.blocks[switch], function.facts.graph
    assert facts.size > 20 > 8 > facts.instructions
    often = function.block_counts[switch]
    lines = sum(map(mul, [block.size for block in function.facts.blocks], function.block_counts))
    in_lines = often * facts.size / lines
    ways = [
        (function.counted_edges[e] or 0) * function.instructions.edges[e] for e in ways_out(graph, switch)
    ]
    share = sum(ways) / function.executed_instructions
    executed = run.blocks["interpret", switch] / run.own["interpret"]
    assert share == pytest.approx(executed, abs=0.05)
    assert in_lines > executed + 0.1


def test_without_debug_information_ir_instructions_are_counted(tmp_path: Path) -> None:
    run = stepped(tmp_path, "-O2", "--trodden-debug-locations=off")
    assert instruction_kind(run.profile.functions.values()) is InstructionKind.IR
    for function in run.profile.functions.values():
        sizes = [block.instructions for block in function.facts.blocks]
        counts = zip(sizes, function.block_counts, strict=False)
        assert function.executed_instructions == sum(size * count for size, count in counts)
