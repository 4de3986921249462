"""``trodden estimate``: the profile of a program that has never run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from trodden.commands.click_options import instrumentation_options, options_given
from trodden.config_file import configured
from trodden.errors import UsageError

_FLAGS = "trodden.commands.estimate.flags"


class _WithFlags(click.Command):
    """A command that leaves everything after ``--`` to the compiler."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args[: args.index("--")] if "--" in args else args
        ctx.meta[_FLAGS] = args[len(own) + 1 :]
        # click removes words from the list as it parses them.
        given = list(own)
        try:
            return super().parse_args(ctx, own)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            word = next((each for each in given if each.startswith(error.option_name)), error.option_name)
            message = f"no such option {word}; flags of the compiler go after --"
            raise click.UsageError(message, ctx) from error

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMPILER FLAGS]"]


@click.command(cls=_WithFlags)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o", "--output", metavar="OUT.trod", default="estimate.trod", show_default=True, type=click.Path()
)
@click.option(
    "--rates",
    metavar="calibrated|wl94|FILE",
    default="calibrated",
    show_default=True,
    help="How reliable each heuristic is taken to be; FILE is from trodden calibrate.",
)
@instrumentation_options("estimate")
@click.option(
    "--report/--quiet",
    "report",
    default=None,
    help="Print the report always / never (default: when standard error is a terminal).",
)
@click.pass_context
def estimate(
    context: click.Context,
    /,
    files: tuple[str, ...],
    output: str,
    rates: str,
    report: bool | None,
    **chosen: object,
) -> None:
    """Estimate how often everything in a program would be executed, and write that as a profile.

    FILE is a C or C++ source, LLVM IR (.ll, .bc), a program, library or object that trodden cc has built, or
    a profile (.trod), of which only the program is looked at.  Several files are one program.  Sources are
    compiled with the flags after --, just as trodden run compiles them.
    """
    from trodden.api.estimates import estimate_of
    from trodden.native.driver.build import CompilerFailed
    from trodden.native.options.declarations import OPTIONS
    from trodden.native.options.given import choose
    from trodden.profile.store.files import check_writable, refuse_inputs
    from trodden.profile.store.trod import save
    from trodden.weigh.heuristics.rates import load_rates

    if output == "-":
        raise UsageError("-o -: a profile is not for standard output; name a file")
    table = load_rates(rates)
    refuse_inputs(output, files)
    check_writable(output)
    # The stage belongs to the files that are named, so environment and file decide the toolchain only.
    variable, file = OPTIONS["toolchain"].variable, configured()
    if file is not None:
        file = replace(file, values={key: file.values[key] for key in ("toolchain",) if key in file.values})
    options = choose(options_given(chosen), {variable: os.environ.get(variable, "")}, file)
    flags: Sequence[str] = context.meta[_FLAGS]
    try:
        profile = estimate_of(files, flags, options, table, _with_progress)
    except CompilerFailed as failure:
        # The compiler has reported the error; only its status remains to be passed on.
        raise SystemExit(failure.status) from failure
    save(profile, output)
    if report or (report is None and sys.stderr.isatty()):
        from trodden.report.render.brief import print_summary

        print_summary(profile, output)


def _with_progress(files: Sequence[str]) -> Iterator[str]:
    """The files, one after the other; a terminal shows a progress bar if there are several."""
    if len(files) == 1 or not sys.stderr.isatty():
        yield from files
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(files, "reading", console=console, transient=True)
