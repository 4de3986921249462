"""What the compiler, which writes the table of call sites of a program, and its reader have in common.

``docs/formats.md`` describes the table.
"""

from __future__ import annotations

SITES_SECTION = ".trodden_sites"
"""The section in which call sites are listed."""

NO_BLOCK = -1
"""In place of its block, for a call after which its function is left: the exit is counted before it."""


def tag_of(unit_id: str) -> int:
    """The tag that stands for a unit in the table."""
    return int.from_bytes(bytes.fromhex(unit_id[:8]), "little")
