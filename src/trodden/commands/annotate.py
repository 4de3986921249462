"""``trodden annotate``: source with counts beside each line, or with one path lit up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_process
from trodden.commands.click_options import process_option
from trodden.commands.output import put
from trodden.errors import InputMissing, SourceChanged, TroddenError, UsageError
from trodden.visible_text import visible

if TYPE_CHECKING:
    from trodden.report.views.annotate import SourceView


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("pattern", metavar="[GLOB]", required=False)
@click.option("--path", "choice", metavar="N", help="Light up a path: its rank in the report or FUNCTION:ID.")
@process_option
@click.option("--force", is_flag=True, help="Show sources that have changed since the program was built too.")
def annotate(file: str, pattern: str | None, choice: str | None, process: str | None, force: bool) -> None:
    """Show the sources of the profile FILE, or the files or functions that GLOB picks.

    The first column is how often a line ran; ##### marks a line that never did, ~ a count that is only a
    lower bound because the profile holds no edges.  Below a line that branches stands where it went.

    With --path it is the function of one path: > marks the lines that the path leads over, and beside them
    stands what was decided there.  Ranks count within the functions that GLOB picks.
    """
    from trodden.profile.estimated import need_counted
    from trodden.report.views.annotate import Annotator, view_text
    from trodden.report.views.annotate_path import PathAnnotator, path_text
    from trodden.report.views.hot_paths import pick_path

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    profile = load_process(file, process)
    if choice is None:
        annotator = Annotator(profile, force)
        views = annotator.views(pattern)
        if not views:
            raise UsageError(f"{file}: no source lines are known; build with -g to have them")
        _show(views, lambda view: view_text(view.path, list(annotator.lines(view)), colour, profile.estimate))
        return
    need_counted(profile, file, "run it with --profile paths")
    lit = PathAnnotator(profile, *pick_path(profile, file, choice, pattern), force)
    views = lit.views()
    put("".join(f"{visible(line)}\n" for line in lit.head()))
    _show(views, lambda view: path_text(view.path, list(lit.lines(view)), colour))


def _show(views: Iterable[SourceView], rows: Callable[[SourceView], Iterator[str]]) -> None:
    """Show one part of the sources after the other."""
    failed: TroddenError | None = None
    for view in views:
        try:
            text = "".join(f"{row}\n" for row in rows(view))
        except (InputMissing, SourceChanged) as error:
            # One source that is gone must not hide the others; the last to fail decides the status.
            if failed:
                click.echo(f"trodden: {visible(str(failed))}", err=True)
            failed = error
            continue
        put(text, coloured=True)
    if failed:
        raise failed
