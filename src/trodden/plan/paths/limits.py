"""How many paths a procedure may have; compilers state it among their options without planning anything."""

from __future__ import annotations

DEFAULT_LIMIT = 1024
"""How many paths a procedure may have before some are cut."""

DENSE = 2**18
"""The largest table with a counter for every path; where there are more, a sparse path table is used."""
