"""The cost of profiles: trodden's compared with those of clang and gcc."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench import suite
from bench.build.configurations import GUIDED, baseline_of, label_of, with_baselines
from bench.measures.build_cost import BuildCost
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.model import Figures, Json
from bench.measures.profile_size import ProfileSize
from bench.measures.times import Times
from bench.suite.model import CaseName
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Cell, of_sums
from bench.tables.layout.model import Column, Plot, Programs, Rows, Section, Table, by_program
from bench.tables.layout.ratios import (
    added_seconds,
    build_ratio,
    build_seconds,
    executable_size,
    instruction_ratio,
    instructions,
    peak_memory,
    profile_size,
    relative_overhead,
    seconds,
    size_ratio,
    time_ratio,
)
from bench.tables.layout.values import ADDED, BYTES, FACTOR, MILLIONS, SECONDS, Format, Value, number_of

OURS = ("edges", "blocks", "paths", GUIDED)
THEIRS = ("clang-ir", "clang-ir-atomic", "clang-ir-values", "clang-front", "clang-gcov", "gcc-arcs")
RIVAL = "clang-ir"
"""The closest relative of trodden: it counts the edges of the optimised program, and nothing else."""

_PROFILES = (*OURS, *THEIRS)
_CONFIGS = with_baselines(_PROFILES)
_PLOTTED = ("edges", "paths", GUIDED, RIVAL, "clang-ir-atomic", "clang-front", "gcc-arcs")
_TOGETHER = "all together"
_PLAIN = "clang"
_SHORT: CaseName = "train"
_STARTED = ("edges", "paths", GUIDED, RIVAL)

Reading = Callable[[Figures, str], Value | None]


def _of(reading: Reading, config: str) -> Cell:
    return lambda figures: reading(figures, config)


def _added(name: str, title: str, plain: Column, ratio: Reading, note: str = "") -> Section:
    """What each profile adds to the plain run, and means."""
    columns = [
        Column(config, label_of(config), _of(ratio, config), ADDED, (GEOMETRIC, AVERAGE))
        for config in _PROFILES
    ]
    return Section(name, title, (plain, *columns), note)


def _more(ratio: Reading, config: str) -> Cell:
    """What a configuration adds to one."""

    def cell(figures: Figures) -> Value | None:
        found = number_of(ratio(figures, config))
        return None if found is None else found - 1

    return cell


def _beside(name: str, title: str, ratio: Reading, nothing: str) -> Section:
    """What each profile adds relative to what clang adds; ``nothing`` says when clang adds nothing."""
    columns = []
    for config in (*OURS, *THEIRS):
        if config != RIVAL:
            together = of_sums(_TOGETHER, _more(ratio, config), _more(ratio, RIVAL))
            cell = relative_overhead(_of(ratio, config), _of(ratio, RIVAL))
            columns.append(Column(config, label_of(config), cell, FACTOR, (GEOMETRIC, together)))
    rival = label_of(RIVAL)
    note = (
        f"What each profile adds, divided by what {rival} adds to the same program: below 1 it adds less. A "
        f"program to which {rival} adds nothing{nothing} has no ratio; if it adds little, the ratio says "
        "little, and is part of the geometric mean all the same. A ratio that is not above 0 (the profiled "
        "run was cheaper than the plain one) is not. The mean says of how many programs it is if some are "
        f"missing. *{_TOGETHER}* divides the sum of what is added to all programs by the sum of what {rival} "
        "adds to them, so that no single program decides and none is left out."
    )
    return Section(name, title, tuple(columns), note)


def _plain(reading: Reading, format: Format) -> Column:
    return Column("clang", label_of("clang"), _of(reading, "clang"), format)


def _more_than_plain(reading: Reading) -> Reading:
    """What a configuration has more of than its baseline."""

    def more(figures: Figures, config: str) -> Value | None:
        mine, plain = number_of(reading(figures, config)), number_of(reading(figures, baseline_of(config)))
        return None if mine is None or plain is None else mine - plain

    return more


def _added_bytes(name: str, title: str, reading: Reading, note: str) -> Section:
    """The bytes of the plain build and those that each profile adds."""
    more = _more_than_plain(reading)
    columns = [Column(config, label_of(config), _of(more, config), BYTES, (AVERAGE,)) for config in _PROFILES]
    return Section(name, title, (_plain(reading, BYTES), *columns), note)


def _by_archive(programs: Programs, overall: Json) -> Programs:
    """Programs that are built together are one row, with the figures of the first of them."""
    archives = {each.name: each.source.archive for each in suite.SUITE}
    together: dict[str, list[str]] = {}
    for name in programs:
        archive = archives.get(name)
        together.setdefault(archive.file if archive is not None else name, []).append(name)
    return {", ".join(names): programs[names[0]] for names in together.values()}


def _factors(
    name: str, title: str, plain: Column, ratio: Reading, note: str, rows: Rows = by_program
) -> Section:
    columns = [
        Column(config, label_of(config), _of(ratio, config), FACTOR, (GEOMETRIC,)) for config in _PROFILES
    ]
    return Section(name, title, (plain, *columns), note, rows=rows)


def _sizes(name: str, title: str, part: str, note: str) -> Section:
    size = partial(profile_size, part=part)
    columns = [Column(config, label_of(config), _of(size, config), BYTES, (AVERAGE,)) for config in _PROFILES]
    return Section(name, title, tuple(columns), note)


def _more_seconds(figures: Figures, config: str) -> Value | None:
    return added_seconds(figures, config, _SHORT)


def _short_runs() -> Section:
    columns = [
        Column(_PLAIN, label_of(_PLAIN), lambda figures: seconds(figures, _PLAIN, _SHORT), SECONDS),
        *(
            Column(config, label_of(config), _of(_more_seconds, config), SECONDS, (AVERAGE,))
            for config in _STARTED
        ),
    ]
    note = (
        f"The processor time that a run on *{_SHORT}* takes more than the plain build. A large part of it is "
        "the start of the process and the writing of the profile."
    )
    return Section("short", "Added time of a short run", tuple(columns), note)


def _file_size(figures: Figures, config: str) -> Value | None:
    return executable_size(figures, config, "file")


def _file_ratio(figures: Figures, config: str) -> Value | None:
    return size_ratio(figures, config, "file")


def _zeroed(figures: Figures, config: str) -> Value | None:
    return executable_size(figures, config, "zeroed")


TABLE = Table(
    name="rivals",
    title="trodden compared with clang and gcc",
    description=(
        "The cost of profiles, all on the same machine. trodden's are exact with threads and however the "
        "program ends; of the others only the atomic one is exact with threads, and none counts paths."
    ),
    measures=(
        *(Instructions(config) for config in _CONFIGS),
        *(Memory(config) for config in _CONFIGS),
        *(BuildCost(config) for config in _CONFIGS),
        *(ProfileSize(config) for config in _PROFILES),
        Times(_CONFIGS),
        Times(_STARTED, case=_SHORT),
    ),
    sections=(
        _added("instructions", "Added instructions", _plain(instructions, MILLIONS), instruction_ratio),
        _beside("instructions-beside", "Added instructions relative to clang's", instruction_ratio, ""),
        _added(
            "time",
            "Added time",
            _plain(seconds, SECONDS),
            time_ratio,
            "The median of the rounds and, in brackets, the quartiles.",
        ),
        _beside(
            "time-beside",
            "Added time relative to clang's",
            time_ratio,
            " that is more than noise (the lower quartile of what it adds is not above 0)",
        ),
        _short_runs(),
        _added_bytes(
            "memory",
            "Added memory",
            peak_memory,
            "The peak of resident memory, minus that of the plain build. It includes trodden's counters, "
            "which are in a mapped file.",
        ),
        _factors(
            "build",
            "Build time",
            _plain(build_seconds, SECONDS),
            build_ratio,
            "Processor time of the build, divided by that of the plain build. Commands of one package share "
            "one build.",
            _by_archive,
        ),
        _factors(
            "size",
            "Code and data",
            _plain(executable_size, BYTES),
            size_ratio,
            "The part of the executable's file that is mapped at run time, divided by that of the plain "
            "build. With trodden the initial zeros of a thread's counters are part of it; the counts are in "
            "a file of their own, and are part of the memory above.",
        ),
        _added_bytes(
            "zeroed",
            "Zeroed memory",
            _zeroed,
            "What the executable reserves without having it in its file, and what each profile adds to that. "
            "It takes memory only where it is touched, so that it is address space rather than memory. "
            "Nearly all that trodden adds is one table of addresses of the same size in every program, with "
            "an entry for each unit of code that shared libraries may bring.",
        ),
        _factors(
            "file",
            "Executable file",
            _plain(_file_size, BYTES),
            _file_ratio,
            "The file as it is linked, divided by that of the plain build. trodden's contains everything "
            "that is necessary to read its profiles; clang's front end has the mapping to the source.",
        ),
        _sizes(
            "raw",
            "Profile as the run writes it",
            "raw",
            "Raw files, as one run of the program writes them.",
        ),
        _sizes(
            "final",
            "Profile as it is stored",
            "final",
            "`.trod`, which is complete by itself; `.profdata`; `.gcda`, which needs `.gcno`.",
        ),
    ),
    plots=(
        Plot("instructions", "Added instructions", "instructions", _PLOTTED, "added instructions", base=1.0),
        Plot("time", "Added time, median and quartiles", "time", _PLOTTED, "added time", base=1.0),
        Plot(
            "beside",
            f"Added instructions, divided by those that {label_of(RIVAL)} adds",
            "instructions-beside",
            tuple(config for config in _PLOTTED if config != RIVAL),
            "ratio",
        ),
        Plot("build", "Build time, divided by that of the plain build", "build", _PLOTTED, "ratio"),
    ),
)
