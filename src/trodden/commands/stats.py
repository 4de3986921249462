"""``trodden stats``: the number and length of paths, and how many an edge profile predicts."""

from __future__ import annotations

import json
import sys

import click

from trodden.api.profiles import load_paths
from trodden.commands.click_options import function_option, json_option, process_option
from trodden.commands.output import put


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--per-function", is_flag=True, help="Also a row for each function that was executed.")
@function_option
@process_option
@json_option
def stats(file: str, per_function: bool, function: str | None, process: str | None, as_json: bool) -> None:
    """Show statistics of the paths in the profile FILE: the columns of BL96 Table 2."""
    from trodden.report.views.stats import report_stats, to_document, to_plain

    report = report_stats(load_paths(file, process), function)
    if as_json:
        put(json.dumps(to_document(report, per_function), indent=1) + "\n")
    elif sys.stdout.isatty():
        from trodden.report.render.pieces import Terminal
        from trodden.report.render.stats import print_stats

        print_stats(report, Terminal(), per_function)
    else:
        put(to_plain(report, per_function))
