"""``trodden coverage``: how much was executed, and the nearest paths that were not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_counted, reading
from trodden.commands.click_options import (
    Number,
    files_argument,
    function_option,
    output_options,
    process_option,
    program_option,
)
from trodden.commands.filter_options import filter_options, markers_option
from trodden.commands.longer_options import longer_options
from trodden.commands.showing.presentation import Answer, Presentation
from trodden.errors import TooLittleCovered, UsageError

if TYPE_CHECKING:
    from trodden.profile.analysis.coverage import Covered
    from trodden.profile.reading import Reading
    from trodden.report.render.pieces import Page
    from trodden.report.views.coverage import CoverageReport
    from trodden.report.views.longer_coverage import LongerCoverageReport

TOP = 3
MOST_FUNCTIONS = 20
GITHUB = "github"
_EXECUTED = {
    "lines": "of the lines were executed",
    "branches": "of the outcomes of branches were taken",
    "functions": "of the functions were executed",
    "conditions": "of the conditions had both outcomes",
    "mcdc": "of the conditions of compound decisions were shown to decide alone",
    "blocks": "of the blocks were executed",
    "edges": "of the edges were taken",
    "paths": "of the possible paths were executed",
}


@click.command()
@files_argument
@click.option(
    "--top",
    metavar="N",
    type=Number(0),
    default=TOP,
    show_default=True,
    help="Paths never executed to show for each function (not in all).",
)
@longer_options
@function_option
@process_option
@program_option
@filter_options
@markers_option
@output_options(GITHUB)
@click.option(
    "--fail-under",
    metavar="PERCENT|WHAT=PERCENT,...",
    help="Fail if less was executed: lines, branches, functions, conditions, mcdc, blocks, edges, paths."
    "  A percentage alone is of the possible paths, or of the lines if no paths were counted.",
)
def coverage(
    files: tuple[str, ...],
    top: int,
    longer: bool,
    bounds: str,
    function: str | None,
    process: str | None,
    program: str | None,
    view: Reading,
    shown: Presentation,
    fail_under: str | None,
) -> None:
    """Show how much was executed in the profiles FILE... taken together: lines, branches, functions, paths.

    Below are paths that were never executed but differ by one decision from one that was: what the next
    input should do.
    """
    from trodden.report.render.github import to_github
    from trodden.report.views.coverage import report_coverage, to_document, to_plain

    if longer and shown.format == GITHUB:
        raise UsageError(f"--longer: there is no format {GITHUB} of it; leave one of them out")
    if longer:
        if len(files) > 1 or fail_under is not None:
            raise UsageError("--longer: takes one profile, and no --fail-under; merge profiles first")
        with reading(*files):
            covered = _longer(files[0], process, program, view, bounds, function)
        shown.show(_longer_answer(covered, None if function else MOST_FUNCTIONS))
        return
    required = {} if fail_under is None else _required(fail_under)
    with reading(*files):
        profiles = [load_counted(file, process, program, view) for file in files]
        report = report_coverage(profiles, files, function, top)
    shown.show(
        Answer(
            document=lambda: to_document(report),
            rows=lambda: to_plain(report),
            page=lambda page: _page(report, page, None if function else MOST_FUNCTIONS),
            others={GITHUB: lambda: to_github(report)},
        )
    )
    _check(report.metrics, required)


def _required(given: str) -> dict[str, float]:
    """The percentages that are asked for; one alone has the empty name."""
    found: dict[str, float] = {}
    for part in given.split(","):
        name, equals, number = part.rpartition("=")
        name = name.strip()
        try:
            percent = float(number)
        except ValueError:
            percent = -1.0
        if not 0 <= percent <= 100 or (equals and name not in _EXECUTED) or name in found:
            names = ", ".join(_EXECUTED)
            raise UsageError(
                f"--fail-under {given}: write a percentage, or some like branches=80,paths=20 of {names}"
            )
        found[name] = percent
    return found


def _check(metrics: Mapping[str, Covered], required: Mapping[str, float]) -> None:
    """Raise if less is covered than required."""
    failed: list[str] = []
    for given, percent in required.items():
        name = given or ("paths" if "paths" in metrics else "lines")
        found = metrics.get(name)
        if found is None:
            how = "run it with --profile paths" if name in ("paths", "mcdc") else "build with -g, count edges"
            raise UsageError(f"--fail-under {name}={percent:g}: the profile has none of these; {how}")
        if 100 * found.covered < percent * found.total:
            failed.append(
                f"{100 * found.share:.4g}% {_EXECUTED[name]},"
                f" {found.covered} of {found.total}; {percent:g}% are required"
            )
    if failed:
        raise TooLittleCovered("; and ".join(failed))


def _longer(
    file: str, process: str | None, program: str | None, view: Reading, bounds: str, function: str | None
) -> LongerCoverageReport:
    from trodden.api.longer import load_for_longer, longer_paths
    from trodden.report.views.longer_coverage import report_longer_coverage

    profile = load_for_longer(file, process, program, view)
    return report_longer_coverage(profile, longer_paths(profile, bounds, function, most=1), function)


def _longer_answer(report: LongerCoverageReport, most: int | None) -> Answer:
    from trodden.report.render.longer_coverage import print_longer_coverage
    from trodden.report.views.longer_coverage import to_document, to_plain

    return Answer(
        document=lambda: to_document(report),
        rows=lambda: to_plain(report),
        page=lambda page: print_longer_coverage(report, page, most),
    )


def _page(report: CoverageReport, page: Page, most: int | None) -> None:
    from trodden.report.render.coverage import print_coverage

    print_coverage(report, page, most)
