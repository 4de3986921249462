"""How much of a trace a run keeps: at most so many bytes, or the last ones of each thread.

Programs read this from their environment (``native/runtime/trace/streams.c``): it is chosen for each run, and
changes nothing in a build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trodden.errors import UsageError

_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[KMG]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MOST = 1 << 62
_LEAST_RING = 256 << 10


@dataclass(frozen=True)
class TraceSize:
    """``limit``: how many bytes a process records; ``ring``: how many each thread keeps.  0: not given."""

    limit: int = 0
    ring: int = 0

    def __bool__(self) -> bool:
        return bool(self.limit or self.ring)

    @property
    def given(self) -> str:
        """The flag that was given."""
        return "--trace-ring" if self.ring else "--trace-limit"

    def need_traces(self, recorded: bool) -> None:
        """Check that what is built here records a trace, if a size was given."""
        if self and not recorded:
            raise UsageError(f"{self.given}: goes with --profile trace")

    def variables(self) -> dict[str, str]:
        """What programs find in their environment.  One of the two replaces both of whoever calls us."""
        if not self:
            return {}
        return {"TRODDEN_TRACE_LIMIT": str(self.limit), "TRODDEN_TRACE_RING": str(self.ring)}


WHOLE = TraceSize()
"""Everything is kept."""


def trace_size(limit: int | str | None, ring: int | str | None) -> TraceSize:
    """The sizes that were given, as numbers or as text with a unit."""
    found = TraceSize(_bytes("--trace-limit", limit), _bytes("--trace-ring", ring))
    if 0 < found.ring < _LEAST_RING:
        raise UsageError(f"--trace-ring {ring}: is too small; a ring has at least 256K")
    if found.limit and found.ring:
        raise UsageError(
            "--trace-limit, --trace-ring: choose one; a ring is never full, since it keeps the last part only"
        )
    return found


def _bytes(flag: str, given: int | str | None) -> int:
    if given is None:
        return 0
    match = _SIZE.fullmatch(str(given))
    size = int(match["number"]) * _UNITS[match["unit"].upper()] if match else 0
    if not 0 < size < _MOST:
        raise UsageError(f"{flag} {given}: is no size; give a number of bytes, or with K, M or G as in 16M")
    return size
