"""Path profiles made by hand: a function, and the paths that control took through it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from tests.profile.making import Place, function, unit_of
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import depth_first
from trodden.plan.paths.numbering import Numbering
from trodden.plan.probes import Paths, Plan
from trodden.plan.routes import PathCount, PathEnd, PathStart, Route
from trodden.profile.assemble import assemble
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BranchKind, FunctionFacts, UnitFacts
from trodden.recover.unit_counts import UnitCounts

Walks = Mapping[str, int]


def path_plan(graph: Graph, cuts: Sequence[int] = ()) -> Plan:
    """A plan that says where paths end; its probes do not matter here."""
    edges = graph.edges
    back = sorted(e for e in depth_first(graph).back_edges if edges[e].src != edges[e].dst)
    paths = Paths(0, tuple(back), tuple(cuts))
    return Plan("paths", (), paths=replace(paths, number=Numbering(graph, paths).number))


def facts_of(
    name: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]] | None = None,
    *,
    cuts: Sequence[str] = (),
    calls: Mapping[str, int] | None = None,
    sizes: Mapping[str, int] | None = None,
    line: int = 1,
) -> FunctionFacts:
    """``cuts`` are edges ``a>b``; every block has one instruction and no call by default."""
    facts = function(name, shape, lines, line=line, planner=lambda graph: Plan("paths", ()))
    graph = facts.graph
    blocks = tuple(
        replace(
            each,
            kind=BranchKind.IF if len(graph.out_edges[v]) > 1 else BranchKind.JUMP,
            calls=(calls or {}).get(graph.labels[v], 0),
            size=(sizes or {}).get(graph.labels[v], 1),
        )
        for v, each in enumerate(facts.blocks)
    )
    return replace(facts, blocks=blocks, plan=path_plan(graph, [edge_named(graph, cut) for cut in cuts]))


def edge_named(graph: Graph, name: str) -> int:
    src, dst = name.split(">")
    numbers = {label: v for v, label in enumerate(graph.labels)}
    ends = numbers[src], graph.exit if dst == "exit" else numbers[dst]
    return next(e for e, edge in enumerate(graph.edges) if edge[:2] == ends and edge.kind is EdgeKind.FLOW)


def walked(unit: UnitFacts, index: int, walks: Walks) -> FunctionProfile:
    """``{"a b d": 3}``: three calls through these blocks and out; ``a b!`` was cut short in ``b``."""
    facts = unit.functions[index]
    graph, paths = facts.graph, facts.plan.paths
    assert paths is not None
    tally: Counter[Route] = Counter()
    blocks, edges, short = [0] * len(graph.labels), [0] * len(graph.edges), Counter[int]()
    for walk, count in walks.items():
        words = walk.rstrip("!").split()
        visited = [graph.labels.index(word) for word in words]
        taken = [edge_named(graph, f"{a}>{b}") for a, b in pairwise(words)]
        if walk.endswith("!"):
            short[visited[-1]] += count
        else:
            taken.append(edge_named(graph, f"{words[-1]}>exit"))
        for v in [*visited, graph.exit]:
            blocks[v] += count
        for e in [*taken, graph.closing]:
            edges[e] += count
        for path in _cut(graph, paths, visited, taken):
            tally[path] += count
    number_of = Numbering(graph, paths).number_of
    counted = [
        PathCount(number_of(route), count, route.blocks, route.edges, route.starts, route.ends)
        for route, count in tally.items()
    ]
    return FunctionProfile(
        facts=facts,
        files=unit.files,
        unit=unit.id,
        block_counts=blocks,
        edge_counts=edges,
        cut_short=dict(short),
        paths=tuple(sorted(counted, key=lambda path: (-path.count, path.id))),
    )


def _cut(graph: Graph, paths: Paths, visited: Sequence[int], taken: Sequence[int]) -> list[Route]:
    found = []
    blocks, edges, starts = list[int](), list[int](), PathStart.ENTRY
    for position, block in enumerate(visited):
        if not (blocks and blocks[-1] == block):
            blocks.append(block)
        if position == len(taken):
            found.append(Route(tuple(blocks), tuple(edges), starts, PathEnd.UNWOUND))
            break
        edge = taken[position]
        if graph.edges[edge].dst == block:
            continue
        edges.append(edge)
        if edge in paths.back_edges or edge in paths.cuts or graph.edges[edge].dst == graph.exit:
            back = edge in paths.back_edges
            ends = PathEnd.BACK_EDGE if back else PathEnd.CUT if edge in paths.cuts else PathEnd.EXIT
            found.append(Route(tuple(blocks), tuple(edges), starts, ends))
            starts = PathStart.BACK_EDGE if back else PathStart.CUT
            blocks, edges = [], []
    return found


def path_profile(
    functions: Sequence[FunctionFacts],
    walks: Mapping[str, Walks],
    files: Sequence[str] = ("/src/a.c",),
    program: str = "/bin/prog",
) -> Profile:
    """A profile of functions by the paths of each; one that is not named was not executed."""
    unit = unit_of(*functions, files=files)
    found = {each.name: walked(unit, index, walks.get(each.name, {})) for index, each in enumerate(functions)}
    return Profile("paths", program, (unit,), found)


def stored(profile: Profile) -> Profile:
    """The same profile as it would be read from a file; all its paths must be complete."""
    unit = profile.units[0]
    counts = [0] * unit.slots
    for facts in unit.functions:
        for path in profile.functions[facts.name].paths or ():
            counts[facts.first_slot + path.id] = path.count
    return assemble(profile.program, [unit], [UnitCounts(unit.id, tuple(counts))])
