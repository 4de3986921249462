"""The report for a person at a terminal: a few tables, the most walked at the top."""

from __future__ import annotations

import os

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trodden.profile.model import Profile
from trodden.report.describe_path import ARROW, Story
from trodden.report.path_rows import PathRow
from trodden.report.summary import Summary, summarise

TOP_AFTER_RUN = 10
_LONGEST_TEXT = 60
_MOST_STEPS = 24


def print_summary(profile: Profile, path: str) -> None:
    """What a run that wrote the profile ``path`` says of it, on standard error."""
    console = Console(stderr=True)
    print_tables(summarise(profile, top=TOP_AFTER_RUN), console)
    console.print(Text(f"{path}: see trodden report, annotate and export for more", style="dim"))


def print_tables(summary: Summary, console: Console) -> None:
    """Print the tables; what did not go well stands at the end, where it is seen."""
    head = Text(summary.program or "profile", style="bold")
    head.append(f"  {summary.kind}: {summary.walked:,} of {summary.total:,} functions ran", style="dim")
    console.print(head)
    console.print(_functions(summary))
    if summary.paths:
        console.print(_paths(summary))
    if summary.loops:
        console.print(_loops(summary))
    if summary.cuts:
        console.print(_cuts(summary))
    if any(row.count for row in summary.blocks):
        console.print(_blocks(summary))
    if any(row.count for row in summary.edges):
        console.print(_edges(summary))
    if summary.skipped:
        console.print(_skipped(summary))
    for name, what in summary.violations:
        console.print(Text.assemble(("contradiction ", "bold red"), (name, "bold"), f": {what}"))
    for note in summary.notes:
        console.print(Text.assemble(("note ", "bold yellow"), note))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def _short(place: str) -> str:
    """A place is known by the last part of its path; the full one is in the plain report."""
    return os.path.basename(place)


def _functions(summary: Summary) -> Table:
    table = _table("Functions by blocks executed")
    for heading in ("share", "blocks", "entries"):
        table.add_column(heading, justify="right")
    table.add_column("function", overflow="fold")
    table.add_column("place", overflow="fold")
    for row in summary.functions:
        table.add_row(
            f"{100 * row.share:.1f}%",
            f"{row.executed:,}",
            f"{row.entries:,}",
            Text(row.name),
            Text(_short(row.place)),
            style=None if row.executed else "dim",
        )
    return table


def _paths(summary: Summary) -> Table:
    timed = any(row.cycles is not None for row in summary.paths)
    table = _table("Hot paths by instructions executed")
    for heading in ("", "instructions", "blocks", "count", *(["cycles"] if timed else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("path", overflow="fold", ratio=1)
    for row in summary.paths:
        cycles = [] if not timed else ["" if row.cycles is None else f"{row.cycles:,}"]
        table.add_row(
            str(row.rank),
            f"{100 * row.share_of_instructions:.1f}%",
            f"{100 * row.share_of_blocks:.1f}%",
            f"{row.count:,}",
            *cycles,
            _path(row),
        )
    return table


def _path(row: PathRow) -> Text:
    """The function, how the path starts and ends, and the way between."""
    story = row.story
    text = Text.assemble((row.function, "bold"), (f"  {_short(row.file)}  id {row.id}", "dim"))
    text.append(f"\n{story.starts}; {story.ends}")
    if story.context:
        text.append(f"\ncame by {ARROW.join(step.words(_LONGEST_TEXT) for step in story.context)}", "dim")
    if story.steps:
        text.append(f"\n{_way(story)}", "cyan")
    return text


def _way(story: Story) -> str:
    """The steps; of a long way its begin and its end, for all of it is in the plain report."""
    words = [step.words(_LONGEST_TEXT) for step in story.steps]
    if len(words) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        words[half:-half] = [f"… {len(words) - 2 * half} more …"]
    return ARROW.join(words)


def _loops(summary: Summary) -> Table:
    table = _table("Loops of one block: their rounds are part of no path")
    table.add_column("instructions", justify="right")
    table.add_column("rounds", justify="right")
    table.add_column("function", overflow="fold")
    table.add_column("place", overflow="fold")
    for row in summary.loops:
        share = f"{100 * row.share_of_instructions:.1f}%"
        table.add_row(share, f"{row.count:,}", Text(row.function), Text(_short(row.place)))
    return table


def _cuts(summary: Summary) -> Table:
    table = _table("Paths are cut at")
    table.add_column("times", justify="right")
    table.add_column("function", overflow="fold")
    table.add_column("place", overflow="fold")
    for row in summary.cuts:
        places = f"{_short(row.src_place)} → {_short(row.dst_place)}"
        table.add_row(f"{row.count:,}", Text(row.function), Text(places), style=None if row.count else "dim")
    return table


def _blocks(summary: Summary) -> Table:
    table = _table("Hottest blocks")
    table.add_column("count", justify="right")
    table.add_column("function", overflow="fold")
    table.add_column("block", overflow="fold")
    table.add_column("place", overflow="fold")
    for row in summary.blocks:
        if row.count:
            table.add_row(f"{row.count:,}", Text(row.function), Text(row.block), Text(_short(row.place)))
    return table


def _edges(summary: Summary) -> Table:
    table = _table("Hottest edges")
    table.add_column("count", justify="right")
    table.add_column("function", overflow="fold")
    table.add_column("edge", overflow="fold")
    table.add_column("place", overflow="fold")
    for row in summary.edges:
        if row.count:
            places = [_short(row.src_place) or "?", _short(row.dst_place) or row.dst]
            table.add_row(
                f"{row.count:,}",
                Text(row.function),
                Text(f"{row.src} → {row.dst}"),
                Text(" → ".join(places)),
            )
    return table


def _skipped(summary: Summary) -> Table:
    table = _table("Not profiled")
    table.add_column("function", overflow="fold")
    table.add_column("reason", overflow="fold")
    for skipped in summary.skipped:
        table.add_row(Text(skipped.name), Text(skipped.reason))
    return table
