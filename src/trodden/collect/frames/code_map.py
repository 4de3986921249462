"""The machine code of one function, with the place and the marks of every instruction.

Locations come from debug information, which LLVM keeps as well as it can but does not promise.  So they are
checked against the code: where a block can be entered from a place that does not lead there, LLVM has let
several blocks share their instructions, and nothing is told.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from trodden.collect.binary.dwarf import Row, Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate
from trodden.collect.binary.x86 import Instruction, Way
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.locations import Locations
from trodden.program.facts import BranchKind, FunctionFacts


@dataclass
class CodeView:
    """``places[i]`` is where instruction ``i`` is; ``done[i]`` the mark of the probe that ends with it.

    ``between`` are instructions before which it cannot be said whether a probe has been carried out.
    ``ends`` are blocks that end in a call which never returns, whatever follows it; ``before``
    are the addresses of instructions that lead to a place without belonging to it.  ``joined`` are blocks to
    which one way is left because others lead to copies.
    """

    graph: Graph
    instructions: Sequence[Instruction]
    places: list[int | None]
    done: dict[int, int]
    between: set[int]
    numbers: Locations
    ends: Collection[int] = frozenset()
    before: Collection[int] = frozenset()
    joined: Set[int] = frozenset()
    _index: dict[int, int] = field(init=False)
    _shared: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = {each.address: number for number, each in enumerate(self.instructions)}
        self._targets = {each.target for each in self.instructions}
        self._present = {place for place in self.places if place is not None}
        self._marks: dict[int, set[int]] = {}
        for number, mark in self.done.items():
            place = self.places[number]
            if place is not None:
                self._marks.setdefault(place, set()).add(mark)

    def index(self, address: int) -> int | None:
        """The instruction that begins at an address."""
        return self._index.get(address)

    def call_before(self, address: int) -> int | None:
        """The address of the instruction that ends at an address."""
        place = bisect_right(self.instructions, address - 1, key=lambda each: each.address) - 1
        found = place >= 0 and self.instructions[place].end == address
        return self.instructions[place].address if found else None

    def leads_on(self, address: int) -> bool:
        """Whether an instruction only leads to its place, where nothing has been done yet."""
        return address in self.before

    def marks(self, place: int) -> set[int]:
        """The marks of all probes in a place."""
        return self._marks.get(place, set())

    def all_marks(self) -> set[int]:
        """The marks of all probes of the function."""
        return set(self.done.values())

    def ahead(self, start: int) -> set[int] | None:
        """The marks of probes that are still to come in the place of an instruction.

        A jump back in a block that follows itself leaves it.  None where that cannot be said.
        """
        place = self.places[start]
        again = place is not None and self._follows_itself(place)
        found: set[int] = set()
        waiting, seen = [start], {start}
        if start in self.between:
            return None
        while waiting:
            number = waiting.pop()
            if number in self.done:
                found.add(self.done[number])
            for following in self._next(number):
                back = self.instructions[following].address <= self.instructions[start].address
                if following not in seen and self.places[following] == place and not (again and back):
                    seen.add(following)
                    waiting.append(following)
        return found

    def overtaken(self, start: int) -> set[int]:
        """The marks behind an instruction that stand in the block before its own: records may swap places."""
        place = self.places[start]
        number: int | None = start
        while number is not None and self.places[number] == place:
            number = self._in_line(number)
        other = self.places[number] if number is not None else None
        if other is None or place is None or place not in self._after(other) or other in self._after(place):
            return set()
        found: set[int] = set()
        while number is not None and self.places[number] == other:
            if number in self.done:
                found.add(self.done[number])
            number = self._in_line(number)
        return found

    def forestalled(self, start: int) -> bool:
        """Whether something written before an instruction may be of the block that follows its own.

        LLVM makes one block of two if nothing else leads from one to the other.  Nothing moves over a call.
        """
        place = self.places[start]
        after = self._after(place) if place is not None else set()
        if len(after) != 1 or not after <= self.joined:
            return False
        number = start - 1
        while number >= 0 and self.places[number] == place and self._in_line(number) is not None:
            written = self.instructions[number]
            if written.calls:
                return False
            if written.writes and not written.spills and number not in self.done:
                return True
            number -= 1
        return False

    def _in_line(self, number: int) -> int | None:
        """The instruction that must follow, if nothing else leads to it."""
        ends = self.instructions[number].way is not Way.ON or number + 1 == len(self.instructions)
        return None if ends or self.instructions[number + 1].address in self._targets else number + 1

    def _after(self, place: int) -> set[int]:
        if place >= self.graph.exit:
            return set()
        return {self.graph.edges[edge].dst for edge in self.graph.out_edges[place]}

    def shared(self, place: int) -> bool:
        """Whether control comes to a place from one that does not lead there."""
        if place not in self._shared:
            sources = self._leading_to(place)
            self._shared[place] = any(
                self.places[following] == place and self.places[number] not in sources
                for number in range(len(self.instructions))
                if self.places[number] not in self.ends
                for following in self._next(number)
            )
        return self._shared[place]

    def _next(self, number: int) -> Iterable[int]:
        instruction = self.instructions[number]
        last = number + 1 == len(self.instructions)
        # A block goes on behind a trap that LLVM does not take for its end.
        on = instruction.way is Way.TRAP and not last and self.places[number + 1] == self.places[number]
        if on or (instruction.way in (Way.ON, Way.BRANCH) and not last):
            yield number + 1
        if instruction.way in (Way.JUMP, Way.BRANCH):
            target = self._index.get(instruction.target)
            if target is not None:
                yield target

    def _follows_itself(self, place: int) -> bool:
        return place in self._after(place)

    def _leading_to(self, place: int) -> set[int | None]:
        """The places that control may come from, over blocks of which no instruction is left."""
        sources: set[int | None] = {None, place}
        waiting, seen = [place], {place}
        while waiting:
            for before in self._before(waiting.pop()):
                if before in self._present:
                    sources.add(before)
                elif before not in seen:
                    seen.add(before)
                    waiting.append(before)
        return sources

    def _before(self, place: int) -> Iterable[int]:
        edge = self.numbers.edge_of(place)
        if edge is not None:
            yield self.graph.edges[edge].src
        elif place < self.graph.exit:
            for edge in self.graph.in_edges[place]:
                if self.graph.edges[edge].kind is EdgeKind.FLOW:
                    yield self.numbers.on_edge(edge)


def view(
    facts: FunctionFacts,
    instructions: Sequence[Instruction],
    at: Variable,
    rows: Sequence[Row],
    by_line: bool,
    joined: Set[int] = frozenset(),
) -> CodeView:
    """Put the debug information of a function beside its instructions."""
    graph = facts.graph
    places = _places(graph, instructions, at)
    codes = _codes(instructions, rows, by_line)
    done: dict[int, int] = {}
    between: set[int] = set()
    targets = {each.target for each in instructions if each.target >= 0}
    for first, last in _runs(instructions, codes, targets):
        writes = [number for number in range(first, last) if instructions[number].writes]
        if writes:
            done[writes[-1]] = codes[first]
            between.update(range(writes[0] + 1, writes[-1] + 1))
    ends = {block for block, each in enumerate(facts.blocks) if each.kind is BranchKind.DEAD_END}
    before = _lead_on(instructions, places, codes)
    return CodeView(graph, instructions, places, done, between, Locations.of(graph), ends, before, joined)


def _lead_on(instructions: Sequence[Instruction], places: list[int | None], codes: Sequence[int]) -> set[int]:
    """What stands nowhere, and leads to one place only without any probe, counts to that place.

    These are values that are moved to where a block wants them, and ends that several blocks share.
    """
    before: set[int] = set()
    index = {each.address: number for number, each in enumerate(instructions)}
    for number in reversed(range(len(instructions))):
        each = instructions[number]
        if places[number] is None and not codes[number] and (each.spills or not each.writes):
            if each.way is Way.ON and number + 1 < len(instructions):
                places[number] = places[number + 1]
            elif each.way is Way.JUMP and each.target in index:
                places[number] = places[index[each.target]]
            if places[number] is not None:
                before.add(each.address)
    return before


def _places(graph: Graph, instructions: Sequence[Instruction], at: Variable) -> list[int | None]:
    if at.constant is not None:
        return [at.constant] * len(instructions)
    values = {each.expression: _constant(each.expression) for each in at.ranges}
    ranges = sorted((each.low, each.high, values[each.expression]) for each in at.ranges)
    everywhere = _constant(at.everywhere) if at.everywhere is not None else None
    lows = [low for low, _, _ in ranges]
    places: list[int | None] = []
    for each in instructions:
        number = bisect_right(lows, each.address) - 1
        known = number >= 0 and each.address < ranges[number][1]
        places.append(ranges[number][2] if known else everywhere)
    targets = {each.target for each in instructions}
    for number, each in enumerate(instructions):
        # The frame is set up before the first block begins.
        if places[number] is not None or each.address in targets:
            break
        places[number] = graph.root
        if each.way is not Way.ON:
            break
    return places


def _constant(expression: bytes) -> int | None:

    return evaluate(expression, Frame({}, lambda address, size: None), b"", 8)


def _codes(instructions: Sequence[Instruction], rows: Sequence[Row], by_line: bool) -> list[int]:
    """The mark in the line row of each instruction, 0 where there is none."""
    starts = [row.address for row in rows]
    codes: list[int] = []
    for each in instructions:
        number = bisect_right(starts, each.address) - 1
        row = rows[number] if number >= 0 else None
        codes.append(0 if row is None or row.end else row.line if by_line else row.discriminator)
    return codes


def _runs(
    instructions: Sequence[Instruction], codes: Sequence[int], targets: set[int]
) -> Iterable[tuple[int, int]]:
    """Stretches of instructions with the same mark that control enters at their beginning only."""
    first = 0
    for number in range(1, len(instructions) + 1):
        if (
            number == len(instructions)
            or codes[number] != codes[first]
            or instructions[number].address in targets
            or instructions[number - 1].way is not Way.ON
        ):
            if codes[first]:
                yield first, number
            first = number


def rows_between(rows: Sequence[Row], low: int, high: int) -> list[Row]:
    """The rows of a function; of several at one address the last counts."""
    found: Mapping[int, Row] = {row.address: row for row in rows if low <= row.address < high and not row.end}
    return [found[address] for address in sorted(found)]
