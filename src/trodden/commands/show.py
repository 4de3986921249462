"""``trodden show``: a function's graph, weights, spanning tree and probes."""

from __future__ import annotations

import click

from trodden.commands.click_options import instrumentation_options, options_given
from trodden.commands.output import put

FORMATS = ("text", "dot", "svg")


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("flags", metavar="[-- COMPILER FLAGS]", nargs=-1)
@click.option("-f", "--function", metavar="GLOB", help="Which function; needed if there are several.")
@click.option("--format", "form", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True)
@instrumentation_options("show")
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write there, not to standard output.")
def show(
    file: str, flags: tuple[str, ...], function: str | None, form: str, output: str | None, **chosen: object
) -> None:
    """Show a function of FILE: a C or C++ source, a graph in text form (.cfg) or a profile (.trod)."""
    from trodden.api.drawings import Request, draw
    from trodden.native.driver.build import CompilerFailed
    from trodden.profile.store.files import refuse_inputs
    from trodden.report.graph.dot import to_dot
    from trodden.report.graph.svg import to_svg
    from trodden.report.graph.text import to_text

    refuse_inputs(output, [file])
    try:
        drawing = draw(file, flags, function, Request.of(options_given(chosen)))
    except CompilerFailed as failure:
        # The compiler has reported the error; only its status remains to be passed on.
        raise SystemExit(failure.status) from failure
    put({"text": to_text, "dot": to_dot, "svg": to_svg}[form](drawing), output)
