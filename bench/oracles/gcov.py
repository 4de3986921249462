"""Line counts by gcov, both LLVM's and GCC's."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from bench.build.toolchain import output_of
from bench.run.runs import RunResult
from bench.support.errors import BenchError

Lines: TypeAlias = dict[str, dict[int, int]]
"""Counts by file and line."""

LLVM_COV = "llvm-cov-22"
GCOV = "gcov"


def with_llvm(result: RunResult, directory: Path) -> Lines:
    """The counts of clang's ``--coverage``, summed over all objects; they were built in a directory."""
    lines: Lines = {}
    for data in _data_files(result):
        output_of([LLVM_COV, "gcov", "-i", data.name], data.parent)
        text = Path(f"{data}.gcov").read_text(errors="replace")
        _add(lines, from_intermediate(text.splitlines(), directory))
    return lines


def with_gcc(result: RunResult, directory: Path) -> Lines:
    """The counts of gcc's ``--coverage``, summed over all objects; they were built in a directory."""
    lines: Lines = {}
    for data in _data_files(result):
        output = output_of([GCOV, "--json-format", "--stdout", data.name], data.parent)
        for text in output.splitlines():
            _add(lines, from_json(json.loads(text), directory))
    return lines


def from_intermediate(text: Iterable[str], directory: Path) -> Lines:
    """LLVM's intermediate format: ``file:NAME``, followed by ``lcount:LINE,COUNT``."""
    lines: Lines = {}
    current: dict[int, int] = {}
    for entry in text:
        kind, _, rest = entry.partition(":")
        if kind == "file":
            current = lines.setdefault(_absolute(rest, directory), {})
        elif kind == "lcount":
            line, count = rest.split(",")[:2]
            current[int(line)] = current.get(int(line), 0) + int(count)
    return lines


def from_json(document: Any, directory: Path) -> Lines:
    """GCC's JSON format; a line of a template occurs once for each instance, and these are summed."""
    lines: Lines = {}
    for file in document["files"]:
        current = lines.setdefault(_absolute(file["file"], directory), {})
        for line in file["lines"]:
            number = line["line_number"]
            current[number] = current.get(number, 0) + line["count"]
    return lines


def _data_files(result: RunResult) -> list[Path]:
    """The data files of a run, each with a copy of the notes that the compiler wrote beside its object."""
    prefix = result.directory / "gcov"
    for data in result.gcda_files:
        notes = Path("/", data.relative_to(prefix)).with_suffix(".gcno")
        shutil.copy(notes, data.with_suffix(".gcno"))
    if not result.gcda_files:
        raise BenchError(f"the run has left no coverage data in {result.directory}")
    return result.gcda_files


def _add(total: Lines, more: Lines) -> None:
    for file, lines in more.items():
        known = total.setdefault(file, {})
        for line, count in lines.items():
            known[line] = known.get(line, 0) + count


def _absolute(name: str, directory: Path) -> str:
    return os.path.normpath(os.path.join(directory, name))
