"""What ``trodden replay`` shows of real programs is what these have written down while they ran.

The programs (:mod:`tests.fuzz.counting.program`) are random ones; they recurse, call through pointers and are
called by the C library.  Their own record depends on nothing of trodden.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from tests.fuzz.counting.configuration import Configuration
from tests.fuzz.counting.observed import Line, Observed, observe
from tests.fuzz.counting.program import Program, random_program
from tests.fuzz.counting.sequences import lines_of, unequal_sequences
from tests.fuzz.counting.trial import Trial
from tests.native.building import must
from trodden.profile.trace.executed import Executed

CASES = {
    "jumps": (38, "-O0", "paths", "together"),
    "exceptions": (92, "-O2", "witnesses", "shared"),
    "threads": (24, "-O2", "bits", "together"),
    "children": (182, "-O2", "paths", "loaded"),
    "killed in the middle": (25, "-O2", "witnesses", "together"),
}
"""By what else the program does: its seed, and how it is built."""

Told = dict[int, list[tuple[Line, ...]]]


def _replayed(program: Program, folder: Path) -> Told:
    """The lines of each thread of a process in the output of the command."""
    shown = must("replay", "run.trod", "--format", "json", cwd=folder)
    rows = [Executed(**json.loads(row)) for row in shown.splitlines()]
    rows.sort(key=lambda row: (row.process, row.thread))  # The order of a thread's own stays.
    found: Told = {}
    for (process, _), thread in groupby(rows, key=lambda row: (row.process, row.thread)):
        for image in _images(list(thread)):
            found.setdefault(process, []).append(tuple(lines_of(program, image)))
    return found


def _images(rows: list[Executed]) -> Iterator[list[Executed]]:
    """The thread of a number in each program that a process has executed: positions start anew."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or (rows[at].position or 0) < (rows[at - 1].position or 0):
            yield rows[start:at]
            start = at


def _run(name: str, folder: Path) -> tuple[Program, Observed, Told]:
    seed, level, encoding, linked = CASES[name]
    program = random_program(seed)
    flags = (f"--trodden-trace={encoding}", "--trodden-durable=on")
    assert program.guarded or level == "-O0"
    Trial(folder, program, Configuration(level, "late", "trace", linked, flags, under_run=True)).run()
    return program, observe(folder), _replayed(program, folder)


@pytest.mark.parametrize("name", CASES)
def test_lines_are_replayed_in_the_order_in_which_they_were_executed(name: str, tmp_path: Path) -> None:
    program, seen, told = _run(name, tmp_path)
    compared: Counter[str] = Counter()
    assert list(unequal_sequences(program, seen, told, compared)) == []
    assert compared["lines in order"] > 500


def test_an_order_that_is_wrong_is_found(tmp_path: Path) -> None:
    program, seen, told = _run("exceptions", tmp_path)
    (process,) = told
    assert seen.sequences is not None
    (lines,) = seen.sequences[process]
    at = next(at for at in range(300, len(lines)) if lines[at] != lines[at + 1])
    swapped = (*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :])
    for wrong in (swapped, lines[:at] + lines[at + 1 :], lines[:-9]):
        other = replace(seen, sequences={process: [wrong]})
        assert list(unequal_sequences(program, other, told, Counter()))
