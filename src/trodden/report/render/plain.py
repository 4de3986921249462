"""The report for other programs: one row a line, fields separated by tabs, nothing shortened."""

from __future__ import annotations

from collections.abc import Iterator

from trodden.report.fields import tabbed
from trodden.report.narrate.paths import ARROW, PathDescription
from trodden.report.views.path_rows import PathRow
from trodden.report.views.process_rows import ProcessRow, ThreadRow
from trodden.report.views.summary import Summary

_HEADINGS = (
    ("#merged", "profiles"),
    ("#program", "name", "path", "kind", "processes", "functions", "ran", "executed", "share"),
    ("#process", "name", "parent", "depth", "program", "ended", "executed", "share"),
    ("#completed", "process", "function"),
    ("#thread", "process", "number", "tid", "frames", "left out", "last paths"),
    (
        "#frame",
        "process",
        "thread",
        "number",
        "function",
        "block",
        "file",
        "line",
        "last line",
        "how",
        "inlined into",
    ),
    ("#unfinished", "process", "thread", "frame", "starts", "way"),
    ("#last", "process", "thread", "number", "function", "id", "starts", "way", "ends"),
    ("#executed", "process", "thread", "number", "function", "depth", "file", "line", "text", "times"),
    ("#instructions", "kind"),
    ("#function", "name", "place", "entries", "executed", "share", "instructions", "share of instructions"),
    ("#path", "rank", "function", "id", "count", "blocks", "instructions", "cycles", "starts", "ends"),
    ("#context", "rank", "number", "file", "line", "text", "outcome", "inlined from"),
    ("#step", "rank", "number", "file", "line", "text", "outcome", "inlined from"),
    ("#loop", "function", "place", "rounds", "instructions"),
    ("#cut", "function", "src place", "dst place", "count"),
    ("#call", "count", "recursive", "path"),
    ("#calls", "caller", "callee", "count"),
    ("#block", "function", "block", "place", "count"),
    ("#edge", "function", "src", "dst", "src place", "dst place", "count"),
    ("#inlined", "name", "place", "into", "caller", "call place"),
    ("#skipped", "name", "reason"),
    ("#violation", "function", "what"),
    ("#note", "what"),
)


def to_plain(summary: Summary) -> str:
    """The first field of each line says what the line is about."""
    rows: list[tuple[object, ...]] = list(_HEADINGS)
    if summary.estimate is not None:
        rows = [("#estimate", "rates"), *rows, ("estimate", summary.estimate.rates)]
    rows += [("instructions", summary.instructions.value)]
    rows += [("merged", summary.merged)] if summary.merged else []
    rows += [
        (
            "program",
            each.name,
            each.path,
            each.kind,
            each.processes,
            each.functions,
            each.ran,
            each.executed,
            f"{each.share:.6f}",
        )
        for each in summary.programs
    ]
    rows += [row for each in summary.processes for row in _process(each)]
    rows += [row for each in summary.threads for row in _thread(each)]
    rows += [
        (
            *("function", each.name, each.place, each.entries, each.executed, f"{each.share:.6f}"),
            *(each.instructions, f"{each.share_of_instructions:.6f}"),
        )
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
    rows += [("calls", each.caller, each.callee, each.count) for each in summary.calls]
    rows += [("block", each.function, each.block, each.place, each.count) for each in summary.blocks]
    rows += [
        ("edge", each.function, each.src, each.dst, each.src_place, each.dst_place, each.count)
        for each in summary.edges
    ]
    rows += [
        (
            "inlined",
            each.name,
            each.place,
            call.into,
            call.caller or "",
            call.place,
        )
        for each in summary.inlined
        for call in each.calls
    ]
    rows += [("skipped", each.name, each.reason) for each in summary.skipped]
    rows += [("violation", name, what) for name, what in summary.violations]
    rows += [("note", note) for note in summary.notes]
    return tabbed(rows)


def _process(row: ProcessRow) -> Iterator[tuple[object, ...]]:
    executed = "" if row.executed is None else row.executed
    share = "" if row.share is None else f"{row.share:.6f}"
    yield "process", row.name, row.parent, row.depth, row.program, row.how, executed, share
    for name in row.completed:
        yield "completed", row.name, name


def _thread(row: ThreadRow) -> Iterator[tuple[object, ...]]:
    """A thread, its frames, each with its unfinished path, and its last paths."""
    own = row.process, row.number
    tid = "" if row.tid is None else row.tid
    yield "thread", *own, tid, len(row.frames), row.left_out, len(row.last)
    for number, frame in enumerate(row.frames, 1):
        lines = (frame.line, frame.last_line) if frame.line else ("", "")
        how = "interrupted" if frame.interrupted else "in a call"
        into = frame.inlined_into or ""
        yield "frame", *own, number, frame.function, frame.block, frame.file, *lines, how, into
        if frame.unfinished is not None:
            yield "unfinished", *own, number, frame.unfinished.starts, _steps(frame.unfinished)
    for number, last in enumerate(row.last, 1):
        yield (
            "last",
            *own,
            number,
            last.function,
            last.id,
            last.description.starts,
            _steps(last.description),
            last.description.ends,
        )
    for number, line in enumerate(row.lines, 1):
        where = line.function, line.depth, line.file, line.line
        times = line.times if line.exact else f">={line.times}"
        yield "executed", *own, number, *where, line.text or "", times


def _steps(path: PathDescription) -> str:
    """The steps of a path on one line, after those of its loop context."""
    return ARROW.join(step.words() for step in (*path.context, *path.steps))


def _path(row: PathRow) -> Iterator[tuple[object, ...]]:
    """A path, then the steps of its loop context and its own, one a line; what is not known is empty."""
    shares = f"{row.share_of_blocks:.6f}", f"{row.share_of_instructions:.6f}"
    cycles = "" if row.cycles is None else row.cycles
    path = row.description
    yield "path", row.rank, row.function, row.id, row.count, *shares, cycles, path.starts, path.ends
    for kind, steps in (("context", path.context), ("step", path.steps)):
        for number, step in enumerate(steps, 1):
            line = ("", "") if step.line is None else (step.file, step.line)
            text = step.location if step.line is None else step.text or ""
            yield kind, row.rank, number, *line, text, step.outcome_text or "", step.inlined or ""
