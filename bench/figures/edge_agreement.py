"""Do trodden's counts agree with those of others, and with its own simplest placement?

Lines: every program built with ``-O0 -g`` and run, its line counts beside those of three other tools.
Edges: built with ``-O2``, the counts that follow from few counters beside those of a counter on every edge,
once in two runs and once in a single one that counts both ways.
Paths: built with ``-O2``, the edge counts that follow from the paths beside a counter on every edge, both
in one run.
Every difference is listed, and so is every function without a profile, with the reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from bench.build.compile import CLANG, build, clang, need, trodden
from bench.figures import line_agreement as lines
from bench.run.callgrind import must_agree, remarks, runner
from bench.suite.programs import Program, chosen
from bench.support.errors import BenchError
from bench.support.statistics import table
from trodden.errors import TroddenError
from trodden.plan.probes import SecondOpinion
from trodden.profile.from_runs import collect
from trodden.profile.model import FunctionProfile, Profile

_FEW = trodden("edges-few", "-O2")
_EVERY = trodden("edges-every", "-O2", "--trodden-counters=every-edge")
_CHECKED = trodden("edges-checked", "-O2", "--trodden-counters=checked")
_PLAIN = clang("clang", "-O2")
_PATHS = trodden("paths-checked", "-O2", "--trodden-profile=paths", "--trodden-counters=checked")


def edges_agree(program: Program) -> list[str]:
    """Compare edge counts of two placements; answer one row of the table and print the differences."""
    input_file = program.input_file()
    runs, profiles = {}, {}
    for way in (_FEW, _EVERY, _CHECKED):
        here = runner(program.name, way.name)
        runs[way.name] = here.run(program.command(build(program, way).executable, input_file))
        profiles[way.name] = collect([here.raw])
        remarks(program.name, profiles[way.name])
    must_agree(program.name, runs)
    few, every = (_by_name(profiles[way.name]) for way in (_FEW, _EVERY))
    if few.keys() != every.keys():
        raise BenchError(f"{program.name}: the two builds do not hold the same functions")
    edges = counters = differing = wrong = 0
    for name, function in few.items():
        edges += len(list(function.facts.graph.flow_edges()))
        counters += function.facts.plan.slots
        found = list(_edge_differences(function, every[name]))
        wrong += bool(found)
        differing += len(found)
        for place in found:
            print(f"{program.name}: {function.name}: {place}")
    violations = sum(len(each.violations) for each in profiles[_CHECKED.name].functions.values())
    figures = (len(few), edges, counters, wrong, differing, violations)
    return [program.name, *map(str, figures)]


_EDGES_HEAD = (
    *("edges", "functions", "edges", "counters"),
    *("functions that differ", "counts that differ", "in one run"),
)


def paths_agree(program: Program) -> list[str]:
    """Compare the edge counts that follow from paths with those of counters, in one run; answer a row."""
    input_file = program.input_file()
    runs = {}
    for way in (_PLAIN, _PATHS):
        here = runner(program.name, way.name)
        runs[way.name] = here.run(program.command(build(program, way).executable, input_file))
    must_agree(program.name, runs)
    profile = collect([runner(program.name, _PATHS.name).raw])
    remarks(program.name, profile)
    for skipped in profile.skipped:
        if not skipped.reason:
            raise BenchError(f"{program.name}: {skipped.name} has no profile, and no reason is given")
    edges = taken = walked = differing = 0
    for function in profile.functions.values():
        if function.paths is None:
            raise BenchError(f"{program.name}: {function.name} has a profile without paths")
        compared = [each.edge for each in function.facts.plan.measures if isinstance(each, SecondOpinion)]
        edges += len(compared)
        taken += sum(1 for edge in compared if function.edge_counts[edge])
        walked += len(function.paths)
        differing += len(function.violations)
    figures = (len(profile.functions), edges, taken, walked, differing, len(profile.skipped))
    return [program.name, *map(str, figures)]


_PATHS_HEAD = (
    *("paths", "functions", "edges compared", "of these taken"),
    *("paths walked", "differences", "functions without profile"),
)


def _edge_differences(one: FunctionProfile, other: FunctionProfile) -> Iterator[str]:
    graph = one.facts.graph
    if graph.edges != other.facts.graph.edges:
        yield "the graphs differ"
        return
    for index, (a, b) in enumerate(zip(one.edge_counts, other.edge_counts, strict=True)):
        if a != b:
            edge = graph.edges[index]
            way = f"{graph.labels[edge.src]} -> {graph.labels[edge.dst]}"
            yield f"{way}: {a} by few counters, {b} by one on it"
    for vertex, (a, b) in enumerate(zip(one.block_counts, other.block_counts, strict=True)):
        if a != b:
            yield f"{graph.labels[vertex]}: {a} by few counters, {b} by one on every edge"
    for vertex in sorted(one.cut_short.keys() | other.cut_short.keys()):
        a, b = one.cut_short.get(vertex, 0), other.cut_short.get(vertex, 0)
        if a != b:
            yield f"{graph.labels[vertex]}: cut short {a} times by few counters, {b} by one on every edge"


def _by_name(profile: Profile) -> Mapping[tuple[str, str], FunctionProfile]:
    sources = {unit.id: unit.source for unit in profile.units}
    return {(sources[each.unit], each.facts.linkage_name): each for each in profile.functions.values()}


def main(argv: Sequence[str] | None = None) -> int:
    """Compare everything, or what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", action="append", default=[], metavar="NAME")
    parser.add_argument("--only", choices=["lines", "edges", "paths"], help="compare only these")
    parser.add_argument("--stage", choices=lines.STAGES, default="late", help="when lines get their probes")
    arguments = parser.parse_args(argv)
    try:
        need([CLANG, "gcc", "g++", *lines.TOOLS_NEEDED])
        programs = chosen(arguments.program)
        if arguments.only in (None, "lines"):
            rows = [lines.lines_agree(program, arguments.stage) for program in programs]
            print(table(lines.HEAD, rows))
        if arguments.only in (None, "edges"):
            rows = [edges_agree(program) for program in programs]
            print(table(_EDGES_HEAD, rows))
        if arguments.only in (None, "paths"):
            rows = [paths_agree(program) for program in programs]
            print(table(_PATHS_HEAD, rows))
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
