"""How a module is to be compiled and linked: flags, debug information, globals to keep."""

from __future__ import annotations

from trodden.native.ir.module import IRModule
from trodden.native.ir.syntax.grammar import USED_GLOBALS
from trodden.native.ir.syntax.nesting import split_list


def has_flag(metadata: str, name: str) -> bool:
    """Whether a module has a flag of that name."""
    return f'!"{name}"' in metadata


def set_flag_value(metadata: str, name: str, value: int) -> str:
    """The metadata with another value of a flag, if the module has it."""
    before, found, after = metadata.partition(f'!"{name}", i32 ')
    return f"{before}{found}{value}{after.lstrip('0123456789')}" if found else metadata


def is_position_independent_library(metadata: str) -> bool:
    """Whether the code may be part of a shared library: position-independent, and not for an executable."""
    return has_flag(metadata, "PIC Level") and not has_flag(metadata, "PIE Level")


def enable_full_debug_info(metadata: str) -> str:
    """The metadata of a module whose compile units describe variables, not only lines."""
    return metadata.replace("emissionKind: LineTablesOnly", "emissionKind: FullDebug")


def take_used_globals(module: IRModule) -> list[str]:
    """Remove ``@llvm.used`` from a module; its elements, which the linker must keep, with their types."""
    match = USED_GLOBALS.search(module.prologue)
    if match is None:
        return []
    module.prologue = module.prologue[: match.start()] + module.prologue[match.end() :]
    return split_list(match.group(1))


def is_optimised(epilogue: str) -> bool:
    """Whether the front end was asked to have the program optimised, as far as debug information says so."""
    return "isOptimized: true" in epilogue
