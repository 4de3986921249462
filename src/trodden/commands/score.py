"""``trodden score``: how well one profile predicts another."""

from __future__ import annotations

import json
import sys

import click

from trodden.commands.click_options import json_option
from trodden.commands.output import put
from trodden.errors import UsageError


@click.command()
@click.argument("estimate", metavar="ESTIMATE", type=click.Path())
@click.argument("measured", metavar="MEASURED", type=click.Path())
@json_option
def score(estimate: str, measured: str, as_json: bool) -> None:
    """Show how well the profile ESTIMATE predicts what is most frequent in the profile MEASURED.

    ESTIMATE may be a measured profile too: then the score is how well one run predicts another.
    """
    from trodden.compare import matching
    from trodden.profile.estimated import need_counted
    from trodden.profile.store.trod import load
    from trodden.report.views.score import ScoreReport, to_document, to_plain

    first, second = load(estimate), load(measured)
    need_counted(second, measured, "name the estimate first, and the profile of a run after it")
    try:
        report = ScoreReport((estimate, measured), matching.score(first, second))
    except UsageError as error:
        raise UsageError(f"{estimate}, {measured}: {error}") from None
    if as_json:
        put(json.dumps(to_document(report), indent=1) + "\n")
    elif sys.stdout.isatty():
        from trodden.report.render.pieces import Terminal
        from trodden.report.render.score import print_score

        print_score(report, Terminal())
    else:
        put(to_plain(report))
