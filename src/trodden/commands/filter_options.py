"""Which part of a profile is shown, and where its sources are: options of the verbs that show one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from trodden.errors import UsageError
from trodden.profile.reading import Reading

_Verb = Callable[..., Any]


def filter_options(verb: _Verb) -> _Verb:
    """Add ``--include``, ``--exclude``, ``--system``, ``--source-dir`` and ``--copies``.

    The verb gets one :class:`Reading`, ``view``.
    """

    @wraps(verb)
    def filtered(
        *args: Any,
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        system: bool,
        source_dir: tuple[str, ...],
        copies: bool,
        **rest: Any,
    ) -> Any:
        view = Reading(include, exclude, system, tuple(map(_directories, source_dir)), copies)
        return verb(*args, view=view, **rest)

    options = (
        click.option(
            "--include",
            metavar="GLOB",
            multiple=True,
            help="Only these files or functions: a path, the end of a path, a directory, a name."
            "  May be repeated.",
        ),
        click.option(
            "--exclude", metavar="GLOB", multiple=True, help="Not these files or functions.  May be repeated."
        ),
        click.option(
            "--system", is_flag=True, help="Also what belongs to system headers and standard libraries."
        ),
        click.option(
            "--source-dir",
            metavar="OLD=NEW",
            multiple=True,
            help="Sources that were below OLD when the program was built are below NEW now."
            "  May be repeated.",
        ),
        click.option(
            "--copies",
            is_flag=True,
            help="Show the copies of a function that several compiled files hold one by one.",
        ),
    )
    command: _Verb = filtered
    for option in reversed(options):
        command = option(command)
    return command


def markers_option(verb: _Verb) -> _Verb:
    """Add ``--ignore-markers`` to a verb that has the options above; its ``view`` obeys markers otherwise."""

    @wraps(verb)
    def obeying(*args: Any, view: Reading, ignore_markers: bool, **rest: Any) -> Any:
        return verb(*args, view=view.obeying(not ignore_markers), **rest)

    return click.option(
        "--ignore-markers",
        is_flag=True,
        help="Also count what comments such as LCOV_EXCL_LINE exclude from coverage.",
    )(obeying)


def _directories(given: str) -> tuple[str, str]:
    old, equals, new = given.partition("=")
    if not (old and equals and new):
        raise UsageError(f"--source-dir {given}: write it as OLD=NEW, two directories")
    return old, new
