"""``trodden coverage``: which paths were executed, and the nearest that were not."""

from __future__ import annotations

import json
import sys

import click

from trodden.api.profiles import load_paths
from trodden.commands.click_options import function_option, json_option, process_option
from trodden.commands.output import put
from trodden.errors import TooLittleCovered

TOP = 3
MOST_FUNCTIONS = 20


@click.command()
@click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=TOP,
    show_default=True,
    help="Paths never executed to show for each function.",
)
@function_option
@process_option
@json_option
@click.option(
    "--fail-under",
    metavar="PERCENT",
    type=click.FloatRange(min=0, max=100),
    help="Fail if fewer of the possible paths were executed.",
)
def coverage(
    files: tuple[str, ...],
    top: int,
    function: str | None,
    process: str | None,
    as_json: bool,
    fail_under: float | None,
) -> None:
    """Show how many of the possible paths were executed in the profiles FILE... taken together.

    Below are paths that were never executed but differ by one decision from one that was: what the next
    input should do.
    """
    from trodden.report.views.coverage import report_coverage, to_document, to_plain

    report = report_coverage([load_paths(file, process) for file in files], files, function, top)
    if as_json:
        put(json.dumps(to_document(report), indent=1) + "\n")
    elif sys.stdout.isatty():
        from trodden.report.render.coverage import print_coverage
        from trodden.report.render.pieces import Terminal

        print_coverage(report, Terminal(), None if function else MOST_FUNCTIONS)
    else:
        put(to_plain(report))
    paths = report.found.paths
    if fail_under is not None and 100 * paths.covered < fail_under * paths.total:
        raise TooLittleCovered(
            f"{100 * paths.share:.4g}% of the possible paths were executed,"
            f" {paths.covered} of {paths.total}; {fail_under:g}% are required"
        )
