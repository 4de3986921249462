"""Executed instructions as trodden reports them, compared with those that callgrind counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.build.configurations import label_of
from bench.measures.executed import ExecutedInstructions
from bench.measures.model import Figures, Json
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.values import ADDED, MILLIONS, Value

_PLAIN = "clang"
_OURS = ("edges", "paths")
_PROGRAMS = frozenset({"bzip2", "lua", "sqlite", "espresso", "evaluator"})
_HOTTEST = 10
_LONGEST = 60


def _whole(programs: Programs, overall: Json) -> Programs:
    """One row a program: the sums over all functions that have probes."""
    return {name: _row(figures, _sum) for name, figures in programs.items()}


def _hottest(programs: Programs, overall: Json) -> Programs:
    """Ten rows a program: its hottest functions, by what the plain program executes in them."""
    found: dict[str, Figures] = {}
    for program, figures in programs.items():
        plain = figures.get(ExecutedInstructions(_PLAIN).key) or {}
        known = [figures.get(ExecutedInstructions(config).key) or {} for config in _OURS]
        shared = [name for name in plain if all(name in each for each in known)]
        for name in sorted(shared, key=lambda each: -plain[each])[:_HOTTEST]:
            found[f"{program}: {_short(name)}"] = _row(figures, partial(_of, name))
    return found


def _row(figures: Figures, pick: Callable[[Json], Json]) -> Figures:
    """The counts of the plain program under its name; for each of ours a list, as it was measured."""
    plain = figures.get(ExecutedInstructions(_PLAIN).key) or {}
    row: dict[str, Json] = {}
    for config in _OURS:
        counts = figures.get(ExecutedInstructions(config).key) or {}
        row[config] = pick(counts)
        row[_PLAIN] = pick({name: count for name, count in plain.items() if name in counts})
    return row


def _of(name: str, counts: Json) -> Json:
    return counts.get(name)


def _sum(counts: Json) -> Json:
    columns = list(
        zip(*(each if isinstance(each, list) else [each] for each in counts.values()), strict=True)
    )
    sums = [sum(column) for column in columns]
    return sums if len(sums) != 1 else sums[0]


def _short(symbol: str) -> str:
    return symbol if len(symbol) <= _LONGEST else f"{symbol[: _LONGEST - 3]}..."


def _reported(config: str) -> Cell:
    def cell(row: Figures) -> Value | None:
        counts = row.get(config)
        return counts[0] if counts else None

    return cell


def _compared(config: str, position: int | None) -> Cell:
    """What trodden reports, divided by a count of callgrind: of the same program, or of the plain one."""

    def cell(row: Figures) -> Value | None:
        counts = row.get(config)
        other = row.get(_PLAIN) if position is None else counts and counts[position]
        return counts[0] / other if counts and other else None

    return cell


def _columns() -> tuple[Column, ...]:
    found = [Column(_PLAIN, label_of(_PLAIN), lambda row: row.get(_PLAIN), MILLIONS)]
    for config in _OURS:
        label = label_of(config)
        found += [
            Column(config, f"{label}: reported", _reported(config), MILLIONS),
            Column(f"{config}-own", "to the same program", _compared(config, 1), ADDED),
            Column(f"{config}-plain", "to the plain program", _compared(config, None), ADDED),
        ]
    return tuple(found)


TABLE = Table(
    name="instructions",
    title="Executed instructions compared with callgrind",
    description=(
        "What `trodden report` shows as executed machine instructions, and what callgrind counts: in the "
        "same run of the same program, without the instructions that were added to the program, and in the "
        "plain program. Only functions with probes are compared, not libraries. The code of a program with "
        "probes is not that of the plain program with something added: registers, spills and the order of "
        "blocks differ, and with paths some blocks are cloned. The last column of each configuration has "
        "that in it."
    ),
    measures=(ExecutedInstructions(_PLAIN), *(ExecutedInstructions(config) for config in _OURS)),
    sections=(
        Section("whole", "Whole programs", _columns(), rows=_whole),
        Section("hottest", "The ten hottest functions", _columns(), rows=_hottest, first="function"),
    ),
    programs=lambda program: program.name in _PROGRAMS,
)
