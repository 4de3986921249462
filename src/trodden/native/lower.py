"""Put a plan's probes into a function's IR.

Where code for an edge goes: into its target if nothing else leads there, into its source if nothing
else follows, otherwise into a block of its own on the edge (BL94 §6.3 and Figure 19 are about avoiding
that jump; the prices already did).  An edge that cannot be split is told by a phi in its target that
is one when control came over it.

Calls that may leave the function otherwise are handled as BL94 §3.2 asks: one that may unwind gets a
landing pad which counts the block's early exit, and labels before and after every call that may stay
away let the runtime name the block of each frame that is still active when the program ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.native.calls import Call
from trodden.native.edits import as_invoke, rename_phis, retarget, with_personality
from trodden.native.induction import Induction
from trodden.native.irtext import IRBlock
from trodden.native.read import FunctionRead
from trodden.native.sites import Sites, comdat_group
from trodden.plan.probes import AddTrips, Count, Plan, Probe

COUNTERS = "@__trodden_counts"


@dataclass
class Lowered:
    """The new text of a function, and the slots that count unwound calls."""

    text: str
    exit_slots: dict[int, int]


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
        self.leaving: dict[int, list[str]] = defaultdict(list)
        self.phis: dict[int, list[str]] = defaultdict(list)
        self.split: dict[int, str] = {}
        self.split_blocks: list[str] = []
        self.merged: dict[int, list[int]] = defaultdict(list)
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
            self.top[block] += self._code(probes)
        for edge, probes in self.plan.on_edges.items():
            source, target, _ = graph.edges[edge]
            if target == graph.exit:
                self.leaving[source] += self._code(probes)
            elif read.single_entry(edge):
                self.top[target] += self._code(probes)
            elif read.carries_freely(edge):
                self.bottom[source] += self._code(probes)
            elif read.splittable(edge):
                label = self.name()
                self.split[edge] = label
                body = self._code(probes)
                target_label = read.ir.blocks[target].label
                self.split_blocks.append("\n".join([f"{label}:", *body, f"  br label %{target_label}"]))
            else:
                self.merged[target].append(edge)

    def place_merged(self) -> None:
        """Tell unsplittable edges apart by phis, once the labels of all predecessors are known."""
        for target, edges in self.merged.items():
            for edge in edges:
                came = self.name()
                incoming = ", ".join(
                    f"[ {int(other == edge)}, %{self._arrives(other)} ]"
                    for other in self.read.graph.in_edges[target]
                    if other < len(self.read.positions)
                    for _ in self.read.positions[other]
                )
                self.phis[target].append(f"  %{came} = phi i64 {incoming}")
                for probe in self.plan.on_edges[edge]:
                    assert isinstance(probe, Count)
                    self.top[target] += self._add(probe.slot, f"%{came}")

    def _arrives(self, edge: int) -> str:
        return self.split.get(edge) or self.last_label[self.read.graph.edges[edge].src]

    def renames(self, block: int) -> list[tuple[str, str]]:
        """Under which labels a block's predecessors were known, and are known now."""
        found: list[tuple[str, str]] = []
        for edge in self.read.graph.in_edges[block]:
            if edge < len(self.read.positions):
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

    def _add(self, slot: int, amount: str) -> list[str]:
        old, new = self.name(), self.name()
        address = slot_address(self.first_slot + slot)
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
            self.exit_slots[block] = self.next_slot
            self.next_slot += 1
            caught = self.name()
            count = self._add(self.exit_slots[block] - self.first_slot, "1")
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
    bodies = [_edit_calls(work, v, function_index, sites) for v in range(len(read.ir.blocks))]
    work.place_merged()
    if work.exit_slots and " personality " not in header:
        header = with_personality(header, personality or "")
    texts = [_assemble(work, v, body) for v, body in enumerate(bodies)]
    rendered = header + "\n" + "\n\n".join([*texts, *work.split_blocks, *work.pads]) + "\n}"
    return Lowered(rendered, work.exit_slots)


@dataclass
class _Body:
    """A block's text in three pieces: before the added code at the top, the middle, the terminator."""

    head: str
    middle: str
    terminator: str


def _final_call(block: IRBlock, calls: Sequence[Call]) -> Call | None:
    """The call that ends the block for good: in tail position, or one that never returns."""
    if not calls:
        return None
    last = calls[-1]
    if last.in_tail_of(block) or (block.opcode == "unreachable" and last.ends(block)):
        return last
    return None


def _edit_calls(work: _Lowering, block_number: int, function_index: int, sites: Sites | None) -> _Body:
    """Label the calls of a block, turn those that may unwind into invokes, add the code of leaving edges."""
    block = work.read.ir.blocks[block_number]
    calls = work.read.calls[block_number]
    final = _final_call(block, calls)
    leaving = work.leaving.get(block_number, [])
    cuts = [call for call in calls if call.may_stay_away]
    head_end = min(block.head_end(), block.terminator)
    head = block.text[:head_end]
    pieces: list[str] = []
    position = head_end
    unwinding = set(work.unwinding(block_number, final))
    group = comdat_group(work.read.ir)
    labels = sites.labels(group) if sites is not None else None
    for call in cuts:
        pieces.append(block.text[position : call.start])
        line = block.text[call.start : call.end]
        position = call.end + 1
        if call is final:
            pieces += [line + "\n" for line in leaving]
            leaving = []
        if labels is not None:
            line = labels.open(line, function_index, -1 if call is final else block_number, pieces)
        if call in unwinding:
            following = work.name()
            line = as_invoke(line, following, work.pad(block_number))
            work.last_label[block_number] = following
            pieces.append(line + "\n\n" + following + ":\n")
        else:
            pieces.append(line + "\n")
        if labels is not None and not (call is final and block.opcode == "ret"):
            labels.close(pieces)
    if final is not None and leaving:
        pieces.append(block.text[position : final.start])
        position = final.start
        pieces += [line + "\n" for line in leaving]
        leaving = []
    pieces.append(block.text[position : block.terminator])
    pieces += [line + "\n" for line in leaving]
    terminator = block.text[block.terminator :]
    if block.opcode == "invoke" and labels is not None:
        terminator = labels.open(terminator, function_index, block_number, pieces)
    return _Body(head, "".join(pieces), terminator)


def _assemble(work: _Lowering, block_number: int, body: _Body) -> str:
    graph = work.read.graph
    block = work.read.ir.blocks[block_number]
    head = rename_phis(body.head, work.renames(block_number))
    phis = work.phis.get(block_number)
    if phis:
        newline = head.find("\n") + 1
        head = head[:newline] + "\n".join(phis) + "\n" + head[newline:]
    terminator = body.terminator
    split = {
        work.read.positions[e][0]: work.split[e] for e in graph.out_edges[block_number] if e in work.split
    }
    if split:
        terminator = retarget(block, terminator, split)
    added = "".join(line + "\n" for line in work.top.get(block_number, ()))
    below = "".join(line + "\n" for line in work.bottom.get(block_number, ()))
    return head + added + body.middle + below + terminator


def slot_address(slot: int) -> str:
    """The address of a counter of the calling thread."""
    return COUNTERS if slot == 0 else f"getelementptr (i8, ptr {COUNTERS}, i64 {slot * 8})"
