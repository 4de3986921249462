"""Positions and lines in traces, as they are given on a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trodden.errors import UsageError

if TYPE_CHECKING:
    from trodden.profile.trace.executed import Place
    from trodden.profile.trace.reading import Position
    from trodden.profile.trace.threads import ThreadTrace

_POSITION = re.compile(r"(?P<share>[\d.]+)%|(?P<time>[\d.]+)s|(?P<block>\d+|\d{1,3}(?:,\d{3})+)")


def position(text: str | None) -> Position | None:
    """A position as it is given on a command line."""
    from trodden.profile.trace.reading import Position

    if text is None:
        return None
    match = _POSITION.fullmatch(text)
    try:
        if match and match["share"]:
            share = float(match["share"]) / 100
            if share > 1:
                raise UsageError(f"{text}: is more than there is; give a share of up to 100%")
            return Position("share", share)
        if match and match["time"]:
            return Position("time", float(match["time"]) * 1e9)
        if match:
            return Position("block", int(match["block"].replace(",", "")))
    except ValueError:
        pass
    raise UsageError(f"{text}: is no position; give the number of a block, a share as 50% or a time as 1.5s")


def place_in(text: str) -> Place:
    """A line as it is given on a command line."""
    from trodden.profile.trace.executed import Place

    file, _, number = text.rpartition(":")
    if not number.isdecimal():
        raise UsageError(f"{text}: is no line; give its number, or a file and the number as main.c:17")
    return Place(file, int(number))


def nothing_between(
    threads: Sequence[ThreadTrace], start: Position | None, stop: Position | None
) -> str | None:
    """Why nothing can be between two positions, if that is so in all of these threads."""
    from trodden.profile.trace.chunk_places import nanoseconds_of

    if start is None:
        return None
    if stop is not None and stop.kind == start.kind and stop.value <= start.value:
        return "--to is not behind --from"
    if start.kind == "block":
        blocks = max(each.starts()[-1] for each in threads)
        if start.value >= blocks:
            return f"block {int(start.value):,} lies behind the end: {blocks:,} blocks were executed"
    if start.kind == "time":
        times = [nanoseconds_of(each) for each in threads]
        known = [each for each in times if each is not None]
        if len(known) == len(times) and start.value > max(known):
            return f"{_seconds(start.value)} lies behind the end, which is at {_seconds(max(known))}"
    return None


def _seconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e9:.9f}".rstrip("0").rstrip(".") + "s"
