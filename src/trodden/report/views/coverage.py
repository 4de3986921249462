"""How much was executed, of the source and of its graphs, and which paths are nearest to that, as data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trodden.merging.join import LeftOut, join
from trodden.plan.paths.numbering import Numbering
from trodden.profile.analysis.coverage import Coverage, Covered, FunctionCoverage, NearMiss, coverage
from trodden.profile.copies import free_name
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.select import select
from trodden.report.fields import tabbed
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.successors import BranchDescriber, as_path
from trodden.report.views.decision_coverage import DecisionCoverage, decision_coverage
from trodden.source.coverage import FileCoverage, SourceCoverage, cover_files
from trodden.source.optimised import optimised_note
from trodden.source.shown import shown_files
from trodden.source.texts import unread_sources

_HEADINGS = (
    (
        "#function",
        *("name", "place", "paths", "possible", "share", "cut short", "blocks", "of", "edges", "of"),
    ),
    ("#file", "path", "lines", "of", "branches", "of", "functions", "of", "conditions", "of"),
    ("#near", "function", "rank", "times", "edge", "branch", "went", "never", "path"),
    ("#total", "paths", "possible", "share", "blocks", "of", "edges", "of"),
    ("#left", "function", "profile", "reason"),
    ("#without", "function"),
    ("#decision", "function", "place", "conditions", "of", "text"),
    ("#covered", "metric", "covered", "of", "share"),
    ("#problem", "text"),
)
METRICS = ("lines", "branches", "functions", "conditions", "mcdc", "blocks", "edges", "paths")
"""What can be covered; the names are those of ``--fail-under``."""
_OF_SOURCE = METRICS[:4]


@dataclass(frozen=True)
class CoverageReport:
    """The coverage of one or several profiles; ``files`` are theirs.

    ``markers`` are messages about sources whose comments could not be obeyed.
    """

    program: str
    files: tuple[str, ...]
    found: Coverage
    unjoined: tuple[LeftOut, ...]
    branches: BranchDescriber
    sources: SourceCoverage
    decisions: tuple[DecisionCoverage, ...]
    markers: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is to be said of sources that could not be read, of each file once.

        Where comments in sources are obeyed every source was read for them; otherwise it is about those that
        were missing in what was described so far.
        """
        return self.markers or tuple(unread_sources(self.branches.describer.index.sources))

    @property
    def optimised(self) -> str | None:
        """What a reader of covered lines has to know of an optimised program."""
        return optimised_note(each.function for each in self.found.functions) if self.sources.files else None

    @property
    def mcdc(self) -> Covered:
        """The conditions of compound decisions that were shown to decide alone."""
        return sum((each.conditions for each in self.decisions), Covered(0, 0))

    @property
    def metrics(self) -> dict[str, Covered]:
        """What is known of the whole program, by the names in ``METRICS``.

        A profile without line information has no lines, one of blocks no edges and no branches.
        """
        found = {name: getattr(self.sources, name) for name in _OF_SOURCE}
        found |= {
            "mcdc": self.mcdc,
            "blocks": self.found.blocks,
            "edges": self.found.edges,
            "paths": self.found.paths,
        }
        return {name: each for name, each in found.items() if each is not None and each.total}


def report_coverage(
    profiles: Sequence[Profile], files: Sequence[str], pattern: str | None = None, top: int | None = None
) -> CoverageReport:
    """The joined coverage of the functions that ``pattern`` selects, most untaken edges first.

    Lines and branches are joined by their source locations, in whatever builds; blocks, edges and paths of
    functions with different graphs cannot be.
    """
    joined, unjoined = join([profile.functions for profile in profiles])
    units = tuple({unit.id: unit for profile in profiles for unit in profile.units}.values())
    skipped = tuple(dict.fromkeys(each for profile in profiles for each in profile.skipped))
    together = replace(profiles[0], functions=joined, units=units, skipped=skipped)
    branches = BranchDescriber(Describer(together))

    def look(function: FunctionProfile, near: NearMiss) -> Hashable:
        path = branches.describer.describe(function, as_path(near.route))
        return sentence(branches, function, near), path.steps_text()

    found = coverage(select(together, pattern), top, look, branches.copies.taken_in_another)
    everything: dict[str, FunctionProfile] = {}
    for profile in profiles:
        for key, each in profile.functions.items():
            everything[free_name(key, everything)] = each
    shown = shown_files(replace(together, functions=everything), pattern)
    decisions = decision_coverage(
        {each.name: each.function for each in found.functions}, branches.describer, shown.files
    )
    ranked = sorted(found.functions, key=lambda each: (each.edges.covered - each.edges.total, each.name))
    return CoverageReport(
        program=profiles[0].program,
        files=tuple(files),
        found=replace(found, functions=tuple(ranked)),
        unjoined=tuple(unjoined),
        branches=branches,
        sources=cover_files(shown.files),
        markers=shown.problems,
        decisions=tuple(decisions),
    )


def sentence(
    branches: BranchDescriber, function: FunctionProfile, near: NearMiss, short: bool = False
) -> str:
    """What an input has to do: ``at prog.c:12 `if (x < 0)` branched only to line 15, never to line 13``."""
    branch = branches.branch(function, near.block, short)
    never = branches.successor(function, near.edge)
    taken = branches.successors(function, [edge for edge, _ in near.instead])
    if not taken:
        return f"at {branch} execution never continued; a successor leads {never}"
    if near.in_copies:
        return f"at {branch} branched only {taken} in this copy, and {never} only in other copies"
    if near.unseen:
        return f"at {branch} branched only {taken}, never {never}"
    return f"at {branch} branched only {taken} on this path, and {never} only on other paths"


