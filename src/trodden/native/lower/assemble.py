"""Assemble the text of a function from its own blocks and the insertions of all phases."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.native.analysis.call_effects import Call
from trodden.native.analysis.recording_calls import static_allocas
from trodden.native.ir.rewriting import rename_phis, retarget
from trodden.native.lower.branch_weights import BranchWeights
from trodden.native.lower.builder import NEW, Builder
from trodden.native.lower.call_site_labels import SiteLabels, resume_call
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import CounterPhi, FunctionCode, Phi, ValuePhi, Where
from trodden.program.call_site_table import NO_BLOCK

_EMPTY_INSTRUCTION = 'call void asm sideeffect "", ""()'
_LOCATION = ", !dbg !"


@dataclass(frozen=True)
class Assembled:
    """The blocks of a function as text; ``calls_resume``: it calls the unwinding library."""

    text: str
    calls_resume: bool


class _EdgeText(NamedTuple):
    """A new block on an edge, which may have become several; ``end`` is the label of the last one."""

    text: str
    end: str


class _Ends(NamedTuple):
    """The labels of the last blocks that blocks, and the new ones on edges, have become."""

    blocks: Sequence[str]
    edges: Mapping[int, str]


@dataclass
class _Block:
    """A block's text in three pieces: label and phis, what follows, the terminator.

    New code may have branches, and so the block may become several; ``end`` is the label of the last one.
    """

    head: str
    body: str
    terminator: str
    end: str = ""


def assemble(
    lowering: FunctionLowering,
    code: FunctionCode,
    lookup: Sequence[str],
    labels: SiteLabels,
    branch_weights: BranchWeights | None,
    weights: Sequence[float],
) -> Assembled:
    """The text of all blocks.

    ``lookup`` comes first in the function.  Terminators get ``branch_weights``, if there are any, from the
    measured ``weights`` of the edges.
    """
    read = lowering.read
    count = len(read.ir.blocks)
    blocks = [_with_calls(lowering, code, v, labels) for v in range(count)]
    for v, block in enumerate(blocks):
        top = _located(_top(lowering, code, v), lowering.debug.block_record(v))
        block.body = f"{_lines(top)}{block.body}"
        block.end = last_label(block.body, lowering.read.ir.blocks[v].label)
    edges = _edge_blocks(lowering, code)
    ends = _Ends([block.end for block in blocks], {edge: block.end for edge, block in edges.items()})
    if branch_weights is not None:
        for v, block in enumerate(blocks):
            block.terminator = branch_weights.attach(read, weights, v, block.terminator)
    entry = lowering.builder()
    phis = [_phi_lines(lowering, code, v, entry, ends) for v in range(count)]
    texts = [_text(lowering, code, v, block, phis[v], ends) for v, block in enumerate(blocks)]
    code.check_all_taken(read.ir.symbol)
    texts[0] = _with_lookup(blocks[0].head, texts[0], [*lookup, *entry.lines])
    resumes = labels.labels_resume and any(block.opcode == "resume" for block in read.ir.blocks)
    text = "\n\n".join([*texts, *(block.text for block in edges.values())])
    if lowering.debug.own_location is not None and _LOCATION not in text:
        # LLVM describes no function without a location: one that records nothing would not be found.
        located = f"  {_EMPTY_INSTRUCTION}{_LOCATION}{lowering.debug.own_location}"
        text = _with_lookup(blocks[0].head, text, [located])
    return Assembled(text, resumes)


def _with_calls(lowering: FunctionLowering, code: FunctionCode, number: int, labels: SiteLabels) -> _Block:
    """The block with labels at its calls, and with the code around calls and at its end.

    Code at the end is in front of a call in tail position.
    """
    block, final = lowering.read.ir.blocks[number], lowering.read.tail_calls.by_block[number]
    own = lowering.debug.text
    records = deque(lowering.debug.line_records(number, block))
    records_here = lowering.debug.block_record(number)

    def lines_at(where: Where) -> str:
        return _lines(_located(code.take(where, number), records_here))

    bottom = lines_at(Where.BOTTOM)
    position = min(_after_variables(lowering, number), block.terminator_start)
    head = own(block.text[:position])
    pieces: list[str] = []

    def add_program(end: int) -> None:
        nonlocal position
        while records and records[0].position <= end:
            at, record = records.popleft()
            pieces.extend([own(block.text[position:at]), record, "\n"])
            position = at
        pieces.append(own(block.text[position:end]))

    for call in lowering.read.calls[number]:
        if call.needs_site:
            add_program(call.start)
            position = call.end + 1
            if call is final:
                pieces.append(bottom)
                bottom = ""
            pieces.append(_labelled_call(lowering, code, number, call, labels))
    if final is not None and bottom:
        add_program(final.start)
        pieces.append(bottom)
        position = final.start
        bottom = ""
    add_program(block.terminator_start)
    pieces.append(bottom)
    terminator = block.text[block.terminator_start :]
    if block.opcode == "invoke":
        pieces.append(lines_at(Where.BEFORE_CALL))
        before, terminator, _ = labels.label(terminator, number)
        pieces.append(before)
    elif block.opcode == "resume" and labels.labels_resume:
        exception, terminator = resume_call(block.terminator, lowering.names.value())
        label = labels.label("", NO_BLOCK).before
        pieces += [own(exception), label]
    return _Block(head, "".join(pieces), own(terminator))


def _labelled_call(
    lowering: FunctionLowering, code: FunctionCode, number: int, call: Call, labels: SiteLabels
) -> str:
    """A call that needs a site.  In tail position nothing follows it: its function is left."""
    block, final = lowering.read.ir.blocks[number], lowering.read.tail_calls.by_block[number]
    text = block.text[call.start : call.end]
    before, text, after = labels.label(text, NO_BLOCK if call is final else number)
    if call is final and block.opcode != "unreachable":
        after = ""
    pieces = [before, lowering.debug.text(text), "\n"]
    if call is lowering.read.calls[number][-1]:
        records = lowering.debug.block_record(number)
        pieces.insert(0, _lines(_located(code.take(Where.BEFORE_CALL, number), records)))
        behind = _lines(_located(code.take(Where.AFTER_CALL, number), records))
        if lowering.read.traced:
            # Its own calls are not at this site.
            return "".join([*pieces, after, behind])
        pieces.append(behind)
    return "".join([*pieces, after])


def _text(
    lowering: FunctionLowering,
    code: FunctionCode,
    number: int,
    block: _Block,
    phis: Sequence[str],
    ends: _Ends,
) -> str:
    """The whole block: phis know their predecessors, and the terminator its successors, by new labels."""
    read = lowering.read
    head = rename_phis(block.head, _renamed_predecessors(lowering, number, ends))
    if phis:
        label_end = head.find("\n") + 1
        head = head[:label_end] + _lines(phis) + head[label_end:]
    successors = {
        read.positions[edge][0]: code.edges[edge].label
        for edge in read.graph.out_edges[number]
        if edge in code.edges
    }
    terminator = block.terminator
    if successors:
        terminator = retarget(read.ir.blocks[number], terminator, successors)
    return head + block.body + terminator


def _top(lowering: FunctionLowering, code: FunctionCode, number: int) -> list[str]:
    """The code after the phis: debug records first."""
    builder = lowering.builder()
    records = lowering.debug.block_record(number)
    if records and number in lowering.landing_pads:
        # Without optimisation LLVM loads registers before a landing pad's label, if a record comes first.
        builder.emit(_EMPTY_INSTRUCTION)
    builder.records(records)
    builder.lines += code.take(Where.RECORDS, number)
    if number == lowering.read.graph.root:
        builder.lines += code.take(Where.CALL_PATH_ENTRY, 0)
        builder.lines += code.take(Where.ENTRY, 0)
    builder.lines += code.take(Where.TOP, number)
    return builder.lines


def _with_lookup(head: str, text: str, lookup: Sequence[str]) -> str:
    """The first block with code right after its label."""
    at = head.find("\n") + 1
    return text[:at] + _lines(lookup) + text[at:] if lookup else text


def _phi_lines(
    lowering: FunctionLowering, code: FunctionCode, number: int, entry: Builder, ends: _Ends
) -> list[str]:
    """The new phis of a block; addresses that they need are computed at the entry of the function."""
    return [
        f"  %{phi.name} = phi {'i64' if isinstance(phi, ValuePhi) else 'ptr'} "
        + ", ".join(_arrivals(lowering, number, phi, entry, ends))
        for phi in code.phis.get(number, ())
    ]


def _arrivals(lowering: FunctionLowering, number: int, phi: Phi, entry: Builder, ends: _Ends) -> list[str]:
    """What a phi is on arrival by each edge, once for each mention of it in its jump.

    Several edges from one block need the same name for one counter: LLVM does not compare what is computed.
    """
    addresses: dict[tuple[str, int], str] = {}
    found: list[str] = []
    for edge in lowering.read.in_edges(number):
        predecessor = _predecessor(lowering, edge, ends)
        if isinstance(phi, CounterPhi):
            slot = phi.incoming.get(edge, phi.otherwise)
            if (predecessor, slot) not in addresses:
                addresses[predecessor, slot] = lowering.access.addressing.address(entry, slot)
            incoming = addresses[predecessor, slot]
        elif isinstance(phi, ValuePhi):
            incoming = phi.incoming.get(edge, phi.otherwise)
        else:
            incoming = phi.incoming[edge]
        found += [f"[ {incoming}, %{predecessor} ]"] * len(lowering.read.positions[edge])
    return found


def _predecessor(lowering: FunctionLowering, edge: int, ends: _Ends) -> str:
    """The label of the block from which an edge arrives."""
    return ends.edges.get(edge) or ends.blocks[lowering.read.graph.edges[edge].src]


def _renamed_predecessors(lowering: FunctionLowering, number: int, ends: _Ends) -> list[tuple[str, str]]:
    """The old and new labels of a block's predecessors, where they differ."""
    read = lowering.read
    found: list[tuple[str, str]] = []
    for edge in read.in_edges(number):
        old, new = read.ir.blocks[read.graph.edges[edge].src].label, _predecessor(lowering, edge, ends)
        if old != new:
            found += [(old, new)] * len(read.positions[edge])
    return found


