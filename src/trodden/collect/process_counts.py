"""What one process has counted in its units, and where its threads were when it ended.

The phases, each of which needs the ones before: the counters of the raw file; the early ends of its frames
(:mod:`trodden.collect.early_ends`), which are added to them; completion, if the process was killed or some
frames were not located; and the threads and messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from trodden.collect.binary.program import Program
from trodden.collect.call_paths import CalledFunction
from trodden.collect.completion import CompletedUnit, complete_unit
from trodden.collect.early_ends import EarlyEndFinder, EarlyEnds, EndedInCall, LocatorOf, ResumedAfterCall
from trodden.collect.endings import (
    MOST_FRAMES,
    MOST_LAST_PATHS,
    MOST_THREADS,
    LastPath,
    StoppedFrame,
    StoppedThread,
)
from trodden.collect.interrupted import add_frame_state
from trodden.collect.process_messages import Shortcomings, process_messages
from trodden.collect.rawfile.model import Ending, Raw, RawSparsePath
from trodden.errors import BadFile
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.crossings import NOT_COUNTED, CrossingKey, inherited
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

_Builders = dict[str, UnitCountsBuilder]


@dataclass(frozen=True)
class ProcessCounts:
    """The counts of one process.

    ``unit_counts`` are those of the units in which it has counted anything.  ``completed`` are functions
    whose counts were completed, because frames were not located or because the process was killed.
    ``threads`` says where its threads were, if that is of interest: the one that ended the process comes
    first.  ``messages`` have to be shown beside the counts.
    """

    unit_counts: tuple[UnitCounts, ...]
    completed: tuple[CalledFunction, ...]
    threads: tuple[StoppedThread, ...]
    messages: tuple[str, ...]


def count_process(raw: Raw, modules: Mapping[int, Program], locator_of: LocatorOf) -> ProcessCounts:
    """The counts of the process of a raw file; ``modules`` are its modules that have counters."""
    facts = {name: unit for program in modules.values() for name, unit in program.units.items()}
    builders = _counters(raw, modules, facts)
    finder = EarlyEndFinder(modules, locator_of)
    midway = _ended_midway(raw)
    active = finder.active(raw, with_source=midway)
    early_ends = [active, finder.inherited(raw), finder.non_local_exits(raw)]
    _add_early_ends(builders, facts, early_ends, _uncounted(raw))
    _add_inherited(builders, facts, early_ends[1])
    unlocated = sum(each.unlocated for each in early_ends)
    for each in early_ends:
        for (unit, number), times in each.unlocated_in.items():
            _builder(builders, facts, unit).add_unlocated(number, times)
    if raw.ending is Ending.KILLED or raw.frames_missing or raw.counts_missing or raw.counts_lost:
        _doubt_all(builders)
    completed: dict[str, CompletedUnit] = {}
    if raw.ending is Ending.KILLED or unlocated:
        completed = {name: complete_unit(builder) for name, builder in builders.items()}
        for name, unit_completed in completed.items():
            known = builders[name].result().unlocated
            for number in unit_completed.functions:
                builders[name].add_unlocated(number, int(number not in known))
    threads = _threads(raw, modules, active.stacks if midway else {})
    functions = [each for name in builders for each in facts[name].functions]
    shortcomings = Shortcomings(
        completed=[facts[name].functions[i].name for name, unit in completed.items() for i in unit.functions],
        unreachable=[
            _block_name(facts[name].functions[number], block)
            for name, unit in completed.items()
            for number, block in unit.unreachable
        ],
        unlocated=unlocated,
        threads=len(threads),
    )
    return ProcessCounts(
        tuple(builder.result() for builder in builders.values()),
        tuple((name, number) for name, unit in completed.items() for number in unit.functions),
        tuple(threads[:MOST_THREADS]),
        tuple(process_messages(raw, functions, shortcomings)),
    )


# ---- counters ----


def _counters(raw: Raw, modules: Mapping[int, Program], facts: Mapping[str, UnitFacts]) -> _Builders:
    """The counters and sparse paths of the raw file, by unit."""
    builders: _Builders = {}
    for unit in raw.units:
        slots = facts[unit.id].slots
        if slots != len(unit.counters):
            raise BadFile(
                f"{raw.path}: corrupt: {len(unit.counters)} counters where {modules[unit.module].path} has"
                f" {slots}"
            )
        _builder(builders, facts, unit.id).add_counters(unit.counters, facts[unit.id].room_for_rows)
    for path in raw.sparse_paths:
        _add_sparse_path(raw, _builder(builders, facts, raw.units[path.unit].id), path)
    _add_crossings(raw, builders, facts)
    return builders


def _builder(builders: _Builders, facts: Mapping[str, UnitFacts], unit: str) -> UnitCountsBuilder:
    if unit not in builders:
        builders[unit] = UnitCountsBuilder(facts[unit])
    return builders[unit]


def _add_sparse_path(raw: Raw, builder: UnitCountsBuilder, entry: RawSparsePath) -> None:
    known = builder.facts.functions[entry.function : entry.function + 1]
    if not known or known[0].plan.paths is None:
        raise BadFile(f"{raw.path}: corrupt: a sparse path is of no function of its program")
    count, cycles = (0, entry.amount) if entry.cycles else (entry.amount, 0)
    builder.add_path(entry.function, entry.path, count, cycles)


def _add_crossings(raw: Raw, builders: _Builders, facts: Mapping[str, UnitFacts]) -> None:
    """What the counters of rows, and the tables of threads, have counted over calls and returns."""
    for each in raw.crossings:
        callee = raw.units[each.callee_unit].id, each.callee
        site = raw.units[each.site_unit].id, each.site
        known = facts[callee[0]].functions[each.callee : each.callee + 1]
        if not known or known[0].plan.calls is None or each.site not in facts[site[0]].crossed:
            raise BadFile(f"{raw.path}: corrupt: a path leads over no call of its program")
        counters = raw.units[each.unit].counters
        if each.slot + each.rows * each.parts > facts[raw.units[each.unit].id].room_for_rows and each.parts:
            raise BadFile(f"{raw.path}: corrupt: counts of a call are outside of their room")
        if not each.rows:
            key = CrossingKey(each.returned, callee, site, NOT_COUNTED, NOT_COUNTED)
            _builder(builders, facts, key.counted_in).add_crossing(key, 1)
        counts = [(*divmod(n, each.parts), counters[each.slot + n]) for n in range(each.rows * each.parts)]
        for row, part, count in [*counts, *((0, part, count) for part, count in each.counts.items())]:
            first = each.first + row
            parts = (first, part) if each.returned else (part, first)
            key = CrossingKey(each.returned, callee, site, *parts)
            if count:
                _builder(builders, facts, key.counted_in).add_crossing(key, count)


def _add_inherited(builders: _Builders, facts: Mapping[str, UnitFacts], frames: EarlyEnds) -> None:
    """What a forked child ends of paths over calls may have begun in its parent."""
    for end in frames.ends:
        if isinstance(end, EndedInCall) and facts[end.unit].functions[end.function].plan.calls is not None:
            key = inherited((end.unit, end.function))
            _builder(builders, facts, end.unit).add_crossing(key, abs(end.times))


def _uncounted(raw: Raw) -> frozenset[str]:
    """The units of which the file has no counters; another module may have one of them, too."""
    counted = {unit.id for unit in raw.units if unit.module not in raw.uncounted}
    return frozenset(unit.id for unit in raw.units) - counted


def _add_early_ends(
    builders: _Builders, facts: Mapping[str, UnitFacts], early_ends: Iterable[EarlyEnds], uncounted: Set[str]
) -> None:
    """Without the counters of a unit, the frames of its functions would be all that is counted of them."""
    for end in (end for each in early_ends for end in each.ends if end.unit not in uncounted):
        builder = _builder(builders, facts, end.unit)
        match end:
            case EndedInCall(_, function, block, register, times, call):
                builder.add_cut_short(function, block, register, times, call)
            case ResumedAfterCall(_, function, block, times):
                builder.add_resumed(function, block, times)
            case state:
                add_frame_state(builder, state)


def _doubt_all(builders: _Builders) -> None:
    """Any function that was executed may have been active, nobody knows where."""
    for builder in builders.values():
        for number in builder.result().touched(builder.facts):
            builder.add_unlocated(number, 1)


# ---- threads ----


def _ended_midway(raw: Raw) -> bool:
    """Whether a process ended inside of functions, other than by ``exit`` in its first thread."""
    if raw.ending is Ending.EXIT:
        return any((frame.thread or frame.interrupted) and not frame.abandoned for frame in raw.frames)
    return raw.ending in (Ending.SIGNAL, Ending.EXEC)


def _threads(
    raw: Raw, modules: Mapping[int, Program], stopped: Mapping[int, list[StoppedFrame]]
) -> list[StoppedThread]:
    """All threads that were inside of functions, or have executed paths that were kept."""
    last_paths: dict[int, list[LastPath]] = {}
    tags = {tag: unit for program in modules.values() for tag, unit in program.by_tag.items()}
    for last in raw.last_paths:
        unit = tags.get(last.tag)
        if unit is None or last.function >= len(unit.functions):
            continue
        paths = unit.functions[last.function].plan.paths
        if paths is not None and last.path < paths.number:
            last_paths.setdefault(last.thread, []).append(LastPath(unit.id, last.function, last.path))
    found = []
    for number in dict.fromkeys([*stopped, *last_paths]):
        frames = stopped.get(number, [])
        found.append(
            StoppedThread(
                process=0,
                number=number,
                tid=raw.tids.get(number) or None,
                frames=tuple(frames[:MOST_FRAMES]),
                left_out=max(0, len(frames) - MOST_FRAMES),
                last=tuple(last_paths.get(number, ())[-MOST_LAST_PATHS:]),
            )
        )
    return found


def _block_name(facts: FunctionFacts, block: int) -> str:
    return f"{facts.graph.labels[block]} of {facts.name}"
