"""``trodden calibrate``: hit rates of branch heuristics, measured on profiles."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import output_options
from trodden.commands.output import put
from trodden.commands.showing.presentation import Answer, Presentation
from trodden.errors import UsageError

if TYPE_CHECKING:
    from trodden.estimating.calibrate import Calibration
    from trodden.report.render.pieces import Page

_WEIGHINGS = ("root", "log", "branch", "executions")
_FEW = 5


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", metavar="RATES", help="Write the rates here, for trodden estimate --rates.")
@click.option(
    "--fit",
    type=click.Choice(("together", "hits")),
    default="together",
    show_default=True,
    help="Fit the rates of all heuristics jointly, or take the hit rates of the paper's nine.",
)
@click.option(
    "--weigh",
    type=click.Choice(_WEIGHINGS),
    default=_WEIGHINGS[0],
    show_default=True,
    help="The weight of a branch: square root or logarithm of its executions, 1, or their number.",
)
@click.option("--name", metavar="NAME", help="The name of the rates; otherwise that of their file.")
@output_options()
def calibrate(
    files: tuple[str, ...],
    output: str | None,
    fit: str,
    weigh: str,
    name: str | None,
    shown: Presentation,
) -> None:
    """Measure branch heuristics on the profiles FILE..., and fit rates to them."""
    from trodden.api.traces import load_with_counts
    from trodden.estimating import calibrate as calibrating
    from trodden.profile.store.files import refuse_inputs
    from trodden.report.views.calibration import to_document, to_plain
    from trodden.weigh.heuristics import rates

    refuse_inputs(output, files)
    file = "" if output in (None, "-") else os.path.basename(output)
    called = name or file.removesuffix(".json") or "fitted"
    if not called.isprintable():
        raise UsageError(f"{called}: has characters that cannot be printed; give the rates another --name")
    found = calibrating.calibrate({file: load_with_counts(file) for file in files}, fit, weigh, called)
    if len(files) < _FEW:
        click.echo(
            f"trodden: note: rates from fewer than {_FEW} programs say more about these than about others",
            err=True,
        )
    if output is not None:
        put(json.dumps(rates.to_document(found.rates), indent=1) + "\n", output)
        if output == "-":
            return
    shown.show(
        Answer(
            document=lambda: to_document(found),
            rows=lambda: to_plain(found),
            page=lambda page: _page(found, page),
        )
    )


def _page(found: Calibration, page: Page) -> None:
    from trodden.report.render.calibration import print_calibration

    print_calibration(found, page)
