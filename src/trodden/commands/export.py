"""``trodden export``: a profile in a format that other tools read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_process, reading
from trodden.commands.click_options import file_argument, function_option, process_option, program_option
from trodden.commands.filter_options import filter_options, markers_option
from trodden.commands.longer_options import longer_options
from trodden.commands.output import put, put_parts
from trodden.errors import UsageError
from trodden.visible_text import visible

if TYPE_CHECKING:
    from trodden.profile.model import Profile
    from trodden.profile.reading import Reading

_AT_ONCE = 4096

FORMATS = ("json", "lcov", "dot", "folded", "perfetto")


@click.command()
@file_argument
@click.option("--format", "form", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True)
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write there, not to standard output.")
@longer_options
@function_option
@process_option
@program_option
@filter_options
@markers_option
def export(
    file: str,
    form: str,
    output: str | None,
    longer: bool,
    bounds: str,
    function: str | None,
    process: str | None,
    program: str | None,
    view: Reading,
) -> None:
    """Write the profile FILE as JSON, as an lcov tracefile, as a Graphviz drawing or as folded stacks.

    The calls in its trace are written for Perfetto and Chrome's viewer of traces.

    System headers and standard libraries are left out of a tracefile unless --system is given; the other
    formats have them.  Exclusion comments in the sources are obeyed in a tracefile.
    """
    from trodden.export.dot import to_dot
    from trodden.export.folded import to_folded
    from trodden.export.lcov import to_lcov
    from trodden.profile.estimated import need_counted
    from trodden.profile.store.files import refuse_inputs

    refuse_inputs(output, [file])
    if longer and form != "json":
        raise UsageError(f"--longer: is for --format json, not for {form}; leave it out")
    writers = {"dot": to_dot, "folded": to_folded}
    if form != "lcov":
        view = replace(view, system=True)
    with reading(file):
        if form == "json":
            put(_json(file, process, program, view, function, bounds if longer else None), output)
            return
        profile = load_process(file, process, program, view)
        if form == "perfetto":
            put_parts(_calls(profile), output)
            return
        if form == "folded":
            need_counted(profile, file, "run it with --call-paths")
        if form == "lcov":
            text = to_lcov(profile, function, lambda line: click.echo(f"trodden: {visible(line)}", err=True))
        else:
            text = writers[form](profile, function)
    put(text, output)


def _json(
    file: str,
    process: str | None,
    program: str | None,
    view: Reading,
    function: str | None,
    bounds: str | None,
) -> str:
    from trodden.api.longer import load_for_longer, longer_paths
    from trodden.export.json_document import to_json

    if bounds is None:
        return to_json(load_process(file, process, program, view), function)
    profile = load_for_longer(file, process, program, view)
    return to_json(profile, function, longer_paths(profile, bounds, function))


def _calls(profile: Profile) -> Iterator[bytes]:
    from trodden.api.traces import use
    from trodden.export.perfetto import to_perfetto

    use()
    parts = to_perfetto(profile)
    while some := list(islice(parts, _AT_ONCE)):
        yield b"".join(some)
