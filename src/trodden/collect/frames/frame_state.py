"""The state of an interrupted frame: its block, its path register and its pending probes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrameState:
    """What is known of a frame.

    ``unit`` is the id of a unit and ``function`` an index in it.  ``block`` is the block of the function's
    graph that the frame has reached; EXIT if all probes of a return have executed.  ``register`` is the path
    register there, ``None`` if there is none or the block alone identifies the path.

    All probes on the edges to ``block`` count as executed.  Those that have not executed are pending:
    ``pending`` are slots of the unit and what is to be added to them, ``ended_paths`` the paths, counted by
    number, that are to be counted.  ``path_counted``: the path was counted before its end, from where on
    every block has one successor, so these blocks count as executed.  ``counted_ahead``: with lines that
    control had not reached.

    ``lines_reached`` is how many of the lines of ``block`` control had reached, ``None`` if that is unknown.
    """

    unit: str
    function: int
    block: int
    register: int | None = None
    pending: tuple[tuple[int, int], ...] = ()
    ended_paths: tuple[int, ...] = ()
    path_counted: bool = False
    lines_reached: int | None = None
    counted_ahead: bool = False
