"""The report on one screen: the rows that matter most, and what to ask next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trodden.profile.count_text import amount
from trodden.profile.model import Profile
from trodden.report.fields import counted, percent, short
from trodden.report.narrate.paths import ARROW
from trodden.report.render.pieces import Page, Terminal, note, steps, table
from trodden.report.render.processes import Most, endings, program_table
from trodden.report.render.screen import screen_of
from trodden.report.render.terminal import (
    FUNCTION_NUMBERS,
    block_row,
    edge_row,
    function_row,
    functions_title,
    head,
    paths_title,
)
from trodden.report.views.path_rows import LoopRow, PathRow
from trodden.report.views.summary import Summary, summarise

_ROWS = ((10, 5), (8, 5), (6, 5), (5, 4), (5, 3), (4, 3), (3, 3), (3, 2), (2, 2), (2, 1), (1, 1))
"""How many functions and how many paths (or edges) to show: the first pair that fits the screen."""
_NOTES = 3
_NOTABLE = 0.05
"""The share of all instructions that makes a loop of one block worth a line."""
_LONGEST_TEXT = 40
_MOST_STEPS = 6


def print_brief(summary: Summary, page: Page, file: str, width: int, height: int) -> None:
    """Print as many rows as fit, above a prompt; ``file`` is what commands to type next are to name."""
    found: list[Any] = []
    for functions, others in _ROWS:
        most = Most(
            2 * others, 1 + others // 3, 1 + others, others // 2, 1 + others, 10 if functions > 2 else 5
        )
        found = list(_screen(summary, file, functions, others, most))
        if _lines(found, width) < height:
            break
    for each in found:
        page.print(each)


def print_summary(profile: Profile, file: str) -> None:
    """The report that a run prints on standard error after it has written the profile ``file``."""
    screen, summary = screen_of(sys.stderr), summarise(profile, top=_ROWS[0][0])
    console = Terminal.for_text(screen.width, screen.color, screen.encoding)
    print_brief(summary, console, file, screen.width, screen.height)
    sys.stderr.write(console.text())
    sys.stderr.flush()


def _hottest(summary: Summary, most: int) -> Iterator[Any]:
    """Paths and the iterations of loops of one block, which are part of no path: the hottest first."""
    loops = [each for each in summary.loops[:most] if each.share_of_instructions >= _NOTABLE]
    rows: list[PathRow | LoopRow] = [*summary.paths[:most], *loops]
    for row in sorted(rows, key=lambda each: -each.share_of_instructions):
        if isinstance(row, PathRow):
            yield from _path(row)
        else:
            yield Text.assemble(
                (f"{percent(row.share_of_instructions):>10}", "bold"),
                f"  in the loop of one block at {short(row.place)} ({row.function}),"
                f" {counted(row.count, 'iteration')}",
            )


def _lines(found: list[Any], width: int) -> int:
    console = Terminal.for_text(width, color=False)
    for each in found:
        console.print(each)
    return console.text().count("\n")


def _screen(summary: Summary, file: str, functions: int, others: int, most: Most) -> Iterator[Any]:
    yield from head(summary)
    for programs in program_table(summary.programs, most.programs):
        programs.show_edge = False
        yield programs
    yield from endings(summary.processes, summary.threads, most)
    yield _functions(summary, functions)
    if summary.paths:
        yield Text(f"\n{paths_title(summary)}", style="bold")
    yield from _hottest(summary, others)
    if summary.call_paths:
        rows = (_counted(row.count, Text(row.chain)) for row in summary.call_paths[:others])
        yield _rows("\nCall paths", ("count",), ("path",), rows)
    if not summary.paths and any(row.count for row in summary.edges):
        edges = [edge_row(row) for row in summary.edges[:others] if row.count]
        yield _rows("\nHottest edges", ("count",), ("function", "edge", "location"), edges)
    elif not summary.paths and any(row.count for row in summary.blocks):
        blocks = [block_row(row) for row in summary.blocks[:others] if row.count]
        yield _rows("\nHottest blocks", ("count",), ("function", "block", "location"), blocks)
    yield from _remarks(summary)
    yield from _next(summary, file)


def _functions(summary: Summary, most: int) -> Table:
    title = f"\n{functions_title(summary)}"
    rows = [function_row(row) for row in summary.functions[:most] if row.executed]
    return _rows(title, FUNCTION_NUMBERS, ("function", "location"), rows)


def _rows(title: str, numbers: tuple[str, ...], words: tuple[str, ...], rows: Any) -> Table:
    """A table without empty lines around it."""
    found = table(title, numbers, words)
    found.show_edge = False
    for row in rows:
        found.add_row(*row)
    return found


def _counted(count: Any, what: Text) -> tuple[str, Text]:
    return amount(count), what


def _path(row: PathRow) -> Iterator[Text | Padding]:
    """A path below its shares: at 80 columns a column of words beside those of numbers would be narrow."""
    share, path = percent(row.share_of_instructions), row.description
    cycles = "" if row.cycles is None else f", {row.cycles:,} cycles"
    yield Text.assemble(
        (f"{row.rank:>2} {share:>7}  ", "bold"),
        (row.function, "bold"),
        (f"  {short(row.file)}  {counted(row.count, 'time')}{cycles}", "dim"),
    )
    words = ARROW.join([path.starts, *steps(path, _LONGEST_TEXT, _MOST_STEPS), path.ends])
    yield Padding(Text(words, style="cyan"), (0, 0, 0, 4))


def _remarks(summary: Summary) -> Iterator[Text]:
    """Contradictions and messages, and how many functions have no counts."""
    for name, what in summary.violations[:_NOTES]:
        yield Text.assemble(("contradiction ", "bold red"), (name, "bold"), f": {what}")
    for what in summary.notes[:_NOTES]:
        yield note(what)
    more = max(len(summary.violations) - _NOTES, 0) + max(len(summary.notes) - _NOTES, 0)
    if more:
        yield note(f"and {counted(more, 'more message')}")
    if summary.optimised is not None:
        yield note(summary.optimised)
    if summary.inlined:
        first, more = summary.inlined[0], len(summary.inlined) - 1
        others = f" and {more:,} more exist" if more else " exists"
        yield note(f"{first.name}{others} only inlined ({first.name} into {first.into})")
    if summary.skipped:
        verb = "profiled" if summary.estimate is None else "estimated"
        yield note(f"{counted(len(summary.skipped), 'function')} not {verb}")


def _next(summary: Summary, file: str) -> Iterator[Padding]:
    """Commands that say more, each with what it shows."""
    rows = [(f"trodden report {file} --top 20", "all tables, 20 rows each")]
    if summary.paths:
        rows.append((f"trodden annotate {file} --path 1", "the hottest path in its source"))
    else:
        rows.append((f"trodden annotate {file}", "counts beside the source"))
    if summary.estimate is None:
        rows.append((f"trodden coverage {file}", "what was not executed"))
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column(no_wrap=True)
    for command, meaning in rows:
        grid.add_row(Text(command, style="dim"), Text(meaning, style="dim"))
    yield Padding(grid, (1, 0, 0, 0))
