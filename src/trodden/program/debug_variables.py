"""The names of the values and of the artificial debug variables by which an interrupted frame is located.

A front end emits them (``native/lower``); with them the debug information of the finished program says for
any instruction in which block it is and what the path register holds there (``collect/frames``).
"""

from __future__ import annotations

from trodden.plan.overlap_probes import Channel
from trodden.plan.paths.path_register import Base, BlockPhi, Chosen, LoopPhi, OverlapPhi

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


_CHANNELS = {Channel.LOOP: "", Channel.ENTERED: "entered.", Channel.RETURNED: "returned."}


def base_name(base: Base) -> str:
    """The name of the value that a base of the path register is in the function."""
    match base:
        case BlockPhi(block):
            return f"trodden.r.{block}"
        case LoopPhi(loop):
            return f"trodden.c.{loop}"
        case OverlapPhi(channel, part, block):
            return f"trodden.{_CHANNELS[channel]}{part.value}.{block}"
        case Chosen(channel, part, edge, probe):
            last = "" if probe is None else f".{probe}"
            return f"trodden.{_CHANNELS[channel]}{part.value}.e{edge}{last}"
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