def _edge_blocks(lowering: FunctionLowering, code: FunctionCode) -> dict[int, _EdgeText]:
    """The new blocks on edges."""
    blocks: dict[int, _EdgeText] = {}
    for edge, (label, lines) in code.edges.items():
        target = lowering.read.ir.blocks[lowering.read.graph.edges[edge].dst].label
        body = _located([f"{label}:", *lines], lowering.debug.edge_record(edge))
        # Without a location: what LLVM moves in front of the branch would have the same one.
        text = "\n".join([*body, f"  br label %{target}"])
        blocks[edge] = _EdgeText(text, last_label(text, label))
    return blocks


def _after_variables(lowering: FunctionLowering, number: int) -> int:
    """Where new code at the top of a block starts: behind the variables of a traced function.

    They are first in its first block; behind a branch they would not be part of the frame.
    """
    block = lowering.read.ir.blocks[number]
    position = block.insertion_point()
    if number == lowering.read.graph.root and lowering.read.traced:
        for alloca in static_allocas(block):
            if alloca.start == position:
                position = alloca.end + 1
    return position


def last_label(text: str, first: str) -> str:
    """The label of the last block in text of whole lines that starts in block ``first``."""
    at = text.rfind(f"\n{NEW}") + 1
    return text[at : text.index(":", at)] if at else first


def _located(lines: Sequence[str], records: Sequence[str]) -> Sequence[str]:
    """Lines with debug records in each block that begins in them, behind its phis."""
    if not records or not any(line[0] != " " for line in lines):
        return lines
    found: list[str] = []
    waiting: Sequence[str] = ()
    for line in lines:
        if waiting and " = phi " not in line:
            found += waiting
            waiting = ()
        found.append(line)
        if line[0] != " ":
            waiting = records
    return [*found, *waiting]


def _lines(lines: Sequence[str]) -> str:
    return "".join([f"{line}\n" for line in lines])
