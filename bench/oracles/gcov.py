"""Line counts as gcov tells them, by LLVM's tool and by GCC's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.build.compile import Built
from bench.run.callgrind import Runner
from bench.support.errors import BenchError

Lines = dict[str, dict[int, int]]

LLVM_COV = "llvm-cov-22"


def with_llvm(built: Built, runner: Runner) -> Lines:
    """What clang's ``--coverage`` has counted: the lines of all objects, added up."""
    lines: Lines = {}
    for data in _notes_beside_data(built, runner):
        called([LLVM_COV, "gcov", "-i", data.name], data.parent)
        text = Path(f"{data}.gcov").read_text(errors="replace")
        _add(lines, from_intermediate(text.splitlines(), built.executable.parent))
    return lines


def with_gcc(built: Built, runner: Runner) -> Lines:
    """What gcc's ``--coverage`` has counted."""
    lines: Lines = {}
    for data in _notes_beside_data(built, runner):
        output = called(["gcov", "--json-format", "--stdout", data.name], data.parent)
        for text in output.splitlines():
            _add(lines, from_json(json.loads(text), built.executable.parent))
    return lines


def from_intermediate(text: Iterable[str], directory: Path) -> Lines:
    """LLVM's intermediate format: ``file:NAME`` and ``lcount:LINE,COUNT`` below it."""
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
    """GCC's JSON format; a line stands once for each instance of a template and is added up."""
    lines: Lines = {}
    for file in document["files"]:
        current = lines.setdefault(_absolute(file["file"], directory), {})
        for line in file["lines"]:
            number = line["line_number"]
            current[number] = current.get(number, 0) + line["count"]
    return lines


def _notes_beside_data(built: Built, runner: Runner) -> list[Path]:
    """The data files of a run, each with the notes that the compiler wrote."""
    found: list[Path] = []
    for made in built.objects:
        data = Path(f"{runner.directory}/gcov{made.with_suffix('.gcda')}")
        if data.is_file():
            shutil.copy(made.with_suffix(".gcno"), data.with_suffix(".gcno"))
            found.append(data)
    if not found:
        raise BenchError(f"{built.executable}: has left no coverage data in {runner.directory}")
    return found


def _add(total: Lines, more: Lines) -> None:
    for file, lines in more.items():
        known = total.setdefault(file, {})
        for line, count in lines.items():
            known[line] = known.get(line, 0) + count


def _absolute(name: str, directory: Path) -> str:
    return os.path.normpath(os.path.join(directory, name))


def called(command: Sequence[str], directory: Path) -> str:
    """The output of a tool that has to succeed."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BenchError(f"{' '.join(command)} failed: {last}")
    return done.stdout
