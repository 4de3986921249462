"""The arcs of the call graph as rows of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.profile.analysis.calling import calls_of
from trodden.profile.model import Count, FunctionProfile, Profile


@dataclass(frozen=True, slots=True)
class ArcRow:
    """How often one function called another.

    ``callee`` is its name in the profile, its symbol if it has no profile, and empty for calls through
    pointers.
    """

    caller: str
    callee: str
    count: Count

    @property
    def rank(self) -> tuple[Count, str, str]:
        """Most frequent first."""
        return -self.count, self.caller, self.callee


def arc_rows(profile: Profile, chosen: Mapping[str, FunctionProfile]) -> Iterator[ArcRow]:
    """The calls from and to some functions."""
    known: dict[str, list[str]] = {}
    for name, function in profile.functions.items():
        known.setdefault(function.facts.linkage_name, []).append(name)
    for call in calls_of(profile, chosen):
        names = known.get(call.callee, [])
        if len(names) > 1:
            units = _units(profile.functions[call.caller])
            names = [name for name in names if not units.isdisjoint(_units(profile.functions[name]))]
        yield ArcRow(call.caller, names[0] if len(names) == 1 else call.callee, call.count)


def _units(function: FunctionProfile) -> set[str]:
    """The units that hold a function."""
    return {copy.unit for copy in function.copies or (function,)}
