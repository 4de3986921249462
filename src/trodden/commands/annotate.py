"""``trodden annotate``: source with a count beside each line, or with one path marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_process, reading
from trodden.commands.click_options import file_argument, process_option, program_option, text_options
from trodden.commands.filter_options import filter_options
from trodden.commands.showing.presentation import Presentation
from trodden.errors import InputMissing, SourceChanged, TroddenError, UsageError
from trodden.visible_text import visible

if TYPE_CHECKING:
    from trodden.profile.reading import Reading
    from trodden.report.views.annotate import SourceView


@click.command()
@file_argument
@click.argument("pattern", metavar="[GLOB]", required=False)
@click.option(
    "--path",
    "choice",
    metavar="[N]",
    is_flag=False,
    flag_value="1",
    help="Mark the lines of a path, named by its rank in the report (default 1) or as FUNCTION:ID.",
)
@process_option
@program_option
@filter_options
@text_options
@click.option("--force", is_flag=True, help="Also show sources that were changed after the build.")
def annotate(
    file: str,
    pattern: str | None,
    choice: str | None,
    process: str | None,
    program: str | None,
    force: bool,
    view: Reading,
    shown: Presentation,
) -> None:
    """Show the sources of the profile FILE, or the files or functions that GLOB picks.

    The first column is how often a line was executed; ##### marks a line that never was, ~ a count that is
    not exact, ? a line that may have been executed: optimisation has left no code of it in a function that
    was executed, or the program was interrupted there, it is not known where.
    Below each branch are the counts of its outcomes.

    With --path, only the function of that path is shown.  The lines on the path are marked with > (with ▶
    where there are colours), each with the decision that was made there.  Ranks are counted within the
    functions that GLOB picks, or those of the files that it picks.
    """
    from trodden.profile.estimated import need_counted
    from trodden.report.views.annotate import Annotator, view_text
    from trodden.report.views.annotate_path import PathAnnotator, path_text
    from trodden.report.views.hot_paths import pick_path

    colour = shown.screen.color
    with reading(file):
        profile = load_process(file, process, program, view)
    if choice is None:
        annotator = Annotator(profile, force)
        views = annotator.views(pattern)
        if not views:
            lost = profile.traces is not None and profile.traces.unknown_units()
            why = "its trace is missing" if lost else "build with -g to have them"
            raise UsageError(f"{file}: no source lines are known; {why}")
        _show(
            shown,
            "",
            views,
            lambda view: view_text(
                view.path, list(annotator.lines(view)), colour, profile.estimate, annotator.note(view)
            ),
        )
        return
    need_counted(profile, file, "run it with --profile paths")
    marked = PathAnnotator(profile, *pick_path(profile, file, choice, pattern), force)
    views = marked.views()
    head = "".join(f"{visible(line)}\n" for line in marked.head())
    _show(shown, head, views, lambda view: path_text(view.path, list(marked.lines(view)), colour))


def _show(
    shown: Presentation,
    head: str,
    views: Iterable[SourceView],
    rows: Callable[[SourceView], Iterator[str]],
) -> None:
    """Print the views one after the other, below the lines of ``head``."""
    texts = [head]
    failed: TroddenError | None = None
    for view in views:
        try:
            texts.append("".join(f"{row}\n" for row in rows(view)))
        except (InputMissing, SourceChanged) as error:
            # A source that is missing must not hide the others; the last failure decides the exit status.
            if failed:
                click.echo(f"trodden: {visible(str(failed))}", err=True)
            failed = error
    shown.show_text("".join(texts))
    if failed:
        raise failed
