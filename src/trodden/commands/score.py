"""``trodden score``: how well one profile predicts another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import output_options
from trodden.commands.showing.presentation import Answer, Presentation
from trodden.errors import UsageError

if TYPE_CHECKING:
    from trodden.report.render.pieces import Page
    from trodden.report.views.score import ScoreReport


@click.command()
@click.argument("estimate", metavar="ESTIMATE", type=click.Path())
@click.argument("measured", metavar="MEASURED", type=click.Path())
@output_options()
def score(estimate: str, measured: str, shown: Presentation) -> None:
    """Show how well the profile ESTIMATE predicts what is most frequent in the profile MEASURED.

    ESTIMATE may be a measured profile too: then the score is how well one run predicts another.
    """
    from trodden.api.traces import load_with_counts
    from trodden.compare import matching
    from trodden.profile.estimated import need_counted
    from trodden.report.views.score import ScoreReport, to_document, to_plain

    first, second = load_with_counts(estimate), load_with_counts(measured)
    need_counted(second, measured, "name the estimate first, and the profile of a run after it")
    try:
        report = ScoreReport((estimate, measured), matching.score(first, second))
    except UsageError as error:
        raise UsageError(f"{estimate}, {measured}: {error}") from None
    shown.show(
        Answer(
            document=lambda: to_document(report),
            rows=lambda: to_plain(report),
            page=lambda page: _page(report, page),
        )
    )


def _page(report: ScoreReport, page: Page) -> None:
    from trodden.report.render.score import print_score

    print_score(report, page)
