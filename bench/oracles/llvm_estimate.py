"""LLVM's own static estimates of a function: branch probabilities and block frequencies, by ``opt``.

LLVM analyses one function at a time, so this is what our local estimate is compared with.  It gets the IR
that was instrumented, and its blocks are ours in the same order.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bench.build.keep_ir import ir_of
from bench.support.errors import BenchError
from trodden.estimating.estimate import Local
from trodden.graph.cfg import EdgeKind, Graph
from trodden.native.analysis.returns_twice import split_at_returns_twice
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.program.facts import FunctionFacts, UnitFacts

OPT = "opt-22"
# Blocks get names first: to print one without a name, opt numbers the whole module each time.
_PASSES = "instnamer,print<branch-prob>,print<block-freq>"
_END = "\n}"
_OPTNONE = re.compile(r"(?<=[{ \w]) optnone (?=[\w\"}])")
_FUNCTION = re.compile(r"Printing analysis 'Branch Probability Analysis' for function '(.*)':$")
_EDGE = re.compile(r"  edge %(.+) -> %(.+) probability is (0x[0-9a-f]+) / (0x[0-9a-f]+) = ")
_BLOCK = re.compile(r" - (.*): float = ([0-9.e+-]+), int = ")


@dataclass
class LocalEstimate:
    """Of one function: how often a call executes each block, in order, and its branch probabilities."""

    frequencies: dict[str, float] = field(default_factory=dict)
    probabilities: dict[tuple[str, str], float] = field(default_factory=dict)

    def edges(self, graph: Graph) -> list[float]:
        """How often a call takes each edge of our graph of the function.

        A probability is that of a successor block, whatever the number of edges to it; our parallel edges
        share it evenly.  A block that leaves the function does so as often as it is executed.
        """
        names = list(self.frequencies)
        if len(names) != graph.exit:
            raise BenchError(f"{graph.name}: has {graph.exit} blocks here and {len(names)} for LLVM")
        found = [0.0] * len(graph.edges)
        for block, name in enumerate(names):
            edges = [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]
            for edge in edges:
                target = graph.edges[edge].dst
                parallel = sum(graph.edges[other].dst == target for other in edges)
                probability = 1.0 if target == graph.exit else self.probabilities[name, names[target]]
                found[edge] = self.frequencies[name] * probability / parallel
        found[graph.closing] = 1.0
        return found


def read_estimates(lines: Iterable[str]) -> dict[str, LocalEstimate]:
    """The output of opt, by the symbols of the functions."""
    found: dict[str, LocalEstimate] = {}
    current = LocalEstimate()
    for line in lines:
        if function := _FUNCTION.match(line):
            current = found.setdefault(function.group(1), LocalEstimate())
        elif edge := _EDGE.match(line):
            source, target, part, whole = edge.groups()
            current.probabilities[source, target] = int(part, 16) / int(whole, 16)
        elif block := _BLOCK.match(line):
            current.frequencies[block.group(1)] = float(block.group(2))
    return found


@cache
def estimates(ir: Path) -> Mapping[str, LocalEstimate]:
    """LLVM's estimates of all functions in a file of IR."""
    text = as_counted(ir.read_text(encoding="utf-8", errors="surrogateescape"))
    done = subprocess.run(
        [OPT, f"-passes={_PASSES}", "-disable-output", "-"],
        input=text.encode("utf-8", errors="surrogateescape"),
        capture_output=True,
        check=False,
    )
    # Analyses are printed to stderr.
    printed = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise BenchError(f"{OPT} cannot read {ir}: {printed[-500:]}")
    return read_estimates(printed.splitlines())


def as_counted(text: str) -> str:
    """A module whose basic blocks are those that are counted: calls that return twice end their block.

    Blocks of functions with ``optnone`` would get no names, so that attribute is removed.
    """
    text = _OPTNONE.sub(" ", text)
    if "returns_twice" not in text:
        return text
    module = cut_module(text)
    attributes = read_attributes(module)
    module.definitions = [_cut(definition, attributes) for definition in module.definitions]
    return module.render()


def _cut(definition: str, attributes: Attributes) -> str:
    whole = cut_function(definition)
    cut = split_at_returns_twice(whole, attributes)
    if cut is whole:
        return definition
    blocks = "\n\n".join(block.text for block in cut.blocks)
    return f"{cut.header}\n{blocks}{definition[definition.rindex(_END) :]}"


def llvm_local(directory: Path) -> Local:
    """LLVM's local estimates in place of ours, for units whose IR is kept in a directory."""

    def local(unit: UnitFacts, facts: FunctionFacts) -> list[float]:
        known = estimates(ir_of(directory, unit))
        if facts.linkage_name not in known:
            raise BenchError(f"{unit.source}: LLVM has no estimate of {facts.linkage_name}")
        return known[facts.linkage_name].edges(facts.graph)

    return local
