"""Calls in IR text: ``call``, ``invoke`` and ``callbr``, after their opcode."""

from __future__ import annotations

from typing import NamedTuple

from trodden.native.ir.syntax.grammar import INLINE_ASSEMBLY
from trodden.native.ir.syntax.nesting import closing, enclosed, split_list
from trodden.native.ir.syntax.operands import Operand, typed_value, value_end
from trodden.native.ir.syntax.types import first_type, type_end


class CallParts(NamedTuple):
    """A call taken apart; the offsets are into the text after its opcode.

    ``callee`` is printed with its prefix, and is None for inline assembly.  ``function_type`` is the type of
    a callee with variable arguments, which is then written out in full.  ``attributes`` are those of the call
    site: mostly the number of a group (``#7``).
    """

    type: str
    function_type: str | None
    callee: str | None
    assembly: tuple[str, str] | None
    arguments_start: int
    arguments_end: int
    attributes: tuple[str, ...]
    bundles: str


def read_call(rest: str) -> CallParts | None:
    """Take a call apart; None if this is none."""
    start = first_type(rest)
    end = None if start is None else type_end(rest, start)
    if start is None or end is None:
        return None
    type_, function_type = rest[start:end], None
    position = end + 1
    if rest.startswith("(", position):
        stop = closing(rest, position)
        if stop is None:
            return None
        function_type, position = rest[start:stop], stop + 1
    assembly = INLINE_ASSEMBLY.match(rest, position)
    after = assembly.end() if assembly is not None else value_end(rest, position)
    if not rest.startswith("(", after):
        return None
    stop = closing(rest, after) or len(rest)
    line_end = rest.find("\n", stop)
    following = rest[stop : len(rest) if line_end < 0 else line_end]
    bracket = following.find(" [")
    bundles = "" if bracket < 0 else enclosed(following, bracket + 1)
    return CallParts(
        type_,
        function_type,
        None if assembly is not None else rest[position:after],
        None if assembly is None else (assembly.group(1), assembly.group(2)),
        after + 1,
        stop - 1,
        tuple((following if bracket < 0 else following[:bracket]).split()),
        bundles.strip(),
    )


def read_arguments(text: str) -> tuple[Operand, ...]:
    """The arguments of a call; the dots of a call that passes on variable arguments are none."""
    operands = (typed_value(element) for element in split_list(text) if element != "...")
    return tuple(operand for operand in operands if operand is not None)


def bundle_operands(bundles: str) -> tuple[Operand, ...]:
    """The operands in operand bundles: ``"tag"(list), "tag"(list)``."""
    found: list[Operand] = []
    for bundle in split_list(bundles):
        tag_end = bundle.index('"', 1) + 1
        found += read_arguments(enclosed(bundle, tag_end))
    return tuple(found)
