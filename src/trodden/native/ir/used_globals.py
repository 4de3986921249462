"""The list ``@llvm.used`` of the globals that the linker must keep."""

from __future__ import annotations

from trodden.native.ir.grammar import USED_GLOBALS
from trodden.native.ir.module import IRModule
from trodden.native.ir.nesting import split_list


def take_used_globals(module: IRModule) -> list[str]:
    """Remove the list from a module; its elements, with their types."""
    match = USED_GLOBALS.search(module.prologue)
    if match is None:
        return []
    module.prologue = module.prologue[: match.start()] + module.prologue[match.end() :]
    return split_list(match.group(1))
