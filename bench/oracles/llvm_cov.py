"""Line counts by LLVM's source-based coverage: regions of the source, not blocks of the program."""

from __future__ import annotations

from collections.abc import Iterable

from bench.build.compile import Built
from bench.oracles.gcov import LLVM_COV, Lines, called
from bench.run.callgrind import Runner

LLVM_PROFDATA = "llvm-profdata-22"


def with_regions(built: Built, runner: Runner) -> Lines:
    """What ``-fprofile-instr-generate -fcoverage-mapping`` has counted."""
    merged = runner.directory / "counts.profdata"
    called([LLVM_PROFDATA, "merge", str(runner.profraw), "-o", str(merged)], runner.directory)
    command = [LLVM_COV, "export", "--format=lcov", f"--instr-profile={merged}", str(built.executable)]
    return from_tracefile(called(command, runner.directory).splitlines())


def from_tracefile(text: Iterable[str]) -> Lines:
    """The lcov format: ``SF:FILE`` and ``DA:LINE,COUNT`` below it."""
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
