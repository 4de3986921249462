"""Put a plan's probes into a function's IR.

Where code for an edge goes: into its target if nothing else leads there, into its source if nothing
else follows, otherwise into a block of its own on the edge (the jump that BL94 §6.3 and Figure 19 save is
then LLVM's to lay out).  For edges that cannot be split, a phi in their target tells which counter is meant.

Calls that may leave the function otherwise are handled as BL94 §3.2 asks: one that may unwind gets a
landing pad which counts the block's early exit, and labels before and after every call that may stay
away let the runtime name the block of each frame that is still active when the program ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.native.calls import Call
from trodden.native.edits import as_invoke, rename_phis, retarget, with_cleanup, with_personality
from trodden.native.induction import Induction
from trodden.native.read import FunctionRead
from trodden.native.sites import Labels, Sites, comdat_group
from trodden.plan.probes import AddTrips, Count, Plan, Probe

COUNTERS = "@__trodden_counts"


@dataclass
class Lowered:
    """The new text of a function, the slots that count unwound calls, and how many slots it takes in all."""

    text: str
    exit_slots: dict[int, int]
    slots: int


class _Lowering:
    """The editing of one function; every block collects what is to be added before any text is made."""

    def __init__(
        self,
        read: FunctionRead,
        plan: Plan,
        inductions: Mapping[int, Induction],
        first_slot: int,
        personality: str | None,
    ) -> None:
        self.read = read
        self.plan = plan
        self.inductions = inductions
        self.first_slot = first_slot
        self.personality = personality
        self.next_slot = first_slot + plan.slots
        self.fresh = 0
        self.top: dict[int, list[str]] = defaultdict(list)
        self.bottom: dict[int, list[str]] = defaultdict(list)
        self.phis: dict[int, list[tuple[str, dict[int, int]]]] = defaultdict(list)
        self._spare: int | None = None
        self.split: dict[int, tuple[str, list[str]]] = {}
        self.merged: dict[int, list[tuple[int, Sequence[Probe]]]] = defaultdict(list)
        self.last_label = [block.label for block in read.ir.blocks]
        self.exit_slots: dict[int, int] = {}
        self.pads: list[str] = []

    def name(self) -> str:
        self.fresh += 1
        return f"trodden.{self.fresh}"

    def place(self) -> None:
        """Decide for each edge where its probes go."""
        read, graph = self.read, self.read.graph
        for block, probes in self.plan.on_blocks.items():
            if read.ir.blocks[block].label in read.tails.handed_to:
                self._place_before(block, probes)
            else:
                self.top[block] += self._code(probes)
        for edge, probes in self.plan.on_edges.items():
            source, target, _ = graph.edges[edge]
            if target != graph.exit:
                self._place_on(edge, probes)
            elif read.ir.blocks[source].label in read.tails.handed_to:
                self._place_before(source, probes)
            else:
                self.bottom[source] += self._code(probes)
        for target, waiting in self.merged.items():
            self._tell_apart(target, waiting)

    def _place_before(self, block: int, probes: Sequence[Probe]) -> None:
        """Count a block that must stay empty on all edges into it."""
        for edge in self.read.arriving(block):
            self._place_on(edge, probes)

    def _place_on(self, edge: int, probes: Sequence[Probe]) -> None:
        read = self.read
        source, target, _ = read.graph.edges[edge]
        if read.jumps(edge):
            self.bottom[source] += self._code(probes)
        elif read.single_entry(edge):
            self.top[target] += self._code(probes)
        elif read.splittable(edge):
            self.split.setdefault(edge, (self.name(), []))[1].extend(self._code(probes))
        else:
            self.merged[target].append((edge, probes))

    def _tell_apart(self, target: int, waiting: Sequence[tuple[int, Sequence[Probe]]]) -> None:
        """Count unsplittable edges in their target, where a phi tells which counter is meant.

        Edges that need no counter share one that nobody reads.
        """
        of_edge: dict[int, list[Probe]] = defaultdict(list)
        for edge, probes in waiting:
            of_edge[edge] += probes
        for layer in range(max(map(len, of_edge.values()))):
            slots: dict[int, int] = {}
            for edge, probes in of_edge.items():
                if layer < len(probes):
                    probe = probes[layer]
                    assert isinstance(probe, Count)
                    slots[edge] = self.first_slot + probe.slot
            which = self.name()
            self.phis[target].append((which, slots))
            self.top[target] += self._increment(f"%{which}", "1")

    def phi_lines(self, target: int) -> list[str]:
        """The phis that tell edges apart, once the labels of all predecessors are known."""
        return [
            f"  %{which} = phi ptr "
            + ", ".join(
                f"[ {self._counter(slots.get(other))}, %{self._arrives(other)} ]"
                for other in self.read.arriving(target)
                for _ in self.read.positions[other]
            )
            for which, slots in self.phis.get(target, ())
        ]

    def _counter(self, slot: int | None) -> str:
        return slot_address(self.spare() if slot is None else slot)

    def split_blocks(self) -> list[str]:
        """The blocks that were put on edges."""
        blocks = []
        for edge, (label, code) in self.split.items():
            target = self.read.ir.blocks[self.read.graph.edges[edge].dst].label
            blocks.append("\n".join([f"{label}:", *code, f"  br label %{target}"]))
        return blocks

    def _arrives(self, edge: int) -> str:
        if edge in self.split:
            return self.split[edge][0]
        return self.last_label[self.read.graph.edges[edge].src]

    def renames(self, block: int) -> list[tuple[str, str]]:
        """Under which labels a block's predecessors were known, and are known now."""
        found: list[tuple[str, str]] = []
        for edge in self.read.arriving(block):
            old = self.read.ir.blocks[self.read.graph.edges[edge].src].label
            new = self._arrives(edge)
            if old != new:
                found += [(old, new)] * len(self.read.positions[edge])
        return found

    def _code(self, probes: Sequence[Probe]) -> list[str]:
        lines: list[str] = []
        for probe in probes:
            if isinstance(probe, Count):
                lines += self._add(probe.slot, "1")
            elif isinstance(probe, AddTrips):
                lines += self._add_trips(probe)
        return lines

    def spare(self) -> int:
        """A counter that nobody reads, taken when first asked for."""
        if self._spare is None:
            self._spare = self._take_slot()
        return self._spare

    def _take_slot(self) -> int:
        """A slot of the unit beside those of the plan."""
        self.next_slot += 1
        return self.next_slot - 1

    def _add(self, slot: int, amount: str) -> list[str]:
        return self._increment(slot_address(self.first_slot + slot), amount)

    def _increment(self, address: str, amount: str) -> list[str]:
        old, new = self.name(), self.name()
        return [
            f"  %{old} = load i64, ptr {address}, align 8",
            f"  %{new} = add i64 %{old}, {amount}",
            f"  store i64 %{new}, ptr {address}, align 8",
        ]

    def _add_trips(self, probe: AddTrips) -> list[str]:
        """(value - start) / step, in 64 bits."""
        induction = self.inductions[probe.back_edge]
        lines: list[str] = []

        def emit(operation: str) -> str:
            name = self.name()
            lines.append(f"  %{name} = {operation}")
            return f"%{name}"

        value, start, type_ = f"%{induction.name}", induction.start, induction.type
        if induction.step < 0:
            value, start = start, value
        distance = value if start == "0" else emit(f"sub {type_} {value}, {start}")
        if type_ != "i64":
            distance = emit(f"zext {type_} {distance} to i64")
        step = abs(induction.step)
        if step & (step - 1) == 0:
            if step > 1:
                distance = emit(f"lshr exact i64 {distance}, {step.bit_length() - 1}")
        else:
            distance = emit(f"udiv exact i64 {distance}, {step}")
        return lines + self._add(probe.slot, distance)

    def unwinding(self, block: int, final: Call | None) -> list[Call]:
        """The calls of a block through which an exception would leave the function unseen."""
        if self.read.nounwind or self.personality is None:
            return []
        return [call for call in self.read.calls[block] if call.may_unwind and call is not final]

    def pad(self, block: int) -> str:
        """The landing pad that counts a block's unwound calls, made when first asked for."""
        if block not in self.exit_slots:
            self.exit_slots[block] = self._take_slot()
            caught = self.name()
            count = self._increment(slot_address(self.exit_slots[block]), "1")
            self.pads.append(
                "\n".join(
                    [
                        f"trodden.pad.{block}:",
                        f"  %{caught} = landingpad {{ ptr, i32 }}",
                        "          cleanup",
                        *count,
                        f"  resume {{ ptr, i32 }} %{caught}",
                    ]
                )
            )
        return f"trodden.pad.{block}"


