"""``trodden collect``: raw files become a profile."""

from __future__ import annotations

import click

from trodden.visible import visible


@click.command()
@click.argument("raws", metavar="RAW...", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o", "--output", metavar="FILE.trod", default="trodden.trod", show_default=True, type=click.Path()
)
@click.option(
    "--program",
    "programs",
    metavar="PATH",
    multiple=True,
    type=click.Path(),
    help="The program that ran, if it is no longer where it was; may be given several times.",
)
def collect(raws: tuple[str, ...], output: str, programs: tuple[str, ...]) -> None:
    """Add up the counts in RAW... and write them, with all that is known of the program, to FILE.trod."""
    from trodden.profile.collect import collect as gather
    from trodden.profile.store import save

    profile = gather(raws, programs)
    save(profile, output)
    for note in profile.notes:
        click.echo(f"trodden: note: {visible(note)}", err=True)
