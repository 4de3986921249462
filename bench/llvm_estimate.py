"""What LLVM itself expects of a function: its branch probabilities and block frequencies, out of ``opt``.

LLVM looks at one function at a time, so this is what our own local estimate has to be compared with.  It is
asked about the very IR that the probes went into, and its blocks are ours in the same order.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bench.errors import BenchError
from bench.keeping import ir_of
from trodden.estimate.estimate import Local
from trodden.graph.cfg import EdgeKind, Graph
from trodden.native.analysis.returns_twice import split_at_returns_twice
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.program.facts import FunctionFacts, UnitFacts

OPT = "opt-22"
# Blocks get names first: to tell one without a name, opt numbers the whole module each time.
_PASSES = "instnamer,print<branch-prob>,print<block-freq>"
_END = "\n}"
_LEFT_ALONE = re.compile(r"(?<=[{ \w]) optnone (?=[\w\"}])")
_FUNCTION = re.compile(r"Printing analysis 'Branch Probability Analysis' for function '(.*)':$")
_EDGE = re.compile(r"  edge %(.+) -> %(.+) probability is (0x[0-9a-f]+) / (0x[0-9a-f]+) = ")
_BLOCK = re.compile(r" - (.*): float = ([0-9.e+-]+), int = ")


@dataclass
class Expectation:
    """Of one function: how often a call runs each block, in their order, and where it goes from there."""

    frequencies: dict[str, float] = field(default_factory=dict)
    odds: dict[tuple[str, str], float] = field(default_factory=dict)

    def edges(self, graph: Graph) -> list[float]:
        """How often a call takes each edge of our graph of the function.

        The odds are those of going from one block to another, in whatever number of ways; our parallel
        edges share them evenly.  A block that ends the function leaves it as often as it runs.
        """
        names = list(self.frequencies)
        if len(names) != graph.exit:
            raise BenchError(f"{graph.name}: has {graph.exit} blocks here and {len(names)} for LLVM")
        found = [0.0] * len(graph.edges)
        for block, name in enumerate(names):
            ways = [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]
            for edge in ways:
                target = graph.edges[edge].dst
                parallel = sum(graph.edges[other].dst == target for other in ways)
                odds = 1.0 if target == graph.exit else self.odds[name, names[target]]
                found[edge] = self.frequencies[name] * odds / parallel
        found[graph.closing] = 1.0
        return found


def read_expectations(lines: Iterable[str]) -> dict[str, Expectation]:
    """What opt prints, by the symbols of the functions."""
    found: dict[str, Expectation] = {}
    current = Expectation()
    for line in lines:
        if function := _FUNCTION.match(line):
            current = found.setdefault(function.group(1), Expectation())
        elif edge := _EDGE.match(line):
            source, target, part, whole = edge.groups()
            current.odds[source, target] = int(part, 16) / int(whole, 16)
        elif block := _BLOCK.match(line):
            current.frequencies[block.group(1)] = float(block.group(2))
    return found


@cache
def expectations(ir: Path) -> Mapping[str, Expectation]:
    """What LLVM expects of all functions in a file of IR."""
    text = as_counted(ir.read_text(encoding="utf-8", errors="surrogateescape"))
    done = subprocess.run(
        [OPT, f"-passes={_PASSES}", "-disable-output", "-"],
        input=text.encode("utf-8", errors="surrogateescape"),
        capture_output=True,
        check=False,
    )
    # What is printed of an analysis goes to where messages go.
    said = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise BenchError(f"{OPT} cannot read {ir}: {said[-500:]}")
    return read_expectations(said.splitlines())


def as_counted(text: str) -> str:
    """A module whose blocks are those that are counted: calls that return twice end theirs.

    Functions that are not to be optimised are not to be given names either, so that word is left out.
    """
    text = _LEFT_ALONE.sub(" ", text)
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
    """LLVM's expectations in place of ours, for units whose IR is kept in a directory."""

    def local(unit: UnitFacts, facts: FunctionFacts) -> list[float]:
        known = expectations(ir_of(directory, unit))
        if facts.linkage_name not in known:
            raise BenchError(f"{unit.source}: LLVM says nothing of {facts.linkage_name}")
        return known[facts.linkage_name].edges(facts.graph)

    return local
