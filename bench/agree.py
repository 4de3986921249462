"""Do trodden's counts agree with those of others, and with its own simplest placement?

Lines: every program built with ``-O0 -g`` and run, its line counts beside those of clang's and gcc's gcov.
Edges: built with ``-O2``, the counts that follow from few counters beside those of a counter on every edge,
once in two runs and once in a single one that counts both ways.
Every difference is listed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from bench import gcov
from bench.builds import CLANG, build, clang, gcc, need, trodden
from bench.errors import BenchError
from bench.explain import Difference, Explainer, Reason
from bench.programs import Program, chosen
from bench.running import must_agree, runner
from bench.tables import table
from trodden.errors import TroddenError
from trodden.profile.collect import collect
from trodden.profile.lines import line_counts
from trodden.profile.model import FunctionProfile, Profile

_OURS = {
    "late": trodden("lines-trodden", "-O0", "-g"),
    "early": trodden("lines-early", "-O0", "-g", "--trodden-stage=early"),
}
_CLANGS = clang("lines-clang", "-O0", "--coverage")
_GCCS = gcc("lines-gcc", "-O0", "--coverage")
_FEW = trodden("edges-few", "-O2")
_EVERY = trodden("edges-every", "-O2", "--trodden-counters=every-edge")
_CHECKED = trodden("edges-checked", "-O2", "--trodden-counters=checked")


def compare_lines(ours: gcov.Lines, theirs: gcov.Lines, second: gcov.Lines) -> tuple[int, list[Difference]]:
    """How many lines both know, and those where they differ."""
    both = 0
    differences: list[Difference] = []
    for file, lines in sorted(ours.items()):
        others = theirs.get(file, {})
        for line, count in sorted(lines.items()):
            if line in others:
                both += 1
                if others[line] != count:
                    more = second.get(file, {}).get(line)
                    differences.append(Difference(file, line, count, others[line], more))
    return both, differences


def profile_lines(profile: Profile) -> gcov.Lines:
    """Our line counts, in the shape of the others."""
    found = line_counts(profile)
    return {file: {line: here.count for line, here in lines.items()} for file, lines in found.items()}


def lines_agree(program: Program, stage: str) -> list[str]:
    """Compare line counts; answer one row of the table and print the differences."""
    input_file = program.input_file()
    own = _OURS[stage]
    runs, builds, runners = {}, {}, {}
    for way in (_CLANGS, _GCCS, own):
        builds[way.name] = build(program, way)
        runners[way.name] = runner(program.name, way.name)
        runs[way.name] = runners[way.name].run(program.command(builds[way.name].executable, input_file))
    must_agree(program.name, runs)
    profile = collect([runners[own.name].raw])
    _remarks(program, profile)
    ours = profile_lines(profile)
    theirs = gcov.with_llvm(builds[_CLANGS.name], runners[_CLANGS.name])
    second = gcov.with_gcc(builds[_GCCS.name], runners[_GCCS.name])
    both, differences = compare_lines(ours, theirs, second)
    reasons = Explainer.of(profile).reasons(differences)
    text = _Sources()
    for each, reason in reasons.items():
        also = "-" if each.second is None else str(each.second)
        where = f"{program.name}: {Path(each.file).name}:{each.line}"
        print(f"{where}: ours {each.ours}, clang {each.theirs}, gcc {also}")
        print(f"    {text.line(each.file, each.line)}")
        print(f"    {reason.value if reason else 'NO REASON FOUND'}")
    found = list(reasons.values())
    gcc_both, gcc_differences = compare_lines(ours, second, theirs)
    return [
        program.name,
        str(both),
        str(both - len(differences)),
        _share(both - len(differences), both),
        *(str(found.count(reason)) for reason in (*Reason, None)),
        str(sum(line not in theirs.get(file, {}) for file, lines in ours.items() for line in lines)),
        str(sum(line not in ours.get(file, {}) for file, lines in theirs.items() for line in lines)),
        str(gcc_both),
        _share(gcc_both - len(gcc_differences), gcc_both),
    ]


_LINES_HEAD = (
    *("lines", "both know", "equal", "share", "mentions", "starts", "cut short", "as gcc", "its function"),
    *("no reason", "only ours", "only clang", "gcc too", "equal to gcc"),
)


class _Sources:
    """Source lines, read once a file."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, file: str, line: int) -> str:
        """The text of a line, without its indentation."""
        if file not in self._files:
            path = Path(file)
            self._files[file] = path.read_text(errors="replace").splitlines() if path.is_file() else []
        lines = self._files[file]
        return lines[line - 1].strip() if line <= len(lines) else "?"


def edges_agree(program: Program) -> list[str]:
    """Compare edge counts of two placements; answer one row of the table and print the differences."""
    input_file = program.input_file()
    runs, profiles = {}, {}
    for way in (_FEW, _EVERY, _CHECKED):
        here = runner(program.name, way.name)
        runs[way.name] = here.run(program.command(build(program, way).executable, input_file))
        profiles[way.name] = collect([here.raw])
        _remarks(program, profiles[way.name])
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


def _remarks(program: Program, profile: Profile) -> None:
    """Everything that a profile admits of itself belongs into the open here."""
    for note in profile.notes:
        print(f"{program.name}: note: {note}")
    for skipped in profile.skipped:
        print(f"{program.name}: not profiled: {skipped.name}: {skipped.reason}")
    for function in profile.functions.values():
        for violation in function.violations:
            print(f"{program.name}: {function.name}: {violation}")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Compare everything, or what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", action="append", default=[], metavar="NAME")
    parser.add_argument("--only", choices=["lines", "edges"], help="compare only these")
    parser.add_argument("--stage", choices=list(_OURS), default="late", help="when lines get their probes")
    arguments = parser.parse_args(argv)
    try:
        need([CLANG, "gcc", "g++", "gcov", gcov.LLVM_COV])
        programs = chosen(arguments.program)
        if arguments.only != "edges":
            rows = [lines_agree(program, arguments.stage) for program in programs]
            print(table(_LINES_HEAD, rows))
        if arguments.only != "lines":
            rows = [edges_agree(program) for program in programs]
            print(table(_EDGES_HEAD, rows))
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
