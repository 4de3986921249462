"""``trodden merge``: many profiles into one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import click

from trodden.errors import InputMissing, LeftOut
from trodden.visible_text import visible
from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.merging.merge import Merged

MOST_LINES = 20
_MANY = 50


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o", "--output", metavar="OUT.trod", required=True, type=click.Path(), help="The profile to write."
)
@click.option(
    "--combine",
    type=click.Choice(["sum", "evidence"]),
    default="sum",
    show_default=True,
    help="Add counts up, or give every run the same weight whatever its length.",
)
@click.option("--strict", is_flag=True, help="Write nothing unless everything can be merged.")
def merge(files: tuple[str, ...], output: str, combine: str, strict: bool) -> None:
    """Merge the profiles FILE... into one; raw files may be among them.

    @LIST stands for the files that LIST names, one per line, and - for those that standard input names.  A
    file that is damaged is named and left out, and the exit status is 101.
    """
    from trodden.api.profiles import merge_files
    from trodden.profile.store.files import check_writable
    from trodden.profile.store.trod import has_trace, save

    check_writable(output)
    listed = any(file == "-" or file.startswith("@") for file in files)
    many = listed or len(files) >= _MANY
    names = _names(files)
    if has_trace(output):
        names = _but(output, names)
    with _progress(None if listed else len(files), many) as (counted, warn):
        merged = merge_files(counted(names), combine, strict, warn)
    save(merged.profile, output)
    _report_unjoined(merged, output)
    if merged.left_out:
        total = merged.taken + merged.left_out
        raise LeftOut(f"{output}: written without {merged.left_out:,} of {total:,} profiles, named above")


def _names(files: Sequence[str]) -> Iterator[str]:
    """The names of all files, those in lists included."""
    for file in files:
        if file == "-":
            yield from _lines(sys.stdin.buffer)
        elif file.startswith("@"):
            try:
                with open(file[1:], "rb") as stream:
                    yield from _lines(stream)
            except OSError as error:
                raise InputMissing(f"{file[1:]}: cannot be read: {error.strerror}") from error
        else:
            yield file


def _but(output: str, names: Iterator[str]) -> Iterator[str]:
    """The names, of which none may be that of the output: only the counts of a trace are merged."""
    from trodden.profile.store.files import refuse_inputs

    for name in names:
        refuse_inputs(output, [name])
        yield name


def _lines(stream: Iterable[bytes]) -> Iterator[str]:
    for line in stream:
        name = line.rstrip(b"\r\n")
        if name:
            yield os.fsdecode(name)


_Counted = Callable[[Iterator[str]], Iterator[str]]
_Warn = Callable[[str], None]


def _progress(total: int | None, many: bool) -> AbstractContextManager[tuple[_Counted, _Warn]]:
    """A function that counts the files as they are read, and one that prints a line about a file.

    At a terminal the first one drives a progress bar; elsewhere a line says if it takes long.
    """
    return _bar(total) if sys.stderr.isatty() else _quiet(many)


@contextmanager
def _quiet(many: bool) -> Iterator[tuple[_Counted, _Warn]]:
    with waiting("merging profiles", many):
        yield iter, lambda line: click.echo(f"trodden: {visible(line)}", err=True)


@contextmanager
def _bar(total: int | None) -> Iterator[tuple[_Counted, _Warn]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
    from rich.text import Text

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), "profiles", TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)

        def counted(names: Iterator[str]) -> Iterator[str]:
            for name in names:
                yield name
                progress.advance(task)

        yield counted, lambda line: console.print(Text(f"trodden: {visible(line)}"), soft_wrap=True)


def _report_unjoined(merged: Merged, output: str) -> None:
    """Name the functions of other builds that could not be merged; of many only the first."""
    for each in merged.unjoined[:MOST_LINES]:
        click.echo(f"trodden: note: {visible(str(each))}", err=True)
    more = len(merged.unjoined) - MOST_LINES
    if more > 0:
        click.echo(
            f"trodden: note: and {more:,} more functions; {output} has the others in its messages", err=True
        )
