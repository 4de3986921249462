"""Programs count over calls and returns what the reference interpreter counts.

Random procedures become functions in LLVM IR that call each other, directly and through pointers, themselves
included, and through functions without probes.  A tape of decisions says what they do; the same tape tells
the interpreter.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.graphs import dense_graph
from tests.native.building import must
from tests.plan.overlapping.programs import ComeBack, Enter, Event, LeaveProbes, Take, replay
from trodden import load
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlapping.interpret_calls import CallKey, Thread
from trodden.program.facts import FunctionFacts
from trodden.recover.sparse_counters import nonzero

PROGRAMS, PROCEDURES, WALKS, DEPTH, STEPS = 24, 4, 12, 6, 30
LEAVES, STOP = 254, 255
HELPERS = """
@cursor = internal global ptr @tape
define internal i32 @next() noinline noprofile {
  %at = load ptr, ptr @cursor
  %byte = load i8, ptr %at
  %after = getelementptr i8, ptr %at, i64 1
  store ptr %after, ptr @cursor
  %wide = zext i8 %byte to i32
  ret i32 %wide
}
define void @nothing() noinline noprofile {
  ret void
}
"""


@dataclass
class Procedure:
    """A graph as a function; some blocks call a procedure by its number, or whoever the tape says (-1)."""

    name: str
    graph: Graph
    calls: dict[int, int]
    local: bool

    def successors(self, block: int) -> list[int]:
        edges = self.graph.edges
        return [edges[e].dst for e in self.graph.out_edges[block] if edges[e].kind is EdgeKind.FLOW]

    def text(self, program: Program) -> str:
        label = self.graph.labels
        linkage = "internal " if self.local else ""
        lines = [
            f"define {linkage}void @{self.name}() noinline {{",
            "  %go = call i32 @next()",
            f"  switch i32 %go, label %stop [ i32 0, label %{label[self.graph.root]} ]",
        ]
        for block in range(self.graph.exit):
            lines.append(f"{label[block]}:")
            if self.calls.get(block) == -1:
                lines += [
                    f"  %c.{block} = call i32 @next()",
                    f"  %p.{block} = getelementptr ptr, ptr @{program.name}.table, i32 %c.{block}",
                    f"  %f.{block} = load ptr, ptr %p.{block}",
                    f"  call void %f.{block}()",
                ]
            elif block in self.calls:
                lines.append(f"  call void @{program.procedures[self.calls[block]].name}()")
            names = ["leave" if b == self.graph.exit else label[b] for b in self.successors(block)]
            cases = "".join(f"\n    i32 {n}, label %{target}" for n, target in enumerate(names))
            lines += [
                f"  %d.{block} = call i32 @next()",
                f"  switch i32 %d.{block}, label %stop [{cases}\n  ]",
            ]
        return "\n".join([*lines, "leave:", "  ret void", "stop:", "  ret void", "}", ""])

    def first(self, block: int) -> int:
        """The block in the graph that is read back with which this one begins: call sites end blocks."""
        return 1 + sum(1 + (before in self.calls) for before in range(block))


@dataclass
class Program:
    """Procedures that call each other; ``tape`` and ``events`` are what they do."""

    name: str
    procedures: list[Procedure]
    tape: list[int] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    walks: list[int] = field(default_factory=list)

    def text(self) -> str:
        """The procedures, the table of whom they may call, and who calls them in the end."""
        through = [
            f"define void @{self.name}.through{n}() noinline noprofile {{\n"
            f"  call void @{each.name}()\n  ret void\n}}\n"
            for n, each in enumerate(self.procedures)
        ]
        table = [*(each.name for each in self.procedures)]
        table += [f"{self.name}.through{n}" for n in range(len(self.procedures))] + ["nothing"]
        entries = ", ".join(f"ptr @{name}" for name in table)
        return "\n".join(
            [
                f"@{self.name}.table = internal constant [{len(table)} x ptr] [{entries}]",
                *through,
                *(each.text(self) for each in self.procedures),
            ]
        )

    def execute(self, facts: Sequence[FunctionFacts], numbers: Sequence[int], rng: random.Random) -> None:
        """Decide at random what happens; ``facts`` are those of the procedures, with these numbers."""
        for walk in range(WALKS):
            self.walks.append(walk % len(self.procedures))
            steps = len(self.tape) + STEPS
            self.events.append(LeaveProbes())
            self._enter(walk % len(self.procedures), facts, numbers, rng, DEPTH, steps)
            self.events.append(ComeBack())

    def _enter(
        self,
        number: int,
        facts: Sequence[FunctionFacts],
        numbers: Sequence[int],
        rng: random.Random,
        depth: int,
        steps: int,
    ) -> None:
        own, graph = self.procedures[number], facts[number].graph
        self.events.append(Enter(numbers[number]))
        at = graph.root

        def take(position: int) -> None:
            nonlocal at
            edges = [e for e in graph.out_edges[at] if graph.edges[e].kind is EdgeKind.FLOW]
            self.events.append(Take(edges[position]))
            at = graph.edges[edges[position]].dst

        def call(callee: int, indirect: bool) -> None:
            if not indirect:
                self._enter(callee, facts, numbers, rng, depth - 1, steps)
                return
            self.tape.append(callee)
            count = len(self.procedures)
            if callee < count:
                self._enter(callee, facts, numbers, rng, depth - 1, steps)
                return
            self.events.append(LeaveProbes())
            if callee < 2 * count:
                self._enter(callee - count, facts, numbers, rng, depth - 1, steps)
            self.events.append(ComeBack())

        goes = depth > 0
        self.tape.append(0 if goes else STOP)
        take(1 if goes else 0)
        block = own.graph.root
        while goes:
            assert at == own.first(block), own.name
            if own.calls.get(block) == -1:
                call(rng.randrange(2 * len(self.procedures) + 1), True)
                take(0)
            elif block in own.calls:
                call(own.calls[block], False)
                take(0)
            successors = own.successors(block)
            if not successors or len(self.tape) > steps:
                self.tape.append(STOP)
                take(0)
                break
            choice = rng.randrange(len(successors))
            self.tape.append(choice)
            take(choice + 1)
            block = successors[choice]
            if block == own.graph.exit:
                break
        take(0)


def programs(seed: int) -> list[Program]:
    rng = random.Random(seed)
    found = []
    for number in range(PROGRAMS):
        procedures = []
        for each in range(PROCEDURES):
            graph = dense_graph(rng.randrange(10**6), rng.choice([2, 4, 8]), rng.choice([3, 8, 16]))
            calls = {
                block: rng.choice([-1, -1, *range(PROCEDURES)])
                for block in range(graph.exit)
                if rng.random() < 0.5
            }
            local = rng.random() < 0.5
            procedures.append(Procedure(f"program{number}.f{each}", graph, calls, local))
        found.append(Program(f"program{number}", procedures))
    return found


def module(all_programs: Sequence[Program]) -> str:
    tape = [byte for program in all_programs for byte in program.tape]
    data = "".join(f"\\{byte:02X}" for byte in tape)
    calls = "".join(
        f"  call void @{program.procedures[number].name}()\n"
        for program in all_programs
        for number in program.walks
    )
    return "\n".join(
        [
            f'@tape = internal constant [{len(tape)} x i8] c"{data}"',
            HELPERS,
            *(program.text() for program in all_programs),
            f"define i32 @main() noprofile {{\n{calls}  ret i32 0\n}}\n",
        ]
    )


OPTIONS = ["--overlap 1", "--overlap 2", "--overlap max", "--overlap auto", "--pairs"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("optimise", ["-O0", "-O2 -Xclang -disable-llvm-passes"])
def test_crossings_hold_what_the_interpreter_says(tmp_path: Path, options: str, optimise: str) -> None:
    known = programs(seed=len(options) + len(optimise))
    flags = ["--profile", "paths", *options.split()]
    # What the functions look like when they are read back is known from a first build, in which nothing runs.
    (tmp_path / "empty.ll").write_text(module(known))
    must("run", "-o", "empty.trod", *flags, "empty.ll", *optimise.split(), "--", cwd=tmp_path)
    facts = {each.linkage_name: each for each in load(tmp_path / "empty.trod").units[0].functions}
    order = list(facts)
    rng = random.Random(len(options))
    for program in known:
        of_program = [facts[each.name] for each in program.procedures]
        program.execute(of_program, [order.index(each.name) for each in program.procedures], rng)
    (tmp_path / "calls.ll").write_text(module(known))
    must("run", "-o", "calls.trod", *flags, "calls.ll", *optimise.split(), "--", cwd=tmp_path)
    profile = load(tmp_path / "calls.trod")
    (counted,) = profile.unit_counts
    functions = profile.units[0].functions
    assert [each.linkage_name for each in functions] == order
    thread = Thread([(each.graph, each.plan) for each in functions])
    for program in known:
        replay(program.events, thread)
    entered: Counter[CallKey] = Counter()
    returned: Counter[CallKey] = Counter()
    for key, times in counted.crossings.items():
        found = returned if key.returned else entered
        found[CallKey(key.callee[1], key.site[1], key.in_callee, key.in_caller)] += times
    assert entered == thread.tally.entered
    assert returned == thread.tally.returned
    assert entered.total() > 500
    assert returned.total() > 500
    for each, paths in zip(functions, thread.tally.paths, strict=True):
        slots = each.plan.slots if each.plan.tuples is None else each.plan.first_tuple
        held = counted.counters[each.first_slot : each.first_slot + slots]
        assert dict(nonzero(held)) == {n: times for n, times in enumerate(paths.counters) if times}
