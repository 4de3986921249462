"""What a unit counts over its calls, and where the runtime finds it: call sites, functions, room for rows.

``trodden.h`` says what a record is.  Its cells are found by the prefix with which the caller has reached the
call: by the number of the prefix, if the numbers are small; by a hash that is perfect for the few that there
are; or, where there are too many, by asking the runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.call_names import CallNames, called_by
from trodden.native.planning.register_slots import blocks_that_may_be_cut_short
from trodden.plan.overlapping.call_pairs import prefix_parts
from trodden.plan.overlapping.calls import entry_numbers, return_numbers
from trodden.plan.overlapping.numbering import numbering_of_plan
from trodden.plan.overlapping.protocol import prefix_sums
from trodden.plan.probes import Plan

MOST_PARTS = 1 << 8
"""Of a row with more parts, each count is looked up in a table."""

MOST_CELLS = 32
"""How many prefixes of a call have cells."""

MOST_PAIRED_PARTS = 1 << 5
"""The same for pairs of whole paths, most of which never occur."""

MOST_DIRECT_CELLS = 1 << 10
"""So many are provided for numbers of prefixes that are no larger."""

WAYS = 8
"""How many records of an indirect call are found without asking the runtime."""

HEAD = 6
"""How many words a record has in front of its cells."""

SCRATCH = MOST_PARTS
"""What belongs to no row is counted by the counters of the unit up to there."""

_LEAST_COUNTERS, _COUNTERS_BY_SITE, _MOST_COUNTERS = 1 << 10, 128, 1 << 20
_WORD = 1 << 64
SITE_TYPE = "{ i64, i32, i32, i32, i32 }"


@dataclass(frozen=True)
class CellIndex:
    """How the cell of a prefix is found: ``(prefix * multiplier) >> shift``, or the prefix itself without a
    multiplier; all the same if there is a ``single`` prefix.
    """

    cells: int
    single: bool = False
    multiplier: int = 0
    shift: int = 0

    def of(self, prefix: int) -> int:
        """The index of a cell."""
        if self.single:
            return 0
        return prefix * self.multiplier % _WORD >> self.shift if self.multiplier else prefix


@dataclass(frozen=True)
class SiteLayout:
    """A call site: where its record is (for an indirect call, the pointer to the present one), how cells are
    found, ``None`` for too many prefixes, and how many parts a row behind the call has, 0 for too many.
    It is counted ``at_once`` where there is one part, which no early end of the function can cut short.
    """

    number: int
    at: int
    indirect: bool
    index: CellIndex | None
    parts: int
    at_once: bool = False


@dataclass(frozen=True)
class FunctionLayout:
    """What a function counts over calls: how many paths it has, how many parts a row at its entry has (0 for
    too many), and its call sites by their numbers.
    """

    number: int
    paths: int = 0
    parts: int = 0
    at_once: bool = False
    sites: dict[int, SiteLayout] = field(default_factory=dict)


class CallLayout:
    """The layout of a unit, function by function."""

    def __init__(self, names: CallNames, sites: int) -> None:
        """For so many call sites."""
        self.names = names
        self.slots = min(SCRATCH + _LEAST_COUNTERS + _COUNTERS_BY_SITE * sites, _MOST_COUNTERS)
        """How many counters the unit has for rows; they are its first ones."""
        self.words = self.targets = 0
        self.prefixes: list[int] = []
        self.site_rows: list[str] = []
        self.function_rows: list[str] = []

    def add(self, read: FunctionCfg, plan: Plan) -> FunctionLayout:
        """The layout of the next function."""
        number = len(self.function_rows)
        calls = plan.calls
        if calls is None or plan.paths is None:
            self.function_rows.append("{ i64, i32, i32 } zeroinitializer")
            return FunctionLayout(number)
        numbering = numbering_of_plan(read.graph, plan)
        root = read.graph.root
        cut = blocks_that_may_be_cut_short(read)
        blocks = [site.block for site in calls.sites]
        once: set[int] = set()
        if calls.extended:
            exact = replace(calls, stops=tuple(sorted(cut)))
            parts = entry_numbers(numbering, calls).paths(root)
            entered_once = entry_numbers(numbering, exact).paths(root) == 1
            behind = dict.fromkeys(blocks, 1)
            for wanted in (calls, exact) if blocks else ():
                returns = return_numbers(plan, numbering, wanted)
                found_behind = {block: returns.paths_behind(block) for block in blocks}
                if wanted is calls:
                    behind = found_behind
                else:
                    once = {block for block in blocks if found_behind[block] == 1}
        else:
            parts, entered_once = numbering.number, numbering.number == 1 and not cut
            behind = dict.fromkeys(blocks, prefix_parts(numbering, calls.sites))
        most = MOST_PARTS if calls.extended else MOST_PAIRED_PARTS
        parts = parts if parts <= most else 0
        prefixes = prefix_sums(numbering, blocks, MOST_CELLS)
        found = FunctionLayout(number, numbering.number, parts, parts == 1 and entered_once)
        few = max(behind.values(), default=0) <= most
        for site in calls.sites:
            rows, at_once = behind[site.block], site.block in once
            made = self._site(
                read,
                site.site,
                site.block,
                prefixes[site.block],
                numbering.number,
                rows if few or at_once else 0,
            )
            found.sites[site.site] = replace(made, at_once=at_once)
        paths = numbering.number if numbering.number <= 1 << 32 else 0
        self.function_rows.append(f"{{ i64, i32, i32 }} {{ i64 {paths}, i32 {parts}, i32 0 }}")
        return found

    def _site(
        self,
        read: FunctionCfg,
        number: int,
        block: int,
        prefixes: Sequence[int] | None,
        numbers: int,
        parts: int,
    ) -> SiteLayout:
        while len(self.site_rows) < number:
            self.site_rows.append(f"{SITE_TYPE} {{ i64 0, i32 {self.words}, i32 0, i32 0, i32 0 }}")
        symbol = called_by(read, block).symbol
        index = cell_index(prefixes, numbers)
        cells = 0 if index is None else index.cells
        target = 0 if symbol is None else self.names.token(symbol)
        fields = f"i64 {target}, i32 {self.words}, i32 {cells}, i32 {len(self.prefixes)}, i32 {parts}"
        self.site_rows.append(f"{SITE_TYPE} {{ {fields} }}")
        by_cell = [0] * cells
        if index is not None:
            for prefix in range(cells) if prefixes is None else prefixes:
                by_cell[index.of(prefix)] = prefix
        self.prefixes += by_cell
        if symbol is None:
            self.targets += WAYS
            return SiteLayout(number, self.targets - WAYS, True, index, parts)
        at = self.words
        self.words += HEAD + cells
        return SiteLayout(number, at, False, index, parts)


def cell_index(prefixes: Sequence[int] | None, numbers: int) -> CellIndex | None:
    """How the cells of some prefixes, below ``numbers``, are found; None if there are too many."""
    if prefixes is None:
        return CellIndex(numbers) if numbers <= MOST_DIRECT_CELLS else None
    if len(prefixes) <= 1:
        return CellIndex(1, single=True)
    if max(prefixes) < 4 * len(prefixes):
        return CellIndex(max(prefixes) + 1)
    bits = (len(prefixes) - 1).bit_length()
    for more in range(6):
        multiplier = 0x9E3779B97F4A7C15
        for _ in range(64):
            index = CellIndex(1 << (bits + more), multiplier=multiplier, shift=64 - bits - more)
            if len(set(map(index.of, prefixes))) == len(prefixes):
                return index
            multiplier = multiplier * 0xD6E8FEB86659FD93 % _WORD | 1
    return None
