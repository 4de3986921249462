"""``trodden profile-of``: the edge or path profile that follows from a trace."""

from __future__ import annotations

import click

from trodden.commands.click_options import file_argument
from trodden.errors import BadFile
from trodden.visible_text import visible

_MOST = 20


@click.command()
@file_argument
@click.option(
    "--profile",
    "kind",
    type=click.Choice(["edges", "paths"]),
    default="edges",
    show_default=True,
    help="What the new profile has counts of.",
)
@click.option("-o", "--output", metavar="OUT.trod", required=True, type=click.Path(), help="Where to.")
def profile_of(file: str, kind: str, output: str) -> None:
    """Make an edge or path profile of the trace in the profile FILE.

    Its counts are those that the same run would have counted.  If it has counted every edge (--counters
    checked), they are compared, and the exit status is 93 if any differs.
    """
    from trodden.api.traces import load
    from trodden.profile.derived import derive
    from trodden.profile.store.files import check_writable, refuse_inputs
    from trodden.profile.store.trod import save

    refuse_inputs(output, [file])
    check_writable(output)
    derived = derive(load(file), kind)
    save(derived.profile, output)
    for contradiction in derived.contradictions[:_MOST]:
        click.echo(f"trodden: {visible(contradiction)}", err=True)
    if derived.contradictions:
        number = len(derived.contradictions)
        raise BadFile(f"{file}: the trace contradicts {number:,} counters of the same run; report this")
