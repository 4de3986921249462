"""Line counts by LLVM's source-based coverage, which counts regions of the source instead of basic blocks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.build.toolchain import output_of
from bench.oracles.gcov import LLVM_COV, Lines
from bench.run.runs import RunResult

LLVM_PROFDATA = "llvm-profdata-22"


def with_regions(result: RunResult, executable: Path) -> Lines:
    """The counts of ``-fprofile-instr-generate -fcoverage-mapping``."""
    merged = result.directory / "counts.profdata"
    files = list(map(str, result.profraw_files))
    output_of([LLVM_PROFDATA, "merge", *files, "-o", str(merged)], result.directory)
    command = [LLVM_COV, "export", "--format=lcov", f"--instr-profile={merged}", str(executable)]
    return from_tracefile(output_of(command, result.directory).splitlines())


def from_tracefile(text: Iterable[str]) -> Lines:
    """The format of lcov: ``SF:FILE``, followed by ``DA:LINE,COUNT``."""
    lines: Lines = {}
    current: dict[int, int] = {}
    for entry in text:
        kind, _, rest = entry.partition(":")
        if kind == "SF":
            current = lines.setdefault(rest, {})
        elif kind == "DA":
            line, count = rest.split(",")[:2]
            current[int(line)] = current.get(int(line), 0) + int(count)
    return lines
