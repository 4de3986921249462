"""The report for a person at a terminal: a few tables, the most walked at the top."""

from __future__ import annotations

import os

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trodden.profile.model import Profile
from trodden.report.summary import Summary, summarise

TOP_AFTER_RUN = 10


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