def to_document(report: CoverageReport) -> dict[str, Any]:
    """The report as dictionaries and lists."""
    found = report.found
    return {
        "program": report.program,
        "files": list(report.files),
        "lines": _covered(report.sources.lines),
        "branches": _covered(report.sources.branches),
        "conditions": _covered(report.sources.conditions),
        "mcdc": _covered(report.mcdc),
        "source_functions": _covered(report.sources.functions),
        "paths": None if found.paths is None else _covered(found.paths),
        "blocks": _covered(found.blocks),
        "edges": _covered(found.edges),
        "source_files": [_file(each) for each in report.sources.files],
        "functions": [_function(report, each) for each in found.functions],
        "decisions": [
            {
                "function": each.function,
                "file": each.file,
                "line": each.line,
                "text": each.text,
                "conditions": _covered(each.conditions),
            }
            for each in report.decisions
        ],
        "without_paths": list(found.without),
        "left_out": [
            {"function": each.name, "file": report.files[each.profile], "reason": each.reason}
            for each in report.unjoined
        ],
        "problems": list(report.problems),
    }


def _file(each: FileCoverage) -> dict[str, Any]:
    return {
        "path": each.path,
        **{name: _covered(getattr(each, name)) for name in _OF_SOURCE},
        "missed_lines": [line for line, here in each.file.lines.items() if here.missed],
        "missed_branches": [
            {
                "line": branch.line,
                "number": number,
                "outcomes": [outcome.count for outcome in branch.outcomes],
                "to_lines": [outcome.line for outcome in branch.outcomes],
            }
            for number, branch in each.missed_branches
        ],
    }


def _covered(found: Covered) -> dict[str, Any]:
    return {"covered": found.covered, "total": found.total, "share": found.share}


def _function(report: CoverageReport, each: FunctionCoverage) -> dict[str, Any]:
    plan = each.function.facts.plan.paths
    numbering = None
    if each.near and plan is not None and not plan.context:
        numbering = Numbering(each.function.facts.graph, plan)
    return {
        "name": each.name,
        "file": each.function.file,
        "line": each.function.line,
        "paths": None if each.paths is None else _covered(each.paths),
        "cut_short": each.cut_short,
        "blocks": _covered(each.blocks),
        "edges": _covered(each.edges),
        "near_misses": [_near(report.branches, each.function, near, numbering) for near in each.near],
    }


def _near(
    branches: BranchDescriber, function: FunctionProfile, near: NearMiss, numbering: Numbering | None
) -> dict[str, Any]:
    return {
        "id": None if numbering is None else numbering.number_of(near.route),
        "times": near.times,
        "edge_never_taken": near.unseen,
        "outcome_in_other_copies": near.in_copies,
        "branch": branches.branch_document(function, near.block),
        "went": [
            {**branches.successor_document(function, edge), "count": count} for edge, count in near.instead
        ],
        "never": branches.successor_document(function, near.edge),
        "sentence": sentence(branches, function, near),
        **branches.path_document(function, as_path(near.route)),
    }


def to_plain(report: CoverageReport) -> str:
    """One row a line; the first field of each says what the row is about."""
    rows: list[tuple[object, ...]] = list(_HEADINGS)
    for each in report.found.functions:
        location = f"{each.function.file}:{each.function.line}"
        rows.append(("function", each.name, location, *_parts(each.paths), each.cut_short, *_rest(each)))
    for file in report.sources.files:
        figures: list[Covered] = [getattr(file, name) for name in _OF_SOURCE]
        rows.append(("file", file.path, *(part for each in figures for part in (each.covered, each.total))))
    for each in report.found.functions:
        rows += [
            (
                *("near", each.name, rank, near.times, _where_taken(near)),
                report.branches.branch(each.function, near.block),
                report.branches.successors(each.function, [edge for edge, _ in near.instead]),
                report.branches.successor(each.function, near.edge),
                report.branches.describer.describe(each.function, as_path(near.route)).steps_text(),
            )
            for rank, near in enumerate(each.near, 1)
        ]
    rows.append(("total", *_parts(report.found.paths), *_rest(report.found)))
    rows += [
        ("decision", each.function, f"{each.file}:{each.line}", *_parts(each.conditions)[:2], each.text)
        for each in report.decisions
    ]
    rows += [("covered", name, *_parts(each)) for name, each in report.metrics.items()]
    rows += [("left", each.name, report.files[each.profile], each.reason) for each in report.unjoined]
    rows += [("without", name) for name in report.found.without]
    rows += [("problem", text) for text in report.problems]
    return tabbed(rows)


def _where_taken(near: NearMiss) -> str:
    if near.in_copies:
        return "copies"
    return "never" if near.unseen else "elsewhere"


def _parts(found: Covered | None) -> tuple[object, ...]:
    return ("", "", "") if found is None else (found.covered, found.total, f"{found.share:.6f}")


def _rest(each: FunctionCoverage | Coverage) -> tuple[object, ...]:
    return each.blocks.covered, each.blocks.total, each.edges.covered, each.edges.total
