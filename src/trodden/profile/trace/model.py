"""What a profile has of a trace: where the records of each thread are, and what is needed to read them.

The records are not in memory: they lie in a file as compressed pieces, each of which is read when it is
needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import zstandard

from trodden.errors import BadFile
from trodden.program.trace_chunk import Flag

MOST_RECORDS = 1 << 26
"""No chunk has more bytes of records than this, nor any other piece."""


class Piece(NamedTuple):
    """A compressed part of a file: its offset among the pieces, its size there, and unpacked."""

    offset: int
    packed: int
    size: int


@dataclass(frozen=True, slots=True)
class TraceChunk:
    """A part of the records of a thread.

    Its ``frames`` were active when it began, innermost first: the module and the return address of each.  If
    ``function`` is not ``None``, that was active too, at ``location``: ``2 * v`` if the region that starts at
    vertex ``v`` comes next, ``2 * v + 1`` if the call at the end of block ``v`` does.  A chunk of ``level``
    0 is of the thread's own code; others are of a handler of ``signal``, which was called where ``offset``
    bytes of the chunk ``parent`` had been written.  The first ``inherited`` bytes were recorded by the
    process that has forked this one.  ``blocks`` is how many blocks a reader finds in it, if that is known.
    """

    thread: int
    level: int
    sequence: int
    began: int
    ended: int
    function: int | None
    location: int
    parent: int | None
    offset: int
    pc: int
    flags: Flag
    signal: int
    inherited: int
    frames: tuple[tuple[int, int], ...]
    piece: Piece
    blocks: int | None = None

    @property
    def independent(self) -> bool:
        """Whether it can be read without the chunk before it."""
        return not self.flags & Flag.DEPENDENT


@dataclass(frozen=True, slots=True)
class LastFrame:
    """A frame that was active at the end: the function by its number, its block, and how it was found.

    ``block`` is ``None`` if the function was about to return.  If it was ``interrupted``, it was anywhere in
    its block, and ``register`` is what its path register held there, if that is known.
    """

    function: int
    block: int | None
    interrupted: bool = False
    register: int | None = None


@dataclass(frozen=True, slots=True)
class Interruption:
    """Where in its last block a thread has ended: at an instruction of a line of a file, or in a call there.

    ``reached`` is how many of the block's lines control had reached, if that is known: it is for calls, and
    where code was not optimised.
    """

    file: str
    line: int
    reached: int | None = None

    def lines_of(self, lines: Sequence[tuple[str, int]]) -> int:
        """How many of the lines of the last block were reached: those up to the interrupted one."""
        if self.reached is not None:
            return min(self.reached, len(lines))
        own = [number for number, each in enumerate(lines, 1) if each == (self.file, self.line)]
        return own[-1] if own else len(lines)


@dataclass(frozen=True)
class CallSites:
    """The table of call sites of a program (:mod:`trodden.collect.binary.call_sites`), as a piece.

    ``code`` and ``functions`` are ranges of addresses.
    """

    labels: Piece
    code: tuple[tuple[int, int], ...]
    functions: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TracedProcess:
    """The trace of one process.

    ``process`` is its index among the processes of the profile.  ``units`` are the numbers of the first
    functions of units, each with the index of the unit in the profile, ascending.  ``modules`` are the
    indices of the call sites of its modules, as far as they have any.  ``ends`` are the frames that were
    active at its end, innermost first, by thread; ``interrupted`` are the threads of which the innermost was
    at any instruction.  If the trace has ``stopped``, it ends before the process does.  ``messages`` say what
    is missing.  If its trace is ``missing`` as a whole, nothing is known of what it has executed.
    """

    process: int
    pid: int
    units: tuple[tuple[int, int], ...]
    modules: dict[int, int]
    chunks: tuple[TraceChunk, ...]
    ends: dict[int, tuple[LastFrame, ...]] = field(default_factory=dict)
    interrupted: dict[int, Interruption] = field(default_factory=dict)
    stopped: bool = False
    messages: tuple[str, ...] = ()
    missing: bool = False


class Pieces:
    """Compressed pieces in a file that is open; one that replaces the file does not change them."""

    def __init__(self, descriptor: int, start: int, name: str) -> None:
        """Takes the descriptor, and closes it in the end."""
        self._descriptor = descriptor
        self._start = start
        self.name = name

    def __del__(self) -> None:
        os.close(self._descriptor)

    def packed(self, piece: Piece) -> bytes:
        """A piece as it lies in the file."""
        data = os.pread(self._descriptor, piece.packed, self._start + piece.offset)
        if len(data) < piece.packed:
            raise BadFile(f"{self.name}: truncated: a part of its trace is missing")
        return data

    def missing_bytes(self, end: int) -> int:
        """How many bytes the file lacks if its last piece ends there."""
        return max(self._start + end - os.fstat(self._descriptor).st_size, 0)

    def read(self, piece: Piece) -> bytes:
        """A piece unpacked."""
        try:
            data = zstandard.ZstdDecompressor().decompress(self.packed(piece), max_output_size=piece.size)
        except zstandard.ZstdError as error:
            raise BadFile(f"{self.name}: corrupt: a part of its trace cannot be decompressed") from error
        if len(data) != piece.size:
            raise BadFile(f"{self.name}: corrupt: a part of its trace has another size than it should")
        return data


@dataclass(frozen=True)
class Traces:
    """The traces of the processes of a profile."""

    processes: tuple[TracedProcess, ...]
    sites: tuple[CallSites, ...]
    pieces: Pieces

    def unknown_units(self) -> frozenset[int]:
        """The units of which no trace is left, by their indices."""
        lost, left = (
            {unit for each in self.processes if each.missing is missing for _, unit in each.units}
            for missing in (True, False)
        )
        return frozenset(lost - left)

    def missing_bytes(self) -> int:
        """How many bytes of the pieces are missing at the end of the file."""
        return self.pieces.missing_bytes(
            max((each.offset + each.packed for each in self.all_pieces), default=0)
        )

    @property
    def all_pieces(self) -> Sequence[Piece]:
        """Every piece once, in the order in which they are stored."""
        found = [chunk.piece for process in self.processes for chunk in process.chunks]
        return sorted({*found, *(each.labels for each in self.sites)})
