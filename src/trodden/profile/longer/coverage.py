"""How many of the possible longer paths were executed, as far as that is certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trodden.plan.overlapping.loops import affordable
from trodden.profile.longer.call_sites import Callees
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths, paths_of
from trodden.profile.longer.model import Crossing, LongerKind, LongerPaths
from trodden.profile.model import Profile


@dataclass(frozen=True)
class LongerCovered:
    """Longer paths: so many are ``possible``; so many were certainly executed, so many may have been.

    ``possible`` are those that the graphs have, without those over calls through pointers that were not
    executed.
    """

    executed: int = 0
    unknown: int = 0
    possible: int = 0

    def __add__(self, other: LongerCovered) -> LongerCovered:
        return LongerCovered(
            self.executed + other.executed, self.unknown + other.unknown, self.possible + other.possible
        )

    @property
    def never(self) -> int:
        """How many were certainly never executed."""
        return self.possible - self.executed - self.unknown


@dataclass(frozen=True)
class LongerCoverage:
    """The same by kind and by function; ``left_out`` are loops that are not counted, by function.

    They are loops in loops in loops without end.
    """

    functions: Mapping[tuple[str, LongerKind], LongerCovered]
    left_out: Mapping[str, int]

    def of(self, kind: LongerKind) -> LongerCovered:
        """All of one kind."""
        found = (each for (_, other), each in self.functions.items() if other is kind)
        return sum(found, LongerCovered())


def cover_longer(profile: Profile, longer: LongerPaths, chosen: Iterable[str]) -> LongerCoverage:
    """The longer paths of some functions: those of their loops and their calls."""
    everything = {key: own for key, each in longer.functions.items() if (own := paths_of(key, each))}
    callees = Callees(profile)
    ends = Ends(callees, everything)
    flows = {each.crossing: each for each in longer.crossings}
    silent = {(each.kind, each.function) for each in longer.not_told if each.nothing}
    found: dict[tuple[str, LongerKind], LongerCovered] = {}
    left_out: dict[str, int] = {}
    for key in chosen:
        own = everything.get(key)
        if own is None:
            continue
        headers = sorted(set(own.joining.values()))
        counted = affordable(own.nest, headers)
        if len(counted) < len(headers):
            left_out[key] = len(headers) - len(counted)
        crossings = [Crossing(LongerKind.LOOP, key, None, header) for header in counted]
        crossings += _calls(own, callees, everything)
        crossings += [
            each
            for each in flows
            if each.function == key and each.kind is not LongerKind.LOOP and each not in crossings
        ]
        for crossing in crossings:
            possible = ends.possible(crossing)
            flow = flows.get(crossing)
            owners = crossing.owners
            if flow is not None:
                covered = LongerCovered(flow.certain, flow.complete - flow.certain, possible)
            elif any((kind, name) in silent for kind in (None, crossing.kind) for name in owners):
                covered = LongerCovered(0, possible, possible)
            else:
                covered = LongerCovered(0, 0, possible)
            kind = key, crossing.kind
            found[kind] = found.get(kind, LongerCovered()) + covered
    return LongerCoverage(found, left_out)


def _calls(
    own: FunctionPaths, callees: Callees, everything: Mapping[str, FunctionPaths]
) -> Iterator[Crossing]:
    """The calls of a function that name another one, and the returns from them."""
    for call in callees.calls(own.function):
        if call.callee not in everything or (call.last and not callees.comes_back(own.key, call.block)):
            continue
        yield Crossing(LongerKind.CALL, own.key, call.callee, call.block)
        if call.last:
            yield Crossing(LongerKind.RETURN, own.key, call.callee, call.block)
