"""The report for other programs: one fact a line, tabs between its parts, nothing shortened."""

from __future__ import annotations

from collections.abc import Iterator

from trodden.report.path_rows import PathRow
from trodden.report.rows import tabbed
from trodden.report.summary import Summary

_HEADINGS = (
    ("#function", "name", "place", "entries", "executed", "share"),
    ("#path", "rank", "function", "id", "count", "blocks", "instructions", "cycles", "starts", "ends"),
    ("#context", "rank", "number", "file", "line", "text", "outcome"),
    ("#step", "rank", "number", "file", "line", "text", "outcome"),
    ("#loop", "function", "place", "rounds", "instructions"),
    ("#cut", "function", "src place", "dst place", "count"),
    ("#call", "count", "recursive", "path"),
    ("#block", "function", "block", "place", "count"),
    ("#edge", "function", "src", "dst", "src place", "dst place", "count"),
    ("#skipped", "name", "reason"),
    ("#violation", "function", "what"),
    ("#note", "what"),
)


def to_plain(summary: Summary) -> str:
    """The first part of each line says what the line is about."""
    rows: list[tuple[object, ...]] = list(_HEADINGS)
    rows += [
        ("function", each.name, each.place, each.entries, each.executed, f"{each.share:.6f}")
        for each in summary.functions
    ]
    rows += [row for each in summary.paths for row in _path(each)]
    rows += [
        ("loop", each.function, each.place, each.count, f"{each.share_of_instructions:.6f}")
        for each in summary.loops
    ]
    rows += [("cut", each.function, each.src_place, each.dst_place, each.count) for each in summary.cuts]
    rows += [
        ("call", each.count, "recursive" if each.recursive else "", each.chain) for each in summary.call_paths
    ]
    rows += [("block", each.function, each.block, each.place, each.count) for each in summary.blocks]
    rows += [
        ("edge", each.function, each.src, each.dst, each.src_place, each.dst_place, each.count)
        for each in summary.edges
    ]
    rows += [("skipped", each.name, each.reason) for each in summary.skipped]
    rows += [("violation", name, what) for name, what in summary.violations]
    rows += [("note", note) for note in summary.notes]
    return tabbed(rows)


def _path(row: PathRow) -> Iterator[tuple[object, ...]]:
    """A path, then what it came by and its steps, one a line; what is not known is empty."""
    shares = f"{row.share_of_blocks:.6f}", f"{row.share_of_instructions:.6f}"
    cycles = "" if row.cycles is None else row.cycles
    story = row.story
    yield "path", row.rank, row.function, row.id, row.count, *shares, cycles, story.starts, story.ends
    for kind, steps in (("context", story.context), ("step", story.steps)):
        for number, step in enumerate(steps, 1):
            place = ("", "") if step.line is None else (step.file, step.line)
            text = step.place if step.line is None else step.text or ""
            yield kind, row.rank, number, *place, text, step.outcome or ""