def lower(
    read: FunctionRead,
    plan: Plan,
    inductions: Mapping[int, Induction],
    first_slot: int,
    function_index: int,
    sites: Sites | None,
    personality: str | None,
) -> Lowered:
    """The function's text with the plan's probes in it; its counters start at ``first_slot`` of the unit."""
    work = _Lowering(read, plan, inductions, first_slot, personality)
    work.place()
    header = read.ir.header
    labels = sites.labels(comdat_group(read.ir)) if sites is not None else None
    bodies = [_edit_calls(work, v, function_index, labels) for v in range(len(read.ir.blocks))]
    if work.exit_slots and " personality " not in header:
        header = with_personality(header, personality or "")
    texts = [_assemble(work, v, body) for v, body in enumerate(bodies)]
    rendered = header + "\n" + "\n\n".join([*texts, *work.split_blocks(), *work.pads]) + "\n}"
    return Lowered(rendered, work.exit_slots, work.next_slot - first_slot)


@dataclass
class _Body:
    """A block's text in three pieces: before the added code at the top, the middle, the terminator."""

    head: str
    middle: str
    terminator: str


def _edit_calls(work: _Lowering, block_number: int, function_index: int, labels: Labels | None) -> _Body:
    """Label the calls of a block, turn those that may unwind into invokes, add the code at its end."""
    block = work.read.ir.blocks[block_number]
    calls = work.read.calls[block_number]
    final = work.read.tails.final[block_number]
    bottom = "".join(line + "\n" for line in work.bottom.get(block_number, ()))
    cuts = [call for call in calls if call.may_stay_away]
    head_end = min(block.head_end(), block.terminator)
    head = with_cleanup(block.text[:head_end])
    pieces: list[str] = []
    position = head_end
    unwinding = set(work.unwinding(block_number, final))
    for call in cuts:
        pieces.append(block.text[position : call.start])
        line = block.text[call.start : call.end]
        position = call.end + 1
        if call is final:
            pieces.append(bottom)
            bottom = ""
        if labels is not None:
            line = labels.open(line, function_index, -1 if call is final else block_number, pieces)
        if call in unwinding:
            following = work.name()
            line = as_invoke(line, following, work.pad(block_number))
            work.last_label[block_number] = following
            pieces.append(line + "\n\n" + following + ":\n")
        else:
            pieces.append(line + "\n")
        if labels is not None and (call is not final or block.opcode == "unreachable"):
            labels.close(pieces)
    if final is not None and bottom:
        pieces += [block.text[position : final.start], bottom]
        position = final.start
        bottom = ""
    pieces += [block.text[position : block.terminator], bottom]
    terminator = block.text[block.terminator :]
    if block.opcode == "invoke" and labels is not None:
        terminator = labels.open(terminator, function_index, block_number, pieces)
    return _Body(head, "".join(pieces), terminator)


def _assemble(work: _Lowering, block_number: int, body: _Body) -> str:
    graph = work.read.graph
    block = work.read.ir.blocks[block_number]
    head = rename_phis(body.head, work.renames(block_number))
    phis = work.phi_lines(block_number)
    if phis:
        newline = head.find("\n") + 1
        head = head[:newline] + "\n".join(phis) + "\n" + head[newline:]
    terminator = body.terminator
    split = {
        work.read.positions[e][0]: work.split[e][0] for e in graph.out_edges[block_number] if e in work.split
    }
    if split:
        terminator = retarget(block, terminator, split)
    added = "".join(line + "\n" for line in work.top.get(block_number, ()))
    return head + added + body.middle + terminator


def slot_address(slot: int) -> str:
    """The address of a counter of the calling thread."""
    return COUNTERS if slot == 0 else f"getelementptr (i8, ptr {COUNTERS}, i64 {slot * 8})"
