"""``trodden annotate``: source with counts beside each line."""

from __future__ import annotations

import os
import sys

import click

from trodden.commands.output import put
from trodden.errors import InputMissing, SourceChanged, TroddenError


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("pattern", metavar="[GLOB]", required=False)
@click.option("--force", is_flag=True, help="Show sources that have changed since the program was built too.")
def annotate(file: str, pattern: str | None, force: bool) -> None:
    """Show the sources of the profile FILE, or the files or functions that GLOB picks.

    The first column is how often a line ran; ##### marks a line that never did, ~ a count that is only a
    lower bound because the profile holds no edges.  Below a line that branches stands where it went.
    """
    from trodden.profile.store import load
    from trodden.report.annotate import Annotator, view_text

    annotator = Annotator(load(file), force)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    failed: TroddenError | None = None
    for view in annotator.views(pattern):
        try:
            lines = list(annotator.lines(view))
        except (InputMissing, SourceChanged) as error:
            # One source that is gone must not hide the others; the last to fail decides the status.
            if failed:
                click.echo(f"trodden: {failed}", err=True)
            failed = error
            continue
        put("".join(f"{text}\n" for text in view_text(view.path, lines, colour)))
    if failed:
        raise failed
