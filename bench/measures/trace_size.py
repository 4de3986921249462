"""The size of a recorded execution: as the run writes it, and compressed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from zstandard import ZstdCompressor

from bench.build.configurations import config_of
from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.program.trace_chunk import HEADER_SIZE, SPOOL_HEADER_SIZE, chunk_extent, packed_entry

_LEVEL = 5
"""That of trodden, where it is not in a hurry."""

_PIECE = 256 << 10
"""trodden compresses pieces of this size one by one, so that each is read without the others."""


@dataclass(frozen=True)
class TraceSize(RunMeasure):
    """Bytes of the record of a run: ``raw``, and ``compressed`` in pieces of the same size."""

    kind: ClassVar[str] = "trace size"

    def measure(self, program: SuiteProgram) -> Json:
        """Run once, and compress what was recorded."""
        run = run_of(program, self.config, self.case, "trace-size")
        result = run.execute()
        files = _recorded(result.directory, config_of(self.config).trodden)
        if not files:
            raise BenchError(f"{run.what}: the run has recorded nothing")
        raw = sum(path.stat().st_size for path in files)
        packed = _packed if config_of(self.config).trodden else _in_pieces
        found = {"raw": raw, "compressed": packed(files, run.what)}
        shutil.rmtree(result.directory, ignore_errors=True)
        return found


def _recorded(directory: Path, ours: bool) -> list[Path]:
    return sorted(directory.glob("counts.*.raw.trace" if ours else "edges.*"))


def _packed(files: list[Path], what: str) -> int:
    """As ``trodden run`` packs traces, when it is not in a hurry: chunk by chunk."""
    compressor = ZstdCompressor(level=_LEVEL)
    return sum(
        len(packed_entry(head, compressor.compress(records)))
        for path in files
        for head, records in _chunks(path, what)
    )


def _chunks(path: Path, what: str) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a spool file, each its header and its records."""
    with path.open("rb") as stream:
        position = stream.seek(SPOOL_HEADER_SIZE)
        while header := stream.read(HEADER_SIZE):
            extent = chunk_extent(header, what, position)
            if not extent.finished:
                raise BenchError(f"{what}: a chunk of the trace is not finished")
            stream.seek(position)
            chunk = stream.read(extent.size)
            yield chunk[: extent.head], chunk[extent.head : extent.head + extent.records]
            position += extent.size


def _in_pieces(files: list[Path], what: str) -> int:
    compressor = ZstdCompressor(level=_LEVEL)
    return sum(len(compressor.compress(piece)) for path in files for piece in _pieces(path))


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield piece
