"""Module flags, and what else the metadata of a module says about how it is compiled."""

from __future__ import annotations


def has_flag(metadata: str, name: str) -> bool:
    """Whether a module has a flag of that name."""
    return f'!"{name}"' in metadata


def with_flag_value(metadata: str, name: str, value: int) -> str:
    """The metadata with another value of a flag, if the module has it."""
    before, found, after = metadata.partition(f'!"{name}", i32 ')
    return f"{before}{found}{value}{after.lstrip('0123456789')}" if found else metadata


def is_position_independent_library(metadata: str) -> bool:
    """Whether the code may be part of a shared library: position-independent, and not for an executable."""
    return has_flag(metadata, "PIC Level") and not has_flag(metadata, "PIE Level")


def with_full_debug_info(metadata: str) -> str:
    """The metadata of a module whose compile units describe variables, not only lines."""
    return metadata.replace("emissionKind: LineTablesOnly", "emissionKind: FullDebug")
