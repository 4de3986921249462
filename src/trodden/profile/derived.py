"""Edge and path profiles that follow from a trace (BL94 §4).

They are profiles like those that are counted while a program runs: the units have plans with a counter on
every edge, or for paths that are not cut, and what these would have counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trodden.plan.probes import (
    RedundantMeasure,
)
from trodden.profile.assemble import assemble
from trodden.profile.derived_plans import DerivedPlans, Function
from trodden.profile.model import Profile
from trodden.profile.same_runs import with_runs
from trodden.profile.trace.model import TracedProcess
from trodden.profile.trace.program import TracedProgram
from trodden.profile.trace.progress import Progress
from trodden.profile.trace.threads import ThreadTrace
from trodden.profile.traced_pairs import TracedPairs
from trodden.recover.trace.counting import (
    CountingProgram,
    CountingReader,
    PathsOfProcedure,
    TraceCounts,
)
from trodden.recover.trace.longer import PairCounts


@dataclass(frozen=True)
class Derived:
    """A profile that follows from a trace, and where it contradicts what was counted in the same run."""

    profile: Profile
    contradictions: tuple[str, ...]


def derive(
    profile: Profile,
    kind: str,
    tell: Callable[[str], None] = lambda detail: None,
    longer: bool = False,
) -> Derived:
    """The profile of ``kind`` (``"edges"`` or ``"paths"``) of all processes that were traced.

    Counters on every edge that the same run had beside the trace stay there, so that whatever they contradict
    is a violation.  They also tell the way of a frame that was interrupted where its trace does not.
    Processes, threads and programs are those of the profile.  ``tell`` gets the share of the trace that has
    been read.  With ``longer``, pairs of paths are counted too.
    """
    plans = DerivedPlans(profile, kind)
    totals: dict[Function, TraceCounts] = {}
    interrupted: dict[int, Counter[Function]] = {}
    by_process: dict[int, dict[Function, TraceCounts]] = {}
    messages = list(profile.messages)
    units = plans.units()
    traced = TracedPairs() if longer else None
    trace = profile.trace
    progress = Progress(sum(len(thread.main) for thread in trace.threads), tell)
    for process in trace.traces.processes:
        own = by_process.setdefault(process.process, {})
        program = trace.program(process)
        counts = TraceCounts(longer=None if traced is None else PairCounts())
        threads = [thread for thread in trace.threads if thread.process is process]
        messages += _count(threads, counts, plans, program, progress)
        for number in {*counts.edges, *counts.entries, *counts.prefixes, *counts.paths}:
            place = program.place(number)
            if place is not None:
                for sums in (own, totals):
                    _add(sums.setdefault(place, TraceCounts()), counts, number, program)
        if traced is not None and counts.longer is not None:
            traced.add(counts.longer, program, units)
        interrupted.setdefault(process.process, Counter()).update(_interrupted(process, program))
    all_interrupted = sum(interrupted.values(), Counter())
    unit_counts = plans.counted(units, totals, profile.unit_counts, all_interrupted)
    derived = assemble(profile.program, units, unit_counts, messages)
    counted = {
        index: plans.counted(units, own, profile.processes[index].unit_counts, interrupted[index])
        for index, own in by_process.items()
        if index >= 0 and len(profile.processes) > 1
    }
    contradictions = _contradictions(profile, totals, all_interrupted)
    derived = replace(with_runs(derived, profile, counted), traced_pairs=traced)
    return Derived(derived, tuple(contradictions))


def _interrupted(process: TracedProcess, program: TracedProgram) -> Iterator[Function]:
    """The functions of frames that were at any instruction when the process ended."""
    for frames in process.ends.values():
        for frame in frames:
            place = program.place(frame.function) if frame.interrupted else None
            if place is not None:
                yield place


def _count(
    threads: Sequence[ThreadTrace],
    counts: TraceCounts,
    plans: DerivedPlans,
    program: TracedProgram,
    progress: Progress,
) -> list[str]:
    """Read all threads of a process."""
    paths = _PathsByNumber(plans, program)
    library = threads[0].library if threads else None
    compiled = None if library is None else CountingProgram(library, program, paths, counts.longer)
    messages: list[str] = []
    for thread in threads:
        reader = CountingReader(program, counts, paths) if compiled is None else compiled.reader()
        for events in thread.read_by(reader):
            kept = list(events)
            counts.add_events(kept)
            messages += thread.damages(kept)
            progress.step()
        for number, block, _, path in reader.frames_with_paths:
            counts.end_of(number, block, path)
        if counts.longer is not None:
            reader.end()
    if compiled is not None:
        compiled.add_to(counts)
    return list(dict.fromkeys(messages))


def _add(total: TraceCounts, counts: TraceCounts, number: int, program: TracedProgram) -> None:
    """Add what a function has counted to the counts of the function with the number 0."""
    total.entries[0] += counts.entries[number]
    for own, others in (
        (total.edges, counts.edges),
        (total.paths, counts.paths),
    ):
        own.setdefault(0, Counter()).update(others.get(number, Counter()))
    prefixes = total.prefixes.setdefault(0, Counter())
    for (block, path), times in counts.prefixes.get(number, Counter()).items():
        prefixes[program.block(number, block), path] += times


class _PathsByNumber(Mapping[int, PathsOfProcedure]):
    """How the paths of functions are counted, worked out when a function is entered."""

    def __init__(self, plans: DerivedPlans, program: TracedProgram) -> None:
        self._plans = plans
        self._program = program

    def __getitem__(self, number: int) -> PathsOfProcedure:
        place = self._program.place(number)
        found = None if place is None else self._plans.paths_of(place)
        if found is None:
            raise KeyError(number)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._program.numbers)

    def __len__(self) -> int:
        return len(self._program.numbers)


def _contradictions(
    profile: Profile, totals: Mapping[Function, TraceCounts], interrupted: Mapping[Function, int]
) -> Iterator[str]:
    """Edges that have a counter beside the trace which says something else."""
    for index, (unit, counted) in enumerate(zip(profile.units, profile.unit_counts, strict=True)):
        for number, facts in enumerate(unit.functions):
            found = totals.get((index, number), TraceCounts()).edges.get(0, Counter())
            for slot, measure in enumerate(facts.plan.measures):
                if not isinstance(measure, RedundantMeasure):
                    continue
                value = counted.counters[facts.first_slot + slot]
                if not 0 <= value - found[measure.edge] <= interrupted.get((index, number), 0):
                    edge = facts.graph.edges[measure.edge]
                    labels = facts.graph.labels
                    yield (
                        f"{facts.name}: the edge {labels[edge.src]} -> {labels[edge.dst]} was taken {value}"
                        f" times by its counter, {found[measure.edge]} times by the trace"
                    )
