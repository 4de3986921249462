"""Which function calls which, and how often: the arcs of the call graph with their frequencies (WL94 §5).

The counts follow from those of the blocks that call, so that they cost a program nothing.  A block that was
left in the middle, inside one of its calls, counts for all of its calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trodden.profile.model import Count, FunctionProfile, Profile


@dataclass(frozen=True, slots=True)
class CallCount:
    """How often ``caller``, a function of the profile, has called ``callee``, a symbol.

    The callee may be any function, also one without probes; it is empty for all calls through pointers.
    """

    caller: str
    callee: str
    count: Count


def calls_of(profile: Profile, chosen: Mapping[str, FunctionProfile] | None = None) -> list[CallCount]:
    """All calls that the functions of a profile can make, including those that were never made.

    With ``chosen`` functions, only what they call and what calls them.
    """
    some = profile.functions if chosen is None else chosen
    symbols = {function.facts.linkage_name for function in some.values()}
    symbols |= {alias for unit in profile.units for alias, symbol in unit.aliases if symbol in symbols}
    return [
        CallCount(name, callee, count)
        for name, function in profile.functions.items()
        for callee, count in calls_in(function).items()
        if name in some or callee in symbols
    ]


def calls_in(function: FunctionProfile) -> dict[str, Count]:
    """How often one function has called which symbols; EXIT, the last vertex, makes no calls."""
    found: dict[str, Count] = {}
    for count, features in zip(function.block_counts, function.facts.features.blocks, strict=False):
        for call in features.calls:
            found[call.callee] = found.get(call.callee, 0) + count
    return found
