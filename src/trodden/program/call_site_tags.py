"""The tag by which a table of call sites names a unit."""

from __future__ import annotations


def tag_of(unit_id: str) -> int:
    """The tag that stands for a unit in the table."""
    return int.from_bytes(bytes.fromhex(unit_id[:8]), "little")
