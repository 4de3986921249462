"""Uses of values in the text of a block: in instructions, in phis and in debug records."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction, instructions_of
from trodden.native.ir.syntax.grammar import GLOBAL_NAME, LINE_OR_USE, LOCAL_USE, NAME_GOES_ON
from trodden.native.ir.syntax.names import unquote


@dataclass(slots=True)
class Uses:
    """The occurrences in a block of the values of interest: each once, in order."""

    values: dict[str, None] = field(default_factory=dict)
    """Those in instructions that are no phis, definitions included."""
    recorded: dict[str, None] = field(default_factory=dict)
    """Those in debug records."""
    phis: list[Instruction] = field(default_factory=list)
    """All phis of the block."""
    any: bool = False
    """Whether there is any occurrence, those in phis included."""


def uses_of(block: IRBlock, names: Container[str]) -> Uses:
    """The occurrences in a block of some values, ``names``."""
    found = Uses(phis=list(block.phis))
    start = found.phis[-1].end if found.phis else block.body_start
    text = block.text
    if "    #dbg_" in text:
        records = [line for line in text.split("\n") if line.startswith("    #dbg_")]
        found.recorded = _named("\n".join(records), 0, names)
        text = "\n".join(line for line in text[start:].split("\n") if not line.startswith("    #dbg_"))
        start = 0
    found.values = _named(text, start, names)
    found.any = bool(found.values or found.recorded) or any(
        phi.result in names or any(value[1:] in names for value, _ in phi.incoming) for phi in found.phis
    )
    return found


def _named(text: str, start: int, names: Container[str]) -> dict[str, None]:
    return {name: None for name in LOCAL_USE.findall(text, start) if name in names}


def rename_uses(text: str, value: Callable[[str], str], phi: Callable[[Instruction], str]) -> str:
    """Text of whole lines with other values for local names, and other lines for phis."""

    def renamed(match: re.Match[str]) -> str:
        if match["name"] is not None:
            return value(match["name"])
        if match["record"] is not None:
            return "    " + LINE_OR_USE.sub(renamed, match["record"].lstrip())
        return match.group() if match["phi"] is None else phi(next(instructions_of(match["phi"])))

    return LINE_OR_USE.sub(renamed, text)


def global_names(text: str) -> list[str]:
    """The global values that a text mentions."""
    return [unquote(name) for name in GLOBAL_NAME.findall(text)] if "@" in text else []


def mentions_value(text: str, name: str) -> bool:
    """Whether a value occurs in text of whole lines; its name is given with the prefix."""
    return _first(text, name) >= 0


def first_is_load(text: str, pointer: str) -> bool:
    """Whether the first instruction that mentions a pointer (name with the prefix) loads from it."""
    at = _first(text, f"ptr {pointer}")
    return at >= 0 and "= load " in text[text.rfind("\n", 0, at) + 1 : at]


def _first(text: str, name: str) -> int:
    """Where a name first occurs in a text, not as the start of a longer one; -1 if it does not."""
    at = text.find(name)
    while at >= 0 and NAME_GOES_ON.match(text, at + len(name)):
        at = text.find(name, at + 1)
    return at
