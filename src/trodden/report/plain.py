"""The report for other programs: one fact a line, tabs between its parts, nothing shortened."""

from __future__ import annotations

from trodden.report.summary import Summary

_HEADINGS = (
    ("#function", "name", "place", "entries", "executed", "share"),
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
    rows += [("block", each.function, each.block, each.place, each.count) for each in summary.blocks]
    rows += [
        ("edge", each.function, each.src, each.dst, each.src_place, each.dst_place, each.count)
        for each in summary.edges
    ]
    rows += [("skipped", each.name, each.reason) for each in summary.skipped]
    rows += [("violation", name, what) for name, what in summary.violations]
    rows += [("note", note) for note in summary.notes]
    return "".join("\t".join(map(_part, row)) + "\n" for row in rows)


def _part(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
