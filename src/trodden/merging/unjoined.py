"""What is not part of the result of a merge, with the reason; only the first items of a list are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Unjoined:
    """A function of the profile ``where`` that was not joined; ``ran``: it was executed there."""

    name: str
    where: str
    reason: str
    ran: bool

    def __str__(self) -> str:
        return f"{self.name} of {self.where} was not joined: {self.reason}"


class UnjoinedList:
    """Each function once for each reason, whatever the number of profiles is."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Unjoined] = {}

    def add(self, function: Unjoined) -> None:
        """Add a function."""
        key = function.name, function.reason
        known = self._found.get(key)
        if known is None or (function.ran and not known.ran):
            self._found[key] = function

    def functions(self) -> tuple[Unjoined, ...]:
        """All of them, those that ran first."""
        return tuple(sorted(self._found.values(), key=lambda each: not each.ran))


class Messages:
    """The first of many messages, each once, and how many there were."""

    def __init__(self) -> None:
        self.first: dict[str, None] = {}
        self._total = 0

    def add(self, message: str) -> None:
        """Add a message, unless it is among the first already."""
        if message not in self.first:
            self._total += 1
            if len(self.first) < MOST_LISTED:
                self.first[message] = None

    def listed(self, rest: str) -> Iterator[str]:
        """The first of them, and how many more there are."""
        return shortened(list(self.first), self._total, rest)


def shortened(lines: Sequence[str], total: int, rest: str) -> Iterator[str]:
    """At most MOST_LISTED of ``lines``, and how many of the ``total`` are not among them."""
    yield from lines[:MOST_LISTED]
    missing = total - min(len(lines), MOST_LISTED)
    if missing:
        yield f"and {missing:,} more {rest}"
