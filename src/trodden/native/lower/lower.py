"""Put a plan's probes into a function's IR.

Calls that may leave the function otherwise are handled as BL94 §3.2 and BL96 §3.6 ask: labels before and
after every call that may stay away tell the block of each frame that is active when the program ends, or that
a jump or an exception leaves behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.ir.rewriting import rename_phis, retarget
from trodden.native.lower.branch_weights import Odds
from trodden.native.lower.call_site_labels import Labels, Sites, comdat_group
from trodden.native.lower.debug_locations import FunctionMarks
from trodden.native.lower.emit_call_paths import CallCode
from trodden.native.lower.probe_inserter import Placing
from trodden.native.planning.plan_function import Planned


@dataclass
class Lowered:
    """The new text of a function, and how many slots it takes.

    ``registers`` is what the path register holds while calls are active (see FunctionFacts).
    """

    text: str
    slots: int
    registers: dict[int, tuple[bool, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where a function stands: the unit's first free slot, its number there, and the machine it is for.

    ``calls``: it keeps the path of calls that led to it.  ``tag`` is the unit's, if it keeps the last paths.
    """

    first_slot: int
    number: int
    machine: str
    calls: bool = False
    tag: int | None = None


def lower(
    read: FunctionRead,
    planned: Planned,
    place: Place,
    sites: Sites | None,
    marks: FunctionMarks | None = None,
    odds: Odds | None = None,
) -> Lowered:
    """The function's text with the plan's probes in it; ``odds`` tell what was measured of its branches."""
    calls = CallCode(read, place.number, place.machine) if place.calls else None
    work = Placing(read, planned, place.first_slot, place.number, place.machine, calls, marks, place.tag)
    work.place()
    work.place_register()
    work.place_calls()
    labels = sites.labels(comdat_group(read.ir)) if sites is not None else None
    bodies = [_edit_calls(work, v, place.number, labels) for v in range(len(read.ir.blocks))]
    if odds is not None:
        for v, body in enumerate(bodies):
            body.terminator = odds.told(read, planned.weights, v, body.terminator)
    texts = [_assemble(work, v, body) for v, body in enumerate(bodies)]
    rendered = read.ir.header + "\n" + "\n\n".join([*texts, *work.split_blocks()]) + "\n}"
    registers = work.cells.registers if work.cells is not None else {}
    if marks is not None:
        rendered = marks.closed(rendered)
    return Lowered(rendered, work.next_slot - place.first_slot, registers)


@dataclass
class _Body:
    """A block's text in three pieces: before the added code at the top, the middle, the terminator."""

    head: str
    middle: str
    terminator: str


def _edit_calls(work: Placing, block_number: int, function_index: int, labels: Labels | None) -> _Body:
    """Label the calls of a block, add the code at its end."""
    block = work.read.ir.blocks[block_number]
    calls = work.read.calls[block_number]
    final = work.read.tail_calls.by_block[block_number]
    bottom = "".join(line + "\n" for line in work.bottom.get(block_number, ()))
    cuts = [call for call in calls if call.may_not_return]
    head_end = min(block.insertion_point(), block.terminator_start)
    head = block.text[:head_end]
    pieces: list[str] = []
    position = head_end
    for call in cuts:
        pieces.append(block.text[position : call.start])
        text = block.text[call.start : call.end]
        position = call.end + 1
        if call is final:
            pieces.append(bottom)
            bottom = ""
        if call.returns_twice:
            pieces += [line + "\n" for line in work.before_second.get(block_number, ())]
        if labels is not None:
            text = labels.open(text, function_index, -1 if call is final else block_number, pieces)
        pieces.append(text + "\n")
        if call.returns_twice and work.calls is not None:
            pieces.append(work.calls.returning + "\n")
        if labels is not None and (call is not final or block.opcode == "unreachable"):
            labels.close(pieces)
    if final is not None and bottom:
        pieces += [block.text[position : final.start], bottom]
        position = final.start
        bottom = ""
    pieces += [block.text[position : block.terminator_start], bottom]
    terminator = block.text[block.terminator_start :]
    if block.opcode == "invoke" and labels is not None:
        terminator = labels.open(terminator, function_index, block_number, pieces)
    if block.opcode == "resume" and labels is not None:
        terminator = labels.resume(terminator, function_index, work.name())
    return _Body(head, "".join(pieces), terminator)


def _assemble(work: Placing, block_number: int, body: _Body) -> str:
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
    added = "".join(line + "\n" for line in [*work.where(block_number), *work.top.get(block_number, ())])
    return head + added + body.middle + terminator
