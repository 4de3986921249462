"""Programs of several procedures that are traced, and what a thread of one did and wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from trodden.plan.trace.activation import Procedure
from trodden.plan.trace.records import CodeAddress, Record, encode


class Step(NamedTuple):
    """A block was executed: how many activations were below, in which procedure, which block."""

    depth: int
    procedure: int
    block: int


class Ending(Enum):
    """How a thread ended."""

    RETURNED = "returned"
    LEFT = "left"  # all frames were unwound
    EXITED = "exited"  # in a call
    KILLED = "killed"  # anywhere


@dataclass(frozen=True)
class Program:
    """Procedures, and what code without probes may call: ``roots`` to start threads, ``callbacks`` later.

    A procedure with tail calls writes when it is entered: what it calls returns in its place, and after
    a call that is certain nothing would tell whether it has.
    """

    procedures: Sequence[Procedure]
    roots: tuple[int, ...]
    callbacks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for procedure in self.procedures:
            if procedure.trace.tails and not procedure.trace.entered:
                raise ValueError(f"{procedure.graph.name}: a call that is certain enters a tail call")


@dataclass
class ThreadRun:
    """What a thread did and wrote.

    ``frames`` are the call blocks in which its activations wait at the end, innermost first; one that was
    killed in the middle of a region is not among them.  ``counters[p]`` are the sums of the plan's slots.
    """

    steps: list[Step] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    frames: tuple[tuple[int, int], ...] = ()
    ending: Ending = Ending.RETURNED
    counters: dict[int, list[int]] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        """The bytes of the records."""
        return b"".join(map(encode, self.records))


MODULE = 7
"""The module of all call sites here."""

_PROCEDURE = 1 << 20


def site_address(procedure: int, block: int) -> CodeAddress:
    """Where the call of a block returns to."""
    return CodeAddress(MODULE, (procedure + 1) * _PROCEDURE + block)


def call_site(address: CodeAddress) -> tuple[int, int] | None:
    """The procedure and block of a call that returns to an address; ``None`` for code without probes."""
    if address.module != MODULE or address.address < _PROCEDURE:
        return None
    return address.address // _PROCEDURE - 1, address.address % _PROCEDURE
