"""Options of the verbs that show longer paths."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from trodden.api.longer import FIXED, TIGHT
from trodden.errors import UsageError


def longer_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--longer`` and ``--bounds``; the verb gets ``longer`` and ``bounds``."""

    @wraps(verb)
    def chosen(*args: Any, longer: bool, bounds: str | None, **rest: Any) -> Any:
        if bounds is not None and not longer:
            raise UsageError("--bounds: is for --longer; add that, or leave it out")
        return verb(*args, longer=longer, bounds=bounds or TIGHT, **rest)

    with_bounds = click.option(
        "--bounds",
        type=click.Choice((TIGHT, FIXED)),
        help="With --longer: the tightest bounds that the counts allow, or those of the equations of the"
        f" paper (TZG04).  [default: {TIGHT}]",
    )(chosen)
    return click.option(
        "--longer",
        is_flag=True,
        help="Paths of two iterations of a loop, and from callers into callees and back, with bounds on their"
        " counts; exact from a trace.",
    )(with_bounds)
