"""What a traced program writes is what the reference interpreter writes for the same walks.

The functions are those of :mod:`tests.native.lower.test_plans`, without the calls in every other block: those
blocks read the tape of decisions themselves, so that self loops have trip counts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

import pytest

from tests.native.building import execute, must
from tests.native.lower.test_plans import GRAPHS, Function, functions, module
from tests.native.trace_records import trace_of
from trodden.collect.binary.program import read_program
from trodden.plan.trace.activation import Activation, Procedure
from trodden.plan.trace.records import Record, decode_all
from trodden.plan.trace.region_graph import flow_out
from trodden.program.facts import FunctionFacts, UnitFacts

STOP = 255


def with_inline_decisions(text: str) -> str:
    """The module; only blocks with an even number call the function that reads the tape."""
    lines = []
    for line in text.splitlines():
        label = line.partition(" = call i32 @next()")[0].removeprefix("  %d.b")
        if label != line and int(label) % 2:
            lines += [
                f"  %at.{label} = load ptr, ptr @cursor",
                f"  %byte.{label} = load i8, ptr %at.{label}",
                f"  %after.{label} = getelementptr i8, ptr %at.{label}, i64 1",
                f"  store ptr %after.{label}, ptr @cursor",
                f"  %d.b{label} = zext i8 %byte.{label} to i32",
            ]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


class Machine:
    """Executes the functions of a unit as their tapes say, and records it."""

    def __init__(self, unit: UnitFacts, known: dict[str, Function]) -> None:
        self.unit = unit
        self.known = known
        self.records: list[Record] = []
        self.numbers = {function.linkage_name: n for n, function in enumerate(unit.functions)}

    def call(self, name: str, tape: Sequence[int] = ()) -> None:
        """One activation."""
        number = self.numbers[name]
        facts = self.unit.functions[number]
        counters = [0] * facts.plan.slots
        activation = Activation(number, Procedure(facts.graph, facts.plan), self.records, counters)
        activation.enter()
        decisions = iter(tape)
        while activation.block != facts.graph.exit:
            if activation.block in activation.procedure.trace.calls:
                self.call("next")
            activation.take(self.way(activation, facts, decisions))
            if activation.block != facts.graph.exit:
                activation.arrive()

    def way(self, activation: Activation, facts: FunctionFacts, decisions: Iterator[int]) -> int:
        """The edge that control takes next."""
        graph, block = facts.graph, activation.block
        ways = flow_out(graph, block)
        function = self.known.get(facts.linkage_name)
        original = (
            None if function is None else deciding(function, activation.procedure.trace.calls).get(block)
        )
        if function is None or original is None:
            (only,) = ways
            return only
        decision = next(decisions)
        successors = function.successors(original)
        indirect = original % 3 == 2 and len(set(successors)) == len(successors) > 1
        if indirect:
            return ways[-1 if decision == STOP else decision]
        return ways[0 if decision == STOP else decision + 1]


def deciding(function: Function, calls: Container[int]) -> dict[int, int]:
    """The original block for each block that decides: behind a call, if there is one."""
    found: dict[int, int] = {}
    vertex = 1
    for original in range(function.graph.exit):
        vertex += vertex in calls
        found[vertex] = original
        vertex += 1
    return found


def recorded(raw: Path) -> list[Record]:
    chunks = trace_of(raw).chunks
    assert {chunk.thread for chunk in chunks} == {chunks[0].thread}
    data = b"".join(chunk.records() for chunk in chunks)
    return [record for _, record in decode_all(data)]


ENCODINGS = ["paths", "witnesses", "bits"]
LEVELS = ["-O0", "-O2 -Xclang -disable-llvm-passes"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("optimise", LEVELS)
@pytest.mark.parametrize("inline", [False, True], ids=["calls", "inline"])
def test_a_trace_is_what_the_interpreter_writes(
    tmp_path: Path, encoding: str, optimise: str, inline: bool
) -> None:
    made = functions(seed=20 + len(encoding))
    known = {function.name: function for function in made}
    text = module(made).replace(" noprofile", "")
    (tmp_path / "graphs.ll").write_text(with_inline_decisions(text) if inline else text)
    flags = ["--trodden-profile=trace", f"--trodden-trace={encoding}", "--trodden-leave=main"]
    must("cc", *flags, *optimise.split(), "graphs.ll", "-o", "graphs", cwd=tmp_path)
    done = execute(["./graphs"], tmp_path, {"TRODDEN_FILE": str(tmp_path / "raw")})
    assert (done.returncode, done.stderr) == (0, "")
    (unit,) = read_program(tmp_path / "graphs").units.values()
    machine = Machine(unit, known)
    for function in made:
        for tape in function.tapes:
            machine.call(function.name, tape)
    assert recorded(tmp_path / "raw") == machine.records
    assert len(made) == GRAPHS
