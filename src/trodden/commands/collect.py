"""``trodden collect``: make a profile of raw files."""

from __future__ import annotations

import click

from trodden.errors import LeftOut
from trodden.visible_text import visible


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
    help="The program that ran, if it has been moved; may be repeated.",
)
def collect(raws: tuple[str, ...], output: str, programs: tuple[str, ...]) -> None:
    """Add up the counts in RAW... and write them, with the facts of the program, to FILE.trod.

    A directory stands for all raw files in it.  A file that is damaged is named and left out if there are
    others, and the exit status is 101.
    """
    from trodden.api import profiles

    collected = profiles.collect(raws, programs, output)
    for note in collected.profile.messages:
        click.echo(f"trodden: note: {visible(note)}", err=True)
    if collected.left_out.number:
        number = collected.left_out.number
        raise LeftOut(f"{output}: written without {number:,} raw file{'s' * (number > 1)}, named above")
