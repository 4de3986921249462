"""Why do two line counts differ?  The reasons that can be checked, each by a computation of its own.

Every reason but the last two predicts the other's number exactly; where none does, the difference stays
without a reason and is for people to look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from trodden.graph.cfg import EdgeKind
from trodden.profile.lines import lines_of_function
from trodden.profile.model import FunctionProfile, Profile

Place = tuple[str, int]


class Reason(Enum):
    """What makes clang's tool answer with another number."""

    MENTIONS = "clang adds a line once for each time that a block comes back to it"
    STARTS = "clang adds the entries of the functions that begin on the line"
    CUT_SHORT = "a call in the function did not come back; clang takes it for returned"
    GCC = "gcc counts as we do"
    FUNCTION = "gcc counts as we do on other lines of the function, and does not know this one"


@dataclass(frozen=True)
class Difference:
    """A line where the counts differ; ``second`` is gcc's, if it knows the line."""

    file: str
    line: int
    ours: int
    theirs: int
    second: int | None

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.file, self.line


@dataclass
class Explainer:
    """What a profile knows beyond line counts, to account for differences."""

    mentions: Counter[Place] = field(default_factory=Counter)
    starts: Counter[Place] = field(default_factory=Counter)
    cut_short: Counter[Place] = field(default_factory=Counter)
    holders: dict[Place, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, profile: Profile) -> Explainer:
        """Gather from all functions of a profile."""
        found = cls()
        for name, function in profile.functions.items():
            found.starts[function.file, function.line] += function.entries
            for place, count in count_by_mentions(function).items():
                found.mentions[place] += count
                found.cut_short[place] += sum(function.cut_short.values())
                found.holders.setdefault(place, set()).add(name)
        return found

    def reasons(self, differences: list[Difference]) -> Mapping[Difference, Reason | None]:
        """A reason for each difference, or None."""
        known = {each: self._reason(each) for each in differences}
        sided = {
            name
            for each, reason in known.items()
            if reason is Reason.GCC
            for name in self.holders.get(each.place, ())
        }
        for each, reason in known.items():
            holders = self.holders.get(each.place, set())
            if reason is None and each.second is None and holders and holders <= sided:
                known[each] = Reason.FUNCTION
        return known

    def _reason(self, each: Difference) -> Reason | None:
        mentions, starts = self.mentions[each.place], self.starts[each.place]
        if each.theirs == mentions:
            return Reason.MENTIONS
        if each.theirs in (each.ours + starts, mentions + starts):
            return Reason.STARTS
        cut_short = self.cut_short[each.place]
        if cut_short and abs(each.theirs - each.ours) == cut_short and each.second in (None, each.ours):
            return Reason.CUT_SHORT
        return Reason.GCC if each.second == each.ours else None


def count_by_mentions(function: FunctionProfile) -> Counter[Place]:
    """Line counts of a function if each mention of a line in a block's list of lines counts by itself."""
    graph = function.facts.graph
    mentions: dict[Place, Counter[int]] = {}
    for vertex, facts in enumerate(function.facts.blocks):
        for ref in facts.lines:
            if ref.line > 0:
                mentions.setdefault((function.files[ref.file].path, ref.line), Counter())[vertex] += 1
    counts = Counter({place: here.count for place, here in lines_of_function(function).items()})
    for place, blocks in mentions.items():
        for vertex, times in blocks.items():
            if times > 1:
                coming = sum(
                    function.edge_counts[index] or 0
                    for index in graph.in_edges[vertex]
                    if graph.edges[index].kind is EdgeKind.CLOSING or graph.edges[index].src not in blocks
                )
                counts[place] += (times - 1) * coming
    return counts
