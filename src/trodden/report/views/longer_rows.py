"""Longer paths as rows of a report: what was executed before a back edge, call or return, and what then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trodden.profile.count_text import amount
from trodden.profile.longer.model import (
    Crossing,
    CrossingFlow,
    LongerKind,
    LongerPath,
    LongerPaths,
    NotTold,
    PathPart,
    Source,
    sources,
)
from trodden.profile.model import Count, FunctionProfile, Profile
from trodden.recover.bounds.system import Range
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.steps import Step, called
from trodden.report.views.hot_paths import executed_in_all
from trodden.report.views.path_rows import step_document

SOURCE_WORDS = {
    Source.TRACE: "the trace",
    Source.PAIRS: "pairs of paths",
    Source.OVERLAPS: "overlapping paths",
    Source.PATHS: "paths alone",
}


@dataclass(frozen=True, slots=True)
class LongerRow:
    """A longer path: its bounds, its shares of all executed instructions by these, and both parts in words.

    ``first_of`` and ``second_of`` are the functions that the parts belong to.
    """

    rank: int
    path: LongerPath
    place: str
    file: str
    least_share: float
    most_share: float
    first: tuple[Step, ...]
    second: tuple[Step, ...]
    blocks: tuple[tuple[str, ...], tuple[str, ...]]

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists."""
        crossing = self.path.crossing
        document: dict[str, Any] = {
            "rank": self.rank,
            **crossing_document(crossing),
            "place": self.place,
            "lower": self.path.lower,
            "upper": self.path.upper,
            "source": self.path.source.value,
            "share_at_least": self.least_share,
            "share_at_most": self.most_share,
        }
        for name, blocks, steps in zip(
            ("first", "second"), self.blocks, (self.first, self.second), strict=True
        ):
            document[name] = {"blocks": list(blocks), "steps": [step_document(step) for step in steps]}
        return document


@dataclass(frozen=True, slots=True)
class FlowRow:
    """All longer paths of one kind: how often they were executed, and how many are known exactly."""

    kind: LongerKind
    crossings: int
    least: int
    most: int
    definite: int
    potential: int
    paths: int
    exact: int
    listed: int
    sources: tuple[Source, ...]

    def to_document(self) -> dict[str, Any]:
        """The row as a dictionary."""
        return {
            "kind": self.kind.value,
            "crossings": self.crossings,
            "executed_at_least": self.least,
            "executed_at_most": self.most,
            "definite_flow": self.definite,
            "potential_flow": self.potential,
            "paths": self.paths,
            "exact": self.exact,
            "listed": self.listed,
            "sources": [source.value for source in self.sources],
        }


@dataclass(frozen=True)
class LongerReport:
    """The rows; ``listed`` is how many longer paths are listed without a limit to the rows."""

    program: str
    rows: tuple[LongerRow, ...]
    flows: tuple[FlowRow, ...]
    not_told: tuple[NotTold, ...]
    listed: int
    notes: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """The report as dictionaries and lists."""
        return {
            "program": self.program,
            "flows": [flow.to_document() for flow in self.flows],
            "longer": [row.to_document() for row in self.rows],
            "not_told": [_not_told_document(each) for each in self.not_told],
            "notes": list(self.notes),
        }


def bounds_text(bounds: Range) -> str:
    """``12``, or ``0 – 12`` if the number is not known."""
    lower, upper = bounds
    return amount(lower) if lower == upper else f"{amount(lower)} – {amount(upper)}"


def crossing_document(crossing: Crossing) -> dict[str, Any]:
    """Where a longer path is, as a dictionary."""
    document: dict[str, Any] = {"function": crossing.function, "kind": crossing.kind.value}
    if crossing.callee is not None:
        document["callee"] = crossing.callee
    return document


def _not_told_document(each: NotTold) -> dict[str, Any]:
    kind = {} if each.kind is None else {"kind": each.kind.value}
    return {"function": each.function, **kind, "reason": each.reason}


def report_longer(
    profile: Profile, longer: LongerPaths, top: int | None, notes: Iterable[str] = ()
) -> LongerReport:
    """The hottest longer paths in words; ``profile`` is the one that they are of."""
    describer = Describer(profile)
    everything = executed_in_all(profile.functions.values()).instructions
    return LongerReport(
        program=profile.program,
        rows=tuple(
            _row(rank, path, longer, describer, everything) for rank, path in enumerate(longer.paths[:top], 1)
        ),
        flows=tuple(flow_rows(longer.crossings)),
        not_told=longer.not_told,
        listed=len(longer.paths),
        notes=(*profile.messages, *notes),
    )


def flow_rows(crossings: Iterable[CrossingFlow]) -> Iterable[FlowRow]:
    """One row for each kind of longer paths that there are."""
    found = list(crossings)
    for kind in LongerKind:
        own = [each for each in found if each.crossing.kind is kind]
        if own:
            yield FlowRow(
                kind,
                len(own),
                sum(each.least for each in own),
                sum(each.most for each in own),
                sum(each.definite for each in own),
                sum(each.potential for each in own),
                sum(each.paths for each in own),
                sum(each.exact for each in own),
                sum(each.listed for each in own),
                sources(own),
            )


def _row(
    rank: int, path: LongerPath, longer: LongerPaths, describer: Describer, everything: Count
) -> LongerRow:
    parts = path.first, path.second
    size = longer.instructions_along(path.crossing, *parts)
    return LongerRow(
        rank,
        path,
        place_of(path.crossing, longer.functions, describer),
        longer.functions[path.crossing.function].file,
        path.lower * size / everything if everything else 0.0,
        path.upper * size / everything if everything else 0.0,
        *steps_of(path.crossing, parts, longer, describer),
        longer.block_ids(path.crossing, *parts),
    )


def steps_of(
    crossing: Crossing, parts: tuple[PathPart, PathPart], longer: LongerPaths, describer: Describer
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Both parts of a longer path in words."""
    own, other = (longer.functions[key] for key in crossing.owners)
    first, second = parts
    return (
        describer.steps(own, first.blocks, first.edges),
        describer.steps(other, second.blocks, second.edges),
    )


def place_of(crossing: Crossing, functions: Mapping[str, FunctionProfile], describer: Describer) -> str:
    """``around the loop at line 12``, ``calls f() at line 14`` or ``f() returns to line 14``."""
    locations = describer.locations(functions[crossing.function])
    if crossing.kind is LongerKind.LOOP:
        return f"around the loop at {locations.name_of_loop(crossing.site)}"
    assert crossing.callee is not None
    block = functions[crossing.function].facts.blocks[crossing.site]
    calls = [block.lines[line] for line in block.call_lines or () if line >= 0]
    known = next((ref for ref in reversed(calls) if ref.line > 0), locations.end(crossing.site))
    at = locations.name_of_block(crossing.site, known)
    name = called(functions[crossing.callee].name)
    return f"calls {name} at {at}" if crossing.kind is LongerKind.CALL else f"{name} returns to {at}"
