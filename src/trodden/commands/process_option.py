"""``--process PID``: what one process of a profile has counted, for all verbs that look at profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trodden.profile.model import Profile

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def process_option(verb: _Verb) -> _Verb:
    """Add the option to a verb."""
    return click.option(
        "--process", metavar="PID", help="Only what this process has counted; PID.N if several had that PID."
    )(verb)


def load_process(file: str, process: str | None) -> Profile:
    """The profile in a file, or the part of it that one process has counted."""
    from trodden.profile.store.trod import load

    profile = load(file)
    if process is None:
        return profile
    from trodden.profile.estimated import need_counted
    from trodden.profile.processes import only

    need_counted(profile, file, "leave --process out")
    return only(profile, process, file)
