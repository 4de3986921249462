"""The paths of a profile as rows of the report, and the edges where paths were cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trodden.profile.model import Count, FunctionProfile
from trodden.report.narrate.paths import Describer, PathDescription
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.steps import Step
from trodden.report.views.hot_paths import Executed, executed_along, hot_among


@dataclass(frozen=True, slots=True)
class PathRow:
    """A path: its count, its shares of all executed blocks and instructions, and its description."""

    rank: int
    function: str
    file: str
    id: int
    count: int
    share_of_blocks: float
    share_of_instructions: float
    cycles: int | None
    description: PathDescription

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists; what is not known or does not apply is left out."""
        document: dict[str, Any] = {
            "rank": self.rank,
            "function": self.function,
            "id": self.id,
            "count": self.count,
            "share_of_blocks": self.share_of_blocks,
            "share_of_instructions": self.share_of_instructions,
            "starts": self.description.starts,
            "ends": self.description.ends,
            "steps": [step_document(step) for step in self.description.steps],
        }
        if self.cycles is not None:
            document["cycles"] = self.cycles
        if self.description.context:
            document["context"] = [step_document(step) for step in self.description.context]
        return document


@dataclass(frozen=True, slots=True)
class CutRow:
    """An edge on which paths were cut to keep their number small, and how often it was taken."""

    function: str
    src_place: str
    dst_place: str
    count: int

    @property
    def rank(self) -> tuple[int, str]:
        """Most taken first."""
        return -self.count, self.function


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop of one block, whose iterations are no paths of their own (BL96 §4.1), and their number."""

    function: str
    place: str
    count: int
    share_of_instructions: float

    @property
    def rank(self) -> tuple[float, str]:
        """Most executed first."""
        return -self.share_of_instructions, self.function


def step_document(step: Step) -> dict[str, Any]:
    """A step as a dictionary."""
    document: dict[str, Any] = {
        "file": step.file,
        "line": step.line,
        "text": step.text,
        "outcome": step.outcome_text,
    }
    if step.inlined is not None:
        document["inlined"] = step.inlined
    if step.line is None:
        document["block"] = step.location.removeprefix("block ")
    return document


def path_rows(
    chosen: Mapping[str, FunctionProfile], top: int | None, describer: Describer, everything: Executed
) -> Iterator[PathRow]:
    """The hottest paths of some functions; shares are of ``everything`` that the program executed."""
    for rank, (key, function, path) in enumerate(hot_among(chosen)[:top], 1):
        executed = executed_along(function, path)
        yield PathRow(
            rank,
            key,
            function.file,
            path.id,
            path.count,
            _share(executed.blocks, everything.blocks),
            _share(executed.instructions, everything.instructions),
            path.cycles,
            describer.describe(function, path),
        )


def cut_rows(chosen: Mapping[str, FunctionProfile], untaken: bool, describer: Describer) -> Iterator[CutRow]:
    """The cuts that were taken, and with ``untaken`` also those that were not."""
    for key, function in chosen.items():
        plan = function.facts.plan.paths
        if plan is None or function.paths is None:
            continue
        found: Counter[tuple[str, str]] = Counter()
        for edge in plan.cuts:
            count = function.counted_edges[edge] or 0
            if count or untaken:
                locations = describer.locations(function)
                source, target, _ = function.facts.graph.edges[edge]
                found[_full_location(locations, source, end=True), _full_location(locations, target)] += count
        for (before, after), count in found.items():
            yield CutRow(key, before, after, count)


def loop_rows(
    chosen: Mapping[str, FunctionProfile], describer: Describer, everything: Executed
) -> Iterator[LoopRow]:
    """The loops of one block that iterated, in the functions whose paths were counted."""
    for key, function in chosen.items():
        if function.paths is None:
            continue
        for edge, (source, target, _) in enumerate(function.facts.graph.edges):
            count = function.counted_edges[edge]
            if source == target and count:
                share = _share(count * function.instructions.edges[edge], everything.instructions)
                yield LoopRow(key, _full_location(describer.locations(function), source), count, share)


def _full_location(locations: FunctionLocations, vertex: int, end: bool = False) -> str:
    """``file:line``, or the label of a block that has no line."""
    ref = locations.end(vertex) if end else locations.begin(vertex)
    return locations.name_of_block(vertex, None) if ref is None else f"{locations.path_of(ref)}:{ref.line}"


def _share(part: Count, whole: Count) -> float:
    return part / whole if whole else 0.0
