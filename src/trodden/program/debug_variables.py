"""The names of the values and of the artificial debug variables by which an interrupted frame is located.

A front end emits them (``native/lower``); with them the debug information of the finished program says for
any instruction in which block it is and what the path register holds there (``collect/frames``).
"""

from __future__ import annotations

from trodden.plan.paths.path_register import Base, BlockPhi, LoopPhi

AT = "__trodden_at"
"""The variable that holds the number of the block; its name goes on with the unit's tag and flags."""

LINE = "__trodden_line"
"""The variable that holds a block and the index of one of its lines, as :func:`line_value` joins them."""

VALUE = "__trodden_value"
"""A variable that holds a base of the path register; its name goes on with that of the base."""

KEPT = "__trodden_cell"
"""The stack slot for the path register; its name goes on with the blocks after whose calls it is read."""

TRIPS = "__trodden_trips"
"""An induction variable; its name goes on with the loop's back edge, the start, the step and the bits."""

BY_LINE = "l"
"""A flag of the function: the line of an instruction's location is the number of its probe."""

BY_DISCRIMINATOR = "d"
"""A flag of the function: the discriminator of an instruction's location is the number of its probe."""

PLAIN = "p"
"""A flag of the function: it was compiled without optimisation."""

REGISTER_SLOT = "trodden.cell"
"""The stack slot for the path register, as a value of the function."""


def base_name(base: Base) -> str:
    """The name of the value that a base of the path register is in the function."""
    match base:
        case BlockPhi(block):
            return f"trodden.r.{block}"
        case LoopPhi(loop):
            return f"trodden.c.{loop}"
        case _:
            return REGISTER_SLOT


def base_variable(base: Base) -> str:
    """The name of the debug variable that holds a base of the path register."""
    return f"{VALUE}.{base_name(base)}"


_LINES = 1 << 32


def line_value(block: int, line: int) -> int:
    """The value of the variable ``LINE`` from the first instruction of a block's line on."""
    return block * _LINES + line


def block_and_line(value: int) -> tuple[int, int]:
    """The block and the index of the line that a value of the variable ``LINE`` joins."""
    return divmod(value, _LINES)
