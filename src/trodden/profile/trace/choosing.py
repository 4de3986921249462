"""Reading no more than some blocks of a trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trodden.profile.trace.program import TracedProgram
from trodden.recover.trace.compiled import CompiledProgram, TableOfProcedure


class Choosing(CompiledProgram):
    """A program of which only some blocks are of interest."""

    def __init__(self, library: Path, program: TracedProgram, blocks: Callable[[int], bytes]) -> None:
        super().__init__(library, program)
        self._blocks = blocks

    def prepare(self, table: TableOfProcedure, number: int) -> None:
        """Say which blocks of a function are of interest."""
        table.want(self._blocks(number))
