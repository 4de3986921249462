"""Path profiles made from walks, with sources to describe them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.profile.making import Place, function, unit_of
from tests.profile.sample import LOOP, write_sources
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.interpret import interpret_paths
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.profile.assemble import assemble
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BranchKind, FunctionFacts, SourceFile
from trodden.recover.unit_counts import UnitCounts
from trodden.weigh.features.block_features import BlockFeatures, FunctionFeatures
from trodden.weigh.features.block_features import Comparison as Compiled


def planner(**options: Any) -> Callable[[Graph], Plan]:
    return lambda graph: path_plan(graph, [1.0] * len(graph.edges), **options)


def facts_of(
    name: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]] | None = None,
    *,
    kinds: Mapping[str, BranchKind] | None = None,
    sizes: Mapping[str, int] | None = None,
    line: int = 1,
    inlined: Sequence[Place] = (),
    compares: Mapping[str, Compiled] | None = None,
    **options: Any,
) -> FunctionFacts:
    """A function with a path plan; a block holds three instructions unless ``sizes`` says otherwise.

    It looks as written, not optimised: its first block stores something.
    """
    facts = function(name, shape, lines, line=line, inlined=inlined, planner=planner(**options))
    labels = facts.graph.labels
    blocks = (
        replace(
            block,
            kind=(kinds or {}).get(labels[v], block.kind),
            size=(sizes or {}).get(labels[v], block.size),
        )
        for v, block in enumerate(facts.blocks)
    )
    features = FunctionFeatures(
        tuple(
            BlockFeatures(test=(compares or {}).get(label), stores=int(v == facts.graph.root))
            for v, label in enumerate(labels[:-1])
        )
    )
    return replace(facts, blocks=tuple(blocks), features=features)


def edges_along(graph: Graph, walk: str) -> tuple[int, ...]:
    """``a b exit``: the edges between these blocks."""
    numbers = {**{label: v for v, label in enumerate(graph.labels)}, "exit": graph.exit}
    return tuple(
        next(
            e
            for e in graph.out_edges[numbers[src]]
            if graph.edges[e].dst == numbers[dst] and graph.edges[e].kind is EdgeKind.FLOW
        )
        for src, dst in pairwise(walk.split())
    )


def profile_of_walks(
    functions: Sequence[FunctionFacts],
    walks: Mapping[str, Sequence[str]],
    files: Sequence[str | SourceFile] = ("/src/a.c",),
) -> Profile:
    """The profile of a program whose functions were executed along these walks, from entry to exit."""
    unit = unit_of(*functions, files=files)
    counts = [0] * unit.slots
    for facts in unit.functions:
        taken = [edges_along(facts.graph, walk) for walk in walks.get(facts.name, ())]
        state = interpret_paths(facts.graph, facts.plan, taken)
        counts[facts.first_slot : facts.first_slot + facts.plan.slots] = state.counters
    return assemble("/bin/prog", [unit], [UnitCounts(unit.id, counts)])


def path_of(
    of: FunctionProfile,
    walk: str,
    starts: PathStart = PathStart.ENTRY,
    ends: PathEnd = PathEnd.EXIT,
    context: int = 0,
) -> PathCount:
    """``a b exit``: a path through these blocks, the last word being where its last edge leads."""
    graph = of.facts.graph
    words = walk.split()
    blocks = words if ends is PathEnd.UNWOUND else words[:-1]
    vertices = tuple(graph.labels.index(word) for word in blocks)
    return PathCount(1, 1, vertices, edges_along(graph, walk), starts, ends, None, context)


ITERATIONS = 9 * ["body then latch cond"] + ["body else latch cond"]
MAIN_WALK = " ".join(["entry cond", *ITERATIONS, "after last exit"])


def path_sample(folder: Path, **options: Any) -> Profile:
    """The program of tests.profile.sample with ten iterations of its loop, one of them through the else."""
    write_sources(folder)
    main = facts_of(
        "main",
        f"{LOOP} after>early after>last early>exit last>exit",
        {
            "entry": [4, 5],
            "cond": [5],
            "body": [6],
            "then": [(1, 2, 1), 7],
            "else": [9],
            "latch": [5],
            "after": [10],
            "early": [11],
            "last": [12],
        },
        kinds={"last": BranchKind.RETURN, "early": BranchKind.RETURN},
        line=3,
        inlined=[7],
        **options,
    )
    never = facts_of("never", "x>y x>z y>w z>w w>exit", {"x": [16], "y": [16], "z": [16], "w": [16]}, line=15)
    files = [f"{folder}/a.c", f"{folder}/a.h"]
    return profile_of_walks([main, never], {"main": [MAIN_WALK]}, files)
