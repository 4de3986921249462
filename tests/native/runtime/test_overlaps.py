"""Overlapping paths and pairs of paths in programs: held against plain paths, and against each other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from tests.plan.overlapping.walked import Definitions
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath
from trodden.plan.routes import PathEnd, Route
from trodden.profile.model import Profile
from trodden.profile.store.trod import load
from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.overlaps import overlapping_counts, tuple_counts

STATUS = {
    "path_log_exit.c": 19,
    "path_log_longjmp.c": 58,
    "path_log_throw.cpp": 90,
    "exact_exits.c": 33,
    "exact_throws.cpp": 25,
    "exact_jumps.c": 37,
    "exact_threads.c": 30,
}
ARGUMENTS = {"exact_exits.c": ("33",)}
MODES = [("--overlap", "1"), ("--overlap", "2"), ("--overlap", "max"), ("--overlap", "auto"), ("--pairs",)]


def run(directory: Path, name: str, level: str, *more: str) -> Profile:
    output = directory / f"{'_'.join(more) or 'plain'}.trod"
    flags = ("--profile", "paths", *more)
    built = (PROGRAMS / name, level, "-pthread", "-w")
    done = trodden("run", "-o", output, *flags, *built, "--", *ARGUMENTS.get(name, ()), cwd=directory)
    assert (done.returncode, done.stderr) == (STATUS[name], "")
    profile = load(output)
    assert {key: each.violations for key, each in profile.functions.items() if each.violations} == {}
    return profile


def places(graph: Graph) -> list[int | None]:
    """Each block's number among those that begin somewhere; none for those that only go on behind a call.

    With overlaps a block ends at each call, so graphs differ in nothing else.
    """
    found: list[int | None] = []
    for block in range(graph.exit):
        arriving = [edge for edge in graph.in_edges[block] if graph.edges[edge].src != graph.exit]
        leaving = graph.out_edges[graph.edges[arriving[0]].src] if len(arriving) == 1 else ()
        begins = block == graph.root or len(leaving) != 1
        found.append(sum(place is not None for place in found) if begins else None)
    return [*found, -1]


def paths(profile: Profile) -> dict[str, Counter[tuple[object, ...]]]:
    """The paths of each function, whatever counted them; of those that several frames lost, the sum."""
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for name, function in profile.functions.items():
        counts, where = found.setdefault(name, Counter()), places(function.facts.graph)
        for path in function.paths or ():
            through = tuple(where[block] for block in path.blocks if where[block] is not None)
            known = None if path.ends is PathEnd.UNWOUND else path.id
            counts[known, through, path.starts, path.ends] += path.count
    return found


def blocks_and_edges(profile: Profile, name: str) -> tuple[list[float], list[float | None]]:
    """The counts of the blocks that begin somewhere, and of the edges that lead there."""
    function = profile.functions[name]
    graph, where = function.facts.graph, places(function.facts.graph)
    blocks = [function.block_counts[block] for block in range(graph.exit) if where[block] is not None]
    edges = [
        function.edge_counts[number]
        for number, edge in enumerate(graph.edges)
        if where[edge.dst] is not None and edge.kind is EdgeKind.FLOW
    ]
    return blocks, edges


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", ["path_log_exit.c", "path_log_longjmp.c", "path_log_throw.cpp"])
def test_paths_are_those_of_a_plain_profile(tmp_path: Path, name: str, level: str) -> None:
    plain = run(tmp_path, name, level)
    for mode in MODES:
        other = run(tmp_path, name, level, *mode)
        assert paths(other) == paths(plain), mode
        for key in plain.functions:
            assert blocks_and_edges(other, key) == blocks_and_edges(plain, key)


@pytest.mark.parametrize("degree", ["1", "max"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", sorted(STATUS))
def test_overlapping_paths_and_pairs_agree(tmp_path: Path, name: str, level: str, degree: str) -> None:
    profile = run(tmp_path, name, level, "--overlap", degree, "--pairs", "--counters", "checked")
    units = {unit.id: unit for unit in profile.units}
    extended = 0
    for counted in profile.unit_counts:
        unit = units[counted.unit]
        for number, counts in counted.functions(unit):
            facts = unit.functions[number]
            if facts.plan.extends:
                extended += agree(facts, counts)
    assert extended > 0


def test_numbers_without_a_counter_each(tmp_path: Path) -> None:
    """With more than a million paths all are counted in sparse tables."""
    tests = "\n".join(f"if (x & {1 << bit}) a += {bit}; else a ^= {7 * bit}; sink = a;" for bit in range(19))
    (tmp_path / "many.c").write_text(
        "volatile int sink;\nint main(void) {\nint a = 0;\nunsigned x = 1;\n"
        f"for (int i = 0; i < 300; i++) {{\nx = x * 1103515245u + 12345u;\n{tests}\n}}\nreturn 0;\n}}\n"
    )
    found = []
    for mode in ((), ("--overlap", "2", "--pairs")):
        flags = ("--profile", "paths", "--max-paths", "none", *mode)
        done = trodden("run", "-o", "many.trod", *flags, "many.c", "-O0", "--", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        profile = load(tmp_path / "many.trod")
        found.append(paths(profile))
        (facts,) = profile.units[0].functions
        assert facts.plan.paths is not None
        assert not facts.plan.paths.dense
        if mode:
            ((_, counts),) = profile.unit_counts[0].functions(profile.units[0])
            assert agree(facts, counts) > 100
    assert found[0] == found[1]


def agree(facts: FunctionFacts, counts: FunctionCounts) -> int:
    """How many overlaps there are, which are those that follow from the pairs."""
    plan, graph = facts.plan, facts.graph
    assert plan.paths is not None
    assert plan.overlaps is not None
    numbering = OverlapNumbering(graph, plan.paths, plan.overlaps)
    words, degrees = Definitions(graph, plan.paths), dict(plan.overlaps.degrees)
    expected: Counter[OverlappingPath] = Counter()
    for (first, second), count in tuple_counts(graph, plan, counts).items():
        before, after = route_of(numbering, first), route_of(numbering, second)
        header = after.blocks[0]
        if header in degrees and words.extends(before.edges[-1]):
            part = words.first_part(after, degrees[header], words.inside(header))
            expected[OverlappingPath(before, *part)] += count
    found = {
        path: count
        for path, count in overlapping_counts(graph, plan, counts, numbering).items()
        if path.stop is not None
    }
    assert found == {path: count for path, count in expected.items() if count}, facts.name
    return len(found)


def route_of(numbering: OverlapNumbering, path: int) -> Route:
    """A path by the id that it has in a profile."""
    whole = numbering.whole
    if path < whole.number:
        return whole.regenerate(path)
    block, total = divmod(path, whole.number)
    route = whole.prefix(block - 1, total)
    assert route.ends is PathEnd.UNWOUND
    return route
