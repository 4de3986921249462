"""``trodden report``: the most walked functions, paths, blocks and edges."""

from __future__ import annotations

import json
import sys

import click

from trodden.api.profiles import load_process
from trodden.commands.click_options import process_option
from trodden.commands.output import put

TOP = 20


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--top", metavar="N", type=click.IntRange(min=1), help=f"Rows a table ({TOP} at a terminal, else all)."
)
@click.option("--function", metavar="GLOB", help="Only the functions whose name matches.")
@process_option
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def report(file: str, top: int | None, function: str | None, process: str | None, as_json: bool) -> None:
    """Show what the profile FILE holds; with tabs between the columns when the output is not a terminal."""
    from trodden.report.views.summary import summarise

    person = sys.stdout.isatty() and not as_json
    summary = summarise(load_process(file, process), top or (TOP if person else None), function)
    if as_json:
        put(json.dumps(summary.to_document(), indent=1) + "\n")
    elif person:
        from trodden.report.render.pieces import Terminal
        from trodden.report.render.terminal import print_tables

        print_tables(summary, Terminal())
    else:
        from trodden.report.render.plain import to_plain

        put(to_plain(summary))
