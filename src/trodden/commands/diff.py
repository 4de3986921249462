"""``trodden diff``: where two runs diverge."""

from __future__ import annotations

import json
import sys

import click

from trodden.api.profiles import load_process
from trodden.commands.click_options import function_option, json_option
from trodden.commands.output import put
from trodden.errors import UsageError

TOP = 10
DIFFERENT = 1


@click.command()
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1),
    help=f"Differences of each kind to show ({TOP} at a terminal, else all).",
)
@function_option
@click.option(
    "--process",
    "processes",
    metavar="PID",
    multiple=True,
    help="Only the counts of this process; given twice, one of A and one of B.",
)
@json_option
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there are differences.")
def diff(
    first: str,
    second: str,
    top: int | None,
    function: str | None,
    processes: tuple[str, ...],
    as_json: bool,
    exit_code: bool,
) -> int:
    """Compare the paths of the profiles A and B: how many they have in common, and where they diverge.

    Shares are compared, not counts, so the runs may differ in length.  Where profiles have no paths, edges
    are compared, or blocks.
    """
    from trodden.report.views.difference import report_difference, to_document, to_plain

    tables = sys.stdout.isatty() and not as_json
    limit = TOP if top is None and tables else top
    if len(processes) > 2:
        raise UsageError("--process: name one process, or one of A and one of B")
    one, other = (processes[0], processes[-1]) if processes else (None, None)
    profiles = load_process(first, one), load_process(second, other)
    report = report_difference(profiles, (first, second), function, limit)
    if as_json:
        put(json.dumps(to_document(report), indent=1) + "\n")
    elif tables:
        from trodden.report.render.difference import print_difference
        from trodden.report.render.pieces import Terminal

        print_difference(report, Terminal())
    else:
        put(to_plain(report))
    return DIFFERENT if exit_code and not report.found.same else 0
