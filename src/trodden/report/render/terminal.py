"""The report for a terminal: a few tables, the most frequent rows at the top."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from trodden.profile.count_text import amount
from trodden.profile.estimated import mark
from trodden.report.fields import counted, percent, short
from trodden.report.narrate.paths import ARROW
from trodden.report.render.pieces import Page, note, steps, table
from trodden.report.render.processes import endings, program_table
from trodden.report.views.path_rows import PathRow
from trodden.report.views.summary import BlockRow, EdgeRow, FunctionRow, Summary

_LONGEST_TEXT = 60
_MOST_STEPS = 24

FUNCTION_NUMBERS = ("share", "instructions", "blocks", "entries")
"""The headings of the numbers in the table of functions."""


def print_tables(summary: Summary, console: Page) -> None:
    """Print the tables; skipped functions and contradictions last, where they are noticed."""
    for line in head(summary):
        console.print(line)
    for programs in program_table(summary.programs):
        console.print(programs)
    for piece in endings(summary.processes, summary.threads):
        console.print(piece)
    console.print(_functions(summary))
    if summary.paths:
        console.print(_paths(summary))
    if summary.loops:
        console.print(_loops(summary))
    if summary.cuts:
        console.print(_cuts(summary))
    if summary.call_paths:
        console.print(_call_paths(summary))
    if any(row.count for row in summary.calls):
        console.print(_calls(summary))
    if any(row.count for row in summary.blocks):
        console.print(_blocks(summary))
    if any(row.count for row in summary.edges):
        console.print(_edges(summary))
    if summary.optimised is not None:
        console.print(note(summary.optimised))
    if summary.inlined:
        console.print(_inlined(summary))
    if summary.skipped:
        console.print(_skipped(summary))
    for name, what in summary.violations:
        console.print(Text.assemble(("contradiction ", "bold red"), (name, "bold"), f": {what}"))
    for what in summary.notes:
        console.print(note(what))


def head(summary: Summary) -> Iterator[Text]:
    """What was profiled, and how much of it ran."""
    ran = "ran" if summary.estimate is None else "are expected to run"
    merged = f", merged from {counted(summary.merged, 'profile')}" if summary.merged else ""
    functions = f"  {summary.kind}: {summary.walked:,} of {summary.total:,} functions {ran}{merged}"
    yield Text.assemble((summary.program or "profile", "bold"), (functions, "dim"))
    if summary.estimate is not None:
        yield note(f"{mark(summary.estimate)}; counts are expected frequencies in one run")


def _functions(summary: Summary) -> Table:
    found = table(functions_title(summary), FUNCTION_NUMBERS, ("function", "location"))
    for row in summary.functions:
        found.add_row(*function_row(row), style=None if row.executed else "dim")
    return found


def functions_title(summary: Summary) -> str:
    """The title of the table of functions."""
    how = "executed" if summary.estimate is None else "expected"
    return f"Functions by {summary.instructions.words} {how}"


def paths_title(summary: Summary) -> str:
    """The title of the table of paths."""
    return f"Hot paths by {summary.instructions.words} executed"


def function_row(row: FunctionRow) -> tuple[str | Text, ...]:
    """The cells of a function."""
    share, counts = percent(row.share_of_instructions), (row.instructions, row.executed, row.entries)
    return share, *map(amount, counts), Text(row.name), Text(short(row.place))


def _paths(summary: Summary) -> Table:
    timed = any(row.cycles is not None for row in summary.paths)
    headings = ("", "instructions", "blocks", "count", *(["cycles"] if timed else []))
    found = table(paths_title(summary), headings, ("path",))
    for row in summary.paths:
        cycles = [] if not timed else ["" if row.cycles is None else f"{row.cycles:,}"]
        found.add_row(
            str(row.rank),
            percent(row.share_of_instructions),
            percent(row.share_of_blocks),
            amount(row.count),
            *cycles,
            _path(row),
        )
    return found


def _path(row: PathRow) -> Text:
    """The function, how the path starts and ends, and the steps between."""
    path = row.description
    text = Text.assemble((row.function, "bold"), (f"  {short(row.file)}  id {row.id}", "dim"))
    text.append(f"\n{path.starts}; {path.ends}")
    if path.context:
        text.append(f"\nreached by {ARROW.join(step.words(_LONGEST_TEXT) for step in path.context)}", "dim")
    if path.steps:
        text.append(f"\n{ARROW.join(steps(path, _LONGEST_TEXT, _MOST_STEPS))}", "cyan")
    return text


def _loops(summary: Summary) -> Table:
    title = "Loops of one block, whose iterations are counted here and not as paths"
    found = table(title, ("instructions", "iterations"), ("function", "location"))
    for row in summary.loops:
        share = percent(row.share_of_instructions)
        found.add_row(share, amount(row.count), Text(row.function), Text(short(row.place)))
    return found


def _cuts(summary: Summary) -> Table:
    found = table("Edges where paths are cut", ("count",), ("function", "location"))
    for row in summary.cuts:
        location = f"{short(row.src_place)} → {short(row.dst_place)}"
        found.add_row(
            amount(row.count), Text(row.function), Text(location), style=None if row.count else "dim"
        )
    return found


def _call_paths(summary: Summary) -> Table:
    found = table("Call paths", ("count",), ("path",))
    for row in summary.call_paths:
        text = Text(row.chain)
        text.append(" (also by recursion)" if row.recursive else "", style="dim")
        found.add_row(amount(row.count), text)
    return found


def _calls(summary: Summary) -> Table:
    found = table("Most frequent calls", ("count",), ("caller", "callee"))
    for row in summary.calls:
        if row.count:
            callee = Text(row.callee) if row.callee else Text("through pointers", style="dim")
            found.add_row(amount(row.count), Text(row.caller), callee)
    return found


def _blocks(summary: Summary) -> Table:
    found = table("Hottest blocks", ("count",), ("function", "block", "location"))
    for row in summary.blocks:
        if row.count:
            found.add_row(*block_row(row))
    return found


def block_row(row: BlockRow) -> tuple[str | Text, ...]:
    """The cells of a block."""
    return amount(row.count), Text(row.function), Text(row.block), Text(short(row.place))


def _edges(summary: Summary) -> Table:
    found = table("Hottest edges", ("count",), ("function", "edge", "location"))
    for row in summary.edges:
        if row.count:
            found.add_row(*edge_row(row))
    return found


def edge_row(row: EdgeRow) -> tuple[str | Text, ...]:
    """The cells of an edge."""
    location = f"{short(row.src_place) or '?'} → {short(row.dst_place) or row.dst}"
    return amount(row.count), Text(row.function), Text(f"{row.src} → {row.dst}"), Text(location)


def _inlined(summary: Summary) -> Table:
    found = table("Functions that exist only inlined", (), ("function", "location", "inlined"))
    shown = summary.inlined[: max(len(summary.functions), 1)]
    for row in shown:
        more = f" and {len(row.calls) - 1:,} more" if len(row.calls) > 1 else ""
        text = f"into {row.into} at {short(row.calls[0].place)}{more}"
        found.add_row(Text(row.name), Text(short(row.place)), Text(text))
    if len(summary.inlined) > len(shown):
        found.add_row(Text(f"… and {len(summary.inlined) - len(shown):,} more"), "", "")
    return found


def _skipped(summary: Summary) -> Table:
    found = table("Not profiled" if summary.estimate is None else "Not estimated", (), ("function", "reason"))
    for skipped in summary.skipped:
        found.add_row(Text(skipped.name), Text(skipped.reason))
    return found
