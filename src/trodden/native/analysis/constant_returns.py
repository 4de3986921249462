"""Which blocks of a function in LLVM IR make it return a constant, and of what kind.

A function that returns -1 or a null pointer mostly reports that something went wrong.  The constant reaches
the ``ret`` as it is, through a phi where ways meet, or, before optimisation, through a variable of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.weigh.features.clues import Given

_RETURN = re.compile(rf"  ret [^\s,{{\[<]+ (%{NAME}|[^\s,]+)")
"""Of one value: aggregates and vectors are left out."""
_PHI = re.compile(rf"^  %({NAME}) = phi \S+ (\[.*)$", re.MULTILINE)
_INCOMING = re.compile(rf"\[ ([^\s,]+), %({NAME}) \]")
_MOST_PHIS = 8
"""How many phis a constant is followed through on its way to the ``ret``."""


def returned_constants(ir: IRFunction) -> Mapping[str, Given]:
    """The blocks (their labels) after which the function returns a constant, and its kind."""
    phis = {name: text for block in ir.blocks for name, text in _PHI.findall(block.text)}
    found: dict[str, Given] = {}
    cells: set[str] = set()
    for block in ir.blocks:
        match = _RETURN.match(block.text, block.terminator_start) if block.opcode == "ret" else None
        if match is None:
            continue
        value = match.group(1)
        if not value.startswith("%"):
            found[block.label] = _kind(value)
            continue
        load = re.search(rf"^  {re.escape(value)} = load [^,]+, ptr %({NAME})", block.text, re.MULTILINE)
        if load is not None and _is_variable(ir, load.group(1)) and load.group(1) not in cells:
            cells.add(load.group(1))
            found.update(_stored(ir, load.group(1)))
        _follow(value[1:], phis, found)
    return found


def _follow(name: str, phis: Mapping[str, str], found: dict[str, Given]) -> None:
    work, seen = [name], set[str]()
    while work and len(seen) < _MOST_PHIS:
        name = work.pop()
        if name in seen or name not in phis:
            continue
        seen.add(name)
        for value, label in _INCOMING.findall(phis[name]):
            if value.startswith("%"):
                work.append(value[1:])
            else:
                found[label] = _kind(value)


def _is_variable(ir: IRFunction, cell: str) -> bool:
    """Whether a cell is a variable of the function, which are all made in its first block."""
    return f"  %{cell} = alloca " in ir.blocks[0].text


def _stored(ir: IRFunction, cell: str) -> dict[str, Given]:
    """The blocks whose last store to the variable that is returned is of a constant."""
    store = re.compile(rf"^  store [^\s,]+ ([^\s,]+), ptr %{re.escape(cell)}(?=,|$)", re.MULTILINE)
    found: dict[str, Given] = {}
    for block in ir.blocks:
        values = store.findall(block.text)
        if values and not values[-1].startswith("%"):
            found[block.label] = _kind(values[-1])
    return found


def _kind(value: str) -> Given:
    if value in ("poison", "undef"):
        return Given.NOTHING
    if value == "null":
        return Given.NULL
    if value in ("0", "false", "zeroinitializer"):
        return Given.ZERO
    return Given.NEGATIVE if value.startswith("-") else Given.CONSTANT
