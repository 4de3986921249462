"""Whether the lines of a program are those that an optimiser has left."""

from __future__ import annotations

from collections.abc import Iterable

from trodden.profile.model import FunctionProfile

OPTIMISED = (
    "optimised: the counts are those of the code that is left; --stage early counts the lines of the source"
)


def optimised_note(functions: Iterable[FunctionProfile]) -> str | None:
    """A line of text for readers of line counts, if any of these functions was optimised."""
    return OPTIMISED if any(function.facts.optimised for function in functions) else None
