"""Lowered plans count what the reference interpreter counts.

Random graphs (irreducible, with parallel edges, self loops, unreachable and never-exiting blocks) become
functions in LLVM IR whose branches follow a tape of decisions; computed gotos replace some
switches.  Whatever the plan, every counter must hold what the interpreter computes for the same walks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.graphs import dense_graph
from tests.native.building import must
from trodden import load
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlapping.interpret_pairs import interpret_chains
from trodden.plan.overlapping.numbering import OverlapNumbering, numbering_of_plan
from trodden.plan.paths.numbering import Numbering
from trodden.program.facts import FunctionFacts
from trodden.recover.overlaps import tuple_counts

GRAPHS, WALKS, STEPS, STOP = 120, 6, 60, 255
HEADER = """
@cursor = internal global ptr @tape
define internal i32 @next() noinline noprofile {
  %at = load ptr, ptr @cursor
  %byte = load i8, ptr %at
  %after = getelementptr i8, ptr %at, i64 1
  store ptr %after, ptr @cursor
  %wide = zext i8 %byte to i32
  ret i32 %wide
}
"""


@dataclass(frozen=True)
class Function:
    """A graph as a function, and the decisions of each of its calls."""

    graph: Graph
    tapes: list[list[int]]

    @property
    def name(self) -> str:
        return self.graph.name.replace("-", "_")

    def successors(self, block: int) -> list[str]:
        """The successors of a block, by decision; EXIT is reached through a block that returns."""
        labels = [
            self.graph.labels[self.graph.edges[e].dst]
            for e in self.graph.out_edges[block]
            if self.graph.edges[e].kind is EdgeKind.FLOW
        ]
        return ["leave" if label == "EXIT" else label for label in labels]

    def text(self) -> str:
        root = self.graph.labels[self.graph.root]
        lines = [f"define void @{self.name}() noinline {{", f"  br label %{root}"]
        tables = ""
        for block in range(self.graph.exit):
            label, successors = self.graph.labels[block], self.successors(block)
            decide = f"  %d.{label} = call i32 @next()"
            if block % 3 == 2 and len(set(successors)) == len(successors) > 1:
                table = f"@{self.name}.{label}"
                entries = ", ".join(f"ptr blockaddress(@{self.name}, %{t})" for t in [*successors, "stop"])
                tables += f"{table} = internal constant [{len(successors) + 1} x ptr] [{entries}]\n"
                labels = ", ".join(f"label %{t}" for t in [*successors, "stop"])
                jump = [
                    f"  %s.{label} = icmp eq i32 %d.{label}, {STOP}",
                    f"  %i.{label} = select i1 %s.{label}, i32 {len(successors)}, i32 %d.{label}",
                    f"  %p.{label} = getelementptr ptr, ptr {table}, i32 %i.{label}",
                    f"  %t.{label} = load ptr, ptr %p.{label}",
                    f"  indirectbr ptr %t.{label}, [{labels}]",
                ]
            else:
                cases = "".join(f"\n    i32 {n}, label %{target}" for n, target in enumerate(successors))
                jump = [f"  switch i32 %d.{label}, label %stop [{cases}\n  ]"]
            lines += [f"{label}:", decide, *jump]
        return "\n".join([*lines, "leave:", "  ret void", "stop:", "  ret void", "}", tables])


def functions(seed: int) -> list[Function]:
    rng = random.Random(seed)
    made = []
    for number in range(GRAPHS):
        graph = dense_graph(seed * 1000 + number, rng.choice([3, 6, 12]), rng.choice([6, 14, 30]))
        made.append(Function(graph, []))
        for _ in range(WALKS):
            tape: list[int] = []
            block = graph.root
            while block != graph.exit:
                out_edges = [e for e in graph.out_edges[block] if graph.edges[e].kind is EdgeKind.FLOW]
                if not out_edges or len(tape) == STEPS:
                    tape.append(STOP)
                    break
                choice = rng.randrange(len(out_edges))
                tape.append(choice)
                block = graph.edges[out_edges[choice]].dst
            made[-1].tapes.append(tape)
    return made


def module(all_functions: Sequence[Function]) -> str:
    tape = [byte for function in all_functions for walk in function.tapes for byte in walk]
    calls = "".join(f"  call void @{f.name}()\n" * len(f.tapes) for f in all_functions)
    data = "".join(f"\\{byte:02X}" for byte in tape)
    return "\n".join(
        [
            f'@tape = internal constant [{len(tape)} x i8] c"{data}"',
            HEADER,
            *(function.text() for function in all_functions),
            f"define i32 @main() {{\n{calls}  ret i32 0\n}}\n",
        ]
    )


def walks(function: Function, facts: FunctionFacts) -> list[list[int]]:
    """The edges that the tapes take in the graph that was read back from the IR."""
    graph = facts.graph
    found = []
    for tape in function.tapes:
        block = graph.edges[graph.out_edges[graph.root][0]].dst
        walk = [graph.out_edges[graph.root][0]]
        for decision in tape:
            out_edges = [e for e in graph.out_edges[block] if graph.edges[e].kind is EdgeKind.FLOW]
            original = block - 1
            indirect = original % 3 == 2 and len(set(function.successors(original))) == len(out_edges) - 1 > 1
            stop = len(out_edges) - 1 if indirect else 0
            position = stop if decision == STOP else decision + (0 if indirect else 1)
            walk.append(out_edges[position])
            block = graph.edges[out_edges[position]].dst
        walk.append(next(e for e in graph.out_edges[block] if graph.edges[e].dst == graph.exit))
        found.append(walk)
    return found


SCHEMES = ["edges", "checked", "blocks-by-edges", "blocks-by-blocks", "every-block"]


PATHS = [
    "--counters checked",
    "--max-paths 8",
    "--max-paths 8 --cut-by node",
    "--max-paths none",
    "--context",
    "--context --max-paths 20 --counters checked",
    "--metric cycles",
]
OVERLAPS = [
    "--overlap 1",
    "--overlap 2 --counters checked",
    "--overlap max",
    "--overlap auto",
    "--overlap 1 --max-paths 8",
    "--overlap max --max-paths 20 --counters checked",
    "--overlap 2 --max-paths none",
    "--pairs",
    "--pairs=3 --counters checked",
    "--pairs=4 --max-paths 8",
    "--pairs --overlap 2",
    "--pairs=3 --overlap max",
]


@pytest.mark.parametrize("counters", SCHEMES)
@pytest.mark.parametrize(("stage", "optimise"), [("late", "-O0"), ("early", "-O2")])
def test_counters_hold_what_the_interpreter_says(
    tmp_path: Path, counters: str, stage: str, optimise: str
) -> None:
    known = {function.name: function for function in functions(seed=len(counters))}
    compare(tmp_path, known, ["--counters", counters, "--stage", stage], optimise)


@pytest.mark.parametrize("options", PATHS)
@pytest.mark.parametrize("optimise", ["-O0", "-O2 -Xclang -disable-llvm-passes"])
def test_path_counters_hold_what_the_interpreter_says(tmp_path: Path, options: str, optimise: str) -> None:
    known = {function.name: function for function in functions(seed=len(options))}
    compare(tmp_path, known, ["--profile", "paths", *options.split()], *optimise.split())


@pytest.mark.parametrize("options", OVERLAPS)
@pytest.mark.parametrize("optimise", ["-O0", "-O2 -Xclang -disable-llvm-passes"])
def test_overlaps_hold_what_the_interpreter_says(tmp_path: Path, options: str, optimise: str) -> None:
    known = {function.name: function for function in functions(seed=len(options))}
    compare(tmp_path, known, ["--profile", "paths", *options.split()], *optimise.split())


def whole_number(numbering: Numbering, number: int) -> int:
    return numbering.number_of_whole(number) if isinstance(numbering, OverlapNumbering) else number


def compare(directory: Path, known: dict[str, Function], options: list[str], *optimise: str) -> None:
    (directory / "graphs.ll").write_text(module(list(known.values())))
    must("run", "-o", "graphs.trod", *options, "graphs.ll", *optimise, "--", cwd=directory)
    profile = load(directory / "graphs.trod")
    (counted,) = profile.unit_counts
    own = {
        profile.units[0].functions[n].linkage_name: each for n, each in counted.functions(profile.units[0])
    }
    compared = 0
    for facts in profile.units[0].functions:
        function = known.get(facts.linkage_name)
        if function is None:
            continue
        told = interpret_chains(facts.graph, facts.plan, walks(function, facts))
        expected = told.paths.counters
        held = list(counted.counters[facts.first_slot : facts.first_slot + facts.plan.slots])
        if facts.plan.paths is not None and facts.plan.paths.timed:
            # The interpreter has another clock: only the counts are the same.
            expected, held = (x[: -facts.plan.paths.number] for x in (expected, held))
        first = facts.plan.first_tuple
        assert held[:first] == expected[:first], facts.linkage_name
        assert profile.functions[facts.name].violations == ()
        compared += 1
        if facts.plan.paths is None:
            continue
        numbering = numbering_of_plan(facts.graph, facts.plan)
        wholes: Counter[tuple[int, ...]] = Counter()
        for numbers, count in told.tuples.items():
            wholes[tuple(whole_number(numbering, number) for number in numbers)] += count
        assert tuple_counts(facts.graph, facts.plan, own[facts.linkage_name]) == wholes

    assert compared == GRAPHS
