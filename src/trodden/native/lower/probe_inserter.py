"""Where the code of a plan's probes goes in a function.

Code for an edge goes into its target if nothing else leads there, into its source if nothing else follows,
otherwise into a block of its own on the edge (the jump that BL94 §6.3 and Figure 19 save is then LLVM's to
lay out).  For edges that cannot be split, a phi in their target tells what is to be counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.lower.debug_locations import FunctionMarks
from trodden.native.lower.emit_call_paths import CallCode, Room, is_pad
from trodden.native.lower.emit_paths import CLOCK, PathCode, increment, slot_address
from trodden.native.lower.emit_trips import TripCode, turned
from trodden.native.lower.register_slot import Cells
from trodden.native.planning.plan_function import Planned
from trodden.native.planning.register_slots import reloaded_blocks
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Register, Value, track
from trodden.plan.probes import AddTrips, Bump, BumpAt, Count, Probe

Placed = tuple[Probe, Mark]
"""A probe, and the mark of its instructions."""

_ANCHOR = '  call void asm sideeffect "", ""()'


def _placed(probes: Sequence[Probe], holder: Holder, index: int) -> list[Placed]:
    return [(probe, Mark(holder, index, number)) for number, probe in enumerate(probes)]


class Placing:
    """The editing of one function; every block collects what is to be added before any text is made."""

    def __init__(
        self,
        read: FunctionRead,
        planned: Planned,
        first_slot: int,
        function: int,
        machine: str,
        calls: CallCode | None = None,
        marks: FunctionMarks | None = None,
        tag: int | None = None,
    ) -> None:
        plan = planned.plan
        self.marks = marks
        self.read = read
        self.plan = plan
        self.first_slot = first_slot
        self.next_slot = first_slot + plan.slots
        self.fresh = 0
        self.top: dict[int, list[str]] = defaultdict(list)
        self.bottom: dict[int, list[str]] = defaultdict(list)
        self.before_second: dict[int, list[str]] = defaultdict(list)
        self.phis: dict[int, list[tuple[str, str, dict[int, str], str]]] = defaultdict(list)
        self._spare: int | None = None
        self.split: dict[int, tuple[str, list[str]]] = {}
        self.merged: dict[int, list[tuple[int, Sequence[Placed]]]] = defaultdict(list)
        self.records: dict[int, list[str]] = defaultdict(list)
        self.calls = calls
        self.register = Register([])
        self.cells: Cells | None = None
        if plan.paths is not None:
            ambiguous, weights = planned.ambiguous, planned.weights
            self.register = track(read.graph, plan)
            kept = reloaded_blocks(read, self.register, ambiguous, weights)
            if kept:
                self.register = track(read.graph, plan, kept)
            self.cells = Cells(read, self.register, ambiguous, weights)
        self.trips = TripCode(self.name, planned.inductions, machine)
        self.pathcode = PathCode.of(plan, self.name, first_slot, function, machine, self.register, marks, tag)

    def name(self) -> str:
        """A name that nothing else in the function has."""
        self.fresh += 1
        return f"trodden.{self.fresh}"

    def place(self) -> None:
        """Decide for each edge where its probes go."""
        read, graph = self.read, self.read.graph
        for block, probes in self.plan.on_blocks.items():
            placed: Sequence[Placed] = _placed(probes, Holder.BLOCK, block)
            if read.ir.blocks[block].label in read.tail_calls.return_blocks:
                for edge in read.in_edges(block):
                    self._place_on(edge, placed)
            else:
                self.top[block] += self._code(placed, None)
        for edge, placed in self._on_edges().items():
            source, target, _ = graph.edges[edge]
            if target != graph.exit:
                self._place_on(edge, placed)
            else:
                self.bottom[source] += self._code(placed, self._held(source))
        for target, waiting in self.merged.items():
            self._tell_apart(target, waiting)
        for back_edge, induction in self.trips.turning.items():
            header = graph.edges[back_edge].dst
            self.phis[header].append((induction.name, "i64", {back_edge: f"%{turned(induction)}"}, "-1"))
            self.top[header].append(self.trips.turn(induction))
            if self.marks is not None:
                self.top[header].append(self.marks.trips(back_edge, induction, turned(induction)))
        if self.marks is not None:
            for back_edge, induction in self.trips.told.items():
                record = self.marks.trips(back_edge, induction, induction.name, induction.own)
                self.records[graph.edges[back_edge].dst].append(record)

    def place_register(self) -> None:
        """Once it is known who looks at the path register: its phis, the clock, the cell."""
        if self.pathcode is None or self.cells is None:
            return
        for block, lines in self.cells.stores().items():
            if self.marks is not None:
                store = lines[:1]
                self.marks.on(store, 0, Mark(Holder.SLOT, block))
                lines[:1] = store
            self.top[block] += lines
        used = [*self.pathcode.used, *self.cells.used]
        for name, (target, brought) in self.register.needed(used).items():
            self._part(brought)
            taken = {edge: self._carried(edge, value) for edge, value in brought.items()}
            self.phis[target].append((name, "i64", taken, "0"))
            if self.marks is not None:
                self.records[target].append(self.marks.value(name))
                if self.marks.plain:
                    self._repeat(name, target)
        entry = self.cells.declare()
        if entry and self.marks is not None:
            entry.append(self.marks.cell(self.register.reloaded))
        if self.plan.paths is not None and self.plan.paths.timed:
            entry.append(f"  {CLOCK} = alloca i64, align 8")
        entry += self.pathcode.code(self.plan.on_entry, None)
        root = self.read.graph.root
        self.top[root] = entry + self.top[root]

    def place_calls(self) -> None:
        """What keeps the path of calls, before everything else that a function does."""
        if self.calls is None:
            return
        self.calls.place(Room(self.top.__getitem__, self.bottom.__getitem__, self._block_on))
        root = self.read.graph.root
        self.top[root] = self.calls.entering() + self.top[root]

    def _block_on(self, edge: int) -> list[str]:
        """The code of a block of its own on the edge, made when first asked for."""
        return self.split.setdefault(edge, (self.name(), []))[1]

    def _held(self, block: int) -> Value | None:
        return self.register.at_end(block) if self.pathcode is not None else None

    def _on_edges(self) -> dict[int, Sequence[Placed]]:
        """The probes of all edges; a block that must stay empty has those behind it on all edges into it."""
        found: dict[int, Sequence[Placed]] = {
            edge: _placed(probes, Holder.EDGE, edge) for edge, probes in self.plan.on_edges.items()
        }
        for block, at in enumerate(self.read.ir.blocks):
            if at.label in self.read.tail_calls.return_blocks:
                for leaving in self.read.graph.out_edges[block]:
                    probes = found.pop(leaving, ())
                    if probes:
                        for edge in self.read.in_edges(block):
                            found[edge] = (*found.get(edge, ()), *probes)
        return found

    def _place_on(self, edge: int, probes: Sequence[Placed]) -> None:
        read = self.read
        source, target, _ = read.graph.edges[edge]
        value = self._held(source)
        if self.plan.paths is not None and edge in self.plan.paths.handlers:
            ending = [placed for placed in probes if isinstance(placed[0], Bump | BumpAt)]
            others = self._code([placed for placed in probes if placed not in ending], value)
            if read.single_successor(edge):
                self.before_second[source] += self._code(ending, value)
                self.bottom[source] += others
            else:
                self.bottom[source] += self._code(ending, value)
                self._block_on(edge).extend(others)
        elif read.single_successor(edge):
            self.bottom[source] += self._code(probes, value)
        elif read.single_predecessor(edge):
            self.top[target] += self._code(probes, value)
        elif read.splittable(edge):
            code = self._code(probes, value)
            if code:
                self._block_on(edge).extend(code)
        else:
            self.merged[target].append((edge, probes))

    def _part(self, brought: Mapping[int, Value]) -> None:
        """Edges of one source that bring different values need blocks of their own to be told apart."""
        values: dict[int, set[Value]] = defaultdict(set)
        for edge, value in brought.items():
            values[self.read.graph.edges[edge].src].add(value)
        for edge in brought:
            if len(values[self.read.graph.edges[edge].src]) > 1:
                self._block_on(edge)

    def _carried(self, edge: int, value: Value) -> str:
        """What an edge brings into a phi; the addition that it may need goes where the edge has room."""
        assert self.pathcode is not None
        code: list[str] = []
        operand = self.pathcode.operand(code, value)
        if code and not self.read.single_successor(edge) and self.read.splittable(edge):
            self._block_on(edge).extend(code)
        else:
            self.bottom[self.read.graph.edges[edge].src] += code
        return operand

    def _tell_apart(self, target: int, waiting: Sequence[tuple[int, Sequence[Placed]]]) -> None:
        """Count unsplittable edges in their target, where a phi tells what is meant.

        Edges that need no counter share one that nobody reads; of paths none has ended on them.
        """
        counting: dict[int, list[int]] = defaultdict(list)
        ending: dict[int, list[Value]] = defaultdict(list)
        for edge, probes in waiting:
            value = self._held(self.read.graph.edges[edge].src)
            for probe, _ in probes:
                assert not isinstance(probe, AddTrips), "trips are counted where there is room"
                if isinstance(probe, Count):
                    counting[edge].append(self.first_slot + probe.slot)
                elif isinstance(probe, Bump | BumpAt):
                    assert self.pathcode is not None
                    ending[edge].append(self.pathcode.ended(probe, value))
                value = self.register.after(value, (probe,))
        start = len(self.top[target])
        for layer in range(max(map(len, counting.values()), default=0)):
            which = self.name()
            slots = {e: slot_address(each[layer]) for e, each in counting.items() if layer < len(each)}
            self.phis[target].append((which, "ptr", slots, ""))
            self.top[target] += increment(self.name, f"%{which}", "1")
        ended: list[tuple[str, str]] = []
        for layer in range(max(map(len, ending.values()), default=0)):
            assert self.pathcode is not None
            path, amount = self.name(), self.name()
            numbers = {e: self._number(e, each[layer]) for e, each in ending.items() if layer < len(each)}
            self.phis[target].append((path, "i64", numbers, "0"))
            self.phis[target].append((amount, "i64", dict.fromkeys(numbers, "1"), "0"))
            self.pathcode.count_if(self.top[target], path, f"%{amount}")
            ended.append((path, f"%{amount}"))
        if self.marks is not None:
            self.marks.on(self.top[target], start, Mark(Holder.MERGED, target))
        for path, amount in ended:
            assert self.pathcode is not None
            self.pathcode.remember_if(self.top[target], path, amount)

    def _number(self, edge: int, value: Value) -> str:
        assert self.pathcode is not None
        self.pathcode.used.append(value)
        return self.pathcode.operand(self.bottom[self.read.graph.edges[edge].src], value)

    def phi_lines(self, target: int) -> list[str]:
        """The phis that tell edges apart, once the labels of all predecessors are known."""
        return [
            f"  %{name} = phi {type_} "
            + ", ".join(
                f"[ {taken.get(other) or otherwise or slot_address(self.spare())}, %{self._arrives(other)} ]"
                for other in self.read.in_edges(target)
                for _ in self.read.positions[other]
            )
            for name, type_, taken, otherwise in self.phis.get(target, ())
        ]

    def split_blocks(self) -> list[str]:
        """The blocks that were put on edges."""
        blocks = []
        for edge, (label, code) in self.split.items():
            target = self.read.ir.blocks[self.read.graph.edges[edge].dst].label
            where = [] if self.marks is None else [self.marks.at(self.marks.places.on_edge(edge))]
            blocks.append("\n".join([f"{label}:", *where, *code, f"  br label %{target}"]))
        return blocks

    def _arrives(self, edge: int) -> str:
        if edge in self.split:
            return self.split[edge][0]
        return self.read.ir.blocks[self.read.graph.edges[edge].src].label

    def renames(self, block: int) -> list[tuple[str, str]]:
        """Under which labels a block's predecessors were known, and are known now."""
        found: list[tuple[str, str]] = []
        for edge in self.read.in_edges(block):
            old = self.read.ir.blocks[self.read.graph.edges[edge].src].label
            new = self._arrives(edge)
            if old != new:
                found += [(old, new)] * len(self.read.positions[edge])
        return found

    def _repeat(self, name: str, target: int) -> None:
        """Tell a base of the path register again wherever it is the register's.

        Without optimisation LLVM forgets at the end of a block where a value is.
        """
        assert self.marks is not None
        for block, value in enumerate(self.register.at):
            if block != target and value is not None and value.base == name:
                self.records[block].append(self.marks.value(name))

    def where(self, block: int) -> list[str]:
        """The records that stand behind a block's phis."""
        if self.marks is None:
            return []
        found = [self.marks.at(block), *self.records.get(block, ())]
        ir = self.read.ir.blocks[block]
        if is_pad(ir.text[: ir.insertion_point()]):
            # Without optimisation LLVM loads registers before a landing pad's label, if a record comes first.
            found.insert(0, _ANCHOR)
        return found

    def _code(self, placed: Sequence[Placed], value: Value | None) -> list[str]:
        """The code of probes; ``value`` is what the path register holds before them."""
        lines: list[str] = []
        for probe, mark in placed:
            start = len(lines)
            if isinstance(probe, Count):
                lines += self._add(probe.slot, "1")
            elif isinstance(probe, AddTrips):
                distance = self.trips.distance(lines, probe.back_edge)
                lines += self._add(probe.slot, distance)
            if self.marks is not None:
                self.marks.on(lines, start, mark)
        if self.pathcode is not None:
            probes, marks = [probe for probe, _ in placed], [mark for _, mark in placed]
            lines += self.pathcode.code(probes, value, marks)
        return lines

    def spare(self) -> int:
        """A counter that nobody reads, taken when first asked for."""
        if self._spare is None:
            self._spare = self.take_slot()
        return self._spare

    def take_slot(self) -> int:
        """A slot of the unit beside those of the plan."""
        self.next_slot += 1
        return self.next_slot - 1

    def _add(self, slot: int, amount: str) -> list[str]:
        return increment(self.name, slot_address(self.first_slot + slot), amount)
