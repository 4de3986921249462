"""Why does a line count equal none of the others?  The reasons that can be checked, each by a computation.

A reason predicts another tool's number exactly, or shows by other lines that the tool is off; where none
does, the difference stays without a reason and is for people to look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from trodden.graph.cfg import EdgeKind
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BlockFacts, LineRef
from trodden.source.line_blocks import Key, LineBlocks, line_blocks
from trodden.source.lines import count_line, lines_of_function

Place = tuple[str, int]
Lines = Mapping[str, Mapping[int, int]]


class Reason(Enum):
    """What makes another tool answer with another number."""

    MENTIONS = "clang adds a line once for each time that a block comes back to it"
    STARTS = "clang adds the entries of the functions that begin on the line"
    CUT_SHORT = "a call in the function did not come back; clang takes it for returned"
    JUMP = "the line holds the jump of a block before it; gcc or llvm-cov leaves that out"
    FUNCTION = "clang's gcov is off in this function: where it differs, gcc and llvm-cov count as we do"
    EARLY = "inlining dropped a jump that was the line's; at the early stage the counts are equal"


@dataclass(frozen=True)
class Difference:
    """A line that no other tool counts as we do; a tool that does not know the line has None."""

    file: str
    line: int
    ours: int
    clang: int | None
    gcc: int | None
    regions: int | None

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.file, self.line

    @property
    def others(self) -> tuple[int | None, ...]:
        """What the other tools say."""
        return self.clang, self.gcc, self.regions


@dataclass
class Explainer:
    """What a profile knows beyond line counts, to account for differences."""

    mentions: Counter[Place] = field(default_factory=Counter)
    starts: Counter[Place] = field(default_factory=Counter)
    cut_short: Counter[Place] = field(default_factory=Counter)
    without_jumps: Counter[Place] = field(default_factory=Counter)
    holders: dict[Place, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, profile: Profile) -> Explainer:
        """Gather from all functions of a profile."""
        found = cls()
        for name, function in profile.functions.items():
            found.starts[function.file, function.line] += int(function.entries)
            found.without_jumps.update(count_without_jumps(function))
            for place, count in count_by_mentions(function).items():
                found.mentions[place] += count
                found.cut_short[place] += sum(function.cut_short.values())
                found.holders.setdefault(place, set()).add(name)
        return found

    def reasons(
        self, differences: Iterable[Difference], outvoted: Iterable[Place] = (), early: Lines | None = None
    ) -> Mapping[Difference, Reason | None]:
        """A reason for each difference, or None.

        ``outvoted`` are the places where clang differs and both other tools count as we do; ``early`` are
        the line counts of a build that had its probes before inlining.
        """
        off = {name for place in outvoted for name in self.holders.get(place, ())}
        return {each: self._reason(each, off, early or {}) for each in differences}

    def _reason(self, each: Difference, off: set[str], early: Lines) -> Reason | None:
        mentions, starts = self.mentions[each.place], self.starts[each.place]
        cut_short = self.cut_short[each.place]
        holders = self.holders.get(each.place, set())
        if each.clang is not None:
            if each.clang == mentions:
                return Reason.MENTIONS
            if each.clang in (each.ours + starts, mentions + starts):
                return Reason.STARTS
            if cut_short and abs(each.clang - each.ours) == cut_short:
                return Reason.CUT_SHORT
        if self.without_jumps[each.place] in (each.gcc, each.regions):
            return Reason.JUMP
        if holders and holders <= off:
            return Reason.FUNCTION
        if early.get(each.file, {}).get(each.line, -1) in each.others:
            return Reason.EARLY
        return None


def count_by_mentions(function: FunctionProfile) -> Counter[Place]:
    """Line counts of a function if each mention of a line in a block's list of lines counts by itself."""
    graph = function.facts.graph
    mentions: dict[Key, Counter[int]] = {}
    for vertex, facts in enumerate(function.facts.blocks):
        for ref in facts.lines:
            if ref.line > 0:
                mentions.setdefault((ref.copy, ref.file, ref.line), Counter())[vertex] += 1
    counts = Counter({place: here.count for place, here in lines_of_function(function).items()})
    for (_, file, line), blocks in mentions.items():
        for vertex, times in blocks.items():
            if times > 1:
                coming = sum(
                    function.counted_edges[index] or 0
                    for index in graph.in_edges[vertex]
                    if graph.edges[index].kind is EdgeKind.CLOSING or graph.edges[index].src not in blocks
                )
                counts[function.files[file].path, line] += (times - 1) * coming
    return counts


def count_without_jumps(function: FunctionProfile) -> Counter[Place]:
    """Line counts of a function if a line does not hold the blocks that come to it with their last jump."""
    counts: Counter[Place] = Counter()
    for (copy, file, line), found in line_blocks(function.facts).items():
        ref = LineRef(file, line, copy)
        kept = {v for v in found.blocks if not _only_jumps(function.facts.blocks[v], ref)}
        count = count_line(function, LineBlocks(kept, found.inner & kept)).count if kept else 0
        counts[function.files[file].path, line] += int(count)
    return counts


def _only_jumps(block: BlockFacts, ref: LineRef) -> bool:
    return len(block.lines) > 1 and block.branch == ref == block.lines[-1] and block.lines.count(ref) == 1
