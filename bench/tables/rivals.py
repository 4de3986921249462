"""What profiles cost: trodden's beside those of clang and gcc, in every respect that can be measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.measures.build import BuildFigures
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.model import Figures
from bench.measures.profile_size import ProfileSize
from bench.measures.times import Times
from bench.tables.means import AVERAGE, GEOMETRIC, Cell, of_sums
from bench.tables.model import Column, Plot, Section, Table
from bench.tables.reading import (
    added_beside,
    build_ratio,
    build_seconds,
    executable_size,
    instruction_ratio,
    instructions,
    peak_memory,
    profile_size,
    seconds,
    size_ratio,
    time_ratio,
)
from bench.tables.values import ADDED, BYTES, FACTOR, MILLIONS, SECONDS, Show, Value, number_of
from bench.ways import GUIDED, known, peer, with_peers

OURS = ("edges", "blocks", "paths", GUIDED)
THEIRS = ("clang-ir", "clang-ir-atomic", "clang-ir-values", "clang-front", "clang-gcov", "gcc-arcs")
RIVAL = "clang-ir"
"""Whom trodden is compared with most: like trodden it counts edges of the optimised program, and no more."""

_PROFILES = (*OURS, *THEIRS)
_WAYS = with_peers(_PROFILES)
_PLOTTED = ("edges", "paths", GUIDED, RIVAL, "clang-ir-atomic", "clang-front", "gcc-arcs")
_TOGETHER = "all together"

Reading = Callable[[Figures, str], Value | None]


def _of(reading: Reading, way: str) -> Cell:
    return lambda figures: reading(figures, way)


def _added(name: str, title: str, plain: Column, ratio: Reading, about: str = "") -> Section:
    """What each profile adds to the plain run, and its means."""
    columns = [
        Column(way, known(way).shown, _of(ratio, way), ADDED, (GEOMETRIC, AVERAGE)) for way in _PROFILES
    ]
    return Section(name, title, (plain, *columns), about)


def _more(ratio: Reading, way: str) -> Cell:
    """The part that a way adds to one."""

    def cell(figures: Figures) -> Value | None:
        found = number_of(ratio(figures, way))
        return None if found is None else found - 1

    return cell


def _beside(name: str, title: str, ratio: Reading) -> Section:
    """What trodden's profiles add for each part that the nearest rival adds."""
    columns = []
    for way in (*OURS, *THEIRS):
        if way != RIVAL:
            together = of_sums(_TOGETHER, _more(ratio, way), _more(ratio, RIVAL))
            cell = added_beside(_of(ratio, way), _of(ratio, RIVAL))
            columns.append(Column(way, known(way).shown, cell, FACTOR, (GEOMETRIC, together)))
    rival = known(RIVAL).shown
    about = (
        f"What each profile adds for each part that {rival} adds to the same program: below 1 it adds less. "
        f"A program to which {rival} adds nothing has no such ratio; one to which it adds little has a ratio "
        "that says little, and is part of the geometric mean all the same. A ratio that is not above 0 (the "
        "profiled run took less than the plain one) cannot be: then it says of how many the mean is. "
        f"*{_TOGETHER}* divides the average of what is added by the average of what the rival adds, so that "
        "no single program decides."
    )
    return Section(name, title, tuple(columns), about)


def _plain(reading: Reading, show: Show) -> Column:
    return Column("clang", known("clang").shown, _of(reading, "clang"), show)


def _more_memory(figures: Figures, way: str) -> Value | None:
    mine, plain = peak_memory(figures, way), peak_memory(figures, peer(way))
    return None if mine is None or plain is None else mine - plain


def _factors(name: str, title: str, plain: Column, ratio: Reading, about: str) -> Section:
    columns = [Column(way, known(way).shown, _of(ratio, way), FACTOR, (GEOMETRIC,)) for way in _PROFILES]
    return Section(name, title, (plain, *columns), about)


def _sizes(name: str, title: str, part: str, about: str) -> Section:
    size = partial(profile_size, part=part)
    columns = [Column(way, known(way).shown, _of(size, way), BYTES, (AVERAGE,)) for way in _PROFILES]
    return Section(name, title, tuple(columns), about)


def _file_size(figures: Figures, way: str) -> Value | None:
    return executable_size(figures, way, "file")


def _file_ratio(figures: Figures, way: str) -> Value | None:
    return size_ratio(figures, way, "file")


TABLE = Table(
    name="rivals",
    title="trodden beside clang and gcc",
    about=(
        "What profiles cost, side by side on the same machine. trodden's are exact with threads and however "
        "the program ends; of the rivals only the atomic one is exact with threads, and none counts paths."
    ),
    needs=(
        *(Instructions(way) for way in _WAYS),
        *(Memory(way) for way in _WAYS),
        *(BuildFigures(way) for way in _WAYS),
        *(ProfileSize(way) for way in _PROFILES),
        Times(_WAYS),
    ),
    sections=(
        _added("instructions", "Added instructions", _plain(instructions, MILLIONS), instruction_ratio),
        _beside("instructions-beside", "Added instructions beside clang's", instruction_ratio),
        _added(
            "time",
            "Added time",
            _plain(seconds, SECONDS),
            time_ratio,
            "The median of the rounds and, in brackets, the quartiles.",
        ),
        _beside("time-beside", "Added time beside clang's", time_ratio),
        Section(
            "memory",
            "Added memory",
            (
                _plain(peak_memory, BYTES),
                *(
                    Column(way, known(way).shown, _of(_more_memory, way), BYTES, (AVERAGE,))
                    for way in _PROFILES
                ),
            ),
            "The most that was ever resident, less that of the plain build. trodden's counters lie in a "
            "mapped file, which is part of it.",
        ),
        _factors(
            "build",
            "Build time",
            _plain(build_seconds, SECONDS),
            build_ratio,
            "Processor time of the build, for each second of the plain build. Commands that are made "
            "together share one build.",
        ),
        _factors(
            "size",
            "Code and data",
            _plain(executable_size, BYTES),
            size_ratio,
            "What of the executable is mapped when it runs, for each byte of the plain build. trodden's "
            "counters are not in it: they lie in a file of their own, and are part of the memory above.",
        ),
        _factors(
            "file",
            "Executable file",
            _plain(_file_size, BYTES),
            _file_ratio,
            "The file as it is linked, for each byte of the plain build. trodden's has in it what it takes "
            "to read its profiles; clang's front end has the mapping to the source.",
        ),
        _sizes(
            "raw",
            "Profile as the run leaves it",
            "raw",
            "Raw files, as one run of the program leaves them.",
        ),
        _sizes(
            "final",
            "Profile as it is kept",
            "final",
            "`.trod`, which needs nothing beside it; `.profdata`; `.gcda`, which needs `.gcno` beside it.",
        ),
    ),
    plots=(
        Plot("instructions", "Added instructions", "instructions", _PLOTTED, "added instructions", base=1.0),
        Plot("time", "Added time, median and quartiles", "time", _PLOTTED, "added time", base=1.0),
        Plot(
            "beside",
            f"Added instructions for each that {known(RIVAL).shown} adds",
            "instructions-beside",
            tuple(way for way in _PLOTTED if way != RIVAL),
            "ratio",
        ),
        Plot("build", "Build time for each second of the plain build", "build", _PLOTTED, "ratio"),
    ),
)
