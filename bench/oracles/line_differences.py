"""Why a line count differs from those of all other tools: reasons that are checked by a computation.

A reason predicts the count of another tool exactly, or shows by other lines of the function that the tool is
wrong there.  A difference without such a reason has to be examined by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from trodden.graph.cfg import EdgeKind
from trodden.profile.model import FunctionProfile, Profile
from trodden.source.line_graph import Key
from trodden.source.lines import lines_of_function

Location: TypeAlias = tuple[str, int]
"""A file and a line."""

LineCounts: TypeAlias = Mapping[str, Mapping[int, int]]


class Reason(Enum):
    """What makes another tool count differently."""

    MENTIONS = "clang adds the count of a line once for each mention of the line in a block"
    STARTS = "clang adds the entries of the functions that begin on the line"
    CUT_SHORT = "a call in the function did not return; clang assumes that it did"
    JUMP = "the line has the jump of a preceding block, which gcc or llvm-cov does not count"
    """Recorded results have it; jumps that the compiler adds are not counted any more."""
    FUNCTION = "clang's gcov is wrong in the function: where it differs, gcc and llvm-cov count as we do"
    EARLY = "inlining removed a jump of the line; at the early stage the counts are equal"


@dataclass(frozen=True)
class Difference:
    """A line that no other tool counts as we do; the count of a tool without the line is None."""

    file: str
    line: int
    ours: int
    clang: int | None
    gcc: int | None
    regions: int | None

    @property
    def location(self) -> Location:
        """Its source location."""
        return self.file, self.line

    @property
    def others(self) -> tuple[int | None, ...]:
        """The counts of the other tools."""
        return self.clang, self.gcc, self.regions


@dataclass
class Explainer:
    """What a profile has beyond line counts, to account for differences."""

    mentions: Counter[Location] = field(default_factory=Counter)
    starts: Counter[Location] = field(default_factory=Counter)
    cut_short: Counter[Location] = field(default_factory=Counter)
    functions: dict[Location, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, profile: Profile) -> Explainer:
        """Computed from all functions of a profile."""
        found = cls()
        for name, function in profile.functions.items():
            found.starts[function.file, function.line] += int(function.entries)
            for location, count in count_by_mentions(function).items():
                found.mentions[location] += count
                found.cut_short[location] += sum(function.cut_short.values())
                found.functions.setdefault(location, set()).add(name)
        return found

    def reasons(
        self,
        differences: Iterable[Difference],
        outvoted: Iterable[Location] = (),
        early: LineCounts | None = None,
    ) -> Mapping[Difference, Reason | None]:
        """A reason for each difference, or None.

        ``outvoted`` are the locations where clang differs and both other tools count as we do; ``early`` are
        the line counts of a build that was instrumented before inlining.
        """
        wrong = {name for location in outvoted for name in self.functions.get(location, ())}
        return {each: self._reason(each, wrong, early or {}) for each in differences}

    def _reason(self, each: Difference, wrong: set[str], early: LineCounts) -> Reason | None:
        mentions, starts = self.mentions[each.location], self.starts[each.location]
        cut_short = self.cut_short[each.location]
        functions = self.functions.get(each.location, set())
        if each.clang is not None:
            if each.clang == mentions:
                return Reason.MENTIONS
            if each.clang in (each.ours + starts, mentions + starts):
                return Reason.STARTS
            if cut_short and abs(each.clang - each.ours) == cut_short:
                return Reason.CUT_SHORT
        if functions and functions <= wrong:
            return Reason.FUNCTION
        if early.get(each.file, {}).get(each.line, -1) in each.others:
            return Reason.EARLY
        return None


def count_by_mentions(function: FunctionProfile) -> Counter[Location]:
    """Line counts of a function if each mention of a line in a block's list of lines is counted."""
    graph = function.facts.graph
    mentions: dict[Key, Counter[int]] = {}
    for vertex, facts in enumerate(function.facts.blocks):
        for ref in facts.lines:
            if ref.line > 0:
                mentions.setdefault((ref.instance, ref.file, ref.line), Counter())[vertex] += 1
    counts = Counter({location: here.count for location, here in lines_of_function(function).items()})
    for (_, file, line), blocks in mentions.items():
        for vertex, times in blocks.items():
            if times > 1:
                incoming = sum(
                    function.counted_edges[index] or 0
                    for index in graph.in_edges[vertex]
                    if graph.edges[index].kind is EdgeKind.CLOSING or graph.edges[index].src not in blocks
                )
                counts[function.files[file].path, line] += (times - 1) * incoming
    return counts
