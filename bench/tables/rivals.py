"""What profiles cost: trodden's beside those of clang and gcc, in every respect that can be measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench import suite
from bench.build.configurations import GUIDED, known, peer, with_peers
from bench.measures.build import BuildFigures
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.model import Figures, Json
from bench.measures.profile_size import ProfileSize
from bench.measures.times import Times
from bench.suite.model import CaseName
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Cell, of_sums
from bench.tables.layout.model import Column, Plot, Programs, Rows, Section, Table, by_program
from bench.tables.layout.ratios import (
    added_beside,
    added_seconds,
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
from bench.tables.layout.values import ADDED, BYTES, FACTOR, MILLIONS, SECONDS, Show, Value, number_of

OURS = ("edges", "blocks", "paths", GUIDED)
THEIRS = ("clang-ir", "clang-ir-atomic", "clang-ir-values", "clang-front", "clang-gcov", "gcc-arcs")
RIVAL = "clang-ir"
"""Whom trodden is compared with most: like trodden it counts edges of the optimised program, and no more."""

_PROFILES = (*OURS, *THEIRS)
_WAYS = with_peers(_PROFILES)
_PLOTTED = ("edges", "paths", GUIDED, RIVAL, "clang-ir-atomic", "clang-front", "gcc-arcs")
_TOGETHER = "all together"
_PLAIN = "clang"
_SHORT: CaseName = "train"
_STARTED = ("edges", "paths", GUIDED, RIVAL)

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


def _beside(name: str, title: str, ratio: Reading, nothing: str) -> Section:
    """What trodden's profiles add for each part that the nearest rival adds, if that is not ``nothing``."""
    columns = []
    for way in (*OURS, *THEIRS):
        if way != RIVAL:
            together = of_sums(_TOGETHER, _more(ratio, way), _more(ratio, RIVAL))
            cell = added_beside(_of(ratio, way), _of(ratio, RIVAL))
            columns.append(Column(way, known(way).shown, cell, FACTOR, (GEOMETRIC, together)))
    rival = known(RIVAL).shown
    about = (
        f"What each profile adds for each part that {rival} adds to the same program: below 1 it adds less. "
        f"A program to which {rival} adds nothing{nothing} has no such ratio; one to which it adds little "
        "has a ratio that says little, and is part of the geometric mean all the same. A ratio that is not "
        "above 0 (the profiled run took less than the plain one) cannot be. The mean says of how many "
        f"programs it is if some are not in it. *{_TOGETHER}* divides the sum of what is added to all "
        "programs by the sum of what the rival adds to them, so that no single program decides, and none is "
        "left out because the rival adds nothing."
    )
    return Section(name, title, tuple(columns), about)


def _plain(reading: Reading, show: Show) -> Column:
    return Column("clang", known("clang").shown, _of(reading, "clang"), show)


def _more_than_plain(reading: Reading) -> Reading:
    """What a way has more of than the plain build."""

    def more(figures: Figures, way: str) -> Value | None:
        mine, plain = number_of(reading(figures, way)), number_of(reading(figures, peer(way)))
        return None if mine is None or plain is None else mine - plain

    return more


def _added_bytes(name: str, title: str, reading: Reading, about: str) -> Section:
    """The bytes of the plain build and those that each profile adds."""
    more = _more_than_plain(reading)
    columns = [Column(way, known(way).shown, _of(more, way), BYTES, (AVERAGE,)) for way in _PROFILES]
    return Section(name, title, (_plain(reading, BYTES), *columns), about)


def _by_archive(programs: Programs, whole: Json) -> Programs:
    """Programs that are made together are one row, that of the first of them."""
    archives = {each.name: each.recipe.archive for each in suite.SUITE}
    together: dict[str, list[str]] = {}
    for name in programs:
        archive = archives.get(name)
        together.setdefault(archive.file if archive is not None else name, []).append(name)
    return {", ".join(names): programs[names[0]] for names in together.values()}


def _factors(
    name: str, title: str, plain: Column, ratio: Reading, about: str, rows: Rows = by_program
) -> Section:
    columns = [Column(way, known(way).shown, _of(ratio, way), FACTOR, (GEOMETRIC,)) for way in _PROFILES]
    return Section(name, title, (plain, *columns), about, rows=rows)


def _sizes(name: str, title: str, part: str, about: str) -> Section:
    size = partial(profile_size, part=part)
    columns = [Column(way, known(way).shown, _of(size, way), BYTES, (AVERAGE,)) for way in _PROFILES]
    return Section(name, title, tuple(columns), about)


def _more_seconds(figures: Figures, way: str) -> Value | None:
    return added_seconds(figures, way, _SHORT)


def _short_runs() -> Section:
    columns = [
        Column(_PLAIN, known(_PLAIN).shown, lambda figures: seconds(figures, _PLAIN, _SHORT), SECONDS),
        *(Column(way, known(way).shown, _of(_more_seconds, way), SECONDS, (AVERAGE,)) for way in _STARTED),
    ]
    about = (
        f"The processor time that a run on *{_SHORT}* takes more than the plain build. Of so short a run, "
        "what it takes to start and to write the profile is a large part."
    )
    return Section("short", "Added time of a short run", tuple(columns), about)


def _file_size(figures: Figures, way: str) -> Value | None:
    return executable_size(figures, way, "file")


def _file_ratio(figures: Figures, way: str) -> Value | None:
    return size_ratio(figures, way, "file")


def _zeroed(figures: Figures, way: str) -> Value | None:
    return executable_size(figures, way, "zeroed")


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
        Times(_STARTED, case=_SHORT),
    ),
    sections=(
        _added("instructions", "Added instructions", _plain(instructions, MILLIONS), instruction_ratio),
        _beside("instructions-beside", "Added instructions beside clang's", instruction_ratio, ""),
        _added(
            "time",
            "Added time",
            _plain(seconds, SECONDS),
            time_ratio,
            "The median of the rounds and, in brackets, the quartiles.",
        ),
        _beside(
            "time-beside",
            "Added time beside clang's",
            time_ratio,
            " that is more than noise (the lower quartile of what it adds is not above 0)",
        ),
        _short_runs(),
        _added_bytes(
            "memory",
            "Added memory",
            peak_memory,
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
            _by_archive,
        ),
        _factors(
            "size",
            "Code and data",
            _plain(executable_size, BYTES),
            size_ratio,
            "What of the executable's file is mapped when it runs, for each byte of the plain build. The "
            "zeros that the counters of a thread begin with are part of it with trodden; its counts are not: "
            "they lie in a file of their own, and are part of the memory above.",
        ),
        _added_bytes(
            "zeroed",
            "Zeroed memory",
            _zeroed,
            "What the executable reserves without having it in its file, and what each profile adds to that. "
            "It reads as zeros and takes memory only where it is touched, so that it is address space more "
            "than memory. Nearly all that trodden adds is one table of addresses, as large in every program, "
            "with a place for each unit of code that may come with shared libraries.",
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
